//! What sitemaps say about changes. An honest sitemap is used, one that lies is not believed, and one that says nothing
//! changes nothing. The tests judge by the log of requests.

use std::time::{Duration, UNIX_EPOCH};

use crawler::clock::Clock;
use crawler::demo::web::Answer;
use frontier::refresh::settings::Settings;
use tests::crawl::{crawl_with, settings};
use tests::freshness::changes::Pattern;
use tests::freshness::ours::Ours;
use tests::freshness::run::run;
use tests::freshness::sitemaps::{Lastmod, WithSitemaps};
use tests::freshness::web::{Web, WebSpec};
use tests::scripted::{Scripted, html, missing, words};

const START: u64 = 1_700_000_000_000;
const HOUR: u64 = 3_600_000;
const DAY: u64 = 24 * HOUR;

/// Catches a scheduler that ignores what a sitemap says, and one that believes a sitemap that always says "now".
#[test]
fn in_a_synthetic_web_an_honest_sitemap_keeps_pages_fresher_and_a_lying_one_does_no_harm() {
    // If there are few fetches, it matters most to know which pages have changed.
    for (budget, better) in [(0.05, 0.03), (0.2, 0.0)] {
        for seed in 11..14 {
            let pattern = Pattern::Poisson;
            let web =
                Web::new(WebSpec { pages: 600, hosts: 10, copies: 0.0, lying: 0.0, pattern, deviation: 2.5, seed });
            let fresh = |lastmod| {
                let settings = Settings { budget: budget * web.pages.len() as f32, ..Settings::default() };
                let mut policy = WithSitemaps::new(&web, Ours::new(&web, settings), lastmod);
                run(&web, f64::from(budget), &mut policy).freshness
            };
            let [honest, lying, silent] = [Lastmod::Honest, Lastmod::Lying, Lastmod::Silent].map(fresh);
            let found =
                format!("budget {budget}, seed {seed}: honest {honest:.3}, lying {lying:.3}, silent {silent:.3}");
            println!("{found}");
            assert!(honest > silent + better, "{found}");
            assert!(lying > silent - 0.015, "{found}");
        }
    }
}

/// The number of pages of a host.
const PAGES: u64 = 12;

/// The time of the last change of a page. Pages 1 to 4 change every six days, each at its own time. The others never
/// change.
fn changed(number: u64, at: u64) -> u64 {
    let first = number * 30 * HOUR;
    if number > 4 || at < first { 0 } else { at - (at - first) % (6 * DAY) }
}

/// The hosts a.test (honest), l.test (lying) and s.test (silent). All have the same pages, each host with its own
/// words.
fn site(host: &str, path: &str, at: u64) -> Answer {
    let page = |number: u64| format!("http://{host}/p{number}");
    match path {
        "/robots.txt" => Answer {
            content_type: "text/plain",
            ..html(format!("User-agent: *\nDisallow:\nSitemap: http://{host}/sitemap.xml\n"))
        },
        "/sitemap.xml" => {
            let date = |at: u64| httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_millis(START + at));
            let entries: String = (1..=PAGES)
                .map(|number| {
                    let lastmod = match host {
                        "a.test" => format!("<lastmod>{}</lastmod>", date(changed(number, at))),
                        "l.test" => format!("<lastmod>{}</lastmod>", date(at)),
                        _ => String::new(),
                    };
                    format!("<url><loc>{}</loc>{lastmod}</url>", page(number))
                })
                .collect();
            Answer { content_type: "text/xml", ..html(format!("<urlset>{entries}</urlset>")) }
        }
        "/" => {
            let links: String = (1..=PAGES).map(|n| format!("<a href={}>{n}</a> ", page(n))).collect();
            html(format!("<p>{}</p>{links}", words(host.len() as u64 + u64::from(host.as_bytes()[0]), 80)))
        }
        _ => match path.strip_prefix("/p").and_then(|number| number.parse::<u64>().ok()) {
            Some(number) if (1..=PAGES).contains(&number) => {
                let of_host = u64::from(host.as_bytes()[0]) << 48;
                html(format!("<p>{}</p>", words(of_host | number << 40 | (changed(number, at) / HOUR), 100)))
            }
            _ => missing(),
        },
    }
}

