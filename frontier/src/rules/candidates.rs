//! Candidates: rewrites that were suggested and are neither proven nor refuted.
//!
//! A pair of URLs that show the same suggests candidates ([`propose`]). Each page that is judged afterwards may test a
//! candidate: the rewrite makes one class of several URLs, and two pages of one class agree or differ. They are a *test
//! pair*. Each class gives one test pair.
//!
//! The number of candidates is bounded, for each host and over all hosts. If a host has too many, the one with the
//! fewest agreeing pairs is given up for the new one; if all of them have many, the new one is not taken. If there are
//! too many over all hosts, the oldest is given up.

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
use crate::folder::folder;

/// A rewrite that is neither proven nor refuted.
#[derive(Debug)]
pub(super) struct Candidate {
    pub rewrite: Rewrite,
    pub evidence: Evidence,
    /// By class: the first page of the class that was fetched, and whether the class has given its test pair. A class
    /// gives one pair, however many URLs it has, because the test takes pairs for independent of each other.
    pub members: Map<UrlId, Member>,
    /// The contents on which test pairs agreed. Each content counts once, because a site that shows one error page for
    /// every URL must not prove any rule.
    contents: HashSet<u64>,
    /// The folders of the copies in agreeing pairs, with the number of these pairs.
    pub folders: Map<u64, u32>,
    /// The same for the folders of the originals, if these are on another host.
    pub mirrored: Map<u64, u32>,
    /// The folders of pairs that differ: that of the URL that the rewrite changes, and that of the result.
    pub differing: HashSet<[u64; 2]>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub id: UrlId,
    content: Content,
    tested: bool,
    /// The folder of the page, if the rewrite changes its URL. Then this page is the copy.
    folder: Option<u64>,
}

/// The classes and the folder of a page that tests a candidate.
#[derive(Clone, Copy)]
pub(super) struct TestedClasses {
    /// The class of the page if the candidate is applied.
    pub class: UrlId,
    /// The class of the page if the candidate is not applied.
    pub class_without: UrlId,
    /// The folder of the page, if the candidate changes its URL.
    pub folder: Option<u64>,
}

impl Candidate {
    fn new(rewrite: Rewrite) -> Self {
        let (members, contents, folders, mirrored, differing) = Default::default();
        Self { rewrite, evidence: Evidence::default(), members, contents, folders, mirrored, differing }
    }

    /// The folders of the two URLs of a pair: that of the URL that the rewrite changes, and that of the result. `url`
    /// is one of the two URLs. `None` if `url` is the result and the rewrite has no inverse.
    fn folders_of(&self, url: &Url) -> Option<[u64; 2]> {
        if let Some(to) = self.rewrite.apply(url) {
            return Some([folder(url), folder(&to)]);
        }
        let from = self.rewrite.inverse()?.apply(url)?;
        Some([folder(&from), folder(url)])
    }
}

/// Number of a candidate, in the order of suggestion.
pub(super) type CandidateId = u32;

/// All candidates.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    by_id: BTreeMap<CandidateId, Candidate>,
    next: CandidateId,
    /// Members of all candidates.
    members: usize,
    /// Candidates by host: by the host whose URLs they rewrite, and by the host of the results.
    watching: Map<Box<str>, Vec<CandidateId>>,
    /// Rewrites that were refuted in this process, and withdrawn rules. They do not become candidates again.
    barred: HashSet<Rewrite>,
    /// Suggested mirrors of subtrees, with the number of suggestions.
    hints: HashMap<Rewrite, u32>,
    /// Evidence for candidates and rules of one shape, over all hosts.
    shapes: Map<u64, Evidence>,
}

