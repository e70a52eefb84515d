//! A crawl without a network: no host is blamed for it.

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
/// The pages of the host.
const PAGES: u64 = 20;

fn web(clock: &Clock) -> Scripted {
    Scripted::new(clock, |url, _| match url.path().trim_start_matches('/').parse::<u64>() {
        Ok(page) if page < PAGES => html(format!("<p>{}</p><a href=/{}>on</a>", words(page, 80), page + 1)),
        _ => missing(),
    })
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
