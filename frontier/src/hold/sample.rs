//! Samples of everything that is held or stopped, for the rounds of the rescue at the end of a crawl.
//!
//! The identity of each URL is hashed together with the number of the round. The URLs with the lowest hashes are a
//! simple random sample without replacement. One pass over the records finds them, and keeps only the sample in memory.
//! (The sample of the last round is a stratified one: see [`super::strata`].)

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use dedup_stage::url::UrlId;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::url_sets::UrlSets;
use crate::trial::UrlSet;

/// One URL of a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drawn {
    /// The identity of the URL.
    pub id: UrlId,
    /// The sets that the URL belongs to.
    pub sets: UrlSets,
    /// Whether its counterpart or representative was answered well, or with a redirect.
    pub covered: bool,
    /// The number of links from the seeds.
    pub depth: u32,
    /// The hash of the URL that was or is to be fetched in its place; `None` if there is none.
    pub stands_in: Option<u64>,
}

/// A random sample of everything that is held or stopped.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// All URLs that are held or stopped.
    pub held_back: u64,
    /// The covered ones among them: see [`Drawn::covered`].
    pub covered: u64,
    /// The URLs that were drawn, in random order.
    pub drawn: Vec<Drawn>,
    /// The number of lots that were shown, up to [`Sample::MOST`].
    pub lots: usize,
    /// The number of families of these lots, up to [`Sample::MOST`].
    pub families: usize,
}

impl Sample {
    /// Lots and families are counted up to here.
    pub const MOST: usize = 1 << 16;
}

/// How a sample is drawn.
#[derive(Clone, Copy, Debug)]
pub struct SampleSpec {
    /// URLs in all.
    pub wanted: usize,
    /// At most this many of each lot.
    pub of_lot: usize,
    /// At most this many of each family.
    pub of_family: usize,
    /// Whether URLs come in the order of their [`Prospect`]s. Else the sample is random.
    pub best_first: bool,
}

/// What a URL promises. The fields are compared in the order in which they stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prospect {
    /// Whether URLs that are held for the same counterpart have brought something.
    pub siblings: bool,
    /// How much its lot has opened so far: the more, the earlier it comes. At most [`Prospect::MOST_OPEN`] counts.
    pub opens: u8,
    /// The number of links from the seeds: URLs that are farther come earlier.
    pub depth: u32,
    /// The number of pages first found through the page that was fetched in its place: the more, the earlier it comes.
    pub led: u32,
}

impl Prospect {
    /// The largest value of `opens`.
    pub const MOST_OPEN: u8 = 15;

    /// The place in the order, in the upper 21 bits. The best prospect has the lowest place.
    fn place(self) -> u64 {
        let capped = |value: u32| u64::from(!u8::try_from(value).unwrap_or(u8::MAX));
        let opens = Self::MOST_OPEN - self.opens.min(Self::MOST_OPEN);
        u64::from(!self.siblings) << 63 | u64::from(opens) << 59 | capped(self.depth) << 51 | capped(self.led) << 43
    }
}

/// Draws a sample from URLs that are shown to it one by one.
#[derive(Debug)]
pub struct Draw {
    spec: SampleSpec,
    round: u64,
    sample: Sample,
    /// The URLs with the lowest places.
    lowest: BTreeMap<u64, Drawn>,
    /// For each lot and each family, the places of its URLs among the lowest.
    places: HashMap<UrlSet, BTreeSet<u64>>,
    lots: HashSet<UrlSet>,
    families: HashSet<UrlSet>,
}

impl Draw {
    /// Begins to draw. Two rounds draw two different samples.
    pub fn new(spec: SampleSpec, round: u64) -> Self {
        let (sample, lowest, places, lots, families) = Default::default();
        Self { spec, round, sample, lowest, places, lots, families }
    }

    /// Counts one more URL, and takes it into the sample if its place is among the lowest.
    pub fn show(&mut self, drawn: Drawn, prospect: Prospect) {
        self.sample.held_back += 1;
        self.sample.covered += u64::from(drawn.covered);
        for (all, one) in [(&mut self.lots, drawn.sets.lot), (&mut self.families, drawn.sets.family)] {
            if all.len() < Sample::MOST {
                all.insert(one);
            }
        }
        let place = self.place(&drawn, prospect);
        for (of, most) in [(drawn.sets.lot, self.spec.of_lot), (drawn.sets.family, self.spec.of_family)] {
            let Some(places) = self.places.get(&of).filter(|places| places.len() >= most) else { continue };
            match places.last() {
                Some(last) if place < *last => self.leave_out(*last),
                _ => return,
            }
        }
        for of in [drawn.sets.lot, drawn.sets.family] {
            self.places.entry(of).or_default().insert(place);
        }
        self.lowest.insert(place, drawn);
        if self.lowest.len() > self.spec.wanted
            && let Some(last) = self.lowest.last_key_value().map(|(last, _)| *last)
        {
            self.leave_out(last);
        }
    }