impl Candidates {
    /// Most candidates of one host.
    const MOST_OF_HOST: usize = 24;
    /// Most candidates over all hosts.
    const MOST: usize = 16_384;
    /// Most members of one candidate.
    const MEMBERS: usize = 4_096;
    /// Most members of all candidates together.
    const ALL_MEMBERS: usize = 1 << 18;
    /// Most barred rewrites that are remembered.
    const BARRED: usize = 65_536;
    /// A *leading* candidate: with this many agreeing pairs, and none that differs, a candidate is applied to a pair of
    /// URLs before other rewrites are suggested from this pair.
    const LEADING: u32 = 3;
    /// The mirror of a subtree becomes a candidate when it was suggested this often. One suggestion is not enough: most
    /// pairs that suggest such a mirror come from a mirror of the whole host, one of whose folders holds copies of
    /// other pages.
    const HINTS_NEEDED: u32 = 4;
    /// Most mirrors of subtrees whose suggestions are counted.
    const MOST_HINTED: usize = 4_096;
    /// A candidate with more agreeing pairs than this is not given up for another candidate of its host.
    const SAFE_FROM_REMOVAL: u32 = 4;

    /// The candidates of a host.
    pub fn of(&self, host: &str) -> &[CandidateId] {
        self.watching.get(host).map(Vec::as_slice).unwrap_or_default()
    }

