//! Lets a crawl fetch from a web without sockets, and records the fetches.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crawler::clock::Clock;
use crawler::demo::web::Answer;
use crawler::fetch::{Fetch, FetchError, Request, Response};
use url::Url;

use super::draw::hash;
use super::{Reply, Site, Thing};
use crate::memory::respond;

/// A fetcher for a web. Its answers take no time. Clones share the record.
#[derive(Clone)]
pub struct Browser {
    site: Arc<dyn Site>,
    clock: Clock,
    seen: Arc<Mutex<Browsed>>,
}

/// The record of the fetches.
#[derive(Clone, Debug, Default)]
pub struct Browsed {
    /// The URLs of pages that were requested and answered, in order, without robots.txt.
    pub urls: Vec<String>,
    /// The number of requests that were never answered.
    pub unanswered: u64,
    /// The content of the pages.
    pub things: BTreeSet<Thing>,
}

impl Browser {
    /// A fetcher whose answers are dated by `clock`.
    pub fn new(site: Arc<dyn Site>, clock: Clock) -> Self {
        Self { site, clock, seen: Arc::default() }
    }

    /// The record so far.
    pub fn seen(&self) -> Browsed {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Browsed> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn robots(&self, url: &Url) -> Answer {
        match self.site.crawl_delay(url.host_str().unwrap_or_default()) {
            0 => answer(404, String::new()),
            delay => {
                Answer { content_type: "text/plain", ..answer(200, format!("User-agent: *\nCrawl-delay: {delay}\n")) }
            }
        }
    }

    fn page(&self, url: &Url) -> Result<Answer, FetchError> {
        let reply = self.site.reply(url);
        let mut seen = self.lock();
        if matches!(reply, Reply::Silence) {
            seen.unanswered += 1;
            return Err(FetchError::Timeout("no headers in time".into()));
        }
        seen.urls.push(url.to_string());
        Ok(match reply {
            Reply::Page(page) => {
                seen.things.extend(&page.things);
                answer(200, page.document())
            }
            Reply::File(number) => {
                seen.things.insert(Thing::File(number));
                Answer { content_type: "application/zip", ..answer(200, format!("PK archive {number}")) }
            }
            _ => answer(404, "<p>There is nothing here.</p>".into()),
        })
    }
}

fn answer(status: u16, body: String) -> Answer {
    Answer { status, content_type: "text/html", location: None, body, delay: Duration::ZERO }
}

impl Fetch for Browser {
    async fn fetch(&self, request: Request) -> Result<Response, FetchError> {
        let robots = request.url.path() == "/robots.txt";
        let answer = if robots { self.robots(&request.url) } else { self.page(&request.url)? };
        let mut share = request.budget.share();
        if !share.grow(answer.body.len() as u64) {
            return Err(FetchError::Budget);
        }
        Ok(respond(answer, &request, share, &self.clock))
    }

    /// Gives every host an address of its own, so that no two hosts share the delay of an address.
    async fn resolve(&self, url: Url) -> Result<Vec<IpAddr>, FetchError> {
        let host = hash(url.host_str().unwrap_or_default(), 0) as u32 & 0xff_ffff;
        Ok(vec![IpAddr::V4(Ipv4Addr::from_bits(0x1600_0000 | host))])
    }
}
