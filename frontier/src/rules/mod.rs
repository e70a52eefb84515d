//! Learned rules: which URLs need no fetch, because what they show was fetched elsewhere or is worth nothing.
//!
//! Pairs of URLs that were found to show the same suggest rules ([`propose`]); other pairs prove or refute them
//! ([`evidence`]). A proven rule maps each URL of its domain to a *class*: the URL that all rules together make of it. One
//! URL of a class is fetched, the others are stopped when their turn comes: nothing queued is ever touched. The
//! class itself need not be a URL that anybody linked to; then the first of its URLs that comes up stands for it. What
//! stands for a class must have been answered well, or still be queued; else the next one is fetched.
//!
//! A *trap* is a family of URLs (a folder, or the queries of one path) whose pages keep bringing nothing: no new text, and
//! no link to anything new outside the family.
//!
//! A small share of what a rule stops, chosen by the keyed hashes of URLs, is fetched all the same. Where these audits
//! fail, the rule is withdrawn.
//!
//! Nothing here reads a clock or opens a socket, and what is learned goes to the session that the caller commits.

mod evidence;
mod family;
mod propose;
mod rewrite;
mod rule;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::BuildHasherDefault;
use std::ops::ControlFlow;

use dedup_stage::judge::Row;
use dedup_stage::store::{Result, Session, Space};
use dedup_stage::url::{Canonicalizer, KeyHasher};
use url::Url;
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64_with_seed};

use crate::job::SkipReason;
use crate::seen::{self, Seen, UrlState};
pub use evidence::{Evidence, Proof, Watch};
pub use family::Family;
use propose::propose;
pub use rewrite::Rewrite;
use rewrite::{is_host, origin};
pub use rule::{Cause, Rule, RuleId, Status};

type Map<K, V> = HashMap<K, V, BuildHasherDefault<Xxh3Default>>;

/// What a page shows, as far as rules are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Content {
    /// Hash of all its words, in order.
    pub text: u64,
    /// The first page that it is as good as equal to, or itself.
    pub row: Row,
}

impl Content {
    /// Whether two pages show the same.
    pub fn agrees(self, other: Content) -> bool {
        self.text == other.text || self.row == other.row
    }
}

/// A page that was fetched and judged.
#[derive(Clone, Copy, Debug)]
pub struct Lesson<'a> {
    /// Where it is.
    pub url: &'a Url,
    /// Hash of its key.
    pub hash: u64,
    /// What it shows.
    pub content: Content,
    /// An earlier page that shows the same.
    pub twin: Option<&'a Url>,
    /// Whether it brought nothing: no new text, and no new link out of its family.
    pub barren: bool,
}

/// That a URL need not be fetched, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// The rules that say so, in the order in which they were applied.
    pub rules: Vec<RuleId>,
    /// For outputs.
    pub reason: SkipReason,
    /// Hash of the class's key; 0 for traps, which have none.
    pub class: u64,
}

/// What is to be done with a URL whose turn has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Passage {
    /// Fetch it.
    Fetch,
    /// Fetch it, to see whether the rules are right.
    Audit(Stop),
    /// Do not fetch it.
    Stop(Stop),
}

/// A rule that is neither proven nor refuted.
#[derive(Debug)]
struct Candidate {
    rewrite: Rewrite,
    evidence: Evidence,
    /// By class: the page of the domain that was fetched first, and whether the class was tried already. A class is one trial,
    /// whatever the number of its URLs: trials must not depend on each other.
    members: Map<u64, Member>,
}

#[derive(Clone, Copy, Debug)]
struct Member {
    hash: u64,
    content: Content,
    tried: bool,
}

/// Tells what the page of a row shows.
pub type Shows<'a> = &'a dyn Fn(Row, &Session) -> Result<Option<Content>>;

/// How URLs become hashes.
#[derive(Clone, Debug)]
pub struct Keys {
    /// Makes keys.
    pub canonicalizer: Canonicalizer,
    /// Hashes them with the crawl's secret.
    pub hasher: KeyHasher,
}

impl Keys {
    fn hash(&self, url: &Url) -> u64 {
        self.canonicalizer.hash(url, &self.hasher)
    }
}

