//! Crawls that are run again: a page that was fetched before is not new, an unchanged page is called unchanged, and
//! work that was under way when a run ended is continued.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crawler::clock::Clock;
use crawler::demo::web::Answer;
use serde_json::Value;
use tests::background::Background;
use tests::crawl::{Crawled, crawl_with, lines, settings, text};
use tests::scripted::{Scripted, html, missing, moved, words};
use tests::site::{Noise, Sites};
use url::Url;

const MODES: [&str; 3] = ["drop", "demote", "keep"];

fn run(fetch: &Scripted, clock: &Clock, dir: &Path, seed: &str, keys: &[(&str, &str)]) -> anyhow::Result<Crawled> {
    crawl_with(fetch.clone(), clock, dir, &[seed.to_owned()], &settings(keys)?)
}

/// `report --json` of a crawl.
fn report(dir: &Path) -> anyhow::Result<Value> {
    let output = Command::new(env!("CARGO_BIN_EXE_crawl")).arg("report").arg(dir).arg("--json").output()?;
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Catches a judge that takes a page for new each time it is fetched: three crawls of three pages have three unique
/// pages, not nine. The requests here are not conditional: the server sends every page again.
#[test]
fn what_is_fetched_again_is_unchanged_and_not_unique() -> anyhow::Result<()> {
    for mode in MODES {
        let round = Arc::new(AtomicU64::new(1));
        let clock = Clock::at(1_700_000_000_000);
        let now = Arc::clone(&round);
        let fetch = Scripted::new(&clock, move |url, _| {
            let round = now.load(Ordering::Relaxed);
            match url.path() {
                "/" => html(format!(
                    "<p>{}</p><a href=/bytes>b</a> <a href=/content>c</a> <a href=/gone>g</a>",
                    words(1, 80)
                )),
                // Each time, the bytes differ and the words are the same.
                "/bytes" => html(format!("<!-- {round} --><p>{}</p>", words(2, 80))),
                // In the second round, the words differ.
                "/content" => html(format!("<p>{}</p>", words(if round == 2 { 30 } else { 3 }, 80))),
                _ => missing(),
            }
        });
        let dir = tempfile::tempdir()?;
        let keys = [("dedup.on-duplicate", mode)];
        run(&fetch, &clock, dir.path(), "http://a.test/", &keys)?;
        let mut crawled = None;
        for again in [2, 3] {
            round.store(again, Ordering::Relaxed);
            let keys = [keys[0], ("fetch.recrawl", "true")];
            crawled = Some(run(&fetch, &clock, dir.path(), "http://a.test/", &keys)?);
        }
        let Crawled { stats, pages, .. } = crawled.expect("two rounds");
        let told: Vec<(&str, &str, u64, Option<&str>)> = pages
            .iter()
            .filter(|page| page["status"] == 200)
            .map(|page| {
                let path = text(page, "url").trim_start_matches("http://a.test");
                (path, text(page, "verdict"), page["visit"].as_u64().unwrap_or(0), page["changed"].as_str())
            })
            .collect();
        let expected = [
            ("/", "unique", 1, None),
            ("/", "unchanged", 2, Some("no")),
            ("/", "unchanged", 3, Some("no")),
            ("/bytes", "unique", 1, None),
            ("/bytes", "unchanged", 2, Some("bytes")),
            ("/bytes", "unchanged", 3, Some("bytes")),
            ("/content", "unique", 1, None),
            ("/content", "unique", 2, Some("content")),
            // The content that it showed first was withdrawn when it changed. So this content is new again, and no
            // duplicate of itself.
            ("/content", "unique", 3, Some("content")),
        ];
        assert_eq!(told.iter().copied().collect::<BTreeSet<_>>(), expected.into_iter().collect(), "{mode}");
        assert_eq!((stats.unique, stats.unchanged, stats.exact, stats.near, stats.pages), (5, 4, 0, 0, 12), "{mode}");
        let report = report(dir.path())?;
        assert_eq!((&report["unique"], &report["unchanged"]), (&5.into(), &4.into()), "{mode}");
    }
    Ok(())
}

/// Catches the same mistake with the program and over HTTP, where the server answers 304.
#[test]
fn three_crawls_of_three_pages_have_three_unique_pages() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let page = |number| {
        format!("<title>{number}</title><p>{}</p><a href=1.html>a</a> <a href=2.html>b</a>", words(number, 60))
    };
    for (number, name) in ["index", "1", "2"].iter().enumerate() {
        std::fs::write(folder.path().join(format!("{name}.html")), page(number as u64))?;
    }
    for (noise, validators) in [(Noise::default(), true), (Noise { sessions: true, ..Noise::default() }, false)] {
        let sites = Arc::new(Sites::new([("a.test".to_owned(), folder.path().to_owned())], noise)?);
        let server = Background::start(|listener| Arc::clone(&sites).run(listener))?;
        let base = tempfile::tempdir()?;
        let dir = base.path().join("crawl");
        for round in 1..=3u64 {
            let mut crawl = Command::new(env!("CARGO_BIN_EXE_crawl"));
            crawl.arg("crawl").arg("--dir").arg(&dir).args(["--allow-private", "--delay", "0s", "--delay-factor", "0"]);
            crawl.args(["--address-delay", "0s", "--patience", "1s", "--connect-to", &server.connect_to(), "--quiet"]);
            if round > 1 {
                crawl.arg("--recrawl");
            }
            let output = crawl.arg("http://a.test/").output()?;
            assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
            let report = report(&dir)?;
            let counted = ["pages", "unique", "unchanged"].map(|field| report[field].as_u64().unwrap_or(0));
            assert_eq!(counted, [3 * round, 3, 3 * (round - 1)], "validators {validators}, round {round}: {report:#}");
        }
        let pages = lines(&dir, "pages.jsonl")?;
        // The third visit may ask for the whole page to see whether the server is honest. The secret of the crawl chooses
        // which pages it does this for.
        let not_modified =
            |visit: u64| pages.iter().filter(|page| page["visit"] == visit && page["status"] == 304).count();
        assert_eq!(not_modified(2), if validators { 3 } else { 0 });
        assert!(validators || not_modified(3) == 0, "no page has a validator");
    }
    Ok(())
}

