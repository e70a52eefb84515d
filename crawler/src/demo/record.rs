//! Counts what a crawler has requested from a synthetic web. The server counts, so the crawler cannot influence the
//! counts.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;

use super::web::{Truth, Web};

/// A running count, shared by all connections of a server.
#[derive(Debug, Default)]
pub struct Record {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    tally: Tally,
    contents: BTreeSet<u64>,
}

/// The counts of requests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// All requests, except those for robots.txt and for hosts that do not exist.
    pub pages: u64,
    /// Requests for robots.txt.
    pub robots: u64,
    /// Requests for contents that were not shown before.
    pub contents: u64,
    /// Requests for contents that were shown before.
    pub duplicates: u64,
    /// Requests for pages of lists.
    pub lists: u64,
    /// Requests for pages that are worth nothing: months of a calendar, soft 404s.
    pub nothing: u64,
    /// Requests answered with a redirect.
    pub redirects: u64,
    /// Requests answered with 404.
    pub missing: u64,
    /// Requests for pages that robots.txt forbids.
    pub forbidden: u64,
    /// Requests for hosts that are not part of this web.
    pub strangers: u64,
    /// The bytes of the bodies.
    pub bytes: u64,
    /// The curve of the crawl: for each content found, the number of pages that had been requested by then.
    pub found_at: Vec<u64>,
}

impl Record {
    /// Counts a request for `target` on `host`, with the length of its answer.
    pub fn add(&self, web: &Web, host: &str, target: &str, bytes: usize) {
        let shown = web.shown_at(host, target);
        let Inner { tally, contents } = &mut *self.lock();
        tally.bytes += bytes as u64;
        if target == "/robots.txt" {
            tally.robots += 1;
            return;
        }
        tally.pages += 1;
        match shown {
            Some(Truth::Content(content)) if contents.insert(content) => {
                tally.contents += 1;
                tally.found_at.push(tally.pages);
            }
            Some(Truth::Content(_)) => tally.duplicates += 1,
            Some(Truth::List) => tally.lists += 1,
            Some(Truth::Nothing) => tally.nothing += 1,
            Some(Truth::Redirect) => tally.redirects += 1,
            Some(Truth::Forbidden) => tally.forbidden += 1,
            Some(Truth::Missing) | None => tally.missing += 1,
        }
    }

    /// Counts a request for a host that does not exist.
    pub fn stranger(&self) {
        self.lock().tally.strangers += 1;
    }

    /// The counts so far.
    pub fn tally(&self) -> Tally {
        self.lock().tally.clone()
    }

    /// The counts so far. They begin again from zero.
    pub fn take(&self) -> Tally {
        std::mem::take(&mut *self.lock()).tally
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A panic between two additions leaves the counts good enough.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