/// All that was learned.
#[derive(Debug)]
pub struct Rules {
    keys: Keys,
    /// One in so many URLs that a rule stops is fetched all the same.
    audits: u64,
    rules: Vec<Rule>,
    /// Rules whose counters are not on record.
    dirty: HashSet<RuleId>,
    /// Proven rewrites by host.
    active: Map<Box<str>, Vec<RuleId>>,
    /// Proven traps by family.
    traps: Map<u64, RuleId>,
    /// By class: the URL that stands for it, where it is not the class itself.
    claims: Map<u64, u64>,
    candidates: BTreeMap<u32, Candidate>,
    next_candidate: u32,
    /// Candidates by each host they touch.
    watching: Map<Box<str>, Vec<u32>>,
    /// What was refuted or withdrawn, and is not tried again.
    refused: HashSet<Rewrite>,
    /// How often mirrors of subtrees were suggested.
    hints: HashMap<Rewrite, u32>,
    /// How barren families are.
    families: Map<u64, f64>,
    /// URLs that no rule stops any more.
    free: HashSet<u64>,
    /// Whether nothing but traps is stopped any more.
    lenient: bool,
}

/// First byte of the keys in [`Space::Rules`]: rules by number …
const RULE: u8 = b'r';
/// … and claims by class.
const CLAIM: u8 = b'c';

impl Rules {
    /// Candidates of one host.
    const CANDIDATES: usize = 24;
    /// Members that a candidate keeps.
    const MEMBERS: usize = 4_096;
    /// Refuted rules that are remembered.
    const REFUSED: usize = 65_536;
    /// Families that are watched.
    const FAMILIES: usize = 65_536;
    /// Rules applied to one URL, one after the other.
    const CHAIN: usize = 6;
    /// Pairs after which a candidate that none refutes is believed when others are suggested.
    const LEADING: u32 = 3;
    /// Suggestions before a mirror of a subtree is a candidate: most often it is a mirror and a folder of copies.
    const HINTS: u32 = 4;
    /// Suggestions that are counted.
    const COUNTED: usize = 4_096;

    /// What `session` remembers; one in `audits` of the URLs that rules stop is fetched all the same.
    pub fn open(keys: Keys, audits: u64, session: &Session) -> Result<Self> {
        let mut rules = Self {
            keys,
            audits,
            rules: Vec::new(),
            dirty: HashSet::new(),
            active: Map::default(),
            traps: Map::default(),
            claims: Map::default(),
            candidates: BTreeMap::new(),
            next_candidate: 0,
            watching: Map::default(),
            refused: HashSet::new(),
            hints: HashMap::new(),
            families: Map::default(),
            free: HashSet::new(),
            lenient: false,
        };
        for rule in stored(session)? {
            match (&rule.cause, rule.status) {
                (_, Status::Proven) => rules.activate(&rule),
                (Cause::Rewrite(rewrite), Status::Withdrawn) => _ = rules.refused.insert(rewrite.clone()),
                (Cause::Trap(family), Status::Withdrawn) => {
                    rules.families.insert(family.id(), f64::NEG_INFINITY);
                }
            }
            rules.rules.push(rule);
        }
        session.scan(Space::Rules, &[CLAIM], &[CLAIM + 1], &mut |key, value| {
            if let (Some(class), Ok(hash)) = (key.get(1..).and_then(|class| class.try_into().ok()), value.try_into()) {
                rules.claims.insert(u64::from_be_bytes(class), u64::from_be_bytes(hash));
            }
            ControlFlow::Continue(())
        })?;
        Ok(rules)
    }

    /// All rules that were ever proven.
    pub fn iter(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter()
    }

    /// The rule with this number.
    pub fn get(&self, id: RuleId) -> Option<&Rule> {
        self.rules.get(id as usize)
    }

