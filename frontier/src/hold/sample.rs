//! Samples of everything that is held or stopped, for the rescue and the estimate at the end of a crawl.
//!
//! The identity of each URL is hashed together with the number of the round. The URLs with the lowest hashes are a simple
//! random sample without replacement. One pass over the records finds them, and keeps only the sample in memory.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use dedup_stage::url::{SiteId, UrlId};
use serde::{Deserialize, Serialize};
use url::Url;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::template::{shape, template};
use crate::host::groups::label;
use crate::reason::SkipReason;
use crate::rules::is_id;
use crate::url::{Cause, State};

/// A lot: held or stopped URLs that most likely share their fate. (The word is that of acceptance sampling: a few are
/// drawn, and the whole lot is judged by them.) A lot is all URLs of one template that are held or stopped for one reason:
/// for counterparts on one host, as news, because one corpus knows them, by one rule, or for a spent budget.
///
/// Lots of the hosts of one registrable domain whose URLs have one shape form a *family*. A family is a lot, too: a wide one.
/// If each author of a site has a folder, then each folder is a lot, and no sample is large enough for all of them. What most of
/// the lots of a family have shown is taken to hold for the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Lot(pub u64);

/// One URL of a sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawn {
    /// The identity of the URL.
    pub id: UrlId,
    /// The lot of the URL.
    pub lot: Lot,
    /// The family of that lot.
    pub family: Lot,
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

/// The lot of a URL that is held or stopped, and the family of the lot; `None` for other states.
pub fn lots(id: UrlId, state: &State) -> Option<(Lot, Lot)> {
    let url = state.link().and_then(|link| Url::parse(&link.url).ok());
    let form = || url.as_ref().map_or(0, |url| template(url, id.site)).to_be_bytes();
    let hash = |parts: &[&[u8]]| Lot(xxh3_64(&parts.concat()));
    let (domain, site) = (id.site.domain.to_be_bytes(), id.site.to_bytes());
    let shape = url.as_ref().map_or_else(String::new, shape);
    let wide = |kind: &[u8]| hash(&[b"family", kind, &domain, shape.as_bytes()]);
    Some(match state {
        State::HeldFor { counterparts, .. } => {
            let other = counterparts.first().map_or(SiteId::default(), |id| id.site);
            (hash(&[b"for", &site, &other.to_bytes(), &form()]), wide(b"for"))
        }
        State::HeldAs { cause: Cause::News { template }, .. } => {
            (hash(&[b"news", &template.to_be_bytes()]), wide(b"news"))
        }
        State::HeldAs { cause: Cause::Known { corpus }, .. } => {
            (hash(&[b"known", corpus.as_bytes(), &site, &form()]), wide(b"known"))
        }
        State::Stopped { reason: SkipReason::Budget, .. } => (hash(&[b"budget", &site, &form()]), wide(b"budget")),
        State::Stopped { rules, .. } => {
            let rule = rules.first().copied().unwrap_or_default();
            (hash(&[b"rule", &rule.to_be_bytes(), &site, &form()]), wide(b"rule"))
        }
        _ => return None,
    })
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
    /// Whether URLs that are farther from the seeds come first. Else the sample is random.
    pub deepest_first: bool,
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
    places: HashMap<Lot, BTreeSet<u64>>,
}

impl Draw {
    /// Begins to draw. Each `round` draws another sample.
    pub fn new(spec: SampleSpec, round: u64) -> Self {
        Self { spec, round, sample: Sample::default(), lowest: BTreeMap::new(), places: HashMap::new() }
    }

    /// Counts one more URL, and takes it into the sample if its place is among the lowest.
    pub fn show(&mut self, drawn: Drawn) {
        self.sample.held += 1;
        self.sample.covered += u64::from(drawn.covered);
        let place = self.place(&drawn);
        for (of, most) in [(drawn.lot, self.spec.of_lot), (drawn.family, self.spec.of_family)] {
            let Some(places) = self.places.get(&of).filter(|places| places.len() >= most) else { continue };
            match places.last() {
                Some(last) if place < *last => self.leave_out(*last),
                _ => return,
            }
        }
        for of in [drawn.lot, drawn.family] {
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
    fn place(&self, drawn: &Drawn) -> u64 {
        let order = xxh3_64_with_seed(&drawn.id.url.to_be_bytes(), self.round);
        if !self.spec.deepest_first {
            return order;
        }
        let depth = drawn.state.link().map_or(0, |link| u8::try_from(link.depth).unwrap_or(u8::MAX));
        u64::from(!depth) << 56 | order >> 8
    }

    fn leave_out(&mut self, place: u64) {
        let Some(drawn) = self.lowest.remove(&place) else { return };
        for of in [drawn.lot, drawn.family] {
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
        self.sample
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::url::Kept;

    fn drawn(url: u64, lot: u64) -> Drawn {
        let state =
            State::HeldFor { counterparts: Vec::new(), link: Kept { depth: (url % 5) as u32, ..Kept::default() } };
        let id = UrlId { url, ..UrlId::default() };
        Drawn { id, lot: Lot(lot), family: Lot(1_000 + lot % 4), covered: url.is_multiple_of(2), state }
    }

    #[test]
    fn a_sample_is_the_lowest_of_each_lot_and_of_all() {
        for (wanted, of_lot) in [(10, 3), (50, 1), (1_000, usize::MAX), (5, 100)] {
            let spec = SampleSpec { wanted, of_lot, of_family: usize::MAX, deepest_first: false };
            let mut draw = Draw::new(spec, 7);
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

    #[test]
    fn a_family_gives_a_few_and_those_that_are_farthest_come_first() {
        let spec = SampleSpec { wanted: 100, of_lot: 2, of_family: 3, deepest_first: true };
        let mut draw = Draw::new(spec, 7);
        for url in 0..600 {
            draw.show(drawn(url, url % 23));
        }
        let sample = draw.end();
        for family in 1_000..1_004 {
            let of_family: Vec<_> = sample.drawn.iter().filter(|drawn| drawn.family == Lot(family)).collect();
            assert_eq!(of_family.len(), 3);
            assert!(of_family.iter().all(|drawn| drawn.state.link().is_some_and(|link| link.depth == 4)));
        }
        assert_eq!(sample.drawn.len(), 12);
    }
}