/// Catches a held link that stays in the list of saved URLs although it was followed because of another page: each such
/// URL is fetched once, and is in no list of URLs that were not fetched.
#[test]
fn what_a_unique_page_links_to_is_no_longer_held() -> anyhow::Result<()> {
    for mode in ["drop", "demote"] {
        let clock = Clock::at(1_700_000_000_000);
        // A text with twelve links; four copies of it, each with two links that only copies have; and a long way to a
        // page that has all these links.
        let common: String = (0..12).map(|at| format!("<a href=/common/{at}>c</a> ")).collect();
        let rare = |copy: usize| format!("<a href=/rare/{}>r</a> <a href=/rare/{}>r</a>", 2 * copy, 2 * copy + 1);
        let all: String = (0..4).map(rare).collect();
        let fetch = Scripted::new(&clock, move |url, _| {
            let number: u64 = url.path().rsplit('/').next().and_then(|number| number.parse().ok()).unwrap_or(0);
            match url.path().split('/').nth(1).unwrap_or_default() {
                "" => html(format!("<p>{}</p><a href=/text/9>t</a> <a href=/way/1>w</a>", words(1, 60))),
                "text" => {
                    let copies: String = if number == 9 {
                        (0..4).map(|copy| format!("<a href=/text/{copy}>t</a> ")).collect()
                    } else {
                        rare(number as usize)
                    };
                    html(format!("<p>{}</p>{common}{copies}", words(2, 200)))
                }
                "way" if number < 8 => {
                    html(format!("<p>{}</p><a href=/way/{}>w</a>", words(10 + number, 60), number + 1))
                }
                "way" => html(format!("<p>{}</p>{all}", words(30, 60))),
                "common" => html(format!("<p>{}</p>", words(100 + number, 60))),
                "rare" => html(format!("<p>{}</p>", words(200 + number, 60))),
                _ => missing(),
            }
        });
        let dir = tempfile::tempdir()?;
        let crawled = run(&fetch, &clock, dir.path(), "http://a.test/", &[("dedup.on-duplicate", mode)])?;
        assert!(crawled.stats.near + crawled.stats.exact >= 4, "{mode}: there are copies: {:?}", crawled.stats);
        let mut times = BTreeMap::<&str, u32>::new();
        crawled.urls().into_iter().for_each(|url| *times.entry(url).or_default() += 1);
        for rare in 0..8 {
            assert_eq!(times.get(&*format!("http://a.test/rare/{rare}")), Some(&1), "{mode}");
        }
        assert!(times.values().all(|times| *times == 1), "{mode}: {times:?}");
        let held: Vec<&Value> = crawled.skipped.iter().filter(|line| text(line, "url").contains("/rare/")).collect();
        assert!(held.is_empty(), "{mode}: {held:?}");
        assert_eq!(crawled.stats.held, 0, "{mode}");
    }
    Ok(())
}

