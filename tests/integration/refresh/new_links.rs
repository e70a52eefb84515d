//! Pages that list new pages at each visit.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crawler::clock::Clock;
use tests::crawl::{Crawled, crawl_with, settings};
use tests::scripted::{Scripted, html, missing, words};

use super::DAY;

const SECTIONS: u64 = 3;
const ARTICLES: u64 = 60;
/// The articles that change each day.
const DAILY: u64 = 30;

/// A section on a day: teasers and links of the articles of the last ten days, two new ones each day.
fn section(number: u64, day: u64) -> String {
    let teasers: String = (2 * day.saturating_sub(10)..2 * day)
        .map(|article| {
            let teaser = words(10_000 * number + article, 20);
            format!("<p>{teaser} <a href=/n{number}-{article}>more</a></p>")
        })
        .collect();
    format!("<title>section {number}</title><p>{}</p>{teasers}", words(number, 40))
}

/// Catches rounds that visit everything else first, because a page that changes each day is not fresh for long.
#[test]
fn pages_that_list_new_pages_come_first() -> anyhow::Result<()> {
    let (today, clock) = (Arc::new(AtomicU64::new(10)), Clock::at(1_700_000_000_000));
    let day = Arc::clone(&today);
    let fetch = Scripted::new(&clock, move |url, _| {
        let (path, day) = (url.path(), day.load(Ordering::Relaxed));
        let number = |prefix: &str| path.strip_prefix(prefix).and_then(|number| number.parse::<u64>().ok());
        if path == "/" {
            let sections = (0..SECTIONS).map(|number| format!("<a href=/s{number}>section</a> "));
            let articles = (0..ARTICLES).map(|number| format!("<a href=/p{number}>article</a> "));
            let links: String = articles.chain(sections).collect();
            return html(format!("<title>front</title><p>{}</p>{links}", words(1, 80)));
        }
        match (number("/s"), number("/p"), path.strip_prefix("/n")) {
            (Some(number), ..) => html(section(number, day)),
            (_, Some(number), _) => {
                let version = if number < DAILY { day } else { 0 };
                html(format!("<title>article</title><p>{}</p>", words(1_000 * number + version, 150)))
            }
            (.., Some(name)) => html(format!("<title>news</title><p>{}</p>", words(name.len() as u64, 9))),
            _ => missing(),
        }
    });
    let dir = tempfile::tempdir()?;
    let run = |more: &[(&str, &str)]| -> anyhow::Result<Crawled> {
        let all = [&[("politeness.delay", "1ms")], more].concat();
        crawl_with(fetch.clone(), &clock, dir.path(), &["http://a.test/".to_owned()], &settings(&all)?)
    };
    run(&[])?;
    for round in 1..=6 {
        today.fetch_add(1, Ordering::Relaxed);
        clock.skip_to(clock.now() + DAY);
        let from = fetch.asked().len();
        run(&[("fetch.recrawl", "true")])?;
        let asked: Vec<String> = fetch.asked()[from..].iter().map(|(_, url)| url.path().to_owned()).collect();
        let visits = asked.iter().filter(|path| !path.starts_with("/n") && *path != "/robots.txt");
        let places: Vec<usize> =
            visits.enumerate().filter(|(_, path)| path.starts_with("/s")).map(|(at, _)| at).collect();
        assert_eq!(places.len() as u64, SECTIONS, "round {round}: {asked:?}");
        assert!(round < 3 || places.iter().all(|place| *place < 6), "round {round}: {places:?} in {asked:?}");
    }
    Ok(())
}
