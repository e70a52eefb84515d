//! Troubles while a crawl runs: on this machine, and by host.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use frontier::{Job, Millis};
use serde::{Deserialize, Serialize};
use url::Url;

use super::state::EngineState;

/// Trouble on this machine: files, memory, disk, network. While it lasts, nothing is fetched, and no host is blamed.
#[derive(Debug, Default)]
pub(super) struct LocalTrouble {
    /// The last trouble, and the time at which the crawl tries again.
    now: Option<(String, Millis)>,
    /// Troubles in a row.
    times: u32,
    /// The time of the first of them.
    since: Millis,
    /// The time of the last answer; `None` if there was none in this run.
    heard: Option<Millis>,
    /// The last time in which the network had failed: from the answer before to the answer after.
    silence: (Millis, Millis),
}

impl LocalTrouble {
    /// First pause; doubled at each trouble in a row.
    const PAUSE: Millis = 1_000;
    /// Longest pause.
    const LONGEST: Millis = 30_000;

    /// If nothing has come for this time, and several hosts that have answered before are silent, then the network has
    /// failed.
    const SILENT: Millis = 2_500;
    /// The number of these hosts.
    const HOSTS: usize = 3;
    /// After so many troubles in a row, silent hosts are not excused any more.
    const EXCUSED: u32 = 12;

    /// An answer of a host failed to come by `at`. `silent` is the number of hosts that have answered before and have an
    /// open job, if this host is one of them. Whether the network has failed, and not the host.
    pub fn is_of_network(&self, silent: Option<usize>, at: Millis) -> bool {
        self.is_silent(at) && silent.is_some_and(|hosts| hosts >= Self::HOSTS) && self.times < Self::EXCUSED
    }

    /// Whether nothing has come for long at `at`, and something had come before.
    fn is_silent(&self, at: Millis) -> bool {
        self.heard.is_some_and(|heard| at >= heard.saturating_add(Self::SILENT))
    }

    /// The time that an answer took that ended at `at`, without the time in which the network had failed.
    pub fn without_silence(&self, elapsed: Millis, at: Millis) -> Millis {
        let (from, to) = (self.silence.0.max(at.saturating_sub(elapsed)), self.silence.1.min(at));
        elapsed - to.saturating_sub(from)
    }

    /// Whether the trouble has lasted for this time, and nothing has been answered in this run.
    pub fn lasts(&self, time: Millis, now: Millis) -> bool {
        self.now.is_some() && self.heard.is_none() && now >= self.since.saturating_add(time)
    }

    /// A job failed because of this machine.
    pub fn note(&mut self, what: &str, now: Millis) {
        if self.now.as_ref().is_some_and(|(_, until)| now < *until) {
            // This job was open when the trouble began, so it is part of the same trouble.
            return;
        }
        if self.now.is_none() {
            self.since = now;
        }
        let pause = (Self::PAUSE << self.times.min(5)).min(Self::LONGEST);
        self.times += 1;
        tracing::warn!("trouble on this machine: {what}; the crawl pauses for {} s and tries again", pause / 1_000);
        self.now = Some((what.to_owned(), now + pause));
    }

    /// A job was answered at `at`. `silent` is as for [`LocalTrouble::is_of_network`].
    fn answered(&mut self, at: Millis, silent: Option<usize>) {
        if self.is_of_network(silent, at) {
            self.silence = (self.heard.unwrap_or(at), at);
        }
        (self.now, self.times, self.heard) = (None, 0, self.heard.max(Some(at)));
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

impl EngineState<'_> {
    /// A job was answered at `at`.
    pub(super) fn heard(&mut self, job: &Job, at: Millis) {
        let silent = self.local.is_silent(at).then(|| self.frontier.proven_beside(job)).flatten();
        self.local.answered(at, silent);
    }
}

/// A host with many troubles.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorstHost {
    /// Its name.
    pub host: String,
    /// The number of URLs whose last visit had an error status or no answer, and of URLs that are still queued after a
    /// trouble, in all runs since this host became one of the worst.
    pub troubles: u64,
    /// The part of `troubles` that is URLs still queued. They are counted anew when a run ends.
    #[serde(default)]
    pub queued: u64,
    /// The most frequent kind: a status, or the word for a failure.
    pub kind: String,
    /// The number of troubles of this kind. It is 0 in the state of an earlier version, which did not count them.
    #[serde(default)]
    pub most: u64,
    /// The troubles that last, by kind: those that are not URLs still queued. Kinds that an earlier version did not
    /// store are missing.
    #[serde(default)]
    pub lasting: BTreeMap<String, u64>,
    /// The URLs that are still queued, by kind of the trouble.
    #[serde(default)]
    pub waiting: BTreeMap<String, u64>,
}

