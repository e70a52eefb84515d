//! Audits at the end of a crawl with `drop`: a random sample of what was held back is fetched, and nothing more, to tell how much
//! was lost. The links of an audited page are held, whatever it says: none reaches the frontier.
//!
//! Sample, marks and log are part of the state, so that a crawl that is killed in between goes on with its audits.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::ControlFlow;

use config::OnDuplicate;
use dedup_stage::judge::Row;
use dedup_stage::store::{self, Session, Space};
use dedup_stage::url::KeySet;
use frontier::rules::{Clusters, Rules};
use serde::{Deserialize, Serialize};
use url::Url;

use super::hold::HeldLink;
use super::{Engine, Result};
use crate::estimate::{Stratum, estimate};
use crate::record::PageRecord;
use crate::report::Lost;
use crate::spaces;

/// What a URL is audited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// A rule stopped it when its turn came.
    Rule,
    /// It was drawn among those that rules say to be copies.
    Covered,
    /// It was drawn among the others, with its cluster.
    Cluster(u64),
}

/// First bytes of keys in [`frontier::spaces::RULES`]: URLs to be audited, by the hash of their keys …
const MARKED: u8 = b'q';
/// … and those that were, by row.
const AUDITED: u8 = b'a';
/// Keys in [`Space::META`]: the sample that was drawn, and what came of it.
const SAMPLE: &[u8] = b"sample";
const LOST: &[u8] = b"lost";

/// The sample.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Sample {
    /// URLs that rules say to be copies, and were not drawn now or before.
    covered: u64,
    /// Clusters of the others, those drawn included, and the drawn ones.
    clusters: u64,
    drawn: Vec<u64>,
}

/// What came of it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Outcome {
    /// URLs held back when it was drawn: while there are no more, nothing is drawn again.
    held: u64,
    lost: Option<[f64; 3]>,
}

/// What was found to be lost by the last run that went to its end.
pub fn lost(session: &Session) -> store::Result<Option<Lost>> {
    let outcome = session.get(Space::META, LOST)?.and_then(|bytes| serde_json::from_slice::<Outcome>(&bytes).ok());
    Ok(outcome.and_then(|outcome| outcome.lost).map(|[estimate, low, high]| Lost { estimate, low, high }))
}

impl Mark {
    fn encode(self) -> Vec<u8> {
        match self {
            Mark::Rule => vec![0],
            Mark::Covered => vec![1],
            Mark::Cluster(cluster) => [&[2], &cluster.to_be_bytes()[..]].concat(),
        }
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0] => Some(Mark::Rule),
            [1] => Some(Mark::Covered),
            [2, cluster @ ..] => Some(Mark::Cluster(u64::from_be_bytes(cluster.try_into().ok()?))),
            _ => None,
        }
    }
}

fn key(first: u8, number: u64) -> Vec<u8> {
    [&[first], &number.to_be_bytes()[..]].concat()
}

fn marks(first: u8, session: &Session) -> store::Result<HashMap<u64, Mark>> {
    let mut marks = HashMap::new();
    session.scan(frontier::spaces::RULES, &[first], &[first + 1], &mut |key, value| {
        if let (Ok(number), Some(mark)) = (key[1..].try_into(), Mark::decode(value)) {
            marks.insert(u64::from_be_bytes(number), mark);
        }
        ControlFlow::Continue(())
    })?;
    Ok(marks)
}

/// URLs that were to be audited when the state was left.
pub(super) fn marked(session: &Session) -> store::Result<HashMap<u64, Mark>> {
    marks(MARKED, session)
}

/// How one held URL is drawn.
enum Unit {
    Covered,
    /// Cluster and class.
    Other(u64, u64),
}

/// The clusters with the lowest hashes, and their classes: as few clusters as have so many classes. As the order of keyed
/// hashes is random, so is the draw.
struct Lowest {
    wanted: usize,
    clusters: BTreeMap<u64, HashSet<u64>>,
    /// Classes of all of them.
    classes: usize,
    /// Clusters from here on are too many.
    end: u64,
}

impl Lowest {
    fn new(wanted: usize) -> Self {
        Self { wanted, clusters: BTreeMap::new(), classes: 0, end: u64::MAX }
    }

