//! Troubles while a crawl runs: on this machine, and by host.

use std::collections::{BTreeMap, HashMap};

use frontier::Millis;
use serde::{Deserialize, Serialize};
use url::Url;

/// Trouble on this machine: files, memory, disk, network. While it lasts, nothing is fetched, and no host is blamed.
#[derive(Debug, Default)]
pub(super) struct LocalTrouble {
    /// The last trouble, and the time at which the crawl tries again.
    now: Option<(String, Millis)>,
    /// Troubles in a row.
    times: u32,
}

impl LocalTrouble {
    /// First pause; doubled at each trouble in a row.
    const PAUSE: Millis = 1_000;
    /// Longest pause.
    const LONGEST: Millis = 30_000;

    /// A job failed because of this machine.
    pub fn note(&mut self, what: &str, now: Millis) {
        if self.now.as_ref().is_some_and(|(_, until)| now < *until) {
            // This job was open when the trouble began, so it is part of the same trouble.
            return;
        }
        let pause = (Self::PAUSE << self.times.min(5)).min(Self::LONGEST);
        self.times += 1;
        tracing::warn!("trouble on this machine: {what}; the crawl pauses for {} s and tries again", pause / 1_000);
        self.now = Some((what.to_owned(), now + pause));
    }

    /// A job was answered.
    pub fn answered(&mut self) {
        (self.now, self.times) = (None, 0);
    }

    /// The time until which nothing is fetched, if there is trouble at `now`.
    pub fn pause(&self, now: Millis) -> Option<Millis> {
        self.now.as_ref().map(|(_, until)| *until).filter(|until| now < *until)
    }

    /// The trouble, while it lasts.
    pub fn what(&self) -> Option<&str> {
        self.now.as_ref().map(|(what, _)| what.as_str())
    }
}

/// The host with which most went wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorstHost {
    /// Its name.
    pub host: String,
    /// Answers with an error status, and URLs given up without an answer.
    pub troubles: u64,
    /// The kind of most of them: a status, or the word for a failure.
    pub kind: String,
}

/// Troubles by host, of the hosts that had any in this run.
#[derive(Debug, Default)]
pub(super) struct HostTroubles {
    by_host: HashMap<Box<str>, BTreeMap<Box<str>, u64>>,
}

impl HostTroubles {
    /// At most this many hosts are remembered. A host that comes later is not counted.
    const MOST: usize = config::bounds::HOSTS_IN_TROUBLE;

    /// Counts a trouble of this kind with a URL.
    pub fn note(&mut self, url: &Url, kind: &str) {
        let host = url.host_str().unwrap_or_default();
        if self.by_host.len() >= Self::MOST && !self.by_host.contains_key(host) {
            return;
        }
        *self.by_host.entry(host.into()).or_default().entry(kind.into()).or_default() += 1;
    }

    /// The host with the most troubles. If several have as many, the first by name.
    pub fn worst(&self) -> Option<WorstHost> {
        let sum = |kinds: &BTreeMap<Box<str>, u64>| kinds.values().sum::<u64>();
        let (host, kinds) = self.by_host.iter().min_by_key(|(host, kinds)| (u64::MAX - sum(kinds), (*host).clone()))?;
        let (kind, _) = kinds.iter().max_by_key(|(_, count)| **count)?;
        Some(WorstHost { host: host.to_string(), troubles: sum(kinds), kind: kind.to_string() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_grows_with_each_trouble_in_a_row_and_jobs_that_were_open_do_not_count() {
        let mut local = LocalTrouble::default();
        assert_eq!(local.pause(0), None);
        local.note("no files", 10);
        local.note("no files", 20);
        assert_eq!(local.pause(20), Some(1_010));
        assert_eq!(local.pause(1_010), None);
        local.note("no files", 1_010);
        assert_eq!(local.pause(1_010), Some(3_010));
        assert_eq!(local.what(), Some("no files"));
        local.answered();
        assert_eq!((local.pause(1_020), local.what()), (None, None));
        local.note("no network", 5_000);
        assert_eq!(local.pause(5_000), Some(6_000), "it begins anew");
    }

    #[test]
    fn the_worst_host_is_the_one_with_most_troubles() {
        let mut hosts = HostTroubles::default();
        assert_eq!(hosts.worst(), None);
        let url = |host: &str| Url::parse(&format!("http://{host}/x")).unwrap();
        for (host, kind) in [("b.test", "404"), ("a.test", "404"), ("a.test", "timeout"), ("a.test", "timeout")] {
            hosts.note(&url(host), kind);
        }
        let worst = WorstHost { host: "a.test".into(), troubles: 3, kind: "timeout".into() };
        assert_eq!(hosts.worst(), Some(worst));
    }
}