/// Catches a crawl that counts a sitemap as failed although it was read later.
#[test]
fn a_sitemap_that_failed_and_was_read_later_has_not_failed() -> anyhow::Result<()> {
    let (clock, dir) = (Clock::at(START), tempfile::tempdir()?);
    let now = clock.clone();
    let fetch = Scripted::new(&clock, move |url, _| match url.path() {
        "/sitemap.xml" if now.now() - START < 2 * DAY => Answer { status: 500, ..html("") },
        "/sitemap.xml" if now.now() - START < 6 * DAY => html("<!DOCTYPE html><title>Sorry</title><p>Come back later."),
        path => site("s.test", path, 0),
    });
    let crawl = |days: &str| -> anyhow::Result<u64> {
        let keys = [("refresh.continuous", "true"), ("scope.sitemaps", "true"), ("limits.time-limit", days)];
        let seeds = ["http://s.test/".to_owned()];
        Ok(crawl_with(fetch.clone(), &clock, dir.path(), &seeds, &settings(&keys)?)?.stats.sitemaps_failed)
    };
    assert_eq!((crawl("1d")?, crawl("4d")?, crawl("30d")?), (1, 1, 0), "an error, a page, and a sitemap");
    Ok(())
}

/// Catches a crawl that ignores sitemaps, one that believes the sitemap that lies, and one that forgets what it has
/// learned when it is stopped.
#[test]
fn what_an_honest_sitemap_tells_is_fetched_soon_and_the_rest_seldom() -> anyhow::Result<()> {
    let (clock, dir) = (Clock::at(START), tempfile::tempdir()?);
    let now = clock.clone();
    let fetch =
        Scripted::new(&clock, move |url, _| site(url.host_str().unwrap_or_default(), url.path(), now.now() - START));
    let seeds = ["a", "l", "s"].map(|host| format!("http://{host}.test/"));
    let settings = settings(&[
        ("refresh.continuous", "true"),
        ("refresh.min-gain", "2h"),
        ("scope.sitemaps", "true"),
        ("politeness.delay", "1s"),
        ("limits.time-limit", "40d"),
        ("dedup.rules", "false"),
    ])?;
    crawl_with(fetch.clone(), &clock, dir.path(), &seeds, &settings)?;
    let stopped = clock.now() - START;
    crawl_with(fetch.clone(), &clock, dir.path(), &seeds, &settings)?;
    let (ended, asked) = (clock.now() - START, fetch.asked());

    let visits = |host: &str, pages: std::ops::RangeInclusive<u64>| {
        let is_meant = |url: &url::Url| {
            let number = url.path().strip_prefix("/p").and_then(|number| number.parse::<u64>().ok());
            url.host_str() == Some(host) && number.is_some_and(|number| pages.contains(&number))
        };
        asked.iter().filter(|(at, url)| at - START > stopped && is_meant(url)).count()
    };
    let [honest, lying, silent] = ["a.test", "l.test", "s.test"].map(|host| visits(host, 1..=PAGES));
    println!("visits from day 40 to day 80: honest {honest}, lying {lying}, silent {silent}");
    assert!(5 * honest < 4 * silent, "honest {honest}, silent {silent}");
    assert!(5 * lying > 4 * silent && 4 * lying < 5 * silent, "lying {lying}, silent {silent}");

    // The next reading of the sitemap brings the change.
    let of = |url: &str| -> Vec<u64> {
        asked.iter().filter(|(_, asked)| asked.as_str() == url).map(|(at, _)| at - START).collect()
    };
    let read = of("http://a.test/sitemap.xml");
    let (mut told, mut late) = (0, 0);
    for number in 1..=4 {
        let visits = of(&format!("http://a.test/p{number}"));
        let mut change = changed(number, stopped) + 6 * DAY;
        while change + 2 * DAY < ended {
            let tells = read.iter().find(|at| **at >= change).copied().unwrap_or(change);
            told += 1;
            late += u32::from(!visits.iter().any(|at| (change..tells + HOUR).contains(at)));
            change += 6 * DAY;
        }
    }
    println!("of {told} changes {late} were seen late");
    assert!(told >= 20 && late * 10 <= told, "{late} of {told} changes were seen late");
    Ok(())
}
