//! What reads bytes from strangers, and what must hold whatever they are.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;

use dedup_stage::page::{Input, Reader};
use dedup_stage::pipeline::Limits;
use dedup_stage::protocol::{Ended, Greeting, serve};
use dedup_stage::stage::Stage;
use dedup_stage::store::{Memory, Session};
use dedup_stage::url::{Canonicalizer, KeyHasher, resolve};
use dedup_stage::warc;
use frontier::robots::{Answer, Rules, page_directives};
use frontier::sitemap::Sitemap;
use url::Url;

use super::Target;

/// Every target.
pub const TARGETS: [Target; 7] = [
    Target {
        name: "robots",
        words: &[
            "user-agent:",
            "User-agent: *\n",
            "foobot",
            "allow: ",
            "disallow: ",
            "crawl-delay: ",
            "sitemap: ",
            "*",
            "$",
            "%2a",
            "%24",
            "%2F",
            "/index.html",
            "\r\n",
            "\u{feff}",
            "#",
            "999999999999999999999",
            "0.0000001",
        ],
        seeds: &[
            "user-agent: *\ndisallow: /a/*b$\nallow: /a/index.html\ncrawl-delay: 2.5\nsitemap: /s.xml\n",
            "User-Agent: foobot/2.1\nUser-agent: x\nDisallow: /%7ea%2Fb?c=%2F\n\nuser-agent: foobot\nallow /\n",
        ],
        run: robots,
    },
    Target {
        name: "url",
        words: &[
            "http://",
            "https://a.example",
            "//",
            "/../",
            "/./",
            "%2e",
            "%25",
            "%41",
            "%",
            ";jsessionid=",
            "?",
            "&",
            "=",
            "utm_source=",
            "PHPSESSID=",
            "sid=0123456789abcdef",
            "(S(lit3py55t21z5v55vlm25s55))",
            "@",
            ":80",
            ".",
            "#",
            "\\",
            "xn--",
            "[::1]",
            "é",
        ],
        seeds: &[
            "http://me:pass@A.example.:80/a/../b;jsessionid=1/(S(lit3py55t21z5v55vlm25s55))/%7e?b=2&a=1&utm_source=x#f",
            "https://a.example/?sid=0123456789abcdef&&x=%20+%2B",
            "mailto:a@b.example",
            "///a.example/b",
        ],
        run: url,
    },
    Target {
        name: "sitemap",
        words: &[
            "<urlset>",
            "<url>",
            "<loc>",
            "</loc>",
            "</url>",
            "<sitemap>",
            "<item>",
            "<entry>",
            "<link href='",
            "<!--",
            "-->",
            "<![CDATA[",
            "]]>",
            "<!DOCTYPE a [",
            "<!ENTITY b 'c'>",
            "]>",
            "&amp;",
            "&#x0;",
            "&#99999999;",
            "&b;",
            "https://a.example/",
            "\u{feff}",
            "<?xml",
            "?>",
        ],
        seeds: &[
            "<urlset><url><loc>https://a.example/1</loc><lastmod>2024</lastmod><priority>0.5</priority></url></urlset>",
            "<sitemapindex><sitemap><loc>/a.xml</loc></sitemap><sitemap>/b.xml</sitemap></sitemapindex>",
            "<rss><channel><item><link>/1</link><pubDate>x</pubDate></item></channel></rss>",
            "<feed><entry><link rel='alternate' href='/1?a&amp;b'/><updated>x</updated></entry></feed>",
            "https://a.example/1\nhttps://a.example/2\n",
        ],
        run: sitemap,
    },
    Target {
        name: "html",
        words: &[
            "<a href=",
            "</a>",
            "<base href='",
            "<meta name=robots content=",
            "<title>",
            "<script>",
            "</script>",
            "<!--",
            "-->",
            "<![CDATA[",
            "<p>",
            "<div>",
            "</div>",
            "&amp;",
            "&#x",
            "rel=nofollow",
            "javascript:",
            "//",
            "?",
            "\0",
            "<plaintext>",
            "<svg>",
            "<template>",
            "<textarea>",
            "<nav>",
        ],
        seeds: &[
            "<!doctype html><html lang=en><title>A title</title><meta name=robots content=noindex><base href='/b/'>\
             <p>Some words of text that go on for a while, <a href='c?d=e&amp;f#g' rel=nofollow>a link</a>.</p></html>",
            "<nav><a href=/1>one</a></nav><script>var a = '<a href=/2>';</script><!-- <a href=/3> --><p>text &eacute;",
        ],
        run: html,
    },
    Target {
        name: "charset",
        words: &[
            "utf-8",
            "utf-16",
            "utf-16be",
            "iso-2022-jp",
            "gb18030",
            "shift_jis",
            "windows-1252",
            "x-user-defined",
            "replacement",
            "<meta charset=",
            "<meta http-equiv=content-type content='text/html; charset=",
            "\u{feff}",
            "text/html; charset=",
            "\x1b$B",
            "\n",
        ],
        seeds: &[
            "text/html; charset=utf-8\n<p>Zurück zu den Wörtern, die hier stehen.",
            "text/html\n<meta charset=shift_jis><p>\u{1b}$B words </p>",
            "text/plain; charset=utf-16\nwords",
        ],
        run: charset,
    },
    Target {
        name: "warc",
        words: &[
            "WARC/1.1\r\n",
            "WARC/1.0\n",
            "WARC-Type: response\r\n",
            "Content-Length: ",
            "Content-Length: 18446744073709551615\r\n",
            "\r\n\r\n",
            "HTTP/1.1 200 OK\r\n",
            "Transfer-Encoding: chunked\r\n",
            "Content-Encoding: gzip\r\n",
            "5\r\n",
            "0\r\n",
            "WARC-Target-URI: <http://a.example/>\r\n",
            "\x1f",
        ],
        seeds: &["WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/\r\nContent-Length: 61\r\n\r\n\
             HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n\r\n\r\n\
             WARC/1.0\nWARC-Type: warcinfo\nContent-Length: 2\n\nab\n\n"],
        run: warc,
    },
    Target {
        name: "protocol",
        words: &[
            "\n",
            "{\"id\":1,",
            "\"url\":\"http://a.example/\"",
            "\"body\":\"",
            "\"body_base64\":\"",
            "\"links\":[",
            "\"op\":\"stats\"",
            "{\"op\":\"flush\"}\n",
            "{\"op\":\"hello\"}\n",
            "\"status\":404",
            "\"content_type\":\"text/html\"",
            "\\u0000",
            "\\ud800",
            "[[[[",
            "1e999",
            "null",
            "\"priority\":0.5",
            "}",
            "<a href=/x>",
        ],
        seeds: &["{\"id\":1,\"url\":\"http://a.example/\",\"body\":\"<p>some words of text <a href=/b>b</a></p>\"}\n\
             {\"id\":[2],\"url\":\"http://a.example/c\",\"body_base64\":\"PHA+aGVsbG88L3A+\",\"links\":[\"/d\",\"//e.example/\"]}\n\
             {\"op\":\"stats\"}\nnonsense\n{\"op\":\"flush\",\"id\":3}\n"],
        run: protocol,
    },
];

