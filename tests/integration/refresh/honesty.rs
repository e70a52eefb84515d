//! Hosts that say "not modified" of pages that have changed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tests::crawl::text;
use tests::scripted::words;
use tests::told::{self, Told};

const PAGES: u64 = 48;
const ROUNDS: u64 = 12;

/// How a host answers a request with validators.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// Its `ETag` changes with the content.
    Honest,
    /// Its `ETag` never changes.
    Constant,
    /// Whatever the validators, the page has not changed.
    Always,
}

/// What the rounds of visits to such a host have shown.
struct Seen {
    /// The pages whose changes were seen, by round.
    changed: Vec<usize>,
    /// The requests without validators, by round.
    whole: Vec<usize>,
}

/// All pages change once: in the fourth round.
fn rounds(manner: Manner) -> anyhow::Result<Seen> {
    let round = Arc::new(AtomicU64::new(0));
    let now = Arc::clone(&round);
    let told = Told::new(move |asked| {
        let version = u64::from(now.load(Ordering::Relaxed) >= 4);
        let number = asked.target.strip_prefix("/p").and_then(|number| number.parse::<u64>().ok());
        let body = match (asked.target.as_str(), number) {
            ("/", _) => {
                let links: String = (0..PAGES).map(|page| format!("<a href=/p{page}>{page}</a> ")).collect();
                return told::html(format!("<p>{}</p>{links}", words(9, 80)));
            }
            (_, Some(number)) => format!("<p>{}</p>", words(100 + 1_000 * version + number, 80)),
            _ => return told::missing(),
        };
        let etag = if manner == Manner::Constant { "\"0\"".to_owned() } else { format!("\"{version}\"") };
        let known = asked.field("if-none-match");
        if known == etag || manner == Manner::Always && !known.is_empty() {
            return (304, vec![("etag", etag)], Vec::new());
        }
        (200, vec![("content-type", "text/html".into()), ("etag", etag)], body.into_bytes())
    })?;
    let dir = tempfile::tempdir()?;
    told.crawl(dir.path(), "http://a.test/", &[])?;
    let mut seen = Seen { changed: Vec::new(), whole: Vec::new() };
    let mut lines = 0;
    for number in 1..=ROUNDS {
        round.store(number, Ordering::Relaxed);
        let before = told.asked().len();
        let crawled = told.crawl(dir.path(), "http://a.test/", &[("fetch.recrawl", "true")])?;
        let asked = told.asked().split_off(before);
        let pages = || asked.iter().filter(|asked| asked.target.starts_with("/p"));
        assert_eq!(pages().count() as u64, PAGES, "each page is visited in each round");
        seen.whole.push(pages().filter(|asked| asked.field("if-none-match").is_empty()).count());
        let changed = |page: &&serde_json::Value| page["visit"] != 1 && text(page, "changed") == "content";
        let all = crawled.pages.iter().filter(changed).count();
        seen.changed.push(all - lines);
        lines = all;
    }
    Ok(seen)
}

/// Catches changes that are hidden for ever, and a host that has lied and is believed all the same. In each round, each
/// page has a chance of 1 in 16 to be fetched whole, so the chance that too few are found is about 1 in 20,000.
#[test]
fn a_host_that_hides_changes_is_found_out_and_not_believed_any_more() -> anyhow::Result<()> {
    for manner in [Manner::Constant, Manner::Always] {
        let seen = rounds(manner)?;
        assert_eq!(seen.changed.iter().sum::<usize>() as u64, PAGES, "{:?}", seen.changed);
        assert_eq!(*seen.whole.last().expect("a round") as u64, PAGES, "{:?}", seen.whole);
    }
    Ok(())
}

/// Catches an honest host whose pages are fetched whole although they have not changed.
#[test]
fn an_honest_host_is_believed() -> anyhow::Result<()> {
    let seen = rounds(Manner::Honest)?;
    assert_eq!(seen.changed[3] as u64, PAGES, "{:?}", seen.changed);
    assert_eq!(seen.whole[0], 0, "no page was answered with 304 before");
    let all: usize = seen.whole.iter().sum();
    assert!((8..90).contains(&all), "about 33 of 576 visits: {:?}", seen.whole);
    Ok(())
}