    fn add(&mut self, cluster: u64, class: u64) {
        if cluster >= self.end || !self.clusters.entry(cluster).or_default().insert(class) {
            return;
        }
        self.classes += 1;
        while let Some(last) = self.clusters.last_entry()
            && self.classes - last.get().len() >= self.wanted
        {
            (self.end, self.classes) = (*last.key(), self.classes - last.get().len());
            last.remove();
        }
    }
}

impl Engine<'_> {
    /// Of the pages fetched, at most one in so many is fetched again as audits of each stratum …
    const SHARE: u64 = 20;
    /// … and the interval is to be no wider than one in so many.
    const WIDTH: u64 = 40;

    /// A page was fetched that is an audit.
    pub(super) fn note_audit(&mut self, hash: u64, mark: Mark, row: Row) {
        if self.audits.remove(&hash).is_some() {
            self.session.delete(frontier::spaces::RULES, key(MARKED, hash));
        }
        self.session.put(frontier::spaces::RULES, key(AUDITED, row), mark.encode());
    }

    /// Everything queued is done: draws a sample of what was held back, or, where that is done, tells what was lost. True if
    /// there is something to fetch.
    pub(super) fn audit(&mut self) -> Result<bool> {
        let dedup = &self.settings.dedup;
        if !dedup.audits || dedup.on_duplicate != OnDuplicate::Drop || self.frontier.rules().is_none() {
            return Ok(false);
        }
        if let Some(sample) = self.session.get(Space::META, SAMPLE)? {
            if let Ok(sample) = serde_json::from_slice(&sample) {
                self.conclude(&sample)?;
            }
            self.session.delete(Space::META, SAMPLE);
            return Ok(false);
        }
        let held = self.count_held()?;
        let before = self.session.get(Space::META, LOST)?.and_then(|b| serde_json::from_slice::<Outcome>(&b).ok());
        if held < dedup.audits_from || before.is_some_and(|before| held <= before.held) {
            return Ok(false);
        }
        self.draw()
    }

    /// Draws the sample, and queues it.
    fn draw(&mut self) -> Result<bool> {
        let most = (self.stats.pages / Self::SHARE).max(1);
        let Some(clusters) = self.frontier.rules().map(Rules::clusters) else { return Ok(false) };
        let (mut covered, mut all, mut lowest) = (0u64, KeySet::default(), Lowest::new(most as usize));
        self.each_held(&mut |hash, link| {
            match self.unit(&clusters, hash, &link)? {
                Some(Unit::Covered) => covered += 1,
                Some(Unit::Other(cluster, class)) => {
                    all.insert(cluster);
                    lowest.add(cluster, class);
                }
                None => {}
            }
            Ok(())
        })?;
        let before = marks(AUDITED, &self.session)?.values().filter(|mark| **mark == Mark::Rule).count() as u64;
        // With no hit among `n`, Jeffreys' interval ends at 2.5 / n.
        let wanted = (covered * 5 / 2 / (self.stats.pages / Self::WIDTH).max(1)).saturating_sub(before);
        let singles = wanted.clamp(1, most).min(covered) as usize;
        let drawn: HashSet<u64> = lowest.clusters.into_keys().collect();
        let (mut chosen, mut taken, mut classes) = (Vec::new(), 0, HashSet::new());
        self.each_held(&mut |hash, link| {
            match self.unit(&clusters, hash, &link)? {
                Some(Unit::Covered) if taken < singles => {
                    taken += 1;
                    chosen.push((hash, link, Mark::Covered));
                }
                Some(Unit::Other(cluster, class)) if drawn.contains(&cluster) && classes.insert(class) => {
                    chosen.push((hash, link, Mark::Cluster(cluster)));
                }
                _ => {}
            }
            Ok(())
        })?;
        for (hash, link, mark) in &chosen {
            self.queue_audit(*hash, link, *mark)?;
        }
        let (covered, clusters) = (covered - taken as u64, all.len() as u64);
        let sample = Sample { covered, clusters, drawn: drawn.into_iter().collect() };
        self.session.put(Space::META, SAMPLE, serde_json::to_vec(&sample).map_err(std::io::Error::from)?);
        Ok(true)
    }

    fn queue_audit(&mut self, hash: u64, link: &HeldLink, mark: Mark) -> Result<()> {
        self.frontier.free(hash);
        self.requeue(hash, link)?;
        self.session.put(frontier::spaces::RULES, key(MARKED, hash), mark.encode());
        self.audits.insert(hash, mark);
        Ok(())
    }

    /// How a held URL is drawn.
    fn unit(&self, clusters: &Clusters<'_>, hash: u64, link: &HeldLink) -> Result<Option<Unit>> {
        let Ok(url) = Url::parse(&link.url) else { return Ok(None) };
        let covered = !link.rules.is_empty() || self.frontier.is_covered(&url, hash, &self.session)?;
        Ok(Some(if covered { Unit::Covered } else { Unit::Other(clusters.of(&url), clusters.class_of(&url)) }))
    }

    /// Visits what was held back before audits, in the order of keyed hashes.
    fn each_held(&self, visit: &mut dyn FnMut(u64, HeldLink) -> Result<()>) -> Result<()> {
        let audited = marks(AUDITED, &self.session)?;
        let mut from = Vec::new();
        loop {
            let part = self.held_part(&mut from)?;
            if part.is_empty() {
                return Ok(());
            }
            for (hash, link) in part {
                // What was found through an audit can only be reached through what was held back, and is not counted.
                if !(link.rules.is_empty() && audited.contains_key(&link.source)) {
                    visit(hash, link)?;
                }
            }
        }
    }

    fn count_held(&self) -> Result<u64> {
        let mut held = 0;
        self.each_held(&mut |_, _| {
            held += 1;
            Ok(())
        })?;
        Ok(held)
    }

    /// What the sample shows.
    fn conclude(&mut self, sample: &Sample) -> Result<()> {
        let audited = marks(AUDITED, &self.session)?;
        let (mut known, mut shown) = (HashSet::new(), Vec::new());
        self.session.scan(spaces::PAGES, &[], &[], &mut |row, page| {
            let (Ok(row), Ok(page)) = (row.try_into().map(Row::from_be_bytes), PageRecord::decode(page)) else {
                return ControlFlow::Continue(());
            };
            match (audited.get(&row), page.content) {
                (Some(mark), content) => shown.push((*mark, content.map(|content| content.text))),
                (None, Some(content)) => _ = known.insert(content.text),
                (None, None) => {}
            }
            ControlFlow::Continue(())
        })?;
        let mut covered = Stratum { left: sample.covered, ..Stratum::default() };
        let mut clusters: BTreeMap<u64, HashSet<u64>> =
            sample.drawn.iter().map(|cluster| (*cluster, HashSet::new())).collect();
        for (mark, text) in shown {
            let lost = text.filter(|text| !known.contains(text));
            match mark {
                Mark::Rule | Mark::Covered => {
                    covered.drawn += 1;
                    covered.hits += u64::from(lost.is_some());
                    covered.texts += u64::from(lost.is_some());
                }
                Mark::Cluster(cluster) => {
                    if let Some(texts) = clusters.get_mut(&cluster) {
                        texts.extend(lost);
                    }
                }
            }
        }
        let mut others = Stratum { drawn: clusters.len() as u64, ..Stratum::default() };
        others.left = sample.clusters.saturating_sub(others.drawn);
        for texts in clusters.values() {
            others.hits += u64::from(!texts.is_empty());
            others.texts += texts.len() as u64;
        }
        let lost = estimate(&[covered, others]).map(|Lost { estimate, low, high }| [estimate, low, high]);
        let held = self.count_held()?;
        let outcome = serde_json::to_vec(&Outcome { held, lost }).map_err(std::io::Error::from)?;
        self.session.put(Space::META, LOST, outcome);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_clusters_are_those_that_a_walk_in_their_order_takes() {
        for wanted in [1, 7, 50, 5_000] {
            let pairs: Vec<(u64, u64)> = (0..2_000u64)
                .map(|n| n.wrapping_mul(0x9E37_79B9_7F4A_7C15))
                .map(|hash| (hash % 301 * 1_000_003 % 997, hash >> 60))
                .collect();
            let mut all = BTreeMap::<u64, HashSet<u64>>::new();
            let mut lowest = Lowest::new(wanted);
            for (cluster, class) in &pairs {
                all.entry(*cluster).or_default().insert(*class);
                lowest.add(*cluster, *class);
            }
            let mut classes = 0;
            all.retain(|_, of| {
                let taken = classes < wanted;
                classes += of.len();
                taken
            });
            assert_eq!(lowest.clusters, all);
        }
    }
}
