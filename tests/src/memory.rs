//! Serves the synthetic web to the crawler as an implementation of [`Fetch`], without sockets and with the same answers
//! every time.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use crawler::clock::Clock;
use crawler::demo::record::Record;
use crawler::demo::web::{Answer, Web};
use crawler::fetch::budget::BudgetShare;
use crawler::fetch::{Fetch, FetchError, Request, Response};
use http::{HeaderMap, HeaderValue, header};
use url::{Position, Url};

/// Fetches from a synthetic web, and records the requests. Clones share the record.
#[derive(Clone, Debug)]
pub struct MemoryFetch {
    web: Arc<Web>,
    record: Arc<Record>,
    clock: Clock,
}

impl MemoryFetch {
    /// A fetcher of this web.
    pub fn new(web: Arc<Web>) -> Self {
        Self { web, record: Arc::default(), clock: Clock::System }
    }

    /// The same fetcher, with answers dated by this clock.
    pub fn with_clock(self, clock: Clock) -> Self {
        Self { clock, ..self }
    }

    /// The record of the requests so far.
    pub fn record(&self) -> &Record {
        &self.record
    }

    fn answer(&self, request: Request) -> Result<Response, FetchError> {
        let host = request.url.host_str().unwrap_or_default();
        let target = &request.url[Position::BeforePath..Position::AfterQuery];
        let answer = self.web.answer(host, target).ok_or_else(|| FetchError::Dns(format!("{host} does not exist")))?;
        let mut share = request.budget.share();
        if !share.grow(answer.body.len() as u64) {
            return Err(FetchError::Budget);
        }
        self.record.add(&self.web, host, target, answer.body.len());
        Ok(respond(answer, &request, share, &self.clock))
    }
}

impl Fetch for MemoryFetch {
    async fn fetch(&self, request: Request) -> Result<Response, FetchError> {
        self.answer(request)
    }

    /// Gives every host an address of its own, so that no two hosts share the delay of an address.
    async fn resolve(&self, url: Url) -> Result<Vec<IpAddr>, FetchError> {
        let name = url.host_str().unwrap_or_default();
        let host = self.web.hosts().iter().position(|host| host.eq_ignore_ascii_case(name));
        let host = host.ok_or_else(|| FetchError::Dns(format!("{name} does not exist")))? as u32;
        Ok(vec![IpAddr::V4(Ipv4Addr::from_bits(0x0100_0001 + host))])
    }
}

/// Converts an answer of a synthetic web to a response that took no time.
pub fn respond(answer: Answer, request: &Request, share: BudgetShare, clock: &Clock) -> Response {
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(answer.content_type));
    if let Some(location) = answer.location.as_deref().and_then(|location| location.parse().ok()) {
        headers.insert(header::LOCATION, location);
    }
    Response {
        status: answer.status,
        headers,
        version: http::Version::HTTP_11,
        file: None,
        wire: None,
        wire_bytes: answer.body.len() as u64,
        body: answer.body.into_bytes().into(),
        truncated: None,
        address: request.addresses.first().copied(),
        sent_at: clock.now(),
        ended_at: clock.now(),
        share,
    }
}