impl WorstHost {
    /// The kind of the URLs that robots.txt forbids.
    const FORBIDDEN: &str = "robots";

    /// The same troubles without the URLs that robots.txt forbids, which are no faults. `None` if nothing is left.
    pub fn without_forbidden(&self) -> Option<Self> {
        let mut rest = self.clone();
        let Some(forbidden) = rest.waiting.remove(Self::FORBIDDEN) else { return Some(rest) };
        rest.troubles = rest.troubles.saturating_sub(forbidden);
        rest.queued = rest.queued.saturating_sub(forbidden);
        let mut kinds = rest.lasting.clone();
        rest.waiting.iter().for_each(|(kind, count)| *kinds.entry(kind.clone()).or_default() += count);
        (rest.kind, rest.most) = kinds.into_iter().max_by_key(|(_, count)| *count)?;
        Some(rest)
    }

    /// The kind of its troubles, in words.
    pub fn kinds(&self) -> String {
        match self.most {
            0 => format!("mostly {}", self.kind),
            most if most == self.troubles => format!("all {}", self.kind),
            most if 2 * most > self.troubles => format!("mostly {}", self.kind),
            _ => "of several kinds".into(),
        }
    }
}

/// The troubles by host: of the hosts that had any in this run, and of the hosts that had the most before.
#[derive(Debug, Default)]
pub(super) struct HostTroubles {
    by_host: HashMap<Box<str>, BTreeMap<Box<str>, u64>>,
    /// The part of them that is counted anew when a run ends.
    queued: HashMap<Box<str>, BTreeMap<Box<str>, u64>>,
}

impl HostTroubles {
    /// At most this many hosts are remembered. A host that comes later is not counted.
    const MOST: usize = config::bounds::HOSTS_IN_TROUBLE;
    /// At most this many hosts are named.
    const NAMED: usize = 20;
    /// Troubles of earlier runs whose kind is not known any more.
    const OTHER: &str = "";

