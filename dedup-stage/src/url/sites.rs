//! A set of hosts, as ranges of their identities. One host, all hosts of a domain, and a share of all hosts have the
//! same form. So has the rest of a set when a part of it is given away.

use serde::{Deserialize, Serialize};

use super::SiteId;
use crate::store::Space;
use crate::store::cut::KeyRange;

/// A set of hosts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sites(
    /// The first and the last identity of each range. They are sorted. Between two ranges there is always a host that
    /// is in neither.
    Vec<(SiteId, SiteId)>,
);

impl Sites {
    /// The set of all possible hosts.
    pub fn all() -> Self {
        Self::of_numbers(vec![(0, u128::MAX)])
    }

    /// The set of these hosts.
    pub fn of(hosts: impl IntoIterator<Item = SiteId>) -> Self {
        Self::of_numbers(hosts.into_iter().map(|site| (number(site), number(site))).collect())
    }

    /// The set of all hosts of these registrable domains, which are given by their hashes ([`SiteId::domain`]).
    pub fn of_domains(domains: impl IntoIterator<Item = u64>) -> Self {
        let range = |domain| {
            let first = SiteId { domain, host: 0 };
            (number(first), number(SiteId { host: u64::MAX, ..first }))
        };
        Self::of_numbers(domains.into_iter().map(range).collect())
    }

    /// The set of the hosts in some parts, if all hosts are divided into `parts` parts. All hosts of a registrable
    /// domain are in the same part ([`SiteId::part`]). All parts have about as many domains, as far as hashes are even.
    pub fn parts(numbers: std::ops::Range<u32>, parts: u32) -> Self {
        let first = |part: u32| (u128::from(part) << 64).div_ceil(u128::from(parts));
        let (from, to) = (first(numbers.start), first(numbers.end));
        if from == to {
            return Self::default();
        }
        Self::of_numbers(vec![(from << 64, (to - 1) << 64 | u128::from(u64::MAX))])
    }

    /// Whether a host is in the set.
    pub fn has(&self, site: SiteId) -> bool {
        let before = self.0.partition_point(|(first, _)| *first <= site);
        before > 0 && self.0[before - 1].1 >= site
    }

    /// Whether the set has no host.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The hosts that both sets have.
    pub fn and(&self, other: &Self) -> Self {
        let mut both = Vec::new();
        for (first, last) in &self.0 {
            let from = other.0.partition_point(|(_, end)| end < first);
            let parts = other.0[from..].iter().take_while(|(begin, _)| begin <= last);
            both.extend(parts.map(|(begin, end)| (*first.max(begin), *last.min(end))));
        }
        Self(both)
    }

    /// The hosts that one of the sets has, or both.
    pub fn or(&self, other: &Self) -> Self {
        let all = self.0.iter().chain(&other.0);
        Self::of_numbers(all.map(|(first, last)| (number(*first), number(*last))).collect())
    }

    /// The hosts of this set that the other one does not have.
    pub fn without(&self, other: &Self) -> Self {
        let (mut others, mut next) = (Vec::new(), Some(0));
        for (first, last) in &other.0 {
            if let Some(from) = next.filter(|from| *from < number(*first)) {
                others.push((from, number(*first) - 1));
            }
            next = number(*last).checked_add(1);
        }
        others.extend(next.map(|from| (from, u128::MAX)));
        self.and(&Self::of_numbers(others))
    }

    /// The ranges of keys of a space that begin with `prefix` and then with a host of the set.
    pub fn keys(&self, space: Space, prefix: &[u8]) -> Vec<KeyRange> {
        let bytes = |site: SiteId| [prefix, &site.to_bytes()].concat();
        self.0.iter().map(|(first, last)| KeyRange::between(space, &bytes(*first), &bytes(*last))).collect()
    }

    /// Makes a set of ranges. Sorts them, and joins those between which there is no host.
    fn of_numbers(mut ranges: Vec<(u128, u128)>) -> Self {
        ranges.sort_unstable();
        let mut joined: Vec<(u128, u128)> = Vec::new();
        for (first, last) in ranges {
            match joined.last_mut() {
                Some((_, end)) if first <= end.saturating_add(1) => *end = last.max(*end),
                _ => joined.push((first, last)),
            }
        }
        Self(joined.into_iter().map(|(first, last)| (site(first), site(last))).collect())
    }
}

