//! Nothing breaks the reading of pages: monstrous pages in bounded time, and random ones by a seeded fuzzer.
//!
//! `FUZZ_SECONDS=600 cargo test --release -p dedup-stage --test robustness -- --nocapture` fuzzes for ten minutes and
//! prints the number of executions.

use std::time::{Duration, Instant};

use dedup_stage::page::{Input, Page, Reader};
use url::Url;

/// Size of a monstrous page; as large as the caps allow to matter where the code is optimized.
const MONSTROUS: usize = if cfg!(debug_assertions) { 2_000_000 } else { 100_000_000 };

fn read(reader: &mut Reader, content_type: Option<&str>, body: &[u8]) -> Page {
    let url = Url::parse("http://example.org/dir/page.html").expect("a URL");
    let page = reader.read(&Input { url: &url, status: 200, content_type, body });
    assert!(page.links.len() <= Reader::MAX_LINKS && page.title.len() <= 1000);
    assert!(page.links.iter().all(|link| link.anchor.len() <= 200 && link.url.fragment().is_none()));
    assert!(page.links.iter().all(|link| matches!(link.url.scheme(), "http" | "https")));
    assert!(reader.content().map(str::len).sum::<usize>() <= reader.text().len());
    page
}

fn repeat(pattern: &str, size: usize) -> Vec<u8> {
    pattern.as_bytes().iter().copied().cycle().take(size).collect()
}

#[test]
fn monstrous_pages_take_bounded_time() {
    let numbered = |prefix: &str, each: &dyn Fn(usize) -> String, size: usize| {
        let mut page = prefix.to_owned();
        let mut i = 0;
        while page.len() < size {
            page.push_str(&each(i));
            i += 1;
        }
        page.into_bytes()
    };
    let million = MONSTROUS.min(12_000_000);
    let pages: Vec<(&str, Vec<u8>)> = vec![
        ("one tag", repeat("<b>", MONSTROUS)),
        ("one open tag", repeat("<b ", MONSTROUS)),
        ("one name", repeat("<a", MONSTROUS)),
        ("attributes", numbered("<p ", &|i| format!("a{i}=1 "), million)),
        ("attributes with brackets", numbered("<p ", &|i| format!("a{i}=\">\""), million)),
        ("equal attributes after many", {
            let mut page = numbered("<p ", &|i| format!("a{i} "), million / 50);
            page.extend(repeat("x ", million));
            page
        }),
        ("many tags with many attributes", {
            repeat(&String::from_utf8(numbered("<p ", &|i| format!("a{i} "), 30_000)).expect("text"), million)
                .into_iter()
                .chain(*b">")
                .collect()
        }),
        ("nesting", repeat("<div>", MONSTROUS.min(5_000_000))),
        ("named nesting", repeat("<div class=ad><p hidden>x", million)),
        ("blocks", repeat("<p>a", MONSTROUS)),
        ("links", numbered("", &|i| format!("<a href={i}>x</a>"), MONSTROUS)),
        ("equal links", repeat("<a href=x>x</a>", MONSTROUS)),
        ("comments", repeat("<!-- - -->", MONSTROUS)),
        ("one comment", repeat("<!-- x > ", MONSTROUS)),
        ("entities", repeat("&amp&notit;&#x110000;", MONSTROUS)),
        ("text", repeat("word Wort слово 単語 ", MONSTROUS)),
        ("one word", repeat("a", MONSTROUS)),
        ("one long character word", repeat("ж", MONSTROUS)),
        ("numbers", repeat("1", MONSTROUS)),
        ("NULs", vec![0; MONSTROUS]),
        ("high bytes", vec![0xFF; million]),
        (
            "lone surrogates",
            [0xFE, 0xFF].into_iter().chain(repeat("\u{8}", 1)).chain([0xD8, 0x00].repeat(million / 2)).collect(),
        ),
        ("escapes", repeat("\u{1b}$B", million)),
        ("open script", [b"<script>".to_vec(), repeat("</scrip", million)].concat()),
        ("foreign", repeat("<svg><title><math><style>", million)),
        ("bases", numbered("", &|i| format!("<base href=/{i}/><title>{i}"), million)),
        ("data URL", [b"<img src='data:".to_vec(), repeat("QUJD", million), b"'><p>text".to_vec()].concat()),
    ];
    let mut reader = Reader::default();
    for (name, page) in pages {
        let start = Instant::now();
        read(&mut reader, Some("text/html"), &page);
        let elapsed = start.elapsed();
        println!("{name:32} {:9} bytes {elapsed:?}", page.len());
        assert!(elapsed < Duration::from_secs(60), "{name}: {elapsed:?}");
    }
}

