//! The wait of pages for the `tdmrep.json` of their origin: no page is fetched before it is known what the file says.

use crawler::clock::Clock;
use crawler::demo::web::Answer;
use tests::crawl::{Crawled, crawl_with, settings, text};
use tests::scripted::{Scripted, html, missing, words};

const START: u64 = 1_700_000_000_000;
const FILE: &str = "/.well-known/tdmrep.json";

/// The number of pages of a site, all of them seeds.
const PAGES: usize = 800;

/// Crawls a site that reserves `/mined/`. `failures`: how often its server fails before it shows the file. Returns the
/// crawl, and the paths that were asked for.
fn crawl(
    seeds: &[String],
    more: &[(&str, &str)],
    failures: usize,
    also: &'static [&'static str],
) -> anyhow::Result<(Crawled, Vec<String>)> {
    let (clock, dir) = (Clock::at(START), tempfile::tempdir()?);
    let fetch = Scripted::new(&clock, move |url, before| match url.path() {
        "/robots.txt" => missing(),
        FILE if before < failures => Answer { status: 500, ..html("") },
        FILE => {
            let rules = format!(r#"[{{"location": "/mined/", "tdm-reservation": 1}}{}]"#, also.concat());
            Answer { content_type: "application/json", ..html(rules) }
        }
        path => html(format!("<p>{}</p>", words(path.len() as u64 * 31 + u64::from(path.as_bytes()[1]), 80))),
    });
    let keys = [&[("access.purpose", "mine"), ("dedup.rules", "false"), ("limits.patience", "1h")], more].concat();
    let crawled = crawl_with(fetch.clone(), &clock, dir.path(), seeds, &settings(&keys)?)?;
    Ok((crawled, fetch.asked().into_iter().map(|(_, url)| url.path().to_owned()).collect()))
}

/// Checks that the file was asked for before any page, and that nothing was fetched that it reserves.
fn check(crawled: &Crawled, asked: &[String], requests: usize) {
    let mined: Vec<_> = asked.iter().filter(|path| path.starts_with("/mined/")).collect();
    assert!(mined.is_empty(), "{} reserved pages were fetched: {:?} …", mined.len(), mined.first());
    let first: Vec<_> = asked.iter().filter(|path| *path != "/robots.txt").take(requests).collect();
    assert!(first.len() == requests && first.iter().all(|path| *path == FILE), "asked for first: {first:?}");
    assert_eq!(asked.iter().filter(|path| *path == FILE).count(), requests);
    for skipped in &crawled.skipped {
        assert_eq!(text(skipped, "reason"), "purpose", "{skipped}");
    }
}

/// Catches a crawler that gives up the wait for the file after a number of looks: with so many seeds, the file is not
/// fetched before.
#[test]
fn pages_wait_for_the_reservations_of_their_site_however_many_they_are() -> anyhow::Result<()> {
    // The pages of the second folder stand in the same queue as the file.
    const ALSO: &[&str] = &[r#", {"location": "/.well-known/mined/", "tdm-reservation": 1}"#];
    for (delay, folder) in [("0s", "/mined"), ("30s", "/mined"), ("0s", "/.well-known/mined")] {
        let seeds: Vec<_> = (0..PAGES).map(|n| format!("http://c.test{folder}/{n}")).collect();
        let (crawled, asked) = crawl(&seeds, &[("politeness.delay", delay)], 0, ALSO)?;
        check(&crawled, &asked, 1);
        assert!(asked.iter().all(|path| !path.starts_with(folder)));
        assert_eq!((crawled.pages.len(), crawled.skipped.len()), (0, PAGES), "{folder}, with a delay of {delay}");
    }
    Ok(())
}

/// Catches a file that stands in a queue with pages that wait for it, and so is never fetched: a host has a bounded
/// number of queues, and the file may have to share one.
#[test]
fn the_reservations_are_read_although_the_site_has_many_folders() -> anyhow::Result<()> {
    const ALSO: &[&str] = &[r#", {"location": "/f*/mined", "tdm-reservation": 1}"#];
    let folders = (0..PAGES).map(|n| format!("http://c.test/f{n}/{}", if n % 2 == 0 { "mined" } else { "open" }));
    let (crawled, asked) = crawl(&folders.collect::<Vec<_>>(), &[], 0, ALSO)?;
    check(&crawled, &asked, 1);
    assert!(asked.iter().all(|path| !path.ends_with("/mined")));
    assert_eq!((crawled.pages.len(), crawled.skipped.len()), (PAGES / 2, PAGES / 2));
    Ok(())
}

/// Catches pages that are fetched while the file waits for another attempt, and pages that wait for a file that was
/// given up.
#[test]
fn pages_wait_until_the_file_was_answered_or_given_up() -> anyhow::Result<()> {
    let seeds: Vec<_> = ["mined/1", "mined/2", "open/1"].map(|path| format!("http://c.test/{path}")).into();
    for delay in ["0s", "30s", "10m"] {
        let more = [("politeness.delay", delay), ("politeness.attempts", "3")];
        let (crawled, asked) = crawl(&seeds, &more, 2, &[])?;
        check(&crawled, &asked, 3);
        assert_eq!((crawled.pages.len(), crawled.skipped.len()), (1, 2), "with a delay of {delay}");
        // The server never shows the file, so nothing is known to be reserved.
        let (crawled, asked) = crawl(&seeds, &more, usize::MAX, &[])?;
        assert_eq!((crawled.pages.len(), crawled.skipped.len()), (3, 0), "with a delay of {delay}: {asked:?}");
    }
    Ok(())
}
