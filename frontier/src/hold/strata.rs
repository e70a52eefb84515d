//! A stratified sample of everything that is held back (held or stopped), for the last round of the rescue and the
//! estimate.
//!
//! The strata are the sections of lots ([`UrlSets::section`]): each has a share of the sample that is proportional to
//! its size. A simple random sample of 40 in 2,000 URLs misses a section of 40 in every second crawl. This sample
//! misses no section of at least `held_back / wanted` URLs (50 of 2,000, if 40 are drawn). Its estimates are at least
//! as sharp (Cochran, "Sampling Techniques", 3rd edition 1977, section 5.6).
//!
//! Two passes over the records are needed. The first one counts each section ([`Strata`]). The sections are then laid
//! end to end, and a URL is taken at every `held_back / wanted`-th place, from a random place on (a systematic sample:
//! each URL has the same chance). This says how many URLs each section gives. The second pass draws them at random
//! ([`StrataDraw`]). Only the counts and the sample are in memory.

use std::collections::{BTreeMap, HashMap};

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::sample::{Drawn, Sample};
use super::url_sets::UrlSets;
use crate::trial::UrlSet;

/// Counts the URLs of each section.
#[derive(Clone, Debug, Default)]
pub struct Strata {
    /// URLs by lot and section. If there are more sections than [`Sample::MOST`], the others count as one.
    sizes: BTreeMap<(UrlSet, UrlSet), u64>,
    held_back: u64,
}

/// The stratum of all sections that are not counted one by one.
const OTHERS: (UrlSet, UrlSet) = (UrlSet(u64::MAX), UrlSet(u64::MAX));

impl Strata {
    /// Counts one URL.
    pub fn count(&mut self, sets: UrlSets) {
        let of = (sets.lot, sets.section);
        let of = if self.sizes.len() < Sample::MOST || self.sizes.contains_key(&of) { of } else { OTHERS };
        *self.sizes.entry(of).or_default() += 1;
        self.held_back += 1;
    }

    /// Begins to draw about `wanted` URLs. Two rounds draw two different samples.
    pub fn draw(self, wanted: usize, round: u64) -> StrataDraw {
        let wanted = u64::try_from(wanted).unwrap_or(u64::MAX).min(self.held_back);
        let (held_back, mut shares, mut before) = (u128::from(self.held_back), HashMap::new(), 0_u128);
        // Places are counted in units of 1 / `wanted` of a URL, so that the step is a whole number of units:
        // `held_back`.
        let start = u128::from(xxh3_64_with_seed(b"start", round)) % held_back.max(1);
        let picks_before = |place: u128| (place * u128::from(wanted) + held_back - 1 - start) / held_back.max(1);
        for (of, size) in self.sizes {
            let after = before + u128::from(size);
            let share = picks_before(after) - picks_before(before);
            shares.insert(of, usize::try_from(share).unwrap_or(usize::MAX));
            before = after;
        }
        StrataDraw { shares, round, lowest: HashMap::new(), sample: Sample::default() }
    }
}

/// Draws a stratified sample from URLs that are shown to it one by one.
#[derive(Debug)]
pub struct StrataDraw {
    /// How many URLs each stratum gives.
    shares: HashMap<(UrlSet, UrlSet), usize>,
    round: u64,
    /// The URLs of each stratum with the lowest hashes.
    lowest: HashMap<(UrlSet, UrlSet), BTreeMap<u64, Drawn>>,
    sample: Sample,
}

impl StrataDraw {
    /// Counts one more URL, and takes it into the sample if its hash is among the lowest of its stratum.
    pub fn show(&mut self, drawn: Drawn) {
        self.sample.held_back += 1;
        self.sample.covered += u64::from(drawn.covered);
        let of = (drawn.sets.lot, drawn.sets.section);
        let of = if self.shares.contains_key(&of) { of } else { OTHERS };
        let share = self.shares.get(&of).copied().unwrap_or(0);
        if share == 0 {
            return;
        }
        let place = xxh3_64_with_seed(&drawn.id.url.to_be_bytes(), self.round);
        let lowest = self.lowest.entry(of).or_default();
        lowest.insert(place, drawn);
        if lowest.len() > share {
            lowest.pop_last();
        }
    }

    /// The sample.
    pub fn end(mut self) -> Sample {
        let all: BTreeMap<u64, Drawn> = self.lowest.into_values().flatten().collect();
        self.sample.drawn = all.into_values().collect();
        self.sample
    }
}

#[cfg(test)]
mod tests {
    use dedup_stage::url::UrlId;

    use super::*;

    fn drawn(url: u64, section: u64) -> Drawn {
        let sets = UrlSets { section: UrlSet(section), lot: UrlSet(section % 3), ..UrlSets::default() };
        Drawn { id: UrlId { url, ..UrlId::default() }, sets, covered: false, depth: 0, stands_in: None }
    }

    fn sample(sections: &[u64], wanted: usize, round: u64) -> Vec<Drawn> {
        let urls = || {
            let sections = sections.iter().enumerate();
            sections.flat_map(|(at, size)| (0..*size).map(move |url| drawn((at as u64) << 32 | url, at as u64)))
        };
        let mut strata = Strata::default();
        urls().for_each(|url| strata.count(url.sets));
        let mut draw = strata.draw(wanted, round);
        urls().for_each(|url| draw.show(url));
        let sample = draw.end();
        assert_eq!(sample.held_back, sections.iter().sum::<u64>());
        sample.drawn
    }

    #[test]
    fn each_section_has_its_share_and_each_url_the_same_chance() {
        let sections: Vec<u64> = (0..40).map(|at| 5 + at * 3).collect();
        let held: u64 = sections.iter().sum();
        for wanted in [0, 1, 40, 333, held as usize, 2 * held as usize] {
            let mut times = HashMap::<u64, u64>::new();
            const ROUNDS: u64 = 400;
            for round in 0..ROUNDS {
                let drawn = sample(&sections, wanted, round);
                assert_eq!(drawn.len(), wanted.min(held as usize));
                for (at, size) in sections.iter().enumerate() {
                    let got = drawn.iter().filter(|drawn| drawn.sets.section == UrlSet(at as u64)).count() as u64;
                    let exact = *size as f64 * drawn.len() as f64 / held as f64;
                    assert!((got as f64 - exact).abs() < 1.0, "{got} of {size}, exactly {exact}");
                }
                drawn.iter().for_each(|drawn| *times.entry(drawn.id.url).or_default() += 1);
            }
            let expected = ROUNDS as f64 * (wanted as u64).min(held) as f64 / held as f64;
            let spread = 6.0 * expected.sqrt() + 5.0;
            for url in
                sections.iter().enumerate().flat_map(|(at, size)| (0..*size).map(move |url| (at as u64) << 32 | url))
            {
                let times = times.get(&url).copied().unwrap_or_default() as f64;
                assert!(
                    (times - expected).abs() <= spread,
                    "{wanted}: {url:x} was drawn {times} times, not about {expected}"
                );
            }
        }
    }

    #[test]
    fn sections_beyond_the_bound_are_one_stratum() {
        let all = Sample::MOST as u64 + 5_000;
        let sections = vec![1; all as usize];
        let drawn = sample(&sections, 2_000, 3);
        let others = drawn.iter().filter(|drawn| drawn.sets.section.0 >= Sample::MOST as u64).count();
        assert_eq!(drawn.len(), 2_000);
        assert!((100..200).contains(&others), "{others} of about 142");
    }
}