#[test]
fn a_tag_too_large_does_not_hide_the_rest() {
    let long: String = (0..40_000).map(|i| format!("a{i}=1 ")).collect();
    let page = format!("<a href=before>x</a><p {long}><p>After all</p><a href=after>y</a>");
    let mut reader = Reader::default();
    let page = read(&mut reader, Some("text/html"), page.as_bytes());
    assert_eq!(page.links.len(), 2);
    assert!(reader.text().contains("After all"));
}

/// Pieces that mean something to one of the parsers.
const PIECES: &[&str] = &[
    "<a href=",
    "\"",
    "'",
    ">",
    "</a>",
    "<p>",
    "</p>",
    "<div class=\"nav\">",
    "</div>",
    "<script>",
    "</script>",
    "<style>",
    "<title>",
    "</title>",
    "<svg>",
    "</svg>",
    "<math>",
    "<![CDATA[",
    "]]>",
    "<!--",
    "-->",
    "<!doctype html>",
    "<base href=",
    "<meta charset=",
    "<meta http-equiv=refresh content=\"0;url=",
    "<meta name=robots content=none>",
    "utf-8",
    "shift_jis",
    "iso-2022-jp",
    "utf-16le",
    "gbk",
    "<template>",
    "<textarea>",
    "<plaintext>",
    "<iframe src=",
    "<noscript>",
    "<table><tr><td>",
    "<li>",
    "<select><option>",
    "&amp;",
    "&#x0;",
    "&#xD800;",
    "&notin",
    "http://",
    "//",
    "javascript:",
    "?a=1&b=2",
    "#",
    "../",
    "hidden",
    "style=\"display:none\"",
    "rel=nofollow",
    "lang=en",
    "\u{0}",
    "\u{FEFF}",
    "\r\n",
    "\t",
    " ",
    "word ",
    "Ünïcode ",
    "漢字",
    "ไทย",
    "العربية",
    "हिन्दी",
    "2026",
    "12:30",
    "\u{AD}",
    "\u{200D}",
    "a",
    "<",
    "&",
    "=",
    "/",
    "/>",
    "\u{10FFFF}",
];

struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % below as u64) as usize
    }

    fn page(&mut self, previous: &[u8]) -> Vec<u8> {
        let mut page = if self.next(3) == 0 { previous.to_vec() } else { Vec::new() };
        for _ in 0..self.next(60) {
            match self.next(12) {
                0 => page.push(self.next(256) as u8),
                1 if !page.is_empty() => {
                    let at = self.next(page.len());
                    page[at] = self.next(256) as u8;
                }
                2 if !page.is_empty() => page.truncate(self.next(page.len())),
                3 if page.len() < 4096 => page.extend_from_within(..),
                4 => {
                    let piece = PIECES[self.next(PIECES.len())].as_bytes();
                    let at = self.next(page.len() + 1);
                    page.splice(at..at, piece.iter().copied());
                }
                _ => page.extend_from_slice(PIECES[self.next(PIECES.len())].as_bytes()),
            }
        }
        page.truncate(1 << 16);
        page
    }
}

#[test]
fn random_pages() {
    let seconds = std::env::var("FUZZ_SECONDS").ok().and_then(|seconds| seconds.parse().ok()).unwrap_or(2);
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut random = Random(seconds);
    let mut reader = Reader::default();
    let mut page = Vec::new();
    let mut executions = 0u64;
    let types = [
        None,
        Some("text/html"),
        Some("text/html; charset=iso-2022-jp"),
        Some("text/plain"),
        Some("text/html;charset=\"utf-16\""),
    ];
    while Instant::now() < end {
        page = random.page(&page);
        let content_type = types[random.next(types.len())];
        let read_once = read(&mut reader, content_type, &page);
        if executions.is_multiple_of(64) {
            let fresh = read(&mut Reader::default(), content_type, &page);
            assert_eq!(format!("{read_once:?}"), format!("{fresh:?}"), "{content_type:?} {page:?}");
        }
        executions += 1;
    }
    println!("page reader: {executions} executions in {seconds} s, no panic");
    assert!(executions > 0);
}