/// An identity as a number. It sorts as the identity does.
fn number(site: SiteId) -> u128 {
    u128::from_be_bytes(site.to_bytes())
}

fn site(number: u128) -> SiteId {
    SiteId { domain: (number >> 64) as u64, host: number as u64 }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::store::Layout;

    /// A few hosts at both ends of a few domains, so that ranges touch, overlap and end where identities do.
    fn few() -> Vec<SiteId> {
        let numbers = [0, 1, 2, u64::MAX - 1, u64::MAX];
        numbers.into_iter().flat_map(|domain| numbers.map(|host| SiteId { domain, host })).collect()
    }

    #[test]
    fn sets_do_what_sets_of_single_hosts_do() {
        let (few, mut random) = (few(), fastrand::Rng::with_seed(1));
        let mut draw = || {
            let domain = [0, 1, u64::MAX][random.usize(..3)];
            let hosts: Vec<SiteId> = few.iter().copied().filter(|_| random.u8(..3) == 0).collect();
            match random.u8(..4) {
                0 => (Sites::of(hosts.clone()), hosts.into_iter().collect::<BTreeSet<_>>()),
                1 => {
                    let of = few.iter().copied().filter(|site| site.domain == domain).collect();
                    (Sites::of_domains([domain]), of)
                }
                2 => (Sites::all(), few.iter().copied().collect()),
                _ => (Sites::default(), BTreeSet::new()),
            }
        };
        for _ in 0..2_000 {
            let ((a, of_a), (b, of_b)) = (draw(), draw());
            let members = |sites: &Sites| few.iter().copied().filter(|site| sites.has(*site)).collect::<BTreeSet<_>>();
            assert_eq!(members(&a), of_a);
            assert_eq!(members(&a.and(&b)), &of_a & &of_b);
            assert_eq!(members(&a.or(&b)), &of_a | &of_b);
            assert_eq!(a.or(&b).without(&b), a.without(&b));
            assert_eq!(members(&a.without(&b)), &of_a - &of_b);
            assert_eq!(a.without(&b).without(&a.without(&b)), Sites::default());
            assert_eq!(a.and(&b).is_empty(), (&of_a & &of_b).is_empty());
            assert_eq!(Sites::all().without(&Sites::all().without(&a)), a, "one set has one form");
        }
    }

    #[test]
    fn every_domain_is_in_one_part() {
        let mut random = fastrand::Rng::with_seed(2);
        for parts in [1, 2, 3, 7, 256, 1_000_003] {
            let part = |number: u32| Sites::parts(number..number + 1, parts);
            assert_eq!(Sites::parts(0..parts, parts), Sites::all());
            assert!(Sites::parts(0..0, parts).is_empty());
            for _ in 0..200 {
                let number = random.u32(..parts);
                // The sites at both ends of the part, and any other one.
                let (first, last) = part(number).0[0];
                for site in [first, last, SiteId { domain: random.u64(..), host: random.u64(..) }] {
                    assert!(part(site.part(parts)).has(site), "{site:?} of {parts}");
                }
                assert_eq!([first.part(parts), last.part(parts)], [number; 2]);
            }
        }
    }

    #[test]
    fn the_keys_of_a_set_are_those_of_its_hosts() {
        let space = Space::new(7, "test", Layout::Points);
        let few = few();
        for sites in [Sites::of(few[..7].to_vec()), Sites::of_domains([1, u64::MAX]), Sites::all()] {
            for prefix in [&[][..], &[3], &[0xff, 0xff]] {
                let ranges = sites.keys(space, prefix);
                for site in &few {
                    for key in [[prefix, &site.to_bytes()].concat(), [prefix, &site.to_bytes(), &[0xff; 9]].concat()] {
                        let within = |range: &&KeyRange| range.from <= key && (range.to.is_empty() || key < range.to);
                        let found = ranges.iter().filter(within).count();
                        assert_eq!(found, usize::from(sites.has(*site)), "{site:?}");
                    }
                }
                let other = [&[2][..], &few[0].to_bytes()].concat();
                let strange =
                    ranges.iter().any(|range| range.from <= other && (range.to.is_empty() || other < range.to));
                assert!(prefix.is_empty() || !strange, "keys with another prefix are of nobody");
            }
        }
    }
}
