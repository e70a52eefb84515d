//! The registrable domains of hosts. A domain can have subdomains without end. So the hosts of a large domain may fill
//! only a part of the memory, and a large domain gets new hosts only as fast as its pages are fetched. The pages of
//! other domains can invent hosts of it, too. So a domain that names many hosts of another one may not use up all of
//! these places.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use xxhash_rust::xxh3::Xxh3Default;

type Counts = HashMap<u64, u32, BuildHasherDefault<Xxh3Default>>;

/// The numbers of hosts of each registrable domain.
#[derive(Debug, Default)]
pub struct Domains {
    /// The number of hosts that were ever met.
    met: DomainCounts,
    /// The number of hosts of each large domain that each other domain has added to it.
    named: DomainCounts,
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

    /// A domain that has added this many hosts to another one leaves the others half of the places of that domain.
    const FEW: u32 = if cfg!(test) { 10 } else { 64 };

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

    /// Whether a domain may get one more host, which a page of the domain `namer` names (`None` if no page does). If
    /// this returns true, the host counts as added.
    pub fn may_add(&mut self, domain: u64, namer: Option<u64>) -> bool {
        let Some(places) = self.places.get_mut(&domain) else { return true };
        let stranger = namer.filter(|namer| *namer != domain).map(|namer| domain ^ namer.rotate_left(17));
        let kept = stranger.is_some_and(|pair| self.named.count(pair) >= Self::FEW);
        if *places <= if kept { Self::PLACES / 2 } else { 0 } {
            return false;
        }
        *places -= 1;
        if let Some(pair) = stranger {
            self.named.add(pair);
        }
        true
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

    fn places(domain: u64) -> [usize; 2] {
        [domain as usize % Self::ROW, (domain >> 32) as usize % Self::ROW + Self::ROW]
    }

    /// The number of hosts of a domain, or a higher one.
    fn count(&self, domain: u64) -> u32 {
        Self::places(domain).map(|place| self.0[place]).into_iter().min().unwrap_or(0).into()
    }

    /// Counts one more host of a domain. Returns the number of its hosts, or a higher one.
    fn add(&mut self, domain: u64) -> u32 {
        let [first, second] = Self::places(domain);
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
    fn domains_that_name_many_hosts_of_another_leave_places_for_the_rest() {
        let (mut domains, mut rng) = (Domains::default(), fastrand::Rng::with_seed(3));
        (0..=Domains::HOSTS).for_each(|_| domains.meet(7));
        let mut added = |namer: u64, hosts: u32| (0..hosts).filter(|_| domains.may_add(7, Some(namer))).count() as u32;
        let strangers: u32 = (0..3).map(|_| added(rng.u64(..), Domains::PLACES)).sum();
        assert!(strangers < Domains::PLACES / 2 + 3 * Domains::FEW, "{strangers}");
        assert_eq!(added(rng.u64(..), Domains::FEW / 2), Domains::FEW / 2, "a page that names few");
        assert!(added(7, Domains::PLACES) > 10, "the domain itself has the rest");
        assert!(!domains.may_add(7, None) && domains.may_add(8, None));
    }

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
