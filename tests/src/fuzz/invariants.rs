//! The invariants of each target, which hold for any bytes. Each function returns a hash that stands for the behaviour
//! of its target.

use std::cell::RefCell;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;

use dedup_stage::page::{Input, Reader};
use dedup_stage::pipeline::Limits;
use dedup_stage::protocol::{Greeting, ServeEnd, serve};
use dedup_stage::stage::Stage;
use dedup_stage::store::{Memory, Session};
use dedup_stage::url::{Canonicalizer, KeyHasher, resolve};
use dedup_stage::warc;
use frontier::robots::{Answer, RobotsRules, page_directives};
use frontier::sitemap::Sitemap;
use url::Url;

/// A hash of some facts, which stands for a behaviour.
pub(super) fn word(facts: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    facts.hash(&mut hasher);
    hasher.finish()
}

/// The order of magnitude of a count. It is used so that not every count is a behaviour of its own.
fn magnitude(count: usize) -> u32 {
    (count + 1).ilog2()
}

fn base() -> Url {
    Url::parse("https://a.example/b/c").unwrap_or_else(|_| unreachable!())
}

/// robots.txt: the rules can be stored and read again, and they give the same answers afterwards.
pub fn robots(input: &[u8]) -> u64 {
    let origin = base();
    let rules =
        RobotsRules::read(&Answer { url: &origin, status: 200, retry_after: None, body: input, at: 1 << 40 }, "foobot");
    let again = RobotsRules::from_bytes(&rules.to_bytes()).expect("what was written can be read");
    assert_eq!(again, rules);
    let mut answers = Vec::new();
    for path in ["/", "/index.html", "/a/xb", "/a/index.html?b=%2F", "/%7ea%2Fb?c=/*$", "/robots.txt"] {
        let url = origin.join(path).expect("a path");
        answers.push(rules.allowed(&url));
        assert_eq!(again.allowed(&url), rules.allowed(&url));
    }
    assert!(answers[5]);
    let text = String::from_utf8_lossy(input);
    let directives = page_directives(text.lines(), text.lines(), "foobot");
    let delay = rules.crawl_delay().map(|delay| magnitude(delay.0 as usize));
    word((answers, delay, magnitude(rules.sitemaps().len()), magnitude(rules.to_bytes().len()), directives.noindex))
}

/// URL keys: a key is its own key, it is a normal URL, and the hash of a URL is the same whether the key is made or
/// not.
pub fn url(input: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(input);
    let Ok(url) = resolve(&base(), &text) else { return 0 };
    let mut settings = config::Settings::default().urls;
    // The input also decides which rules are on.
    let switches = input.len();
    (settings.drop_user, settings.drop_host_dot) = (switches & 1 == 0, switches & 2 == 0);
    (settings.normalize_escapes, settings.drop_empty) = (switches & 4 == 0, switches & 8 == 0);
    let hasher = KeyHasher::new([7; KeyHasher::SECRET]);
    let mut kinds = Vec::new();
    for canonicalizer in [Canonicalizer::default(), Canonicalizer::new(&settings)] {
        let key = canonicalizer.key(&url);
        let again = Url::parse(key.as_str()).expect("a key is a URL");
        // The URL parser itself does not always keep a URL that it wrote. In such cases no key can be stable.
        if Url::parse(url.as_str()).is_ok_and(|same| same == url) {
            assert_eq!(again.as_str(), key.as_str(), "the key of {url}");
            assert_eq!(canonicalizer.key(&again), key, "the key of {url}");
        }
        assert_eq!(canonicalizer.hash(&url, &hasher), hasher.hash(&key));
        let lost = url.as_str().len().abs_diff(key.as_str().len());
        kinds.push((magnitude(lost), key.as_str() == url.as_str(), url.query().is_some(), url.scheme().len()));
    }
    warc::cdxj::surt(&url);
    word((kinds, url.path().contains(';'), url.path().contains('%')))
}

/// Sitemaps: only web addresses, priorities within 0..1, and no more entries than the protocol allows.
pub fn sitemap(input: &[u8]) -> u64 {
    let base = base();
    let (mut count, mut facts) = (0, 0);
    for entry in Sitemap::open(input, &base) {
        assert!(matches!(entry.loc.scheme(), "http" | "https") && entry.loc.fragment().is_none());
        assert!(entry.priority.is_none_or(|priority| (0.0..=1.0).contains(&priority)));
        facts |=
            1 << (4 * entry.kind as u32 + 2 * u32::from(entry.lastmod.is_some()) + u32::from(entry.priority.is_some()));
        count += 1;
    }
    assert!(count <= Sitemap::MAX_ENTRIES);
    word((magnitude(count), facts))
}

/// Pages: only web addresses, texts of limited length, and the same result from a new reader as from one that has read
/// many pages.
pub fn html(input: &[u8]) -> u64 {
    read_page(input, Some("text/html; charset=utf-8"))
}

