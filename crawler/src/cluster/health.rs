//! The health of a worker's connection to the brokers, and its metrics.

use std::sync::Arc;
use std::time::Duration;

use super::lease::Deadline;
use super::traffic::{Count, Traffic};
use crate::dashboard::{Beside, Metric};

/// The health of a worker.
#[derive(Debug)]
pub struct Health {
    deadline: Deadline,
    traffic: Arc<Traffic>,
}

impl Health {
    /// The health of a worker with this lease.
    pub fn new(deadline: Deadline, traffic: Arc<Traffic>) -> Self {
        Self { deadline, traffic }
    }
}

impl Beside for Health {
    fn trouble(&self) -> Option<&'static str> {
        if self.deadline.is_over() {
            return Some("another worker has the hosts of this one");
        }
        let is_old = self.deadline.since_renewal() >= self.deadline.length() * 2;
        is_old.then_some("the lease was not renewed for twice its length: the brokers do not answer")
    }

    fn patience(&self) -> Duration {
        self.deadline.length() * 2
    }

    fn metrics(&self) -> Vec<Metric> {
        let Traffic { commits, links, pages, retries, groups, waited, links_behind, pages_behind } = &*self.traffic;
        let gauge = |name, help, value| Metric { name, help, label: None, is_counter: false, value };
        let counter = |name, help, value| Metric { is_counter: true, ..gauge(name, help, value) };
        let sent = |what, count: &Count| Metric {
            label: Some(("what", what)),
            ..counter("log_bytes", "Bytes sent to the brokers and acknowledged, by what they are", count.get())
        };
        let behind = |what, count: &Count| Metric {
            label: Some(("what", what)),
            ..gauge("log_lag_messages", "Messages of the log that this worker has not read", count.get())
        };
        vec![
            gauge("lease_held", "1 while requests may be sent", f64::from(u8::from(self.deadline.holds()))),
            gauge("lease_age_seconds", "Time since the lease was renewed", self.deadline.since_renewal().as_secs_f64()),
            sent("commits", commits),
            sent("links", links),
            sent("pages", pages),
            counter("log_retries", "Messages that were not acknowledged and sent again", retries.get()),
            behind("links", links_behind),
            behind("pages", pages_behind),
            counter("barrier_groups", "Groups of pages that came back from the common order", groups.get()),
            counter("barrier_wait_seconds", "How long these were under way, summed", waited.get() / 1e6),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::super::lease::since_boot;
    use super::*;

    #[test]
    fn a_worker_is_not_well_when_it_is_fenced_or_without_lease_for_long() {
        let deadline = Deadline::new(Duration::from_millis(200));
        let health = Health::new(deadline.clone(), Arc::default());
        assert!(health.trouble().is_some(), "it was never renewed");
        deadline.renewed(since_boot() - 400);
        assert!(health.trouble().is_some_and(|why| why.contains("not renewed")));
        deadline.renewed(since_boot());
        assert_eq!(health.trouble(), None);
        deadline.end();
        assert!(health.trouble().is_some_and(|why| why.contains("another worker")));
    }
}
