//! Counters of the traffic with the brokers.

use std::sync::atomic::{AtomicU64, Ordering};

/// A counter or gauge that several threads change.
#[derive(Debug, Default)]
pub struct Count(AtomicU64);

impl Count {
    /// Adds to the number.
    pub fn add(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    /// Sets the number.
    pub fn set(&self, now: u64) {
        self.0.store(now, Ordering::Relaxed);
    }

    /// The number.
    pub fn get(&self) -> f64 {
        self.0.load(Ordering::Relaxed) as f64
    }
}

/// The counters of the traffic with the brokers, since the process began.
#[derive(Debug, Default)]
pub struct Traffic {
    /// Bytes of commits that were acknowledged.
    pub commits: Count,
    /// Bytes of links to other workers.
    pub links: Count,
    /// Bytes of pages put into the common order.
    pub pages: Count,
    /// Messages that were not acknowledged and sent again.
    pub retries: Count,
    /// Groups of pages that have come back from the common order.
    pub groups: Count,
    /// The summed time for which these groups were under way, in microseconds.
    pub waited: Count,
    /// Messages of links that wait in the log for this worker.
    pub links_behind: Count,
    /// Messages of pages that wait in the log.
    pub pages_behind: Count,
}
