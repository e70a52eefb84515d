//! Counts the hosts of each registrable domain in little memory.

/// The number of hosts that were met, by registrable domain.
///
/// Most domains have few hosts, and there may be many millions of domains. So a domain has no entry of its own: it
/// shares two counters with others, and the lower one is an upper bound of its count. A crawl of 10^7 hosts counts some
/// 80 hosts too many for a domain. The hashes have the secret of the crawl, so nobody can choose whose counters to
/// share.
///
/// # References
///
/// Cormode and Muthukrishnan, "An Improved Data Stream Summary: The Count-Min Sketch and its Applications" (2005).
#[derive(Debug)]
pub struct DomainCounts(Box<[u16]>);

impl Default for DomainCounts {
    fn default() -> Self {
        Self(vec![0; 2 * Self::ROW].into())
    }
}

impl DomainCounts {
    /// The number of counters in each of the two rows.
    const ROW: usize = 1 << 17;

    /// Counts one more host of a domain. Returns the number of its hosts, or a higher one.
    pub fn add(&mut self, domain: u64) -> u32 {
        let (first, second) = (domain as usize % Self::ROW, (domain >> 32) as usize % Self::ROW + Self::ROW);
        let count = self.0[first].min(self.0[second]).saturating_add(1);
        // A counter that is higher already belongs to others, too.
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
