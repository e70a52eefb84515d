//! Sites without end whose pages say little: the days of an empty calendar, and apologies in other words each time. The
//! judge finds no duplicate among them, and no rule stops them. The automatic ceiling gives them a falling share of the
//! fetches.

use crawler::clock::Clock;
use crawler::demo::web::Answer;
use tests::crawl::{Crawled, crawl_with, settings};
use tests::scripted::{Scripted, html, missing, words};
use url::Url;

/// The number of requests that fit into the time limit at a delay of one second.
const MOST: u64 = 12_000;

/// Each page links to the next two.
fn answer(url: &Url) -> Answer {
    let (host, path) = (url.host_str().unwrap_or_default(), url.path());
    let number: u64 = match path {
        "/" => 0,
        path => match path.strip_prefix("/day/").and_then(|number| number.parse().ok()) {
            Some(number) => number,
            None => return missing(),
        },
    };
    let text = match host {
        "calendar.test" => format!("<title>Day {number}</title><p>No events on this day."),
        "sorry.test" => format!("<title>{0}</title><p>{1}", words(number, 3), words(number, 40)),
        // The control.
        _ => format!("<title>{0}</title><p>{1}", words(number, 3), words(number, 100)),
    };
    html(format!("{text} <a href=/day/{}>next</a> <a href=/day/{}>after that</a>", number + 1, number + 2))
}

fn crawl(host: &str, mode: &str) -> anyhow::Result<Crawled> {
    let (clock, dir) = (Clock::at(1_700_000_000_000), tempfile::tempdir()?);
    let web = Scripted::new(&clock, |url, _| answer(url));
    let settings = settings(&[
        ("dedup.on-duplicate", mode),
        ("politeness.delay", "1s"),
        ("limits.patience", "10m"),
        ("limits.time-limit", &format!("{MOST}s")),
    ])?;
    crawl_with(web, &clock, dir.path(), &[format!("http://{host}/")], &settings)
}

/// Catches a ceiling that counts only pages with enough text to be compared, or only text that other pages also have,
/// and a budget that pages which say little do not spend.
#[test]
fn a_site_without_end_whose_pages_say_little_gets_a_falling_share() -> anyhow::Result<()> {
    // With the ceiling, it is about 5,000 · √(2 · 2.4 − 1) = 9,747. In `drop`, one in four of the pages of the calendar
    // also spends the budget of 1,000.
    let (held, spent, free) = (9_600..9_900, 3_700..4_500, MOST - 100..MOST + 1);
    for (host, mode, expected) in [
        ("calendar.test", "keep", held.clone()),
        ("calendar.test", "drop", spent),
        ("sorry.test", "keep", held),
        ("articles.test", "drop", free),
    ] {
        let pages = crawl(host, mode)?.stats.pages;
        println!("{host}, {mode}: {pages} pages");
        assert!(expected.contains(&pages), "{host}, {mode}: {pages} pages");
    }
    Ok(())
}

/// Catches a folder whose first pages were copies, and that then waits for ever beside a section without end: nobody
/// learns that its other pages are new.
#[test]
fn new_pages_behind_copies_come_beside_a_section_without_end() -> anyhow::Result<()> {
    let list = |folder: &str, count: u64| -> String {
        (0..count).map(|at| format!("<a href=/{folder}/{at}>{}</a> ", words(at, 3))).collect()
    };
    let answer = move |url: &Url| -> Answer {
        let path: Vec<&str> = url.path().split('/').skip(1).collect();
        match (path[0], path.get(1).and_then(|number| number.parse::<u64>().ok())) {
            ("", None) => html(format!(
                "<p>{}</p>{}{}<a href=/days/0>days</a>",
                words(1, 80),
                list("old", 20),
                list("articles", 320)
            )),
            // The first articles are copies of the old ones.
            ("old" | "articles", Some(at)) => html(format!("<p>{}</p>", words(10 + at, 250))),
            ("days", Some(at)) => html(format!(
                "<p>{}</p><a href=/days/{}>a</a> <a href=/days/{}>b</a>",
                words(10_000 + at, 40),
                2 * at + 1,
                2 * at + 2
            )),
            _ => missing(),
        }
    };
    let (clock, dir) = (Clock::at(1_700_000_000_000), tempfile::tempdir()?);
    let web = Scripted::new(&clock, move |url, _| answer(url));
    let settings = settings(&[("limits.max-pages", "4000"), ("politeness.delay", "1s"), ("limits.patience", "10m")])?;
    let crawled = crawl_with(web, &clock, dir.path(), &["http://a.test/".to_owned()], &settings)?;
    let articles = crawled.urls().iter().filter(|url| url.contains("/articles/")).count();
    println!("{articles} of 320 articles");
    assert!(articles >= 100, "{articles} of 320 articles");
    Ok(())
}
