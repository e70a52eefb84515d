//! A network that fails during a crawl, or before it begins: no host is blamed for it.

use std::net::IpAddr;

use crawler::clock::Clock;
use crawler::engine::StopReason;
use crawler::fetch::{Fetch, FetchError, Request, Response};
use frontier::Millis;
use tests::crawl::{crawl_with, settings, text};
use tests::scripted::{Scripted, html, missing, words};
use url::Url;

const START: Millis = 1_700_000_000_000;
const SECOND: Millis = 1_000;
/// The pages of each host.
const PAGES: u64 = 20;

/// Between 20 s and 60 s, no answer of the silent hosts comes.
#[derive(Clone)]
struct Outage {
    web: Scripted,
    clock: Clock,
    is_silent: fn(&str) -> bool,
}

impl Fetch for Outage {
    async fn fetch(&self, request: Request) -> Result<Response, FetchError> {
        let is_now = (START + 20 * SECOND..START + 60 * SECOND).contains(&self.clock.now());
        match is_now && (self.is_silent)(request.url.host_str().unwrap_or_default()) {
            true => Err(FetchError::Timeout("no headers in time".into())),
            false => self.web.fetch(request).await,
        }
    }

    async fn resolve(&self, url: Url) -> Result<Vec<IpAddr>, FetchError> {
        self.web.resolve(url).await
    }
}

fn web(clock: &Clock) -> Scripted {
    Scripted::new(clock, |url, _| match url.path().trim_start_matches('/').parse::<u64>() {
        Ok(page) if page < PAGES => {
            let seed = u64::from(url.host_str().unwrap_or_default().as_bytes()[0]) * 1_000 + page;
            html(format!("<p>{}</p><a href=/{}>on</a>", words(seed, 80), page + 1))
        }
        _ => missing(),
    })
}

/// The hosts whose pages failed in a crawl of four hosts, of which some are silent for 40 s, and the number of pages
/// with a good answer.
fn failed(is_silent: fn(&str) -> bool) -> anyhow::Result<(Vec<String>, usize)> {
    let (clock, dir) = (Clock::at(START), tempfile::tempdir()?);
    let settings = settings(&[
        ("politeness.delay", "5s"),
        ("politeness.robots", "ignore"),
        ("limits.patience", "1h"),
        ("fetch.attempts", "1"),
    ])?;
    let seeds: Vec<_> = ["a", "b", "c", "d"].map(|host| format!("http://{host}.test/0")).into();
    let outage = Outage { web: web(&clock), clock: clock.clone(), is_silent };
    let crawled = crawl_with(outage, &clock, dir.path(), &seeds, &settings)?;
    assert_eq!(crawled.reason, StopReason::Done);
    let is_good = |page: &&serde_json::Value| page["status"] == 200;
    let failed = crawled.pages.iter().filter(|page| page["error"].is_string());
    let mut failed: Vec<_> = failed.map(|page| text(page, "url")[7..13].to_owned()).collect();
    failed.dedup();
    Ok((failed, crawled.pages.iter().filter(is_good).count()))
}

/// Catches hosts that are blamed because all of them fell silent at once. The control has one silent host.
#[test]
fn hosts_that_fall_silent_together_are_not_blamed() -> anyhow::Result<()> {
    assert_eq!(failed(|_| true)?, (vec![], 4 * PAGES as usize));
    let (failed, good) = failed(|host| host == "a.test")?;
    assert_eq!(failed, ["a.test"]);
    assert!(good < 4 * PAGES as usize);
    Ok(())
}

/// There is no network at all.
#[derive(Clone)]
struct NoNetwork;

impl Fetch for NoNetwork {
    async fn fetch(&self, _: Request) -> Result<Response, FetchError> {
        Err(FetchError::Local("it has no route to any host".into()))
    }

    async fn resolve(&self, _: Url) -> Result<Vec<IpAddr>, FetchError> {
        Ok(vec![IpAddr::from([192, 0, 2, 1])])
    }
}

/// Catches a crawl that never ends, or blames hosts, because there was no network when it began.
#[test]
fn without_a_network_a_crawl_waits_for_its_patience() -> anyhow::Result<()> {
    let (clock, dir) = (Clock::at(START), tempfile::tempdir()?);
    let settings = settings(&[("limits.patience", "100s")])?;
    let crawled = crawl_with(NoNetwork, &clock, dir.path(), &["http://a.test/".into()], &settings)?;
    let waited = clock.now() - START;
    assert!((100 * SECOND..200 * SECOND).contains(&waited), "{waited} ms");
    assert_eq!((crawled.reason, crawled.stats.pages, crawled.stats.failed), (StopReason::Waiting, 0, 0));
    assert_eq!(crawled.skipped.len(), 0, "{:?}", crawled.skipped);
    // With a network, the same directory goes on.
    let crawled = crawl_with(web(&clock), &clock, dir.path(), &["http://a.test/0".into()], &settings)?;
    assert_eq!((crawled.reason, crawled.stats.unique), (StopReason::Done, PAGES));
    Ok(())
}
