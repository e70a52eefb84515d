//! A fetcher that writes down when what was asked for, and how much was open at once: politeness as the hosts see it.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crawler::clock::Clock;
use crawler::fetch::{Fetch, FetchError, Request, Response};
use frontier::Millis;
use url::Url;

/// Wraps a fetcher; clones share what was seen.
#[derive(Clone, Debug)]
pub struct Watch<F> {
    inner: F,
    clock: Clock,
    seen: Arc<Mutex<SeenByHost>>,
}

/// What was seen, by host.
#[derive(Clone, Debug, Default)]
pub struct SeenByHost {
    /// Times of requests, in order, with their path.
    pub requests: BTreeMap<String, Vec<(Millis, String)>>,
    /// Requests open now.
    pub open: BTreeMap<String, usize>,
    /// The most that were ever open at once to one host.
    pub most_open_to_one: usize,
    /// The most that were ever open at once.
    pub most_open: usize,
}

impl<F> Watch<F> {
    /// Watches `inner`.
    pub fn new(inner: F, clock: Clock) -> Self {
        Self { inner, clock, seen: Arc::default() }
    }

    /// What was seen so far.
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
        // Others get their turn, so that what may be open at once is.
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
