//! Samples of everything that is held or stopped, for the rescue and the estimate at the end of a crawl.
//!
//! `id.url` is a keyed hash, and so is its mix with the number of a round. The URLs with the lowest of these are a simple
//! random sample without replacement, which one pass finds in memory for the sample alone.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use dedup_stage::url::{SiteId, UrlId};
use url::Url;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::host::groups::label;
use crate::rules::is_id;
use crate::url::{Cause, State};

/// A cluster of held or stopped URLs that most likely share their fate: those of one folder that are held for counterparts
/// on one host, those of one template, those that one rule stopped in one folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cluster(pub u64);

/// One URL of a sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawn {
    /// Which.
    pub id: UrlId,
    /// Its cluster.
    pub cluster: Cluster,
    /// Whether a page was fetched well in its place: it is held for a counterpart, or stopped for a representative, that is
    /// done.
    pub covered: bool,
    /// Its record: held or stopped.
    pub state: State,
}

/// A random sample of everything that is held or stopped.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// URLs held or stopped, all together.
    pub held: u64,
    /// Those among them that are covered.
    pub covered: u64,
    /// Clusters; above some 65,000 of them, an estimate.
    pub clusters: u64,
    /// The URLs that were drawn, in random order.
    pub drawn: Vec<Drawn>,
}

/// The folder of a URL, as a hash: first path segment and names of parameters. All segments that look like an identifier
/// (of a session, for example) are one: else each session would be a folder, and what is learned of one would be lost for
/// the next.
pub fn folder(url: &Url) -> u64 {
    let label = label(url);
    match label.trim_start_matches('/').split_once('/') {
        Some((segment, rest)) if is_id(segment) => xxh3_64(format!("/*/{rest}").as_bytes()),
        _ => xxh3_64(label.as_bytes()),
    }
}

/// The cluster of a URL that is held or stopped; `None` for other states.
pub fn cluster(id: UrlId, state: &State) -> Option<Cluster> {
    let folder = || {
        let url = state.link().and_then(|link| Url::parse(&link.url).ok());
        url.map_or(0, |url| folder(&url)).to_be_bytes()
    };
    let hash = |parts: &[&[u8]]| Some(Cluster(xxh3_64(&parts.concat())));
    match state {
        State::HeldFor { counterparts, .. } => {
            let other = counterparts.first().map_or(SiteId::default(), |id| id.site);
            hash(&[b"for", &id.site.to_bytes(), &other.to_bytes(), &folder()])
        }
        State::HeldAs { cause: Cause::News { template }, .. } => hash(&[b"news", &template.to_be_bytes()]),
        State::HeldAs { cause: Cause::Known { corpus }, .. } => {
            hash(&[b"known", corpus.as_bytes(), &id.site.to_bytes(), &folder()])
        }
        State::Stopped { rules, .. } => {
            let rule = rules.first().copied().unwrap_or_default();
            hash(&[b"rule", &rule.to_be_bytes(), &id.site.to_bytes(), &folder()])
        }
        _ => None,
    }
}

/// Draws a sample from URLs that are shown to it one by one.
#[derive(Debug)]
pub struct Draw {
    wanted: usize,
    of_cluster: usize,
    round: u64,
    sample: Sample,
    lowest: BTreeMap<u64, Drawn>,
    /// By cluster, the places of its URLs among the lowest.
    places: HashMap<Cluster, BTreeSet<u64>>,
    /// The lowest hashes of clusters.
    clusters: BTreeSet<u64>,
}

impl Draw {
    /// Clusters that are counted exactly.
    const EXACT: usize = 65_536;

    /// About to draw `wanted` URLs, at most `of_cluster` of each cluster. Other rounds draw other samples.
    pub fn new(wanted: usize, of_cluster: usize, round: u64) -> Self {
        let (lowest, places, clusters) = (BTreeMap::new(), HashMap::new(), BTreeSet::new());
        Self { wanted, of_cluster, round, sample: Sample::default(), lowest, places, clusters }
    }

    /// One more URL.
    pub fn show(&mut self, drawn: Drawn) {
        let Cluster(cluster) = drawn.cluster;
        self.sample.held += 1;
        self.sample.covered += u64::from(drawn.covered);
        self.clusters.insert(xxh3_64(&cluster.to_be_bytes()));
        if self.clusters.len() > Self::EXACT {
            self.clusters.pop_last();
        }
        let order = xxh3_64_with_seed(&drawn.id.url.to_be_bytes(), self.round);
        let place = self.places.entry(drawn.cluster).or_default();
        let full = place.len() >= self.of_cluster;
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
            && let Some(place) = self.places.get_mut(&drawn.cluster)
        {
            place.remove(&order);
            if place.is_empty() {
                self.places.remove(&drawn.cluster);
            }
        }
    }

    /// The sample.
    pub fn end(mut self) -> Sample {
        self.sample.clusters = match self.clusters.last() {
            Some(last) if self.clusters.len() == Self::EXACT => {
                // The k lowest of n uniform hashes reach up to about k / n of their range.
                ((Self::EXACT - 1) as f64 * (u64::MAX as f64 / *last as f64)) as u64
            }
            _ => self.clusters.len() as u64,
        };
        self.sample.drawn = self.lowest.into_values().collect();
        self.sample
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::url::Kept;

    fn drawn(url: u64, cluster: u64) -> Drawn {
        let state = State::HeldFor { counterparts: Vec::new(), link: Kept::default() };
        let id = UrlId { url, ..UrlId::default() };
        Drawn { id, cluster: Cluster(cluster), covered: url.is_multiple_of(2), state }
    }

    #[test]
    fn a_sample_is_the_lowest_of_each_cluster_and_of_all() {
        for (wanted, of_cluster) in [(10, 3), (50, 1), (1_000, usize::MAX), (5, 100)] {
            let mut draw = Draw::new(wanted, of_cluster, 7);
            let mut all: Vec<(u64, Cluster)> = Vec::new();
            for url in 0..600 {
                let cluster = url * url % 23;
                draw.show(drawn(url, cluster));
                all.push((xxh3_64_with_seed(&url.to_be_bytes(), 7), Cluster(cluster)));
            }
            all.sort_unstable();
            let mut taken = HashMap::<Cluster, usize>::new();
            all.retain(|(_, cluster)| {
                let count = taken.entry(*cluster).or_default();
                *count += 1;
                *count <= of_cluster
            });
            all.truncate(wanted);
            let sample = draw.end();
            let found: Vec<_> = sample
                .drawn
                .iter()
                .map(|drawn| (xxh3_64_with_seed(&drawn.id.url.to_be_bytes(), 7), drawn.cluster))
                .collect();
            assert_eq!(found, all);
            assert_eq!((sample.held, sample.covered, sample.clusters), (600, 300, 12));
        }
    }

    #[test]
    fn many_clusters_are_estimated() {
        let mut draw = Draw::new(10, 1, 1);
        (0..200_000).for_each(|url| draw.show(drawn(url, url)));
        let clusters = draw.end().clusters;
        assert!((195_000..205_000).contains(&clusters), "{clusters}");
    }
}
