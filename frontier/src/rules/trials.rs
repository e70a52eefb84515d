//! Candidates: rewrites that were suggested and are neither proven nor refuted.
//!
//! A pair of URLs that show the same suggests candidates ([`propose`]). Each page that is judged afterwards may test a candidate:
//! the rewrite makes one class of several URLs, and two pages of one class agree or differ. Each class is one trial only.
//!
//! The number of candidates is bounded, for each host and over all hosts. If there are too many, the oldest is given up.

use std::collections::{BTreeMap, HashMap, HashSet};

use dedup_stage::store::Result;
use dedup_stage::url::UrlId;
use url::Url;
use xxhash_rust::xxh3::xxh3_64;

use super::evidence::{Evidence, Proof};
use super::propose::propose;
use super::proven::{Proven, moved};
use super::rewrite::{Rewrite, is_host};
use super::{Content, Lesson, Map};

/// A rewrite that is neither proven nor refuted.
#[derive(Debug)]
pub(super) struct Candidate {
    pub rewrite: Rewrite,
    pub evidence: Evidence,
    /// By class: the first page of the class that was fetched, and whether the class was tried. A class is one trial, however
    /// many URLs it has, because trials must not depend on each other.
    pub members: Map<UrlId, Member>,
    /// The contents on which pairs agreed. Each content counts once: a site that shows one apology for every URL must not prove
    /// any rule.
    contents: HashSet<u64>,
    /// The folders of the copies in agreeing pairs, with the number of pairs.
    pub folders: Map<u64, u32>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub id: UrlId,
    content: Content,
    tried: bool,
    /// Its folder, if the rewrite changes its URL: then this page is the copy.
    folder: Option<u64>,
}

/// The classes of a page in a trial.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// Its class if the candidate is applied …
    pub class: UrlId,
    /// … and its class if not.
    pub own: UrlId,
    /// Its folder, if the candidate changes its URL.
    pub folder: Option<u64>,
}

impl Candidate {
    fn new(rewrite: Rewrite) -> Self {
        let (members, contents, folders) = (Map::default(), HashSet::new(), Map::default());
        Self { rewrite, evidence: Evidence::default(), members, contents, folders }
    }
}

/// Number of a candidate, in the order of suggestion.
pub(super) type CandidateId = u32;

/// All candidates.
#[derive(Debug, Default)]
pub(super) struct Trials {
    candidates: BTreeMap<CandidateId, Candidate>,
    next: CandidateId,
    /// Members of all candidates.
    members: usize,
    /// Candidates by each host they touch.
    watching: Map<Box<str>, Vec<CandidateId>>,
    /// Rewrites that were refuted or withdrawn. They do not become candidates again.
    refused: HashSet<Rewrite>,
    /// How often mirrors of subtrees were suggested.
    hints: HashMap<Rewrite, u32>,
    /// Evidence for candidates and rules of one shape, over all hosts.
    shapes: Map<u64, Evidence>,
}

impl Trials {
    /// Candidates of one host.
    const HERE: usize = 24;
    /// Candidates over all.
    const ALL: usize = 16_384;
    /// Members that a candidate keeps …
    const MEMBERS: usize = 4_096;
    /// … and that all keep together.
    const ALL_MEMBERS: usize = 1 << 18;
    /// Refuted rules that are remembered.
    const REFUSED: usize = 65_536;
    /// A candidate with this many agreeing pairs, and none against it, is applied before other rewrites are suggested.
    const LEADING: u32 = 3;
    /// The mirror of a subtree becomes a candidate at this many suggestions. Most often such a pair comes from a mirror of the
    /// whole host together with a folder of copies.
    const HINTS: u32 = 4;
    /// Suggestions that are counted.
    const COUNTED: usize = 4_096;
    /// A candidate with this many agreeing pairs is not given up for others of its host.
    const KEPT: u32 = 4;

    /// The candidates of a host.
    pub fn of(&self, host: &str) -> &[CandidateId] {
        self.watching.get(host).map(Vec::as_slice).unwrap_or_default()
    }

