//! A mirror whose leading host vanishes for good without an answer. Links of the living host were held for pages of the
//! vanished one, which can be had no more.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crawler::clock::Clock;
use tests::crawl::{Crawled, crawl_with, settings, text};
use tests::scripted::{Scripted, dropped, html, missing, words};

use super::DAY;

const PAGES: u64 = 90;

/// A page that links to eight others, from this number on.
fn page(number: u64, first: u64) -> String {
    let links: String =
        (first..(first + 8).min(PAGES)).map(|number| format!("<a href=/p{number}>{number}</a> ")).collect();
    html_of(number, &links)
}

fn html_of(number: u64, links: &str) -> String {
    format!("<title>{number}</title><p>{}</p>{links}", words(number, 120))
}

/// Catches links that stay held for pages of a host that is gone: only a few of them were followed in each round.
#[test]
fn a_host_that_vanishes_without_an_answer_releases_all_that_is_held_for_it() -> anyhow::Result<()> {
    for rules in ["true", "false"] {
        let (round, clock) = (Arc::new(AtomicU64::new(1)), Clock::at(1_700_000_000_000));
        let now = Arc::clone(&round);
        let fetch = Scripted::new(&clock, move |url, _| {
            let (host, path) = (url.host_str().unwrap_or_default(), url.path());
            let number = path.strip_prefix("/p").and_then(|number| number.parse::<u64>().ok());
            match (host, path, number) {
                ("a.test", ..) if now.load(Ordering::Relaxed) >= 2 => dropped(),
                ("s.test", "/", _) => {
                    html(html_of(1_000, "<a href=http://a.test/>one</a> <a href=http://b.test/>two</a>"))
                }
                ("a.test" | "b.test", "/", _) => html(page(1_001, 0)),
                ("a.test" | "b.test", _, Some(number)) if number < PAGES => html(page(number, 8 * number + 8)),
                _ => missing(),
            }
        });
        let dir = tempfile::tempdir()?;
        let run = |more: &[(&str, &str)]| -> anyhow::Result<Crawled> {
            let basic = [("scope.scope", "any"), ("dedup.rules", rules), ("limits.patience", "1m")];
            let all: Vec<_> = basic.iter().chain(more).copied().chain([("politeness.delay", "1ms")]).collect();
            crawl_with(fetch.clone(), &clock, dir.path(), &["http://s.test/".to_owned()], &settings(&all)?)
        };
        let of_living = || -> BTreeSet<String> {
            let asked = fetch.asked().into_iter().map(|(_, url)| url);
            let living = asked.filter(|url| url.host_str() == Some("b.test") && url.path().starts_with("/p"));
            living.map(|url| url.path().to_owned()).collect()
        };
        run(&[])?;
        assert!(of_living().len() as u64 <= PAGES - 15, "most links of the mirror are held: {:?}", of_living());
        for number in 2..=5 {
            round.store(number, Ordering::Relaxed);
            clock.skip_to(clock.now() + 2 * DAY);
            let crawled = run(&[("fetch.recrawl", "true")])?;
            if number == 5 {
                let held: Vec<&str> = crawled.skipped.iter().map(|line| text(line, "url")).collect();
                assert_eq!((of_living().len() as u64, held), (PAGES, vec![]), "rules: {rules}");
            }
        }
    }
    Ok(())
}
