//! The registrable domains of hosts. A domain can have subdomains without end. So the hosts of a large domain may fill
//! only a part of the memory, and a large domain gets new hosts only as fast as its pages are fetched.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use xxhash_rust::xxh3::Xxh3Default;

type Counts = HashMap<u64, u32, BuildHasherDefault<Xxh3Default>>;

/// The numbers of hosts of each registrable domain.
#[derive(Debug, Default)]
pub struct Domains {
    /// The number of hosts that were ever met.
    met: DomainCounts,
    /// The number of hosts in memory.
    in_memory: Counts,
    /// The domains with more hosts than [`Domains::HOSTS`] (*large* domains), each with the number of hosts that it may
    /// still add.
    places: Counts,
    /// The number of large domains that have more than their share of the memory.
    over: usize,
}

impl Domains {
    /// A registrable domain with more hosts than this is large. If more of its hosts are in memory than its share, they
    /// are the first to leave it.
    pub const HOSTS: u32 = if cfg!(test) { 1 } else { config::bounds::HOSTS_OF_DOMAIN as u32 };
    /// At most this many hosts of all large domains together may stay in memory: half of the hosts that it has room
    /// for.
    const ALL: usize = if cfg!(test) { 1 } else { config::bounds::HOSTS / 2 };
    /// The number of hosts that a large domain may add at once.
    pub const PLACES: u32 = if cfg!(test) { 100 } else { config::bounds::NEW_HOSTS };
    /// The number of hosts that it may add with each page that is fetched from one of its hosts.
    pub const EARNED: u32 = if cfg!(test) { 2 } else { config::bounds::NEW_HOSTS_A_PAGE };

    /// A host of a domain was met for the first time.
    pub fn meet(&mut self, domain: u64) {
        if self.met.add(domain) > Self::HOSTS && !self.places.contains_key(&domain) {
            self.places.insert(domain, Self::PLACES);
            // The shares of all large domains have changed.
            self.over = self.places.keys().filter(|domain| self.count(**domain) > self.share()).count();
        }
    }

    /// A host of a domain came into memory.
    pub fn came(&mut self, domain: u64) {
        *self.in_memory.entry(domain).or_default() += 1;
        self.over += usize::from(self.is_large(domain) && self.count(domain) == self.share() + 1);
    }

    /// A host of a domain left memory.
    pub fn left(&mut self, domain: u64) {
        self.over -= usize::from(self.is_large(domain) && self.count(domain) == self.share() + 1);
        let count = self.in_memory.get_mut(&domain).map_or(0, |count| {
            *count -= 1;
            *count
        });
        if count == 0 {
            self.in_memory.remove(&domain);
        }
    }

    /// Whether a domain is large.
    pub fn is_large(&self, domain: u64) -> bool {
        self.places.contains_key(&domain)
    }

    /// Whether a large domain has more hosts in memory than its share.
    pub fn is_over(&self, domain: u64) -> bool {
        self.over > 0 && self.is_large(domain) && self.count(domain) > self.share()
    }

    /// Whether any large domain has more hosts in memory than its share.
    pub fn has_one_over(&self) -> bool {
        self.over > 0
    }

    /// Whether a domain may add one more host. If this returns true, the host counts as added.
    pub fn may_add(&mut self, domain: u64) -> bool {
        let Some(places) = self.places.get_mut(&domain) else { return true };
        let left = places.checked_sub(1);
        *places = left.unwrap_or(0);
        left.is_some()
    }

    /// A page of a domain was fetched, so the domain may add some more hosts.
    pub fn earn(&mut self, domain: u64) {
        if let Some(places) = self.places.get_mut(&domain) {
            *places = places.saturating_add(Self::EARNED).min(Self::PLACES);
        }
    }

    /// The number of hosts of a domain in memory.
    fn count(&self, domain: u64) -> u32 {
        self.in_memory.get(&domain).copied().unwrap_or(0)
    }

    /// The number of hosts of each large domain that do not have to leave memory for others.
    fn share(&self) -> u32 {
        let equal = Self::ALL / self.places.len().max(1);
        Self::HOSTS.min(equal as u32).max(1)
    }
}

/// The number of hosts that were met, by registrable domain.
///
/// Most domains have few hosts, and there may be many millions of domains. So a domain has no entry of its own: it
/// shares two counters with others, and the lower one is an upper bound of its count. A crawl of 10^7 hosts counts some
/// 80 hosts too many for a domain. The hashes depend on the secret of the crawl, so a site cannot choose the domains
/// with which it shares counters.
///
/// # References
///
/// Cormode and Muthukrishnan, "An Improved Data Stream Summary: The Count-Min Sketch and its Applications" (2005).
#[derive(Debug)]
struct DomainCounts(Box<[u16]>);

impl Default for DomainCounts {
    fn default() -> Self {
        Self(vec![0; 2 * Self::ROW].into())
    }
}

impl DomainCounts {
    /// The number of counters in each of the two rows.
    const ROW: usize = 1 << 17;

    /// Counts one more host of a domain. Returns the number of its hosts, or a higher one.
    fn add(&mut self, domain: u64) -> u32 {
        let (first, second) = (domain as usize % Self::ROW, (domain >> 32) as usize % Self::ROW + Self::ROW);
        let count = self.0[first].min(self.0[second]).saturating_add(1);
        // A counter that is already higher counts other domains, too.
        for place in [first, second] {
            self.0[place] = self.0[place].max(count);
        }
        count.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_domain_is_counted_beside_many_others() {
        let (mut counts, mut rng) = (DomainCounts::default(), fastrand::Rng::with_seed(5));
        let large = rng.u64(..);
        let last = (0..2_000).map(|_| counts.add(large)).last();
        assert_eq!(last, Some(2_000));
        let most = (0..1_000_000).map(|_| counts.add(rng.u64(..))).max();
        assert!(most < Some(1_000), "{most:?}: none of them shares both counters with the large one");
        assert!((2_001..2_100).contains(&counts.add(large)));
        (0..100_000).for_each(|_| _ = counts.add(large));
        assert_eq!(counts.add(large), u32::from(u16::MAX), "it does not overflow");
    }
}