    /// Begins with the worst hosts of earlier runs. URLs that were queued then are counted anew.
    pub fn after<'a>(worst: impl IntoIterator<Item = &'a WorstHost>) -> Self {
        let mut troubles = Self::default();
        for WorstHost { host, troubles: count, queued, kind, most, lasting: by_kind, .. } in worst {
            let lasting = count.saturating_sub(*queued);
            let mut kinds: BTreeMap<Box<str>, u64> =
                by_kind.iter().map(|(kind, count)| (kind.as_str().into(), *count)).collect();
            if kinds.is_empty() && *queued == 0 {
                // The state of an earlier version has only the most frequent kind. (If URLs were queued, this may be
                // the kind of these.)
                kinds.insert(kind.as_str().into(), if *most == 0 { lasting } else { lasting.min(*most) });
            }
            let other = lasting.saturating_sub(kinds.values().sum());
            kinds.insert(Self::OTHER.into(), other);
            troubles.by_host.insert(host.as_str().into(), kinds);
        }
        troubles
    }

    /// Counts a URL that is still queued after a trouble of this kind.
    pub fn note_queued(&mut self, url: &Url, kind: &str) {
        self.note(url, kind);
        let host = url.host_str().unwrap_or_default();
        if self.by_host.contains_key(host) {
            *self.queued.entry(host.into()).or_default().entry(kind.into()).or_default() += 1;
        }
    }

    /// Counts a trouble of this kind with a URL.
    pub fn note(&mut self, url: &Url, kind: &str) {
        let host = url.host_str().unwrap_or_default();
        if self.by_host.len() >= Self::MOST && !self.by_host.contains_key(host) {
            return;
        }
        *self.by_host.entry(host.into()).or_default().entry(kind.into()).or_default() += 1;
    }

    /// The URL was visited again: the trouble of its last visit does not count any more.
    pub fn take_back(&mut self, url: &Url, kind: &str) {
        let kinds = self.by_host.get_mut(url.host_str().unwrap_or_default());
        if let Some(count) = kinds.and_then(|kinds| kinds.get_mut(kind)) {
            *count = count.saturating_sub(1);
        }
    }

    /// The hosts with the most troubles, the worst first. URLs that robots.txt forbids count only if hosts are equal
    /// otherwise. If several hosts are still equal, the first by name is the worst.
    pub fn worst(&self) -> Vec<WorstHost> {
        let forbidden = |host: &str| self.queued.get(host).and_then(|kinds| kinds.get(WorstHost::FORBIDDEN)).copied();
        let mut hosts: Vec<_> = self.by_host.iter().collect();
        hosts.sort_by_cached_key(|(host, kinds)| {
            let all = sum(kinds);
            (Reverse(all - forbidden(host).unwrap_or(0)), Reverse(all), (*host).clone())
        });
        let named = hosts.into_iter().take(Self::NAMED);
        named.filter_map(|(host, kinds)| self.of(host, kinds)).filter(|worst| worst.troubles > 0).collect()
    }

    /// The troubles of a host, as the outputs show them.
    fn of(&self, host: &str, kinds: &BTreeMap<Box<str>, u64>) -> Option<WorstHost> {
        let named = kinds.iter().filter(|(kind, _)| ***kind != *Self::OTHER);
        // If two kinds are equally frequent, the one that is a fault is named.
        let (kind, most) = named.max_by_key(|(kind, count)| (**count, ***kind != *WorstHost::FORBIDDEN))?;
        let waiting = self.queued.get(host).cloned().unwrap_or_default();
        let of_kind = |kind: &str| waiting.get(kind).copied().unwrap_or(0);
        let lasting = kinds.iter().map(|(kind, count)| (kind.to_string(), count.saturating_sub(of_kind(kind))));
        Some(WorstHost {
            host: host.to_owned(),
            troubles: sum(kinds),
            queued: sum(&waiting),
            kind: kind.to_string(),
            most: *most,
            lasting: lasting.filter(|(kind, count)| !kind.is_empty() && *count > 0).collect(),
            waiting: waiting.iter().map(|(kind, count)| (kind.to_string(), *count)).collect(),
        })
    }
}

