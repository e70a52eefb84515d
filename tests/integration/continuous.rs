//! Crawls without end, on a clock that the tests move: months pass in seconds. The tests judge by the list of requests
//! with their times.

mod program;
mod reach;

use std::collections::BTreeMap;

use crawler::clock::Clock;
use crawler::engine::StopReason;
use serde_json::Value;
use tests::crawl::{Crawled, crawl_with, settings, text};
use tests::scripted::{Scripted, html, missing, words};

const START: u64 = 1_700_000_000_000;
const HOUR: u64 = 3_600_000;
const DAY: u64 = 24 * HOUR;

/// The result of a crawl that ran for some time on its own clock, and the times of the requests for each path.
struct Ran {
    crawled: Crawled,
    asked: BTreeMap<String, Vec<u64>>,
    /// The times of all requests, also for robots.txt.
    times: Vec<u64>,
}

/// Crawls `http://a.test/` without end until the time is over. `shows` gives the answer of a path at a time since the
/// start.
fn run(
    time: &str,
    more: &[(&str, &str)],
    shows: impl Fn(&str, u64) -> crawler::demo::web::Answer + Send + Sync + 'static,
) -> anyhow::Result<Ran> {
    let (clock, dir) = (Clock::at(START), tempfile::tempdir()?);
    let now = clock.clone();
    let fetch = Scripted::new(&clock, move |url, _| match url.path() {
        "/robots.txt" => missing(),
        path => shows(path, now.now() - START),
    });
    let basic = [("refresh.continuous", "true"), ("politeness.delay", "1s"), ("limits.time-limit", time)];
    let all: Vec<_> = basic.iter().chain(more).copied().collect();
    let crawled = crawl_with(fetch.clone(), &clock, dir.path(), &["http://a.test/".to_owned()], &settings(&all)?)?;
    let mut asked = BTreeMap::<String, Vec<u64>>::new();
    let log = fetch.asked();
    for (at, url) in &log {
        asked.entry(url.path().to_owned()).or_default().push(at - START);
    }
    Ok(Ran { crawled, asked, times: log.into_iter().map(|(at, _)| at).collect() })
}

impl Ran {
    fn of(&self, path: &str) -> &[u64] {
        self.asked.get(path).map_or(&[], Vec::as_slice)
    }

    fn assert_polite(&self, delay: u64) {
        for (one, next) in self.times.iter().zip(&self.times[1..]) {
            assert!(next - one >= delay, "two requests within {} ms", next - one);
        }
    }
}

fn page(number: u64) -> String {
    format!("<title>{number}</title><p>{}</p>", words(number, 100))
}

/// A front page that links to pages 1 to 12, to copies of 1 to 6, and from day 5 on to a page that is new then. Page 1
/// changes each day, page 2 changes at day 10, page 3 goes away at day 6. The other pages stay as they are.
fn site(path: &str, at: u64) -> crawler::demo::web::Answer {
    let day = at / DAY;
    let of = |number: u64| match number {
        1 => html(page(10_000 + day)),
        2 if day >= 10 => html(page(20_000)),
        number => html(page(number)),
    };
    let number = |prefix: &str| path.strip_prefix(prefix).and_then(|number| number.parse::<u64>().ok());
    match path {
        "/" => {
            let links: String = (1..=12).map(|n| format!("<a href=/p{n}>{n}</a> ")).collect();
            let copies: String = (1..=6).map(|n| format!("<a href=/c{n}>again {n}</a> ")).collect();
            let new = if day >= 5 { "<a href=/new>new</a>" } else { "" };
            html(format!("<p>{}</p>{links}{copies}{new}", words(0, 80)))
        }
        "/new" if day >= 5 => html(page(99)),
        "/p3" if day >= 6 => missing(),
        _ => match (number("/p"), number("/c")) {
            (Some(number), _) if (1..=12).contains(&number) => of(number),
            (_, Some(number)) if (1..=6).contains(&number) => of(number),
            _ => missing(),
        },
    }
}

