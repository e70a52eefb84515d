//! The troubles of each host while a crawl runs.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};
use url::Url;

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
