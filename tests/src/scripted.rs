//! A web that a test defines by a function from URLs to answers, with a log of the requests.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crawler::clock::Clock;
use crawler::demo::web::Answer;
use crawler::fetch::{Fetch, FetchError, Request, Response};
use frontier::Millis;
use url::Url;
use xxhash_rust::xxh3::xxh3_64;

use crate::memory::respond;

/// Returns the answer for a URL. The number says how often the URL was requested before.
type Script = dyn Fn(&Url, usize) -> Answer + Send + Sync;

/// A fetcher that answers as its script says. Clones share the log of requests.
#[derive(Clone)]
pub struct Scripted {
    script: Arc<Script>,
    clock: Clock,
    asked: Arc<Mutex<Vec<(Millis, Url)>>>,
}

impl Scripted {
    /// A fetcher whose answers take no time on this clock.
    pub fn new(clock: &Clock, script: impl Fn(&Url, usize) -> Answer + Send + Sync + 'static) -> Self {
        Self { script: Arc::new(script), clock: clock.clone(), asked: Arc::default() }
    }

    /// The requests, including those for robots.txt, with their times.
    pub fn asked(&self) -> Vec<(Millis, Url)> {
        self.lock().clone()
    }

    /// The number of requests for a URL.
    pub fn times(&self, url: &str) -> usize {
        self.lock().iter().filter(|(_, asked)| asked.as_str() == url).count()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(Millis, Url)>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Fetch for Scripted {
    async fn fetch(&self, request: Request) -> Result<Response, FetchError> {
        let before = {
            let mut asked = self.lock();
            let before = asked.iter().filter(|(_, url)| *url == request.url).count();
            asked.push((self.clock.now(), request.url.clone()));
            before
        };
        let answer = (self.script)(&request.url, before);
        if answer.status == 0 {
            return Err(FetchError::Reset("no answer".into()));
        }
        let mut share = request.budget.share();
        if !share.grow(answer.body.len() as u64) {
            return Err(FetchError::Budget);
        }
        Ok(respond(answer, &request, share, &self.clock))
    }

    /// Gives every host an address of its own (the same with and without a dot at the end of its name), so that no two
    /// hosts share the delay of an address.
    async fn resolve(&self, url: Url) -> Result<Vec<IpAddr>, FetchError> {
        let host = url.host_str().unwrap_or_default().trim_end_matches('.');
        let number = xxh3_64(host.as_bytes()) as u32 & 0xff_ffff;
        Ok(vec![IpAddr::V4(Ipv4Addr::from_bits(0x1600_0000 | number))])
    }
}

/// An HTML page.
pub fn html(body: impl Into<String>) -> Answer {
    Answer { status: 200, content_type: "text/html", location: None, body: body.into(), delay: Duration::ZERO }
}

/// A 404 answer.
pub fn missing() -> Answer {
    Answer { status: 404, ..html("<p>no</p>") }
}

/// No answer: the connection ends.
pub fn dropped() -> Answer {
    Answer { status: 0, ..html("") }
}

/// A redirect.
pub fn moved(to: &str) -> Answer {
    Answer { status: 301, location: Some(to.to_owned()), ..html("") }
}

/// This many words, which no other number has.
pub fn words(number: u64, count: u64) -> String {
    (0..count)
        .map(|at| format!("{:x}", xxh3_64(&[number.to_le_bytes(), at.to_le_bytes()].concat()) >> 40))
        .collect::<Vec<_>>()
        .join(" ")
}