/// Catches a crawl that ends when its queue is empty, one that never finds new pages, and one that visits copies or
/// pages that never change as often as pages that change.
#[test]
fn it_goes_on_and_sees_what_changes() -> anyhow::Result<()> {
    let ran = run("30d", &[("dedup.rules", "false")], site)?;
    assert_eq!(ran.crawled.reason, StopReason::TimeLimit, "it does not end by itself");
    ran.assert_polite(1_000);
    let new = ran.of("/new").first().copied().expect("a link that came later is followed");
    assert!((5 * DAY..7 * DAY).contains(&new), "found on day {}", new / DAY);
    let (often, seldom) = (ran.of("/p1").len(), ran.of("/p9").len());
    assert!(often >= 60 && often > 3 * seldom, "{often} visits to what changes daily, {seldom} to what never does");
    let last = |path: &str| {
        let url = format!("http://a.test{path}");
        ran.crawled.pages.iter().rfind(|page| text(page, "url") == url).cloned().unwrap_or(Value::Null)
    };
    let changes = ran
        .crawled
        .pages
        .iter()
        .filter(|page| text(page, "url") == "http://a.test/p1" && text(page, "changed") == "content");
    assert!(changes.count() >= 25, "of 29 changes of a page that changes daily");
    assert_eq!(last("/p3")["status"], 404);
    let copies: usize = (2..=6).filter(|n| *n != 3).map(|n| ran.of(&format!("/c{n}")).len()).sum();
    let originals: usize = (2..=6).filter(|n| *n != 3).map(|n| ran.of(&format!("/p{n}")).len()).sum();
    assert!(4 * copies < originals, "copies are trusted: {copies} visits, and {originals} to their originals");
    assert!(ran.of("/c3").len() > 5, "a page that is gone is replaced by its copy");
    let stats = &ran.crawled.stats;
    let round = stats.round.as_ref().expect("visits were counted");
    assert!(round.continuous && round.replaced == 1 && round.saved > 20, "{round:?}");
    let freshness = stats.freshness.as_ref().expect("a survey was made");
    assert!(freshness.fresh > 0.9 && freshness.pages >= 17, "{freshness:?}");
    Ok(())
}

/// Catches a page that is visited more often or more seldom than the user allows, also a copy.
#[test]
fn ages_bound_every_page() -> anyhow::Result<()> {
    let (min_age, max_age) = (350 * HOUR / 60, 12 * HOUR);
    let bounds = [("refresh.min-age", "350m"), ("refresh.max-age", "12h"), ("dedup.rules", "false")];
    let ran = run("10d", &bounds, site)?;
    ran.assert_polite(1_000);
    for (path, times) in ran.asked.iter().filter(|(path, _)| *path != "/robots.txt") {
        let is_gone = ["/p3", "/c3"].contains(&path.as_str());
        for (one, next) in times.iter().zip(&times[1..]) {
            assert!(next - one >= min_age - 1_000, "{path}: again after {} s", (next - one) / 1_000);
            // Requests wait for each other. All of them together take less than a minute.
            assert!(is_gone || next - one <= max_age + HOUR / 60, "{path}: only after {} s", (next - one) / 1_000);
        }
        let last = times.last().copied().unwrap_or(0);
        assert!(is_gone || last >= 10 * DAY - max_age - HOUR / 60, "{path}: last asked for at {last}");
    }
    Ok(())
}

/// A web without end: each page links to five more. All pages change each quarter of an hour.
fn endless(path: &str, at: u64) -> crawler::demo::web::Answer {
    let number: u64 = path.strip_prefix("/n").and_then(|number| number.parse().ok()).unwrap_or(0);
    let links: String = (1..=5).map(|n| format!("<a href=/n{}>{n}</a> ", 5 * number + n)).collect();
    html(format!("<p>{}</p>{links}", words(number + 1_000_000 * (4 * at / HOUR), 100)))
}

/// Catches a crawl that makes no visits because there is always a new page, and one that fetches no new page because
/// there is always a visit. Without bounds, the worth of a fetch decides: a page that was never seen is worth more.
#[test]
fn visits_and_new_urls_have_their_shares() -> anyhow::Result<()> {
    let shares = |share: &str| -> anyhow::Result<f64> {
        let ran =
            run("40m", &[("refresh.share", share), ("dedup.rules", "false"), ("refresh.min-gain", "1m")], endless)?;
        ran.assert_polite(1_000);
        let again = ran.crawled.pages.iter().filter(|page| page["visit"].as_u64() > Some(1)).count();
        Ok(again as f64 / ran.crawled.pages.len() as f64)
    };
    let fixed = shares("30%")?;
    assert!((fixed - 0.3).abs() < 0.03, "{fixed}");
    let least = shares("10%..90%")?;
    assert!((0.07..0.2).contains(&least), "{least}");
    let none = shares("0%..100%")?;
    assert!(none < 0.02, "{none}");
    Ok(())
}

/// Catches a crawl that asks again and again for pages that cost more than they bring.
#[test]
fn what_never_changes_is_left_alone() -> anyhow::Result<()> {
    let ran = run("100d", &[("dedup.rules", "false")], |path, _| site(path, 0))?;
    let (first, last): (Vec<u64>, Vec<u64>) = ran.times.iter().map(|at| at - START).partition(|at| *at < 50 * DAY);
    assert!(last.len() < first.len(), "{} requests, then {}", first.len(), last.len());
    let visits = ran.of("/p9").len();
    assert!((3..100).contains(&visits), "{visits} visits in 100 days to a page that never changes");
    Ok(())
}