    /// Where a URL stands in the order of the sample.
    fn place(&self, drawn: &Drawn, prospect: Prospect) -> u64 {
        let order = xxh3_64_with_seed(&drawn.id.url.to_be_bytes(), self.round);
        if self.spec.best_first { prospect.place() | order >> 21 } else { order }
    }

    fn leave_out(&mut self, place: u64) {
        let Some(drawn) = self.lowest.remove(&place) else { return };
        for of in [drawn.sets.lot, drawn.sets.family] {
            if let Some(places) = self.places.get_mut(&of) {
                places.remove(&place);
                if places.is_empty() {
                    self.places.remove(&of);
                }
            }
        }
    }

    /// The sample.
    pub fn end(mut self) -> Sample {
        self.sample.drawn = self.lowest.into_values().collect();
        (self.sample.lots, self.sample.families) = (self.lots.len(), self.families.len());
        self.sample
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(url: u64, lot: u64) -> Drawn {
        let id = UrlId { url, ..UrlId::default() };
        let sets =
            UrlSets { section: UrlSet(url), lot: UrlSet(lot), family: UrlSet(1_000 + lot % 4), ..UrlSets::default() };
        Drawn { id, sets, covered: url.is_multiple_of(2), depth: (url % 5) as u32, stands_in: None }
    }

    #[test]
    fn a_sample_is_the_lowest_of_each_lot_and_of_all() {
        for (wanted, of_lot) in [(10, 3), (50, 1), (1_000, usize::MAX), (5, 100)] {
            let spec = SampleSpec { wanted, of_lot, of_family: usize::MAX, best_first: false };
            let mut draw = Draw::new(spec, 7);
            let mut all: Vec<(u64, UrlSet)> = Vec::new();
            for url in 0..600 {
                let lot = url * url % 23;
                draw.show(drawn(url, lot), Prospect { led: (url % 3) as u32, ..Prospect::default() });
                all.push((xxh3_64_with_seed(&url.to_be_bytes(), 7), UrlSet(lot)));
            }
            all.sort_unstable();
            let mut taken = HashMap::<UrlSet, usize>::new();
            all.retain(|(_, lot)| {
                let count = taken.entry(*lot).or_default();
                *count += 1;
                *count <= of_lot
            });
            all.truncate(wanted);
            let sample = draw.end();
            let found: Vec<_> = sample
                .drawn
                .iter()
                .map(|drawn| (xxh3_64_with_seed(&drawn.id.url.to_be_bytes(), 7), drawn.sets.lot))
                .collect();
            assert_eq!(found, all);
            assert_eq!((sample.held_back, sample.covered), (600, 300));
            let lots: HashSet<u64> = (0..600).map(|url| url * url % 23).collect();
            assert_eq!((sample.lots, sample.families), (lots.len(), 4));
        }
    }

    #[test]
    fn a_family_gives_a_few_and_those_that_promise_most_come_first() {
        let spec = SampleSpec { wanted: 100, of_lot: 2, of_family: 2, best_first: true };
        let mut draw = Draw::new(spec, 7);
        // One lot in three opens nothing, and each family has a lot that opens two.
        let opens = |lot: u64| if lot.is_multiple_of(3) { 0 } else { (lot % 3) as u8 };
        for url in 0..600 {
            let (drawn, lot) = (drawn(url, url % 23), url % 23);
            let led = u32::from(url % 46 < 23);
            draw.show(drawn, Prospect { opens: opens(lot), depth: drawn.depth, led, ..Prospect::default() });
        }
        let sample = draw.end();
        for family in 1_000..1_004 {
            let of_family: Vec<_> = sample.drawn.iter().filter(|drawn| drawn.sets.family == UrlSet(family)).collect();
            assert_eq!(of_family.len(), 2);
            let is_best = |drawn: &Drawn| opens(drawn.sets.lot.0) == 2 && drawn.depth == 4 && drawn.id.url % 46 < 23;
            assert!(of_family.iter().all(|drawn| is_best(drawn)), "{of_family:?}");
        }
        assert_eq!(sample.drawn.len(), 8);
    }

    #[test]
    fn what_opens_more_comes_before_what_is_farther_and_that_before_what_led_to_more() {
        let of = |opens, depth, led| Prospect { siblings: false, opens, depth, led }.place();
        let order =
            [of(200, 0, 0), of(15, 0, 0), of(14, 300, 300), of(14, 255, 0), of(14, 7, 0), of(0, 7, 9), of(0, 7, 8)];
        assert!(order.is_sorted(), "{order:?}");
        assert_eq!(order[0], order[1]);
        assert!(Prospect { siblings: true, ..Prospect::default() }.place() < order[0], "siblings come first");
    }
}