/// A word for a behaviour.
fn word(facts: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    facts.hash(&mut hasher);
    hasher.finish()
}

/// The order of magnitude of a count, so that not every count is a behaviour of its own.
fn magnitude(count: usize) -> u32 {
    (count + 1).ilog2()
}

fn base() -> Url {
    Url::parse("https://a.example/b/c").unwrap_or_else(|_| unreachable!())
}

/// robots.txt: the store gives back what it got; equal answers before and after.
fn robots(input: &[u8]) -> u64 {
    let origin = base();
    let rules =
        Rules::read(&Answer { url: &origin, status: 200, retry_after: None, body: input, at: 1 << 40 }, "foobot");
    let again = Rules::from_bytes(&rules.to_bytes()).expect("what was written can be read");
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

/// URL keys: idempotent, normal, and hashed alike with and without making the key.
fn url(input: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(input);
    let Ok(url) = resolve(&base(), &text) else { return 0 };
    let mut settings = config::Settings::default().urls;
    // Which rules are on is up to the input, too.
    let switches = input.len();
    (settings.drop_user, settings.drop_host_dot) = (switches & 1 == 0, switches & 2 == 0);
    (settings.normalize_escapes, settings.drop_empty) = (switches & 4 == 0, switches & 8 == 0);
    let hasher = KeyHasher::new([7; KeyHasher::SECRET]);
    let mut kinds = Vec::new();
    for canonicalizer in [Canonicalizer::default(), Canonicalizer::new(&settings)] {
        let key = canonicalizer.key(&url);
        let again = Url::parse(key.as_str()).expect("a key is a URL");
        // The parser itself does not always leave what it wrote; then no key can.
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

/// Sitemaps: web addresses only, priorities in 0..1, and no more than the protocol allows.
fn sitemap(input: &[u8]) -> u64 {
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

/// Pages: web addresses only, bounded texts, and the same answer from another reader.
fn html(input: &[u8]) -> u64 {
    read_page(input, Some("text/html; charset=utf-8"))
}

/// The first line is the content type, the rest the body.
fn charset(input: &[u8]) -> u64 {
    let end = input.iter().position(|octet| *octet == b'\n').unwrap_or(0);
    let content_type = String::from_utf8_lossy(&input[..end]);
    read_page(&input[end..], Some(&content_type))
}

fn read_page(body: &[u8], content_type: Option<&str>) -> u64 {
    let url = base();
    let input = Input { url: &url, status: 200, content_type, body };
    let page = Reader::default().read(&input);
    let again = Reader::default().read(&input);
    assert_eq!((&page.links, &page.signature, &page.title), (&again.links, &again.signature, &again.title));
    assert!(page.title.len() <= 1_000 && page.links.len() <= Reader::MAX_LINKS);
    for link in &page.links {
        assert!(matches!(link.url.scheme(), "http" | "https") && link.url.fragment().is_none());
        assert!(link.anchor.len() <= 200);
    }
    let flags = (page.is_text, page.noindex, page.nofollow, page.signature.is_some(), page.charset);
    word((flags, magnitude(page.links.len()), magnitude(page.words as usize), magnitude(page.title.len())))
}

/// WARC: reading ends, and what it gives is no more than there was.
fn warc(input: &[u8]) -> u64 {
    let mut reader = warc::read::Reader::new(input, 1 << 16);
    let (mut pieces, mut bodies) = (0, 0);
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
            Err(error) => break error.to_string().chars().filter(|c| !c.is_ascii_digit()).collect(),
        }
        assert!(pieces <= 16 * (input.len() + 1) * (1 << 10), "a reader without end");
    };
    word((end, magnitude(pieces), magnitude(bodies), magnitude(reader.skipped() as usize)))
}

/// What is looked at of an answer.
#[derive(serde::Deserialize)]
struct Reply {
    verdict: Option<String>,
    error: Option<Failure>,
}

#[derive(serde::Deserialize)]
struct Failure {
    code: String,
}

/// The protocol: one answer a line, each of them JSON, none of them a panic in disguise.
fn protocol(input: &[u8]) -> u64 {
    let stage = Stage::open(Session::new(Box::new(Memory::default())), 3, config::OnDuplicate::Drop).expect("memory");
    let greeting = Greeting { recipe: "words", distance: 3, on_duplicate: config::OnDuplicate::Drop, durable: false };
    let mut output = Vec::new();
    let lines = io::Cursor::new(input.to_vec());
    let ended = serve(lines, &mut output, stage, &Canonicalizer::default(), Limits::new(1), greeting, |_| {});
    assert!(matches!(ended, Ok(Ended::Input)));
    let mut kinds = Vec::new();
    for line in output.split_inclusive(|octet| *octet == b'\n') {
        // An id comes back as it was, and may hold numbers that no machine has: it is JSON all the same.
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
