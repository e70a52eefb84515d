//! Sitemaps and feeds are visited on their own: they are read more often if they bring more. The tests judge by the log
//! of requests.

use std::time::{Duration, UNIX_EPOCH};

use crawler::clock::Clock;
use crawler::demo::web::Answer;
use tests::crawl::{Crawled, crawl_with, settings, text};
use tests::scripted::{Scripted, html, missing, moved, words};
use tests::told::{self, Told};
use url::Url;

const START: u64 = 1_700_000_000_000;
const HOUR: u64 = 3_600_000;
const DAY: u64 = 24 * HOUR;
const DELAY: u64 = 1_000;

fn date(at: u64) -> String {
    httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_millis(START + at))
}

fn xml(body: String) -> Answer {
    Answer { content_type: "text/xml", ..html(body) }
}

fn page(number: u64) -> Answer {
    html(format!("<title>{number}</title><p>{}</p>", words(number, 100)))
}

/// The pages that are listed at a time: one more each day.
fn listed(at: u64) -> std::ops::RangeInclusive<u64> {
    1..=at / DAY + 1
}

fn sitemap(numbers: impl Iterator<Item = u64>) -> Answer {
    let entries: String = numbers.map(|number| format!("<url><loc>/p{number}</loc></url>")).collect();
    xml(format!("<urlset>{entries}</urlset>"))
}

/// A feed that is built anew for each request, with the same items.
fn feed(numbers: impl Iterator<Item = u64>, at: u64) -> Answer {
    let item = |number| format!("<item><link>/p{number}</link><pubDate>{}</pubDate></item>", date(number * DAY));
    let items: String = numbers.map(item).collect();
    let body = format!("<rss><channel><lastBuildDate>{}</lastBuildDate>{items}</channel></rss>", date(at));
    Answer { content_type: "application/rss+xml", ..html(body) }
}

/// The result of a crawl that ran for some time on its own clock, and the times of the requests for each path.
struct Ran {
    crawled: Crawled,
    asked: Vec<(u64, Url)>,
}

fn run(
    time: &str,
    more: &[(&str, &str)],
    shows: impl Fn(&str, u64) -> Answer + Send + Sync + 'static,
) -> anyhow::Result<Ran> {
    let (clock, dir) = (Clock::at(START), tempfile::tempdir()?);
    let now = clock.clone();
    let fetch = Scripted::new(&clock, move |url, _| match (url.path(), now.now() - START) {
        ("/robots.txt", _) => {
            let body = "User-agent: *\nDisallow:\nSitemap: http://a.test/sitemap.xml\n";
            Answer { content_type: "text/plain", ..html(body) }
        }
        ("/", _) => html(format!("<link rel=alternate type=application/rss+xml href=/feed><p>{}</p>", words(0, 80))),
        (path, at) => match path.strip_prefix("/p").and_then(|number| number.parse().ok()) {
            Some(number) if listed(at).contains(&number) => page(number),
            Some(_) => missing(),
            None => shows(path, at),
        },
    });
    let basic = [
        ("refresh.continuous", "true"),
        ("scope.sitemaps", "true"),
        ("politeness.delay", "1s"),
        ("limits.time-limit", time),
        ("dedup.rules", "false"),
    ];
    let all: Vec<_> = basic.iter().chain(more).copied().collect();
    let seeds = ["http://a.test/".to_owned()];
    let crawled = crawl_with(fetch.clone(), &clock, dir.path(), &seeds, &settings(&all)?)?;
    let asked: Vec<_> = fetch.asked().into_iter().map(|(at, url)| (at - START, url)).collect();
    for pair in asked.windows(2) {
        assert!(pair[1].0 - pair[0].0 >= DELAY, "{} and {} within {} ms", pair[0].1, pair[1].1, pair[1].0 - pair[0].0);
    }
    Ok(Ran { crawled, asked })
}

impl Ran {
    /// The times of the requests for a path.
    fn of(&self, path: &str) -> Vec<u64> {
        self.asked.iter().filter(|(_, url)| url.path() == path).map(|(at, _)| *at).collect()
    }

    /// For the pages of these days: the hours from the time at which each page was first listed to its first fetch.
    fn delays(&self, days: std::ops::Range<u64>) -> Vec<u64> {
        let first = |number: u64| self.of(&format!("/p{number}")).into_iter().find(|at| *at >= (number - 1) * DAY);
        days.map(|day| first(day + 1).map_or(u64::MAX, |at| (at - day * DAY) / HOUR)).collect()
    }

    /// The number of requests for a path in the first half of a time, and in the second.
    fn halves(&self, path: &str, time: u64) -> (usize, usize) {
        let (first, second): (Vec<u64>, Vec<u64>) = self.of(path).into_iter().partition(|at| *at < time / 2);
        (first.len(), second.len())
    }
}