/// Like [`html`], but the first line of the input is the content type, and the rest is the body.
pub fn charset(input: &[u8]) -> u64 {
    let end = input.iter().position(|octet| *octet == b'\n').unwrap_or(0);
    let content_type = String::from_utf8_lossy(&input[..end]);
    read_page(&input[end..], Some(&content_type))
}

thread_local! {
    /// A reader that has read all pages before.
    static READER: RefCell<Reader> = RefCell::default();
}

fn read_page(body: &[u8], content_type: Option<&str>) -> u64 {
    let url = base();
    let input = Input { url: &url, status: 200, content_type, body };
    let page = READER.with_borrow_mut(|reader| {
        let page = reader.read(&input);
        assert!(reader.content().map(str::len).sum::<usize>() <= reader.text().len());
        page
    });
    let again = Reader::default().read(&input);
    assert_eq!(format!("{page:?}"), format!("{again:?}"));
    assert!(page.title.len() <= 1_000 && page.links.len() <= Reader::MAX_LINKS);
    for link in &page.links {
        assert!(matches!(link.url.scheme(), "http" | "https") && link.url.fragment().is_none());
        assert!(link.anchor.len() <= 200);
    }
    let flags = (page.is_text, page.noindex, page.nofollow, page.signature.is_some(), page.charset);
    word((flags, magnitude(page.links.len()), magnitude(page.words as usize), magnitude(page.title.len())))
}

/// WARC: the reader comes to an end, also behind damage, and returns no more than there is in the input.
pub fn warc(input: &[u8]) -> u64 {
    let mut reader = warc::read::Reader::new(input, 1 << 16);
    let (mut pieces, mut bodies, mut damaged) = (0, 0, 0);
    let end = loop {
        match reader.piece() {
            Ok(Some(warc::read::Piece::Record(record))) => {
                assert!(record.block.len() <= 1 << 16);
                if let Some(message) = warc::http::parse_response(&record.block) {
                    let body = message.body(1 << 20);
                    assert!(body.as_ref().is_ok_and(|body| body.len() <= 1 << 20) || body.is_err());
                    bodies += usize::from(body.is_ok());
                }
                pieces += 1;
            }
            Ok(Some(_)) => pieces += 1,
            Ok(None) => break "whole".to_owned(),
            Err(warc::read::Error::Io(error)) => break error.kind().to_string(),
            Err(_) => damaged += 1,
        }
        assert!(pieces <= 16 * (input.len() + 1) * (1 << 10), "a reader without end");
        assert!(damaged <= 16 * (input.len() + 1), "damage without end");
    };
    word((end, magnitude(pieces), magnitude(bodies), magnitude(damaged)))
}

/// The fields of an answer that are compared.
#[derive(serde::Deserialize)]
struct Reply {
    verdict: Option<String>,
    error: Option<Failure>,
}

#[derive(serde::Deserialize)]
struct Failure {
    code: String,
}

/// The protocol: one answer for each line, each of them JSON and none of them an internal error, and the same answers
/// with one thread as with three.
pub fn protocol(input: &[u8]) -> u64 {
    let output = answers(input, 1);
    assert_eq!(output, answers(input, 3), "one thread and three");
    let mut kinds = Vec::new();
    for line in output.split_inclusive(|octet| *octet == b'\n') {
        // An id is returned as it was sent. It may have numbers that no machine type can hold, but it is still JSON.
        let answer: Reply = serde_json::from_slice(line).expect("an answer is JSON");
        let code = answer.error.map(|error| error.code).unwrap_or_default();
        assert_ne!(code, "internal");
        kinds.push((code, answer.verdict.unwrap_or_default()));
    }
    let blank = |line: &[u8]| line.iter().all(u8::is_ascii_whitespace);
    let asked = input.split(|octet| *octet == b'\n').filter(|line| !blank(line)).count();
    assert_eq!(kinds.len(), asked, "one answer a line");
    kinds.sort();
    kinds.dedup();
    word((kinds, magnitude(asked)))
}

fn answers(input: &[u8], threads: usize) -> Vec<u8> {
    let mode = config::OnDuplicate::Demote;
    let dedup = config::Dedup { distance: 3, on_duplicate: mode, ..config::Settings::default().dedup };
    let session = Session::new(Box::new(Memory::default()));
    let stage = Stage::open(session, &dedup, Canonicalizer::default()).expect("memory");
    let greeting = Greeting { recipe: "words", distance: 3, on_duplicate: mode, durable: false };
    let mut output = Vec::new();
    let lines = io::Cursor::new(input.to_vec());
    let ended = serve(lines, &mut output, stage, Limits::new(threads), greeting, |_| {});
    assert!(matches!(ended, Ok(ServeEnd::Input)));
    output
}