fn sum(kinds: &BTreeMap<Box<str>, u64>) -> u64 {
    kinds.values().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(hosts: &HostTroubles) -> WorstHost {
        hosts.worst().into_iter().next().expect("a host with troubles")
    }

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
        local.answered(1_015, None);
        assert_eq!((local.pause(1_020), local.what()), (None, None));
        local.note("no network", 5_000);
        assert_eq!(local.pause(5_000), Some(6_000), "it begins anew");
    }

    #[test]
    fn silent_hosts_are_excused_if_several_fall_silent_at_once_and_not_for_ever() {
        let mut local = LocalTrouble::default();
        assert!(!local.is_of_network(Some(9), 10_000), "nothing was ever heard");
        local.answered(10_000, None);
        assert!(local.is_of_network(Some(3), 12_500));
        assert!(!local.is_of_network(Some(3), 12_499), "something came lately");
        assert!(!local.is_of_network(Some(2), 12_500) && !local.is_of_network(None, 12_500));
        for at in 0..u64::from(LocalTrouble::EXCUSED) {
            local.note("silence", 20_000 + at * LocalTrouble::LONGEST);
        }
        assert!(!local.is_of_network(Some(3), 1_000_000));
    }

    #[test]
    fn the_time_in_which_the_network_had_failed_does_not_count() {
        let mut local = LocalTrouble::default();
        local.answered(10_000, None);
        local.answered(25_000, Some(3));
        assert_eq!(local.without_silence(15_100, 25_000), 100);
        assert_eq!(local.without_silence(15_300, 25_200), 300, "an answer that came a little later");
        assert_eq!(local.without_silence(400, 25_500), 400, "a request that was sent later");
        assert_eq!(local.without_silence(500, 10_100), 500 - 100);
        local.answered(40_000, Some(2));
        assert_eq!(local.without_silence(14_000, 40_000), 14_000, "one slow host");
    }

    #[test]
    fn a_trouble_from_the_start_on_lasts_until_something_is_answered() {
        let mut local = LocalTrouble::default();
        local.note("no network", 1_000);
        local.note("no network", 5_000);
        assert!(!local.lasts(10_000, 10_999) && local.lasts(10_000, 11_000));
        local.answered(11_000, None);
        local.note("no network", 12_000);
        assert!(!local.lasts(10_000, 99_000), "the crawl has begun, and waits");
    }

    #[test]
    fn the_worst_host_is_the_one_with_most_troubles() {
        let mut hosts = HostTroubles::default();
        assert_eq!(hosts.worst(), []);
        let url = |host: &str| Url::parse(&format!("http://{host}/x")).unwrap();
        for (host, kind) in [("b.test", "404"), ("a.test", "404"), ("a.test", "timeout"), ("a.test", "timeout")] {
            hosts.note(&url(host), kind);
        }
        let lasting = BTreeMap::from([("404".to_owned(), 1), ("timeout".to_owned(), 2)]);
        let worst = WorstHost {
            host: "a.test".into(),
            troubles: 3,
            kind: "timeout".into(),
            most: 2,
            lasting,
            ..WorstHost::default()
        };
        let found = hosts.worst();
        assert_eq!((&found[0], found.len()), (&worst, 2));
        assert_eq!((found[1].host.as_str(), found[1].troubles, found[1].kinds()), ("b.test", 1, "all 404".to_owned()));
        assert_eq!(worst.kinds(), "mostly timeout");
        assert_eq!(WorstHost { most: 3, ..worst.clone() }.kinds(), "all timeout");
        assert_eq!(WorstHost { most: 1, ..worst.clone() }.kinds(), "of several kinds", "one each");
        assert_eq!(
            WorstHost { most: 0, ..worst.clone() }.kinds(),
            "mostly timeout",
            "an earlier version did not count"
        );

        // The next run continues the counts. URLs that were queued when a run ended are counted anew.
        let mut next = HostTroubles::after([&worst]);
        next.note(&url("a.test"), "timeout");
        next.note_queued(&url("a.test"), "refused");
        let worst = first(&next);
        assert_eq!((worst.troubles, worst.queued), (5, 1));
        let worst = first(&HostTroubles::after([&worst]));
        assert_eq!((worst.troubles, worst.queued), (4, 0));
    }

    /// Catches lasting troubles that are counted under the kind of the queued URLs.
    #[test]
    fn each_run_counts_what_lasts_under_its_own_kind() {
        let url = Url::parse("http://a.test/x").unwrap();
        let mut worst = None;
        for run in 1..=3 {
            let mut hosts = HostTroubles::after(&worst);
            hosts.note(&url, "404");
            hosts.note_queued(&url, "robots");
            let found = first(&hosts);
            assert_eq!((found.troubles, found.queued), (run + 1, 1));
            let expected = if run == 1 { "of several kinds" } else { "mostly 404" };
            assert_eq!(found.kinds(), expected, "run {run}: {found:?}");
            let rest = found.without_forbidden().unwrap();
            assert_eq!((rest.troubles, rest.queued, rest.kinds()), (run, 0, "all 404".to_owned()));
            worst = Some(found);
        }
        // An earlier version has stored less.
        let before = WorstHost {
            host: "a.test".into(),
            troubles: 4,
            queued: 1,
            kind: "robots".into(),
            most: 4,
            ..WorstHost::default()
        };
        let mut hosts = HostTroubles::after([&before]);
        hosts.note(&url, "404");
        let found = first(&hosts);
        assert_eq!((found.troubles, found.kind.as_str(), found.most), (4, "404", 1));
        let mut hosts = HostTroubles::default();
        hosts.note_queued(&url, "robots");
        assert_eq!(first(&hosts).without_forbidden(), None);
        hosts.note_queued(&url, "robots");
        hosts.note(&Url::parse("http://b.test/").unwrap(), "404");
        assert_eq!(first(&hosts).host, "b.test", "what robots.txt forbids is no fault");
    }
}