    fn on<'a>(&'a self, host: &str) -> impl Iterator<Item = &'a Candidate> + use<'a> {
        self.of(host).iter().filter_map(|id| self.by_id.get(id))
    }

    /// The rewrite of a candidate; `None` if the candidate was given up.
    pub fn rewrite(&self, id: CandidateId) -> Option<&Rewrite> {
        self.by_id.get(&id).map(|candidate| &candidate.rewrite)
    }

    /// Tests a candidate with a page that was judged. `shown` reads the content of the representative of a class.
    pub fn test(
        &mut self,
        id: CandidateId,
        lesson: &Lesson<'_>,
        TestedClasses { class, class_without, folder }: TestedClasses,
        shown: &dyn Fn(UrlId) -> Result<Option<Content>>,
    ) -> Result<Proof> {
        let applies = folder.is_some();
        let Some(candidate) = self.by_id.get_mut(&id) else { return Ok(Proof::Open) };
        let known = candidate.members.get(&class).copied();
        let pair = match known {
            Some(Member { tested: true, .. }) => None,
            Some(member) if member.id != lesson.id => Some(member.content),
            Some(_) => None,
            None if applies && class != class_without => shown(class)?,
            None => None,
        };
        if known.is_some() || applies && candidate.members.len() < Self::MEMBERS {
            let member = Member { id: lesson.id, content: lesson.content, tested: false, folder };
            candidate.members.entry(class).or_insert(member).tested |= pair.is_some();
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
        match candidate.folders_of(lesson.url) {
            Some(folders) if !agrees => _ = candidate.differing.insert(folders),
            Some([_, of_original]) if candidate.rewrite.host() != candidate.rewrite.target_host() => {
                *candidate.mirrored.entry(of_original).or_default() += 1;
            }
            _ => {}
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

    /// Adds evidence for a rule that is not a candidate any more. It counts for candidates of the same shape.
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
                // A candidate for a mirror, mostly of a larger folder, explains the pair. Smaller folders are suggested
                // only after that candidate was refuted, or pairs spoke against it.
                break;
            }
            let inverse = rewrite.inverse();
            let known = |other: &Rewrite| *other == rewrite || Some(other) == inverse.as_ref();
            let (host, target) = (rewrite.host(), rewrite.target_host());
            let is_proven = [host, target].iter().any(|host| proven.rewrites(host).any(|(_, other)| known(other)));
            if self.barred.contains(&rewrite)
                || inverse.as_ref().is_some_and(|inverse| self.barred.contains(inverse))
                || is_proven
                || !self.is_hinted(&rewrite)
                || self.on(host).any(|candidate| known(&candidate.rewrite))
                || !self.make_room(host)
                || target != host && !self.make_room(target)
            {
                continue;
            }
            let id = self.next;
            self.next += 1;
            self.watching.entry(host.into()).or_default().push(id);
            if target != host {
                self.watching.entry(target.into()).or_default().push(id);
            }
            self.by_id.insert(id, Candidate::new(rewrite));
        }
    }

    /// Whether a candidate for a mirror turns two URLs of two hosts into the same URL, and no pair speaks against the
    /// candidate.
    fn explains_host(&self, url: &Url, twin: &Url) -> bool {
        let host = url.host_str().unwrap_or_default();
        url.host_str() != twin.host_str()
            && self.on(host).any(|candidate| {
                let becomes = |url: &Url| moved(&candidate.rewrite, url).unwrap_or_else(|| url.clone());
                candidate.evidence.differed == 0 && candidate.rewrite.is_mirror() && becomes(url) == becomes(twin)
            })
    }

    /// Makes room for one more candidate of a host. If the host has too many, the one with the fewest agreeing pairs is
    /// given up; if there are several of these, the oldest. False if all of them have many agreeing pairs.
    fn make_room(&mut self, host: &str) -> bool {
        if self.of(host).len() < Self::MOST_OF_HOST {
            return true;
        }
        let agreed = |id: &CandidateId| self.by_id.get(id).map_or(0, |candidate| candidate.evidence.agreed);
        let weakest = self.of(host).iter().copied().map(|id| (agreed(&id), id)).min();
        match weakest {
            Some((agreed, id)) if agreed <= Self::SAFE_FROM_REMOVAL => self.forget(id).is_some(),
            _ => false,
        }
    }

    /// Gives up the oldest candidates while there are too many, or too many members.
    pub fn shrink(&mut self) {
        while (self.by_id.len() > Self::MOST || self.members > Self::ALL_MEMBERS)
            && let Some((oldest, _)) = self.by_id.first_key_value()
        {
            self.forget(*oldest);
        }
    }

    /// Counts a suggestion. True if it was made often enough to become a candidate.
    fn is_hinted(&mut self, rewrite: &Rewrite) -> bool {
        let Rewrite::Prefix { from, to } = rewrite else { return true };
        if rewrite.host() == rewrite.target_host() || is_host(from) && is_host(to) {
            return true;
        }
        if self.hints.len() >= Self::MOST_HINTED {
            self.hints.clear();
        }
        let hints = self.hints.entry(rewrite.clone()).or_default();
        *hints += 1;
        *hints >= Self::HINTS_NEEDED
    }

    /// Applies the proven rules and the leading candidates to a URL.
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

    /// Whether a candidate explains why the page of this URL shows what another page shows.
    pub fn explains(&self, url: &Url) -> bool {
        self.on(url.host_str().unwrap_or_default()).any(|Candidate { rewrite, evidence, .. }| {
            evidence.agreed > 0 && rewrite.explains() && rewrite.apply(url).is_some()
        })
    }

    /// Takes a candidate out. Its evidence no longer counts for other rules of its shape.
    pub fn forget(&mut self, id: CandidateId) -> Option<Candidate> {
        let candidate = self.by_id.remove(&id)?;
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

    /// This rewrite was refuted or withdrawn. It does not become a candidate again in this process.
    pub fn bar(&mut self, rewrite: Rewrite) {
        if self.barred.len() < Self::BARRED {
            self.barred.insert(rewrite);
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
        let mut candidates = Candidates::default();
        let hosts = Candidates::MOST as u64 + 500;
        for host in 0..hosts {
            let page = |query: &str| url(&format!("http://h{host}.test/x{query}"));
            let id = |url| UrlId { url, ..UrlId::default() };
            candidates.suggest(&page("?zork=1"), &page(""), &proven);
            let last = *candidates.by_id.last_key_value().unwrap().0;
            for (class, text) in [(1, 1), (1, 1), (2, 5), (2, host % 3)] {
                let (page, content) = (page("?zork=2"), Content { text, shows: text });
                let id_of = id(host * 10 + text + class);
                let lesson =
                    Lesson { url: &page, id: id_of, content, twin: None, barren: false, depth: 0, offspring: 0 };
                let place = TestedClasses { class: id(class), class_without: id(99), folder: Some(1) };
                candidates.test(last, &lesson, place, &|_| Ok(None)).unwrap();
            }
            candidates.shrink();
        }
        assert_eq!(candidates.by_id.len(), Candidates::MOST);
        assert_eq!(candidates.watching.len(), Candidates::MOST);
        assert_eq!(
            candidates.members,
            candidates.by_id.values().map(|candidate| candidate.members.len()).sum::<usize>()
        );
        let walk = candidates.by_id.values().fold(Evidence::default(), |sum, other| sum.and(other.evidence));
        assert!(walk.agreed + walk.differed > 0);
        assert_eq!(candidates.shapes.into_values().collect::<Vec<_>>(), [walk]);
    }
}