/// Catches a crawl that reads the sitemap of a quiet host only when it reads robots.txt again. The control is a crawl
/// that reads no sitemaps: it finds nothing.
#[test]
fn what_only_a_sitemap_lists_is_found_soon() -> anyhow::Result<()> {
    let shows = |path: &str, at| if path == "/sitemap.xml" { sitemap(listed(at)) } else { missing() };
    let ran = run("40d", &[], shows)?;
    let delays = ran.delays(5..38);
    let mean = delays.iter().sum::<u64>() as f64 / delays.len() as f64;
    let read = ran.of("/sitemap.xml").len();
    println!("found after {mean:.1} h, at most {} h; the sitemap was read {read} times", delays.iter().max().unwrap());
    assert!(mean < 8.0 && delays.iter().all(|hours| *hours < 24), "{delays:?}");
    assert!(read < 500, "{read} readings in 40 days");
    let without = run("40d", &[("scope.sitemaps", "false")], shows)?;
    assert_eq!(without.of("/p7"), Vec::<u64>::new());
    Ok(())
}

/// Catches a list that is asked for at the same pace for ever.
#[test]
fn a_sitemap_that_never_changes_is_read_ever_more_seldom() -> anyhow::Result<()> {
    let ran = run("100d", &[], |path, _| if path == "/sitemap.xml" { sitemap(1..=1) } else { missing() })?;
    let (first, second) = ran.halves("/sitemap.xml", 100 * DAY);
    println!("{first} readings in 50 days, then {second}");
    assert!(second >= 5 && 3 * second < 2 * first, "{first}, then {second}");
    let gaps: Vec<u64> = ran.of("/sitemap.xml").windows(2).map(|pair| pair[1] - pair[0]).collect();
    let (early, late) = (gaps[0], *gaps.last().unwrap());
    assert!(early < DAY && late > 3 * early && late < 7 * DAY, "{} h, then {} h", early / HOUR, late / HOUR);
    Ok(())
}

/// Catches a sitemap that is read at each opportunity because it says "now" for every page.
#[test]
fn a_sitemap_that_lies_is_not_read_more_often_than_one_that_brings_news() -> anyhow::Result<()> {
    let lies = |at: u64| xml(format!("<urlset><url><loc>/p1</loc><lastmod>{}</lastmod></url></urlset>", date(at)));
    let lying = run("40d", &[], move |path, at| if path == "/sitemap.xml" { lies(at) } else { missing() })?;
    let news = run("40d", &[], |path, at| if path == "/sitemap.xml" { sitemap(listed(at)) } else { missing() })?;
    let (lying, news) = (lying.of("/sitemap.xml").len(), news.of("/sitemap.xml").len());
    println!("lying {lying}, with news {news}");
    assert!(lying < news, "lying {lying}, with news {news}");
    Ok(())
}

/// Catches a feed that counts as worth a visit because it was built anew, and one whose items wait until the feed is
/// due as a page.
#[test]
fn feeds_are_read_for_their_items() -> anyhow::Result<()> {
    let silent = run("100d", &[], |path, at| if path == "/feed" { feed(1..=1, at) } else { missing() })?;
    let (first, second) = silent.halves("/feed", 100 * DAY);
    println!("a feed without news: {first} readings in 50 days, then {second}");
    assert!(second >= 5 && 3 * second < 2 * first, "{first}, then {second}");

    let busy = run("40d", &[], |path, at| if path == "/feed" { feed(listed(at), at) } else { missing() })?;
    let delays = busy.delays(5..38);
    let mean = delays.iter().sum::<u64>() as f64 / delays.len() as f64;
    println!("a feed with news: found after {mean:.1} h, at most {} h", delays.iter().max().unwrap());
    assert!(mean < 8.0 && delays.iter().all(|hours| *hours < 24), "{delays:?}");
    let vias: Vec<&str> = busy.crawled.pages.iter().map(|page| text(page, "via")).collect();
    assert!(vias.iter().filter(|via| **via == "feed").count() >= 38, "{vias:?}");
    Ok(())
}

/// Catches a schedule that is forgotten when the crawl is stopped.
#[test]
fn what_was_learned_of_a_list_survives_a_stop() -> anyhow::Result<()> {
    let (clock, dir) = (Clock::at(START), tempfile::tempdir()?);
    let fetch = Scripted::new(&clock, |url, _| match url.path() {
        "/robots.txt" => Answer { content_type: "text/plain", ..html("Sitemap: http://a.test/sitemap.xml\n") },
        "/sitemap.xml" => sitemap(1..=1),
        "/" | "/p1" => page(1),
        _ => missing(),
    });
    let settings = settings(&[
        ("refresh.continuous", "true"),
        ("scope.sitemaps", "true"),
        ("politeness.delay", "1s"),
        ("limits.time-limit", "20d"),
    ])?;
    let mut before = 0;
    let mut readings = Vec::new();
    for _ in 0..4 {
        crawl_with(fetch.clone(), &clock, dir.path(), &["http://a.test/".to_owned()], &settings)?;
        let all = fetch.times("http://a.test/sitemap.xml");
        readings.push(all - before);
        before = all;
    }
    println!("readings in each 20 days: {readings:?}");
    assert!(readings[0] > readings[1] && readings[1] >= readings[3] && readings[3] >= 2, "{readings:?}");
    Ok(())
}