    /// A URL's turn has come.
    pub(crate) fn meet(&mut self, url: &Url, hash: u64, seen: &Seen, session: &mut Session) -> Result<Passage> {
        if self.rules.is_empty() || self.free.contains(&hash) {
            return Ok(Passage::Fetch);
        }
        if !self.traps.is_empty()
            && let Some(id) = Family::of(url).and_then(|family| self.traps.get(&family.id()))
        {
            let stop = Stop { rules: vec![*id], reason: SkipReason::Trap, class: 0 };
            return Ok(self.stop_or_audit(stop, hash));
        }
        if self.lenient {
            return Ok(Passage::Fetch);
        }
        let (class, chain) = self.class(url, hash);
        if let Some(claimant) = self.claims.get(&class).copied() {
            if claimant == hash {
                return Ok(Passage::Fetch);
            }
            if let Some(done) = stands(claimant, seen, session)? {
                return Ok(self.stopped(hash, class, chain, done));
            }
        }
        if class == hash {
            return Ok(Passage::Fetch);
        }
        if let Some(done) = stands(class, seen, session)? {
            return Ok(self.stopped(hash, class, chain, done));
        }
        self.claim(class, hash, session);
        Ok(Passage::Fetch)
    }

    fn stopped(&mut self, hash: u64, class: u64, chain: Vec<RuleId>, done: bool) -> Passage {
        let mirror = chain.iter().any(|id| self.rules[*id as usize].is_mirror());
        let reason = if mirror { SkipReason::Mirror } else { SkipReason::Rule };
        let stop = Stop { rules: chain, reason, class };
        // There is something to compare with only when the other one was fetched.
        if done { self.stop_or_audit(stop, hash) } else { self.count(stop) }
    }

    fn stop_or_audit(&mut self, stop: Stop, hash: u64) -> Passage {
        let drawn = xxh3_64_with_seed(&hash.to_le_bytes(), u64::from_be_bytes(*b"auditing"));
        if !stop.rules.is_empty() && drawn.is_multiple_of(self.audits) {
            Passage::Audit(stop)
        } else {
            self.count(stop)
        }
    }

    fn count(&mut self, stop: Stop) -> Passage {
        for id in &stop.rules {
            self.rules[*id as usize].stopped += 1;
            self.dirty.insert(*id);
        }
        Passage::Stop(stop)
    }

    /// Whether what stands for a class was fetched or is still to be; if not, a URL that was stopped for its sake must be
    /// fetched after all.
    pub(crate) fn is_kept(&self, class: u64, seen: &Seen, session: &Session) -> Result<bool> {
        if class == 0 {
            return Ok(true);
        }
        let claimant = self.claims.get(&class).copied().unwrap_or(class);
        Ok(stands(claimant, seen, session)?.is_some() || stands(class, seen, session)?.is_some())
    }

