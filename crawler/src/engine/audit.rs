//! Audits at the end of a crawl with `drop`: a random sample of what was held back is fetched, and nothing more, to tell how much
//! was lost. The links of an audited page are held, whatever it says: none reaches the frontier.
//!
//! Sample, marks and log are part of the state, so that a crawl that is killed in between goes on with its audits.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::ControlFlow;

use config::OnDuplicate;
use dedup_stage::judge::Row;
use dedup_stage::store::{self, Session, Space};
use frontier::{Found, Via};
use serde::{Deserialize, Serialize};
use url::Url;

use super::hold::HeldLink;
use super::{Engine, Result};
use crate::estimate::{Stratum, estimate};
use crate::priority::OfLink;
use crate::record::PageRecord;
use crate::report::Lost;

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

/// First bytes of keys in [`Space::Rules`]: URLs to be audited, by the hash of their keys …
const MARKED: u8 = b'q';
/// … and those that were, by row.
const AUDITED: u8 = b'a';
/// Keys in [`Space::Meta`]: the sample that was drawn, and what came of it.
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
    let outcome = session.get(Space::Meta, LOST)?.and_then(|bytes| serde_json::from_slice::<Outcome>(&bytes).ok());
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
    session.scan(Space::Rules, &[first], &[first + 1], &mut |key, value| {
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

impl Engine<'_> {
    /// Of the pages fetched, at most one in so many is fetched again as audits of each stratum …
    const SHARE: u64 = 20;
    /// … and the interval is to be no wider than one in so many.
    const WIDTH: u64 = 40;

    /// A page was fetched that is an audit.
    pub(super) fn note_audit(&mut self, hash: u64, mark: Mark, row: Row) {
        if self.audits.remove(&hash).is_some() {
            self.session.delete(Space::Rules, key(MARKED, hash));
        }
        self.session.put(Space::Rules, key(AUDITED, row), mark.encode());
    }

    /// Everything queued is done: draws a sample of what was held back, or, where that is done, tells what was lost. True if
    /// there is something to fetch.
    pub(super) fn audit(&mut self) -> Result<bool> {
        let dedup = &self.settings.dedup;
        if !dedup.audits || dedup.on_duplicate != OnDuplicate::Drop || self.frontier.rules().is_none() {
            return Ok(false);
        }
        if let Some(sample) = self.session.get(Space::Meta, SAMPLE)? {
            if let Ok(sample) = serde_json::from_slice(&sample) {
                self.conclude(&sample)?;
            }
            self.session.delete(Space::Meta, SAMPLE);
            return Ok(false);
        }
        let held = self.each_held(&mut |_, _, _| {})?;
        let before = self.session.get(Space::Meta, LOST)?.and_then(|b| serde_json::from_slice::<Outcome>(&b).ok());
        if held < dedup.audits_from || before.is_some_and(|before| held <= before.held) {
            return Ok(false);
        }
        self.draw()
    }

    /// Draws the sample, and queues it.
    fn draw(&mut self) -> Result<bool> {
        let mut covered = 0u64;
        let mut clusters = BTreeMap::<u64, HashSet<u64>>::new();
        self.each_held(&mut |_, _, unit| match unit {
            Unit::Covered => covered += 1,
            Unit::Other(cluster, class) => _ = clusters.entry(cluster).or_default().insert(class),
        })?;
        let most = (self.stats.pages / Self::SHARE).max(1);
        let before = marks(AUDITED, &self.session)?.values().filter(|mark| **mark == Mark::Rule).count() as u64;
        // With no hit among `n`, Jeffreys' interval ends at 2.5 / n.
        let wanted = (covered * 5 / 2 / (self.stats.pages / Self::WIDTH).max(1)).saturating_sub(before);
        let singles = wanted.clamp(1, most).min(covered) as usize;
        // The order of keyed hashes is random.
        let (mut drawn, mut urls) = (HashSet::new(), 0);
        for (cluster, classes) in &clusters {
            if urls >= most {
                break;
            }
            drawn.insert(*cluster);
            urls += classes.len() as u64;
        }
        let (mut chosen, mut taken, mut classes) = (Vec::new(), 0, HashSet::new());
        self.each_held(&mut |hash, link, unit| match unit {
            Unit::Covered if taken < singles => {
                taken += 1;
                chosen.push((hash, link.clone(), Mark::Covered));
            }
            Unit::Other(cluster, class) if drawn.contains(&cluster) && classes.insert(class) => {
                chosen.push((hash, link.clone(), Mark::Cluster(cluster)));
            }
            _ => {}
        })?;
        for (hash, link, mark) in &chosen {
            self.queue_audit(*hash, link, *mark)?;
        }
        let (covered, clusters) = (covered - taken as u64, clusters.len() as u64);
        let sample = Sample { covered, clusters, drawn: drawn.into_iter().collect() };
        self.session.put(Space::Meta, SAMPLE, serde_json::to_vec(&sample).map_err(std::io::Error::from)?);
        Ok(true)
    }

    fn queue_audit(&mut self, hash: u64, link: &HeldLink, mark: Mark) -> Result<()> {
        let Ok(url) = Url::parse(&link.url) else { return Ok(()) };
        self.frontier.free(hash);
        let source = Some(link.source).filter(|row| *row != Row::MAX);
        let (priority, merits) = self.scoring.link(self.scoring.page(0.0, link.depth), OfLink::default());
        let found = Found { url: &url, hash, depth: link.depth, priority, merits, source, via: Via::Released };
        self.frontier.add(&found, &mut self.session)?;
        self.session.delete(Space::Held, hash.to_be_bytes());
        self.session.put(Space::Rules, key(MARKED, hash), mark.encode());
        self.audits.insert(hash, mark);
        Ok(())
    }

    /// Visits what was held back before audits, in the order of keyed hashes; returns how much that is.
    fn each_held(&self, visit: &mut dyn FnMut(u64, &HeldLink, Unit)) -> Result<u64> {
        let audited = marks(AUDITED, &self.session)?;
        let (mut from, mut count) = (Vec::new(), 0);
        loop {
            let part = self.held_part(&mut from)?;
            if part.is_empty() {
                return Ok(count);
            }
            for (hash, link) in part {
                if link.rules.is_empty() && audited.contains_key(&link.source) {
                    // Found through an audit: what can only be reached through what was held back is not counted.
                    continue;
                }
                let Ok(url) = Url::parse(&link.url) else { continue };
                count += 1;
                let covered = !link.rules.is_empty() || self.frontier.is_covered(&url, hash, &self.session)?;
                let unit = match self.frontier.rules() {
                    Some(rules) if !covered => Unit::Other(rules.cluster(&url), rules.class_of(&url)),
                    _ => Unit::Covered,
                };
                visit(hash, &link, unit);
            }
        }
    }

    /// What the sample shows.
    fn conclude(&mut self, sample: &Sample) -> Result<()> {
        let audited = marks(AUDITED, &self.session)?;
        let (mut known, mut shown) = (HashSet::new(), Vec::new());
        self.session.scan(Space::Pages, &[], &[], &mut |row, page| {
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
        let held = self.each_held(&mut |_, _, _| {})?;
        let outcome = serde_json::to_vec(&Outcome { held, lost }).map_err(std::io::Error::from)?;
        self.session.put(Space::Meta, LOST, outcome);
        Ok(())
    }
}