/// Catches a round that does not read sitemaps, and one that asks for an unchanged sitemap without conditions.
#[test]
fn a_round_asks_conditionally() -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let told = Told::new(|asked| match asked.target.as_str() {
        "/robots.txt" => (200, Vec::new(), b"Sitemap: http://a.test/sitemap.xml\n".to_vec()),
        "/sitemap.xml" if asked.field("if-none-match") == "\"one\"" => (304, Vec::new(), Vec::new()),
        "/sitemap.xml" => {
            let body = b"<urlset><url><loc>/p</loc></url></urlset>".to_vec();
            (200, vec![("content-type", "text/xml".into()), ("etag", "\"one\"".into())], body)
        }
        "/" => told::html(words(1, 100)),
        "/p" => told::html(words(2, 100)),
        _ => told::missing(),
    })?;
    let round = [("scope.sitemaps", "true"), ("fetch.recrawl", "true"), ("refresh.min-gain", "0s")];
    let crawled = told.crawl(dir.path(), "http://a.test/", &round[..1])?;
    assert_eq!(crawled.pages.len(), 2);
    for readings in 2..=3 {
        told.crawl(dir.path(), "http://a.test/", &round)?;
        let asked = told.of("a.test", "/sitemap.xml");
        assert_eq!(asked.len(), readings);
        assert_eq!(asked[readings - 1].field("if-none-match"), "\"one\"");
    }
    // A sitemap that brings nothing is not worth the usual cost so soon.
    told.crawl(dir.path(), "http://a.test/", &round[..2])?;
    assert_eq!(told.of("a.test", "/sitemap.xml").len(), 3);
    Ok(())
}

/// Catches a crawl that follows an endless chain of sitemaps, and one that stops and does not say so.
#[test]
fn a_chain_of_sitemaps_ends_and_is_told() -> anyhow::Result<()> {
    let (clock, dir) = (Clock::at(START), tempfile::tempdir()?);
    let fetch = Scripted::new(&clock, |url, _| match url.path() {
        "/robots.txt" => Answer { content_type: "text/plain", ..html("Sitemap: http://a.test/map0\n") },
        "/" => page(0),
        path => match path.strip_prefix("/map").and_then(|number| number.parse::<u64>().ok()) {
            // Each third one is named by a redirect.
            Some(number) if number % 3 == 2 => moved(&format!("/map{}", number + 1)),
            Some(number) => {
                xml(format!("<sitemapindex><sitemap><loc>/map{}</loc></sitemap></sitemapindex>", number + 1))
            }
            None => missing(),
        },
    });
    let settings = settings(&[("scope.sitemaps", "true"), ("limits.time-limit", "1h")])?;
    let crawled = crawl_with(fetch.clone(), &clock, dir.path(), &["http://a.test/".to_owned()], &settings)?;
    let read = fetch.asked().iter().filter(|(_, url)| url.path().starts_with("/map")).count();
    assert_eq!((read, crawled.stats.pages, crawled.stats.sitemaps_left), (8, 1, 1));
    assert!(!crawled.stats.complete, "what the ninth lists is not known");
    Ok(())
}

/// Catches an index that makes the crawler ask hosts that have nothing to do with it.
#[test]
fn an_index_sends_the_crawler_to_no_other_site_and_that_is_told() -> anyhow::Result<()> {
    let (clock, dir) = (Clock::at(START), tempfile::tempdir()?);
    let fetch = Scripted::new(&clock, |url, _| match (url.host_str(), url.path()) {
        (_, "/robots.txt") => Answer { content_type: "text/plain", ..html("Sitemap: http://a.test/map\n") },
        (_, "/") => page(0),
        (Some("a.test"), "/map") => {
            let named = ["http://victim.test/1", "http://victim.test/2", "http://www.a.test/1", "http://a.test/moved"];
            let named: String = named.iter().map(|url| format!("<sitemap><loc>{url}</loc></sitemap>")).collect();
            xml(format!("<sitemapindex>{named}</sitemapindex>"))
        }
        (Some("a.test"), "/moved") => moved("http://victim.test/3"),
        _ => missing(),
    });
    for (scope, sister) in [("any", 1), ("host", 0)] {
        let dir = dir.path().join(scope);
        let list = [("scope.sitemaps", "true"), ("scope.scope", scope), ("limits.time-limit", "1h")];
        let before = fetch.asked().len();
        let crawled = crawl_with(fetch.clone(), &clock, &dir, &["http://a.test/".to_owned()], &settings(&list)?)?;
        let asked = fetch.asked().split_off(before);
        let of = |host: &str| asked.iter().filter(|(_, url)| url.host_str() == Some(host)).count();
        assert_eq!((of("victim.test"), of("www.a.test")), (0, sister), "{scope}");
        assert_eq!(crawled.stats.sitemaps_elsewhere, 4 - sister as u64, "{scope}");
        assert!(!crawled.stats.complete);
    }
    Ok(())
}
