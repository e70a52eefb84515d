//! What a crawler asked a synthetic web for: the server's side of the story, which no crawler can tell otherwise.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;

use super::web::{Shown, Web};

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

/// What was asked for. All counts are of requests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Everything but robots.txt and hosts that do not exist.
    pub pages: u64,
    /// robots.txt.
    pub robots: u64,
    /// Contents seen for the first time.
    pub contents: u64,
    /// Contents seen before.
    pub duplicates: u64,
    /// Pages of lists.
    pub lists: u64,
    /// Pages worth nothing: months of a calendar, soft 404s.
    pub nothing: u64,
    /// Redirects.
    pub redirects: u64,
    /// Answered with 404.
    pub missing: u64,
    /// Forbidden by robots.txt, and asked for all the same.
    pub forbidden: u64,
    /// For hosts that are not of this web.
    pub strangers: u64,
    /// Bytes of bodies.
    pub bytes: u64,
    /// The curve of the crawl: for each content found, how many pages had been asked for by then.
    pub found_at: Vec<u64>,
}

impl Record {
    /// One request for `target` on `host`, answered with so many bytes.
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
            Some(Shown::Content(content)) if contents.insert(content) => {
                tally.contents += 1;
                tally.found_at.push(tally.pages);
            }
            Some(Shown::Content(_)) => tally.duplicates += 1,
            Some(Shown::List) => tally.lists += 1,
            Some(Shown::Nothing) => tally.nothing += 1,
            Some(Shown::Redirect) => tally.redirects += 1,
            Some(Shown::Forbidden) => tally.forbidden += 1,
            Some(Shown::Missing) | None => tally.missing += 1,
        }
    }

    /// One request for a host that does not exist.
    pub fn stranger(&self) {
        self.lock().tally.strangers += 1;
    }

    /// The counts so far.
    pub fn tally(&self) -> Tally {
        self.lock().tally.clone()
    }

    /// The counts so far, which start again from nothing.
    pub fn take(&self) -> Tally {
        std::mem::take(&mut *self.lock()).tally
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A panic between two additions leaves nothing half done that matters to a count.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