    fn on<'a>(&'a self, host: &str) -> impl Iterator<Item = &'a Candidate> + use<'a> {
        self.of(host).iter().filter_map(|id| self.candidates.get(id))
    }

    /// The rewrite of a candidate, while there is one.
    pub fn rewrite(&self, id: CandidateId) -> Option<&Rewrite> {
        self.candidates.get(&id).map(|candidate| &candidate.rewrite)
    }

    /// Tests a candidate with a page that was judged. `shown` tells what the representative of a class shows.
    pub fn run(
        &mut self,
        id: CandidateId,
        lesson: &Lesson<'_>,
        Place { class, own, folder }: Place,
        shown: &dyn Fn(UrlId) -> Result<Option<Content>>,
    ) -> Result<Proof> {
        let applies = folder.is_some();
        let Some(candidate) = self.candidates.get_mut(&id) else { return Ok(Proof::Open) };
        let known = candidate.members.get(&class).copied();
        let pair = match known {
            Some(Member { tried: true, .. }) => None,
            Some(member) if member.id != lesson.id => Some(member.content),
            Some(_) => None,
            None if applies && class != own => shown(class)?,
            None => None,
        };
        if known.is_some() || applies && candidate.members.len() < Self::MEMBERS {
            let member = Member { id: lesson.id, content: lesson.content, tried: false, folder };
            candidate.members.entry(class).or_insert(member).tried |= pair.is_some();
            self.members += usize::from(known.is_none());
        }
        let Some(pair) = pair else { return Ok(Proof::Open) };
        let agrees = pair.agrees(lesson.content);
        if agrees && !candidate.contents.insert(lesson.content.shows) {
            return Ok(Proof::Open);
        }
        if agrees && let Some(folder) = folder.or(known.and_then(|member| member.folder)) {
            *candidate.folders.entry(folder).or_default() += 1;
        }
        let before = candidate.evidence;
        candidate.evidence.add(agrees);
        let elsewhere = match shape(&candidate.rewrite) {
            Some(shape) => {
                let all = self.shapes.entry(shape).or_default();
                let elsewhere = all.less(before);
                all.add(agrees);
                elsewhere
            }
            None => Evidence::default(),
        };
        Ok(Proof::of(candidate.evidence, elsewhere))
    }

    /// Evidence for a rule that is not a candidate any more: it counts for rules of its shape.
    pub fn tell(&mut self, rewrite: &Rewrite, evidence: Evidence) {
        if let Some(shape) = shape(rewrite) {
            let all = self.shapes.entry(shape).or_default();
            *all = all.and(evidence);
        }
    }

    /// Suggests candidates from a pair of URLs that show the same. Proven rules are applied to both URLs first.
    pub fn suggest(&mut self, url: &Url, twin: &Url, proven: &Proven) {
        let (url, twin) = (self.leading(url, proven), self.leading(twin, proven));
        if url == twin {
            return;
        }
        for rewrite in propose(&url, &twin) {
            if self.explains_host(&url, &twin) {
                // The largest folder first: smaller ones only where it was refuted, or has pairs against it.
                break;
            }
            let inverse = rewrite.inverse();
            let known = |other: &Rewrite| *other == rewrite || Some(other) == inverse.as_ref();
            let (host, target) = (rewrite.host(), rewrite.target_host());
            let is_proven = [host, target].iter().any(|host| proven.rewrites(host).any(|(_, other)| known(other)));
            if self.refused.contains(&rewrite)
                || inverse.as_ref().is_some_and(|inverse| self.refused.contains(inverse))
                || is_proven
                || !self.is_hinted(&rewrite)
                || self.on(host).any(|candidate| known(&candidate.rewrite))
                || !self.make_room(host)
            {
                continue;
            }
            let id = self.next;
            self.next += 1;
            self.watching.entry(host.into()).or_default().push(id);
            if target != host {
                self.watching.entry(target.into()).or_default().push(id);
            }
            self.candidates.insert(id, Candidate::new(rewrite));
        }
    }

    /// Whether a candidate for a mirror of hosts makes two URLs one, and no pair speaks against it.
    fn explains_host(&self, url: &Url, twin: &Url) -> bool {
        let host = url.host_str().unwrap_or_default();
        url.host_str() != twin.host_str()
            && self.on(host).any(|candidate| {
                let becomes = |url: &Url| moved(&candidate.rewrite, url).unwrap_or_else(|| url.clone());
                candidate.evidence.differed == 0 && candidate.rewrite.is_mirror() && becomes(url) == becomes(twin)
            })
    }

    /// Makes room where a host has too many candidates: the one with the least evidence is given up, and of several the oldest.
    /// False if all of them have much evidence.
    fn make_room(&mut self, host: &str) -> bool {
        if self.of(host).len() < Self::HERE {
            return true;
        }
        let tried = |id: &CandidateId| self.candidates.get(id).map_or(0, |candidate| candidate.evidence.agreed);
        let weakest = self.of(host).iter().copied().map(|id| (tried(&id), id)).min();
        match weakest {
            Some((agreed, id)) if agreed <= Self::KEPT => self.forget(id).is_some(),
            _ => false,
        }
    }

    /// Keeps what is remembered within its bounds.
    pub fn shrink(&mut self) {
        while (self.candidates.len() > Self::ALL || self.members > Self::ALL_MEMBERS)
            && let Some((oldest, _)) = self.candidates.first_key_value()
        {
            self.forget(*oldest);
        }
    }

    /// Whether a suggestion was made often enough to become a candidate.
    fn is_hinted(&mut self, rewrite: &Rewrite) -> bool {
        let Rewrite::Prefix { from, to } = rewrite else { return true };
        if rewrite.host() == rewrite.target_host() || is_host(from) && is_host(to) {
            return true;
        }
        if self.hints.len() >= Self::COUNTED {
            self.hints.clear();
        }
        let hints = self.hints.entry(rewrite.clone()).or_default();
        *hints += 1;
        *hints >= Self::HINTS
    }

    /// What the proven rules and the leading candidates of its host make of a URL.
    fn leading(&self, url: &Url, proven: &Proven) -> Url {
        let mut at = proven.normal(url).0;
        for _ in 0..Proven::CHAIN {
            let next =
                self.on(at.host_str().unwrap_or_default()).find_map(|Candidate { rewrite, evidence, .. }| {
                    let leads = evidence.agreed >= Self::LEADING && evidence.differed == 0;
                    if leads { moved(rewrite, &at) } else { None }
                });
            let Some(next) = next else { break };
            at = proven.normal(&next).0;
        }
        at
    }

    /// Whether a candidate explains why a page shows what another shows.
    pub fn explains(&self, url: &Url) -> bool {
        self.on(url.host_str().unwrap_or_default()).any(|Candidate { rewrite, evidence, .. }| {
            evidence.agreed > 0 && rewrite.explains() && rewrite.apply(url).is_some()
        })
    }

    /// Takes a candidate out. Its evidence no longer counts for other rules of its shape.
    pub fn forget(&mut self, id: CandidateId) -> Option<Candidate> {
        let candidate = self.candidates.remove(&id)?;
        self.members -= candidate.members.len();
        if let Some(shape) = shape(&candidate.rewrite)
            && let Some(all) = self.shapes.get_mut(&shape)
        {
            *all = all.less(candidate.evidence);
            if *all == Evidence::default() {
                self.shapes.remove(&shape);
            }
        }
        for host in [candidate.rewrite.host(), candidate.rewrite.target_host()] {
            if let Some(ids) = self.watching.get_mut(host) {
                ids.retain(|other| *other != id);
                if ids.is_empty() {
                    self.watching.remove(host);
                }
            }
        }
        Some(candidate)
    }

    /// This rewrite was refuted. It does not become a candidate again.
    pub fn refuse(&mut self, rewrite: Rewrite) {
        if self.refused.len() < Self::REFUSED {
            self.refused.insert(rewrite);
        }
    }
}

