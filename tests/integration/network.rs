//! A crawl without a network: no host is blamed for it.

use std::net::IpAddr;

use crawler::clock::Clock;
use crawler::engine::StopReason;
use crawler::fetch::{Fetch, FetchError, Request, Response};
use crawler::outcome::ending;
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
struct NoNetwork {
    /// Whether names are found all the same, because they are in the file of hosts.
    has_names: bool,
}

impl Fetch for NoNetwork {
    async fn fetch(&self, _: Request) -> Result<Response, FetchError> {
        Err(FetchError::Local("it has no route to any host".into()))
    }

    async fn resolve(&self, _: Url) -> Result<Vec<IpAddr>, FetchError> {
        if self.has_names { Ok(vec![IpAddr::from([192, 0, 2, 1])]) } else { Err(FetchError::NoNameServer) }
    }
}

/// Catches a crawl that never ends, or blames hosts, because there was no network when it began.
#[test]
fn without_a_network_a_crawl_waits_for_its_patience() -> anyhow::Result<()> {
    for (has_names, trouble) in [(true, "no route"), (false, "no name server")] {
        let (clock, dir) = (Clock::at(START), tempfile::tempdir()?);
        let settings = settings(&[("limits.patience", "100s")])?;
        let seeds = ["http://a.test/".into()];
        let crawled = crawl_with(NoNetwork { has_names }, &clock, dir.path(), &seeds, &settings)?;
        let waited = clock.now() - START;
        assert!((100 * SECOND..200 * SECOND).contains(&waited), "{waited} ms");
        assert_eq!((crawled.reason, crawled.stats.pages, crawled.stats.failed), (StopReason::Waiting, 0, 0));
        assert_eq!(crawled.skipped.len(), 0, "{:?}", crawled.skipped);
        assert!(crawled.stats.withheld.is_empty() && crawled.stats.errand_failures.is_empty(), "{:?}", crawled.stats);
        let ending = ending(&crawled.stats, crawled.reason.name(), None);
        assert!(ending.contains("Trouble on this machine") && ending.contains(trouble), "{ending}");
        // With a network, the same directory goes on.
        let crawled = crawl_with(web(&clock), &clock, dir.path(), &["http://a.test/0".into()], &settings)?;
        assert_eq!((crawled.reason, crawled.stats.unique), (StopReason::Done, PAGES));
        assert_eq!(crawled.stats.local_trouble, None);
    }
    Ok(())
}

/// There is no name server, and only `a.test` is in the file of hosts.
#[derive(Clone)]
struct OnlyOneName(Scripted);

impl Fetch for OnlyOneName {
    async fn fetch(&self, request: Request) -> Result<Response, FetchError> {
        self.0.fetch(request).await
    }

    async fn resolve(&self, url: Url) -> Result<Vec<IpAddr>, FetchError> {
        if url.host_str() == Some("a.test") { self.0.resolve(url).await } else { Err(FetchError::NoNameServer) }
    }
}

/// Catches a crawl of an intranet without name servers that waits without end for the name of one link.
#[test]
fn without_name_servers_the_names_of_the_file_of_hosts_are_crawled() -> anyhow::Result<()> {
    let (clock, dir) = (Clock::at(START), tempfile::tempdir()?);
    let settings = settings(&[("limits.patience", "100s")])?;
    let seeds = ["http://a.test/0".into(), "http://b.test/".into()];
    let crawled = crawl_with(OnlyOneName(web(&clock)), &clock, dir.path(), &seeds, &settings)?;
    assert_eq!((crawled.stats.unique, &crawled.stats.local_trouble), (PAGES, &None));
    assert_eq!(crawled.stats.withheld.get("name"), Some(&1), "{:?}", crawled.stats);
    Ok(())
}