    /// Whether the rules say that a URL shows what a page that was fetched shows.
    pub(crate) fn is_covered(&self, url: &Url, hash: u64, seen: &Seen, session: &Session) -> Result<bool> {
        let (class, _) = self.class(url, hash);
        for other in self.claims.get(&class).copied().into_iter().chain([class]) {
            if other != hash && stands(other, seen, session)? == Some(true) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Equal for URLs of all hosts that have one path and query, less what rules of any host say makes no difference: such
    /// URLs may show the same. A keyed hash.
    pub fn cluster(&self, url: &Url) -> u64 {
        let mut at = self.normal(url).0;
        let from = origin(&at).to_owned();
        let rewrites =
            self.rules.iter().filter(|rule| rule.status == Status::Proven).filter_map(|rule| match &rule.cause {
                Cause::Rewrite(rewrite) => rewrite.on(&from),
                Cause::Trap(_) => None,
            });
        for rewrite in rewrites {
            at = rewrite.apply(&at).unwrap_or(at);
        }
        let path = format!("http://any{}", &at[url::Position::BeforePath..url::Position::AfterQuery]);
        Url::parse(&path).map_or(0, |url| self.keys.hash(&url))
    }

    /// From now on, no rule stops this URL.
    pub(crate) fn free(&mut self, hash: u64) {
        self.free.insert(hash);
    }

    /// From now on, nothing but traps is stopped.
    pub(crate) fn free_all(&mut self) {
        self.lenient = true;
    }

    /// A page was fetched; `audit` is what it was an audit of. `content` tells what an earlier page shows. Returns the
    /// rules that are withdrawn: what they stopped is to be queued again.
    pub(crate) fn learn(
        &mut self,
        lesson: &Lesson<'_>,
        audit: Option<&Stop>,
        content: Shows<'_>,
        session: &mut Session,
    ) -> Result<Vec<RuleId>> {
        let mut withdrawn = Vec::new();
        if let Some(stop) = audit {
            let agrees = match stop.class {
                0 => Some(lesson.barren),
                class => self.shown(class, content, session)?.map(|shown| shown.agrees(lesson.content)),
            };
            if let Some(agrees) = agrees {
                self.audited(&stop.rules, agrees, &mut withdrawn, session);
            }
        }
        self.try_candidates(lesson, content, session)?;
        if let Some(twin) = lesson.twin {
            self.suggest(lesson.url, twin);
        }
        self.weigh_family(lesson, session);
        Ok(withdrawn)
    }

    /// Writes down the counters that have changed.
    pub(crate) fn save(&mut self, session: &mut Session) {
        for id in self.dirty.drain() {
            self.rules[id as usize].put(session);
        }
    }

    fn audited(&mut self, ids: &[RuleId], agrees: bool, withdrawn: &mut Vec<RuleId>, session: &mut Session) {
        for id in ids {
            let rule = &mut self.rules[*id as usize];
            if rule.status != Status::Proven {
                continue;
            }
            rule.audits.add(agrees);
            if !rule.watch(agrees) {
                rule.status = Status::Withdrawn;
                withdrawn.push(*id);
                let cause = rule.cause.clone();
                match cause {
                    Cause::Rewrite(rewrite) => {
                        if let Some(active) = self.active.get_mut(rewrite.host()) {
                            active.retain(|other| other != id);
                        }
                        self.refuse(rewrite);
                    }
                    Cause::Trap(family) => {
                        self.traps.remove(&family.id());
                        self.families.insert(family.id(), f64::NEG_INFINITY);
                    }
                }
            }
            self.rules[*id as usize].put(session);
        }
    }

    /// What the URL that stands for a class shows.
    fn shown(&self, class: u64, content: Shows<'_>, session: &Session) -> Result<Option<Content>> {
        for hash in self.claims.get(&class).copied().into_iter().chain([class]) {
            if let Some(UrlState::Done { row: Some(row), .. }) = seen::state(hash, session)?
                && let Some(shown) = content(row, session)?
            {
                return Ok(Some(shown));
            }
        }
        Ok(None)
    }

    fn try_candidates(&mut self, lesson: &Lesson<'_>, content: Shows<'_>, session: &mut Session) -> Result<()> {
        let host = lesson.url.host_str().unwrap_or_default();
        let Some(ids) = self.watching.get(host) else { return Ok(()) };
        let own = self.class(lesson.url, lesson.hash).0;
        for id in ids.clone() {
            let Some(candidate) = self.candidates.get(&id) else { continue };
            let target = candidate.rewrite.apply(lesson.url);
            let class = match &target {
                Some(target) => self.class_of(target),
                None => own,
            };
            let known = candidate.members.get(&class).copied();
            let pair = match known {
                Some(Member { tried: true, .. }) => None,
                Some(member) if member.hash != lesson.hash => Some(member.content),
                Some(_) => None,
                None if target.is_some() && class != own => self.shown(class, content, session)?,
                None => None,
            };
            let Some(candidate) = self.candidates.get_mut(&id) else { continue };
            if target.is_some() || known.is_some() {
                let member = Member { hash: lesson.hash, content: lesson.content, tried: false };
                if known.is_some() || candidate.members.len() < Self::MEMBERS {
                    candidate.members.entry(class).or_insert(member).tried |= pair.is_some();
                }
            }
            let Some(pair) = pair else { continue };
            candidate.evidence.add(pair.agrees(lesson.content));
            let elsewhere = self.elsewhere(id);
            let Some(candidate) = self.candidates.get(&id) else { continue };
            match Proof::of(candidate.evidence, elsewhere) {
                Proof::Open => {}
                Proof::Refuted => {
                    let rewrite = candidate.rewrite.clone();
                    self.forget(id);
                    self.refuse(rewrite);
                }
                Proof::Proven => self.prove(id, session),
            }
        }
        Ok(())
    }

    /// Evidence for rules of the candidate's shape on other hosts.
    fn elsewhere(&self, id: u32) -> Evidence {
        let Some(shape) = self.candidates.get(&id).and_then(|candidate| candidate.rewrite.shape()) else {
            return Evidence::default();
        };
        let proven = self.rules.iter().filter_map(|rule| match &rule.cause {
            Cause::Rewrite(rewrite) => Some((rewrite, rule.proof.and(rule.audits))),
            Cause::Trap(_) => None,
        });
        let others = self.candidates.iter().filter(|(other, _)| **other != id);
        let open = others.map(|(_, candidate)| (&candidate.rewrite, candidate.evidence));
        let same = proven.chain(open).filter(|(rewrite, _)| rewrite.shape().as_ref() == Some(&shape));
        same.fold(Evidence::default(), |sum, (_, evidence)| sum.and(evidence))
    }

    fn prove(&mut self, id: u32, session: &mut Session) {
        let Some(candidate) = self.forget(id) else { return };
        let rule = Rule::new(self.rules.len() as RuleId, Cause::Rewrite(candidate.rewrite), candidate.evidence);
        rule.put(session);
        self.activate(&rule);
        self.rules.push(rule);
        for (class, member) in candidate.members {
            if class != member.hash && !self.claims.contains_key(&class) {
                self.claim(class, member.hash, session);
            }
        }
    }

    fn activate(&mut self, rule: &Rule) {
        match &rule.cause {
            Cause::Rewrite(rewrite) => self.active.entry(rewrite.host().into()).or_default().push(rule.id),
            Cause::Trap(family) => _ = self.traps.insert(family.id(), rule.id),
        }
    }

    fn claim(&mut self, class: u64, hash: u64, session: &mut Session) {
        self.claims.insert(class, hash);
        let mut key = vec![CLAIM];
        key.extend(class.to_be_bytes());
        session.put(Space::Rules, key, hash.to_be_bytes());
    }

    /// New candidates from a pair, as the proven rules leave it.
    fn suggest(&mut self, url: &Url, twin: &Url) {
        let (url, twin) = (self.leading(url), self.leading(twin));
        if url == twin {
            return;
        }
        for rewrite in propose(&url, &twin) {
            let known = |other: &Rewrite| *other == rewrite || other.inverse().as_ref() == Some(&rewrite);
            let hosts: Vec<Box<str>> = match (rewrite.host(), rewrite.target_host()) {
                (host, target) if host == target => vec![host.into()],
                (host, target) => vec![host.into(), target.into()],
            };
            let mut active = hosts.iter().filter_map(|host| self.active.get(host)).flatten();
            if self.refused.contains(&rewrite)
                || rewrite.inverse().is_some_and(|inverse| self.refused.contains(&inverse))
                || active.any(|id| matches!(&self.rules[*id as usize].cause, Cause::Rewrite(other) if known(other)))
                || !self.is_hinted(&rewrite)
            {
                continue;
            }
            let here = self.watching.get(&hosts[0]).map(Vec::as_slice).unwrap_or_default();
            if here.iter().any(|id| self.candidates.get(id).is_some_and(|candidate| known(&candidate.rewrite))) {
                continue;
            }
            if here.len() >= Self::CANDIDATES {
                // The one with the least evidence makes room; of equals the oldest.
                let tried = |id: &u32| self.candidates.get(id).map_or(0, |candidate| candidate.evidence.agreed);
                let Some(weakest) = here.iter().copied().min_by_key(|id| (tried(id), *id)) else { continue };
                if tried(&weakest) > 4 {
                    continue;
                }
                self.forget(weakest);
            }
            let id = self.next_candidate;
            self.next_candidate += 1;
            for host in hosts {
                self.watching.entry(host).or_default().push(id);
            }
            let candidate = Candidate { rewrite, evidence: Evidence::default(), members: Map::default() };
            self.candidates.insert(id, candidate);
        }
    }

    /// Whether a suggestion was made often enough to be looked into.
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
    fn leading(&self, url: &Url) -> Url {
        let mut at = self.normal(url).0;
        for _ in 0..Self::CHAIN {
            let ids = at.host_str().and_then(|host| self.watching.get(host)).map(Vec::as_slice).unwrap_or_default();
            let mut candidates = ids.iter().filter_map(|id| self.candidates.get(id));
            let next = candidates.find_map(|candidate| {
                let Candidate { rewrite, evidence, .. } = candidate;
                let leads = evidence.agreed >= Self::LEADING && evidence.differed == 0;
                rewrite.apply(&at).filter(|next| leads && *next != at)
            });
            let Some(next) = next else { break };
            at = self.normal(&next).0;
        }
        at
    }

    /// Whether a rule or a candidate says why a page shows what another shows.
    fn is_explained(&self, url: &Url) -> bool {
        let Some(host) = url.host_str() else { return false };
        let ids = self.watching.get(host).map(Vec::as_slice).unwrap_or_default();
        let mut candidates = ids.iter().filter_map(|id| self.candidates.get(id));
        candidates.any(|Candidate { rewrite, evidence, .. }| {
            evidence.agreed > 0 && rewrite.explains() && rewrite.apply(url).is_some()
        }) || !self.normal(url).1.is_empty()
    }

    fn forget(&mut self, id: u32) -> Option<Candidate> {
        let candidate = self.candidates.remove(&id)?;
        for host in [candidate.rewrite.host(), candidate.rewrite.target_host()] {
            if let Some(ids) = self.watching.get_mut(host) {
                ids.retain(|other| *other != id);
            }
        }
        Some(candidate)
    }

    fn refuse(&mut self, rewrite: Rewrite) {
        if self.refused.len() < Self::REFUSED {
            self.refused.insert(rewrite);
        }
    }

    fn weigh_family(&mut self, lesson: &Lesson<'_>, session: &mut Session) {
        let Some(family) = Family::of(lesson.url) else { return };
        let id = family.id();
        // What a rewrite explains says nothing of the family, nor does what is fetched for completeness' sake.
        if self.lenient || lesson.barren && self.is_explained(lesson.url) {
            return;
        }
        if self.traps.contains_key(&id) || (self.families.len() >= Self::FAMILIES && !self.families.contains_key(&id)) {
            return;
        }
        let sum = self.families.entry(id).or_default();
        *sum = family::weigh(*sum, lesson.barren);
        if *sum >= family::LIMIT {
            self.families.remove(&id);
            let evidence = Evidence { agreed: family::RUN, differed: 0 };
            let rule = Rule::new(self.rules.len() as RuleId, Cause::Trap(family), evidence);
            rule.put(session);
            self.activate(&rule);
            self.rules.push(rule);
        }
    }

    /// The hash of the class of a URL, and the rules that lead there.
    fn class(&self, url: &Url, hash: u64) -> (u64, Vec<RuleId>) {
        if url.host_str().is_none_or(|host| !self.active.contains_key(host)) {
            return (hash, Vec::new());
        }
        let (class, chain) = self.normal(url);
        if chain.is_empty() { (hash, chain) } else { (self.keys.hash(&class), chain) }
    }

    /// The hash of the class of a URL.
    pub fn class_of(&self, url: &Url) -> u64 {
        self.keys.hash(&self.normal(url).0)
    }

    /// What the proven rules make of a URL.
    fn normal(&self, url: &Url) -> (Url, Vec<RuleId>) {
        let (mut at, mut chain) = (url.clone(), Vec::new());
        while chain.len() < Self::CHAIN
            && let Some(active) = at.host_str().and_then(|host| self.active.get(host))
        {
            let step = active.iter().find_map(|id| match &self.rules[*id as usize].cause {
                Cause::Rewrite(rewrite) => rewrite.apply(&at).filter(|next| *next != at).map(|next| (*id, next)),
                Cause::Trap(_) => None,
            });
            let Some((id, next)) = step else { break };
            chain.push(id);
            at = next;
        }
        (at, chain)
    }
}

/// Every rule in the store, by number.
pub fn stored(session: &Session) -> Result<Vec<Rule>> {
    let mut rules = Vec::new();
    let mut failure = None;
    session.scan(Space::Rules, &[RULE], &[RULE + 1], &mut |_, value| match Rule::read(value) {
        Ok(rule) => {
            rules.push(rule);
            ControlFlow::Continue(())
        }
        Err(error) => {
            failure = Some(error);
            ControlFlow::Break(())
        }
    })?;
    failure.map_or(Ok(rules), Err)
}

/// Whether a URL can stand for its class: `Some(true)` if it was answered well, `Some(false)` if it is still to be fetched.
fn stands(hash: u64, seen: &Seen, session: &Session) -> Result<Option<bool>> {
    if !seen.contains(hash) {
        return Ok(None);
    }
    Ok(match seen::state(hash, session)? {
        Some(UrlState::Done { status, .. }) if (200..300).contains(&status) => Some(true),
        Some(_) => None,
        None => Some(false),
    })
}
