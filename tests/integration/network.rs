//! A network that fails during a crawl, or before it begins: no host is blamed for it.

use std::net::IpAddr;

use crawler::clock::Clock;
use crawler::engine::StopReason;
use crawler::fetch::{Fetch, FetchError, Request, Response};
use frontier::Millis;
use tests::crawl::{crawl_with, settings};
use tests::scripted::{Scripted, html, missing, words};
use url::Url;

const START: Millis = 1_700_000_000_000;
const SECOND: Millis = 1_000;
/// The pages of each host.
const PAGES: u64 = 20;

/// Between 20 s and 60 s, no answer comes.
#[derive(Clone)]
struct Outage {
    web: Scripted,
    clock: Clock,
}

impl Fetch for Outage {
    async fn fetch(&self, request: Request) -> Result<Response, FetchError> {
        let is_now = (START + 20 * SECOND..START + 60 * SECOND).contains(&self.clock.now());
        if !is_now {
            return self.web.fetch(request).await;
        }
        self.clock.skip_to(self.clock.now() + 3 * SECOND);
        Err(FetchError::Timeout("no headers in time".into()))
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

/// The number of pages that failed in a crawl of these hosts, and of those with a good answer.
fn pages(hosts: &[&str]) -> anyhow::Result<(usize, usize)> {
    let (clock, dir) = (Clock::at(START), tempfile::tempdir()?);
    let settings = settings(&[
        ("politeness.delay", "5s"),
        ("politeness.robots", "ignore"),
        ("limits.patience", "1h"),
        ("politeness.attempts", "1"),
    ])?;
    let seeds: Vec<_> = hosts.iter().map(|host| format!("http://{host}.test/0")).collect();
    let outage = Outage { web: web(&clock), clock: clock.clone() };
    let crawled = crawl_with(outage, &clock, dir.path(), &seeds, &settings)?;
    assert_eq!(crawled.reason, StopReason::Done);
    let failed = crawled.pages.iter().filter(|page| page["error"].is_string()).count();
    Ok((failed, crawled.pages.iter().filter(|page| page["status"] == 200).count()))
}

/// Catches hosts that are blamed because all of them fell silent at once. In the control, they are too few to tell.
#[test]
fn hosts_that_fall_silent_together_are_not_blamed() -> anyhow::Result<()> {
    assert_eq!(pages(&["a", "b", "c", "d"])?, (0, 4 * PAGES as usize));
    let (failed, good) = pages(&["a", "b"])?;
    assert!(failed > 0 && good < 2 * PAGES as usize, "{failed} failed, {good} good");
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
