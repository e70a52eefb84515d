//! A fetcher that records the times of requests and the number of open requests, so that tests can check politeness
//! from the view of hosts.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crawler::clock::Clock;
use crawler::fetch::{Fetch, FetchError, Request, Response};
use frontier::Millis;
use url::Url;

/// Wraps a fetcher and records its requests. Clones share the record.
#[derive(Clone, Debug)]
pub struct Watch<F> {
    inner: F,
    clock: Clock,
    seen: Arc<Mutex<SeenByHost>>,
}

/// The record of the requests, by host.
#[derive(Clone, Debug, Default)]
pub struct SeenByHost {
    /// The times and paths of requests, in order.
    pub requests: BTreeMap<String, Vec<(Millis, String)>>,
    /// The number of requests that are open now.
    pub open: BTreeMap<String, usize>,
    /// The largest number of requests that were ever open to one host at once.
    pub most_open_to_one: usize,
    /// The largest number of requests that were ever open at once.
    pub most_open: usize,
}

impl<F> Watch<F> {
    /// Watches `inner`.
    pub fn new(inner: F, clock: Clock) -> Self {
        Self { inner, clock, seen: Arc::default() }
    }

    /// The record so far.
    pub fn seen(&self) -> SeenByHost {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, SeenByHost> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<F: Fetch> Fetch for Watch<F> {
    async fn fetch(&self, request: Request) -> Result<Response, FetchError> {
        let host = request.url.host_str().unwrap_or_default().to_owned();
        {
            let mut seen = self.lock();
            seen.requests.entry(host.clone()).or_default().push((self.clock.now(), request.url.path().to_owned()));
            *seen.open.entry(host.clone()).or_default() += 1;
            seen.most_open_to_one = seen.most_open_to_one.max(seen.open[&host]);
            seen.most_open = seen.most_open.max(seen.open.values().sum());
        }
        // Other tasks get a turn, so that all requests that may be open at once are.
        for _ in 0..3 {
            tokio::task::yield_now().await;
        }
        let answer = self.inner.fetch(request).await;
        *self.lock().open.entry(host).or_default() -= 1;
        answer
    }

    async fn resolve(&self, url: Url) -> Result<Vec<IpAddr>, FetchError> {
        self.inner.resolve(url).await
    }
}
