//! Samples of everything that is held or stopped, for the rescue and the estimate at the end of a crawl.
//!
//! The identity of each URL is hashed together with the number of the round. The URLs with the lowest hashes are a simple
//! random sample without replacement. One pass over the records finds them, and keeps only the sample in memory.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use dedup_stage::url::{SiteId, UrlId};
use serde::{Deserialize, Serialize};
use url::Url;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::template;
use crate::host::groups::label;
use crate::rules::is_id;
use crate::url::{Cause, State};

/// A lot: held or stopped URLs that most likely share their fate. (The word is that of acceptance sampling: a few are
/// drawn, and the whole lot is judged by them.) A lot is all URLs of one template that are held or stopped for one reason:
/// for counterparts on one host, as news, because one corpus knows them, or by one rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Lot(pub u64);

/// One URL of a sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawn {
    /// The identity of the URL.
    pub id: UrlId,
    /// The lot of the URL.
    pub lot: Lot,
    /// Whether its counterpart or representative was answered well, or with a redirect.
    pub covered: bool,
    /// The record of the URL: held or stopped.
    pub state: State,
}

/// A random sample of everything that is held or stopped.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// All URLs that are held or stopped.
    pub held: u64,
    /// The covered ones among them: see [`Drawn::covered`].
    pub covered: u64,
    /// The URLs that were drawn, in random order.
    pub drawn: Vec<Drawn>,
}

/// The folder of a URL, as a hash: its first path segment and the names of its parameters. All segments that look like an
/// identifier (of a session, for example) count as one segment. Otherwise each session would be a folder of its own, and
/// what is learned about one session would not help with the next.
pub fn folder(url: &Url) -> u64 {
    let label = label(url);
    match label.trim_start_matches('/').split_once('/') {
        Some((segment, rest)) if is_id(segment) => xxh3_64(format!("/*/{rest}").as_bytes()),
        _ => xxh3_64(label.as_bytes()),
    }
}

/// The lot of a URL that is held or stopped; `None` for other states.
pub fn lot(id: UrlId, state: &State) -> Option<Lot> {
    let form = || {
        let url = state.link().and_then(|link| Url::parse(&link.url).ok());
        url.map_or(0, |url| template(&url, id.site)).to_be_bytes()
    };
    let hash = |parts: &[&[u8]]| Some(Lot(xxh3_64(&parts.concat())));
    match state {
        State::HeldFor { counterparts, .. } => {
            let other = counterparts.first().map_or(SiteId::default(), |id| id.site);
            hash(&[b"for", &id.site.to_bytes(), &other.to_bytes(), &form()])
        }
        State::HeldAs { cause: Cause::News { template }, .. } => hash(&[b"news", &template.to_be_bytes()]),
        State::HeldAs { cause: Cause::Known { corpus }, .. } => {
            hash(&[b"known", corpus.as_bytes(), &id.site.to_bytes(), &form()])
        }
        State::Stopped { rules, .. } => {
            let rule = rules.first().copied().unwrap_or_default();
            hash(&[b"rule", &rule.to_be_bytes(), &id.site.to_bytes(), &form()])
        }
        _ => None,
    }
}

/// Draws a sample from URLs that are shown to it one by one.
#[derive(Debug)]
pub struct Draw {
    wanted: usize,
    of_lot: usize,
    round: u64,
    sample: Sample,
    lowest: BTreeMap<u64, Drawn>,
    /// For each lot, the hashes of its URLs among the lowest.
    places: HashMap<Lot, BTreeSet<u64>>,
}

impl Draw {
    /// Begins to draw `wanted` URLs, at most `of_lot` of each lot. Each `round` draws another sample.
    pub fn new(wanted: usize, of_lot: usize, round: u64) -> Self {
        let (lowest, places) = (BTreeMap::new(), HashMap::new());
        Self { wanted, of_lot, round, sample: Sample::default(), lowest, places }
    }

    /// Counts one more URL, and takes it into the sample if its hash is among the lowest.
    pub fn show(&mut self, drawn: Drawn) {
        self.sample.held += 1;
        self.sample.covered += u64::from(drawn.covered);
        let order = xxh3_64_with_seed(&drawn.id.url.to_be_bytes(), self.round);
        let place = self.places.entry(drawn.lot).or_default();
        let full = place.len() >= self.of_lot;
        if full && place.last().is_none_or(|last| order > *last) {
            return;
        }
        if full && let Some(last) = place.pop_last() {
            self.lowest.remove(&last);
        }
        place.insert(order);
        self.lowest.insert(order, drawn);
        if self.lowest.len() > self.wanted
            && let Some((order, drawn)) = self.lowest.pop_last()
            && let Some(place) = self.places.get_mut(&drawn.lot)
        {
            place.remove(&order);
            if place.is_empty() {
                self.places.remove(&drawn.lot);
            }
        }
    }

    /// The sample.
    pub fn end(mut self) -> Sample {
        self.sample.drawn = self.lowest.into_values().collect();
        self.sample
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::url::Kept;

    fn drawn(url: u64, lot: u64) -> Drawn {
        let state = State::HeldFor { counterparts: Vec::new(), link: Kept::default() };
        let id = UrlId { url, ..UrlId::default() };
        Drawn { id, lot: Lot(lot), covered: url.is_multiple_of(2), state }
    }

    #[test]
    fn a_sample_is_the_lowest_of_each_lot_and_of_all() {
        for (wanted, of_lot) in [(10, 3), (50, 1), (1_000, usize::MAX), (5, 100)] {
            let mut draw = Draw::new(wanted, of_lot, 7);
            let mut all: Vec<(u64, Lot)> = Vec::new();
            for url in 0..600 {
                let lot = url * url % 23;
                draw.show(drawn(url, lot));
                all.push((xxh3_64_with_seed(&url.to_be_bytes(), 7), Lot(lot)));
            }
            all.sort_unstable();
            let mut taken = HashMap::<Lot, usize>::new();
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
                .map(|drawn| (xxh3_64_with_seed(&drawn.id.url.to_be_bytes(), 7), drawn.lot))
                .collect();
            assert_eq!(found, all);
            assert_eq!((sample.held, sample.covered), (600, 300));
        }
    }
}
