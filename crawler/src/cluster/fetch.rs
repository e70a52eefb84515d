//! Requests of a worker: sent only while its lease holds, and ended before somebody else may have it.

use std::net::IpAddr;
use std::time::Duration;

use url::Url;

use super::lease::Deadline;
use crate::fetch::{Fetch, FetchError, Request, Response};

/// Fetches while a lease holds.
#[derive(Debug)]
pub struct Leased<F> {
    fetch: F,
    deadline: Deadline,
    /// Tests turn the deadline off, to see that it is needed.
    ignores: bool,
}

impl<F: Fetch> Leased<F> {
    /// Fetches by `fetch` until the deadline. `ignores`: for tests, as if there were none.
    pub fn new(fetch: F, deadline: Deadline, ignores: bool) -> Self {
        Self { fetch, deadline, ignores }
    }

    /// Ends when the lease can be another's.
    async fn expired(&self) {
        loop {
            let left = self.deadline.left();
            if left == Duration::ZERO {
                return;
            }
            // It may be renewed meanwhile. Sleep in short steps: this clock stands still while the machine sleeps.
            tokio::time::sleep(left.min(Duration::from_secs(1))).await;
        }
    }
}

impl<F: Fetch> Fetch for Leased<F> {
    async fn fetch(&self, request: Request) -> Result<Response, FetchError> {
        if self.ignores {
            return self.fetch.fetch(request).await;
        }
        if !self.deadline.holds() {
            return Err(without_lease());
        }
        tokio::select! {
            answer = self.fetch.fetch(request) => answer,
            () = self.expired() => Err(without_lease()),
        }
    }

    async fn resolve(&self, url: Url) -> Result<Vec<IpAddr>, FetchError> {
        self.fetch.resolve(url).await
    }
}

fn without_lease() -> FetchError {
    FetchError::Local("the lease on these hosts was not renewed: the brokers do not answer".into())
}
