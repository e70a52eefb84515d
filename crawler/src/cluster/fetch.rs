//! Requests of a worker. They are sent only while its lease holds, and they end before somebody else can have the
//! lease.

use std::net::IpAddr;
use std::time::Duration;

use url::Url;

use super::lease::Deadline;
use crate::fetch::{Fetch, FetchError, Request, Response};

/// A fetcher that works only while a lease holds.
#[derive(Debug)]
pub struct Leased<F> {
    fetch: F,
    deadline: Deadline,
    /// Whether the deadline is ignored. Tests set this to show that the deadline is needed.
    ignores: bool,
}

impl<F: Fetch> Leased<F> {
    /// Makes a fetcher that uses `fetch` until the deadline. With `ignores` (for tests), the deadline is ignored.
    pub fn new(fetch: F, deadline: Deadline, ignores: bool) -> Self {
        Self { fetch, deadline, ignores }
    }

    /// Waits until somebody else can have the lease.
    async fn expired(&self) {
        loop {
            let left = self.deadline.left();
            if left == Duration::ZERO {
                return;
            }
            // The lease may be renewed in the meantime. Sleep in short steps: the timer stands still while the machine
            // sleeps.
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use frontier::JobKind;

    use super::*;
    use crate::fetch::budget::ByteBudget;

    /// Counts requests, and never answers.
    #[derive(Default)]
    struct Silent(AtomicUsize);

    impl Fetch for Silent {
        async fn fetch(&self, _: Request) -> Result<Response, FetchError> {
            self.0.fetch_add(1, Ordering::Relaxed);
            std::future::pending().await
        }

        async fn resolve(&self, _: Url) -> Result<Vec<IpAddr>, FetchError> {
            Ok(Vec::new())
        }
    }

    fn request() -> Request {
        let url = "http://a.test/".parse().unwrap();
        Request::new(url, JobKind::Page, Vec::new(), ByteBudget::for_slots(1 << 20, 1))
    }

    #[test]
    fn nothing_is_asked_without_a_lease_and_what_is_open_ends_with_it() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let deadline = Deadline::new(Duration::from_millis(500));
            let leased = Leased::new(Silent::default(), deadline.clone(), false);
            assert!(matches!(leased.fetch(request()).await, Err(FetchError::Local(_))));
            assert_eq!(leased.fetch.0.load(Ordering::Relaxed), 0, "the lease was never renewed");
            let sent = super::super::lease::since_boot();
            deadline.renewed(sent);
            assert!(matches!(leased.fetch(request()).await, Err(FetchError::Local(_))));
            let took = super::super::lease::since_boot() - sent;
            assert_eq!(leased.fetch.0.load(Ordering::Relaxed), 1);
            assert!((400..500).contains(&took), "an open request ends before another may begin: {took} ms");
            // Without the deadline, the request would be sent.
            let careless = Leased::new(Silent::default(), deadline, true);
            let asked = tokio::time::timeout(Duration::from_millis(5), careless.fetch(request())).await;
            assert!(asked.is_err() && careless.fetch.0.load(Ordering::Relaxed) == 1);
        });
    }
}