fn shape(rewrite: &Rewrite) -> Option<u64> {
    rewrite.shape().map(|shape| xxh3_64(shape.as_bytes()))
}

#[cfg(test)]
mod tests {
    use dedup_stage::store::{Double, Session};
    use dedup_stage::url::{Canonicalizer, KeyHasher};

    use super::*;
    use dedup_stage::url::Keys;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn evidence_elsewhere_is_that_of_all_other_hosts_and_what_is_kept_is_bounded() {
        let session = Session::new(Box::new(Double::default()));
        let keys = Keys { canonicalizer: Canonicalizer::default(), hasher: KeyHasher::new([7; KeyHasher::SECRET]) };
        let proven = Proven::open(keys, &session).unwrap();
        let mut trials = Trials::default();
        let hosts = Trials::ALL as u64 + 500;
        for host in 0..hosts {
            let page = |query: &str| url(&format!("http://h{host}.test/x{query}"));
            let id = |url| UrlId { url, ..UrlId::default() };
            trials.suggest(&page("?zork=1"), &page(""), &proven);
            let last = *trials.candidates.last_key_value().unwrap().0;
            for (class, text) in [(1, 1), (1, 1), (2, 5), (2, host % 3)] {
                let (page, content) = (page("?zork=2"), Content { text, shows: text });
                let id_of = id(host * 10 + text + class);
                let lesson = Lesson { url: &page, id: id_of, content, twin: None, barren: false, offspring: 0 };
                let place = Place { class: id(class), own: id(99), folder: Some(1) };
                trials.run(last, &lesson, place, &|_| Ok(None)).unwrap();
            }
            trials.shrink();
        }
        assert_eq!(trials.candidates.len(), Trials::ALL);
        assert_eq!(trials.watching.len(), Trials::ALL);
        assert_eq!(trials.members, trials.candidates.values().map(|candidate| candidate.members.len()).sum::<usize>());
        let walk = trials.candidates.values().fold(Evidence::default(), |sum, other| sum.and(other.evidence));
        assert!(walk.agreed + walk.differed > 0);
        assert_eq!(trials.shapes.into_values().collect::<Vec<_>>(), [walk]);
    }
}