/// Catches a redirect to its own key (here one that sets a tracking parameter) that is lost if the crawl ends between
/// the two requests and another run continues it.
#[test]
fn a_redirect_to_its_own_key_survives_the_end_of_a_run() -> anyhow::Result<()> {
    for mode in MODES {
        let clock = Clock::at(1_700_000_000_000);
        let fetch = Scripted::new(&clock, |url, _| match (url.path(), url.query()) {
            ("/", None) => html("<a href=/a>a</a>"),
            ("/a", None) => moved("/a?utm_source=own"),
            ("/a", Some(_)) => html(format!("<p>{}</p>", words(1, 80))),
            _ => missing(),
        });
        let dir = tempfile::tempdir()?;
        let keys = [("dedup.on-duplicate", mode)];
        run(&fetch, &clock, dir.path(), "http://a.test/", &[keys[0], ("limits.max-pages", "2")])?;
        assert_eq!(fetch.times("http://a.test/a?utm_source=own"), 0, "{mode}: the first run ended before it");
        let crawled = run(&fetch, &clock, dir.path(), "http://a.test/", &[keys[0], ("limits.max-pages", "0")])?;
        assert_eq!(fetch.times("http://a.test/a?utm_source=own"), 1, "{mode}: {:?}", crawled.urls());
    }
    Ok(())
}

/// Catches links that are lost, or counted twice, when a crawl is continued in another mode.
#[test]
fn a_crawl_that_changes_its_mode_fetches_what_keep_fetches() -> anyhow::Result<()> {
    let answer = |url: &Url, _: usize| -> Answer {
        let Some(number) = url.path().strip_prefix("/p").map_or(Some(0), |number| number.parse::<u64>().ok()) else {
            return missing();
        };
        if url.path().starts_with("/copy/") {
            return html(format!("<p>{}</p>", words(0, 90)));
        }
        let copies = number > 0 && number.is_multiple_of(3);
        let next =
            [2 * number + 1, 2 * number + 2].into_iter().filter(|next| *next < 40).map(|next| format!("/p{next}"));
        // Every third page says what page 0 says, and links to more pages that do.
        let more = (0..if copies { 6 } else { 0 }).map(|more| format!("/copy/{number}-{more}"));
        let links: String = next.chain(more).map(|to| format!("<a href={to}>n</a> ")).collect();
        html(format!("<p>{}</p>{links}", words(if copies { 0 } else { number }, 90)))
    };
    const ALL: usize = 40 + 13 * 6;
    for second in ["demote", "keep"] {
        let clock = Clock::at(1_700_000_000_000);
        let fetch = Scripted::new(&clock, answer);
        let dir = tempfile::tempdir()?;
        let strict = [("dedup.on-duplicate", "drop"), ("dedup.rescue", "0%")];
        let first = run(&fetch, &clock, dir.path(), "http://a.test/", &strict)?;
        assert!(first.stats.exact > 0 && first.pages.len() < ALL, "{:?}", first.stats);
        let crawled = run(&fetch, &clock, dir.path(), "http://a.test/", &[("dedup.on-duplicate", second)])?;
        let urls: BTreeSet<&str> = crawled.urls().into_iter().collect();
        assert_eq!((urls.len(), crawled.pages.len()), (ALL, ALL), "drop, then {second}");
        assert_eq!(crawled.skipped.len(), 0, "drop, then {second}");
    }
    Ok(())
}
