//! Reading pages beside html5ever's bare tokenizer, by CPU time of one thread, on the pages of `../shared/data` where
//! it is there (`target/tmp`, as unpacked by the tests), else on a page made here.
//!
//! `cargo bench -p dedup-stage --bench page [-- FOLDER]` (the HTML files of a folder instead)
#![allow(missing_docs)]

mod cpu;

use std::path::{Path, PathBuf};

use dedup_stage::page::{Input, Reader};
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{BufferQueue, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};
use html5ever::{LocalName, local_name};
use url::Url;

/// Takes tokens and does nothing but what the tokenizer needs to go on rightly.
struct Bare;

impl TokenSink for Bare {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        match token {
            Token::TagToken(tag) if tag.kind == TagKind::StartTag => raw(&tag.name),
            _ => TokenSinkResult::Continue,
        }
    }
}

fn raw(name: &LocalName) -> TokenSinkResult<()> {
    match *name {
        local_name!("script") => TokenSinkResult::RawData(RawKind::ScriptData),
        local_name!("style") | local_name!("xmp") | local_name!("iframe") | local_name!("noframes") => {
            TokenSinkResult::RawData(RawKind::Rawtext)
        }
        local_name!("title") | local_name!("textarea") => TokenSinkResult::RawData(RawKind::Rcdata),
        _ => TokenSinkResult::Continue,
    }
}

fn main() {
    let tmp = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let mut sets = vec![
        ("readability pages", tmp.join("readability-pages"), "source.html"),
        ("PostgreSQL documentation", tmp.join("postgresql"), ".html"),
        ("Python documentation", tmp.join("python"), ".html"),
    ];
    if let Some(folder) = std::env::args().skip(1).find(|argument| !argument.starts_with("--")) {
        sets = vec![("given pages", folder.into(), "")];
    }
    let mut measured = false;
    for (name, folder, ending) in sets {
        let mut files = Vec::new();
        walk(&folder, ending, &mut files);
        files.sort();
        let pages: Vec<Vec<u8>> = files.iter().map(|file| std::fs::read(file).expect("readable")).collect();
        if !pages.is_empty() {
            measure(name, &pages);
            measured = true;
        }
    }
    if !measured {
        let paragraph =
            "<p class=text>Some <b>words</b> and a <a href=\"/page/one.html?x=1\">link</a> &amp; more.</p>\n";
        measure("a made page", &vec![paragraph.repeat(160).into_bytes(); 100]);
    }
}

fn measure(name: &str, pages: &[Vec<u8>]) {
    let url = Url::parse("http://example.org/a/b/c.html").expect("a URL");
    let mut reader = Reader::default();
    let (mut bare, mut read) = (f64::MAX, f64::MAX);
    let mut links = 0;
    for _ in 0..5 {
        let start = cpu::seconds();
        for page in pages {
            let tokenizer = Tokenizer::new(Bare, TokenizerOpts::default());
            let queue = BufferQueue::default();
            queue.push_back(StrTendril::from_slice(&String::from_utf8_lossy(page)));
            let _ = tokenizer.feed(&queue);
            tokenizer.end();
        }
        bare = bare.min(cpu::seconds() - start);
        let start = cpu::seconds();
        links = 0;
        for page in pages {
            let input = Input { url: &url, status: 200, content_type: Some("text/html"), body: page };
            links += reader.read(&input).links.len();
        }
        read = read.min(cpu::seconds() - start);
    }
    let bytes: usize = pages.iter().map(Vec::len).sum();
    let rate = |seconds: f64| bytes as f64 / seconds / 1e6;
    let each = |seconds: f64| seconds / pages.len() as f64 * 1e6;
    println!(
        "{name}: {} pages of {} bytes and {} links on average: bare tokenizer {:.0} MB/s ({:.1} µs a page), \
         text + links + SHA-256 + signature {:.0} MB/s ({:.1} µs a page), ratio {:.2}",
        pages.len(),
        bytes / pages.len(),
        links / pages.len(),
        rate(bare),
        each(bare),
        rate(read),
        each(read),
        bare / read
    );
}

fn walk(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            walk(&path, ending, found);
        } else if path.to_str().is_some_and(|path| path.ends_with(ending)) {
            found.push(path);
        }
    }
}
