//! Learned rules: which URLs need no fetch, because what they show was fetched elsewhere or is worth nothing.
//!
//! Pairs of URLs that were found to show the same suggest rules; other pairs prove or refute them ([`trials`], [`evidence`]). A proven rule maps each URL of its domain to a *class*: the URL that all rules together make of it. One
//! URL of a class is fetched, the others are stopped when their turn comes: nothing queued is ever touched. The
//! class itself need not be a URL that anybody linked to; then the first of its URLs that comes up stands for it. What
//! stands for a class must have been answered well, or still be queued; else the next one is fetched.
//!
//! A mirror is believed folder by folder: where none of its pairs agreed yet, the next one is fetched and compared.
//!
//! A *trap* is a family of URLs (a folder, or the queries of one path) whose pages keep bringing nothing: no new text, and
//! no link to anything new outside the family, but ever more links to their own kind.
//!
//! A small share of what a rule stops, chosen by the keyed hashes of URLs, is fetched all the same. Where these audits
//! fail, the rule is withdrawn.
//!
//! Nothing here reads a clock or opens a socket, and what is learned goes to the session that the caller commits.

mod evidence;
mod family;
mod propose;
mod proven;
mod rewrite;
mod rule;
#[cfg(test)]
mod tests;
mod trials;

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasherDefault;
use std::ops::ControlFlow;

use dedup_stage::judge::Row;
use dedup_stage::store::{Result, Session};
use dedup_stage::url::{Canonicalizer, KeyHasher};
use url::Url;
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64, xxh3_64_with_seed};

use crate::groups::label;
use crate::job::SkipReason;
use crate::seen::{self, Seen, UrlState};
use crate::spaces;
pub use evidence::{Evidence, Proof, Watch};
use family::Families;
pub use family::Family;
pub use proven::Clusters;
use proven::Proven;
pub use rewrite::Rewrite;
pub use rule::{Cause, Rule, RuleId, Status, Totals, stored};
use trials::{Candidate, CandidateId, Place, Trials};

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
    /// Links to URLs of its family that were not known.
    pub offspring: u32,
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
    /// Whether an audit of it is part of the random sample; the first of a folder is none.
    pub sampled: bool,
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
    proven: Proven,
    trials: Trials,
    families: Families,
    /// One in so many URLs that a rule stops is fetched all the same.
    audits: u64,
    /// By class: the URL that stands for it, where it is not the class itself.
    claims: Map<u64, u64>,
    /// Folders of mirrors in which a pair agreed, by rule and folder. A copy of a host may have parts of its own.
    vouched: HashSet<(RuleId, u64)>,
    /// URLs that no rule stops any more.
    free: HashSet<u64>,
    /// Whether nothing but traps is stopped any more.
    lenient: bool,
}

/// First byte of the keys of claims in [`spaces::RULES`], by class.
const CLAIM: u8 = b'c';

impl Rules {
    /// Audits of a mirror after which it is believed in folders not looked into, and URLs stopped for each more.
    const FOLDERS: u64 = 32;
    /// Folders that are remembered.
    const VOUCHED: usize = 65_536;

    /// What `session` remembers; one in `audits` of the URLs that rules stop is fetched all the same.
    pub fn open(keys: Keys, audits: u64, session: &Session) -> Result<Self> {
        let proven = Proven::open(keys, session)?;
        let (mut trials, mut families) = (Trials::default(), Families::default());
        for rule in proven.rules() {
            match &rule.cause {
                Cause::Rewrite(rewrite) => trials.tell(rewrite, rule.proof.and(rule.audits)),
                Cause::Trap(_) => {}
            }
            match (&rule.cause, rule.status) {
                (_, Status::Proven) => {}
                (Cause::Rewrite(rewrite), Status::Withdrawn) => trials.refuse(rewrite.clone()),
                (Cause::Trap(family), Status::Withdrawn) => families.acquit(family),
            }
        }
        let mut claims = Map::default();
        session.scan(spaces::RULES, &[CLAIM], &[CLAIM + 1], &mut |key, value| {
            if let (Some(class), Ok(hash)) = (key.get(1..).and_then(|class| class.try_into().ok()), value.try_into()) {
                claims.insert(u64::from_be_bytes(class), u64::from_be_bytes(hash));
            }
            ControlFlow::Continue(())
        })?;
        let (vouched, free, lenient) = (HashSet::new(), HashSet::new(), false);
        Ok(Self { proven, trials, families, audits, claims, vouched, free, lenient })
    }

    /// All rules that were ever proven.
    pub fn iter(&self) -> impl Iterator<Item = &Rule> {
        self.proven.rules().iter()
    }

    /// The rule with this number.
    pub fn get(&self, id: RuleId) -> Option<&Rule> {
        self.proven.rules().get(id as usize)
    }

    /// A URL's turn has come.
    pub(crate) fn meet(&mut self, url: &Url, hash: u64, seen: &Seen, session: &mut Session) -> Result<Passage> {
        if self.proven.rules().is_empty() || self.free.contains(&hash) {
            return Ok(Passage::Fetch);
        }
        if let Some(id) = self.proven.trap(url) {
            let stop = Stop { rules: vec![id], reason: SkipReason::Trap, class: 0, sampled: true };
            return Ok(self.stop_or_audit(stop, hash));
        }
        if self.lenient {
            return Ok(Passage::Fetch);
        }
        let (class, chain) = self.proven.class(url, hash);
        if let Some(claimant) = self.claims.get(&class).copied() {
            if claimant == hash {
                return Ok(Passage::Fetch);
            }
            if let Some(done) = stands(claimant, seen, session)? {
                return Ok(self.stopped(url, hash, (class, chain), done));
            }
        }
        if class == hash {
            return Ok(Passage::Fetch);
        }
        if let Some(done) = stands(class, seen, session)? {
            return Ok(self.stopped(url, hash, (class, chain), done));
        }
        self.claim(class, hash, session);
        Ok(Passage::Fetch)
    }

    fn stopped(&mut self, url: &Url, hash: u64, (class, chain): (u64, Vec<RuleId>), done: bool) -> Passage {
        let mirror = chain.iter().filter_map(|id| self.get(*id)).find(|rule| rule.is_mirror()).map(|rule| rule.id);
        let reason = if mirror.is_some() { SkipReason::Mirror } else { SkipReason::Rule };
        let stop = Stop { rules: chain, reason, class, sampled: true };
        // There is something to compare with only when the other one was fetched.
        match mirror {
            _ if !done => self.count(stop),
            Some(id) if !self.is_vouched(id, url) => Passage::Audit(Stop { sampled: false, ..stop }),
            _ => self.stop_or_audit(stop, hash),
        }
    }

    /// Whether a mirror is believed in the folder of a URL. What looks at folders costs little of what the mirror saves.
    fn is_vouched(&self, id: RuleId, url: &Url) -> bool {
        let few = |rule: &Rule| u64::from(rule.audits.agreed) < Self::FOLDERS + rule.stopped / Self::FOLDERS;
        let open = self.get(id).is_some_and(few) && self.vouched.len() < Self::VOUCHED;
        !open || self.vouched.contains(&(id, folder(&self.proven.normal(url).0)))
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
        self.proven.stopped(&stop.rules);
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
        let (class, _) = self.proven.class(url, hash);
        for other in self.claims.get(&class).copied().into_iter().chain([class]) {
            if other != hash && stands(other, seen, session)? == Some(true) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Tells which URLs of any hosts may show the same.
    pub fn clusters(&self) -> Clusters<'_> {
        self.proven.clusters()
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
                class => shown(class, &self.claims, content, session)?.map(|shown| shown.agrees(lesson.content)),
            };
            if let Some(agrees) = agrees {
                if agrees && stop.reason == SkipReason::Mirror {
                    let folder = folder(&self.proven.normal(lesson.url).0);
                    self.vouched.extend(stop.rules.iter().map(|id| (*id, folder)));
                }
                self.audited(&stop.rules, agrees, &mut withdrawn, session);
            }
        }
        self.try_candidates(lesson, content, session)?;
        if let Some(twin) = lesson.twin {
            self.trials.suggest(lesson.url, twin, &self.proven);
        }
        self.trials.shrink();
        self.weigh_family(lesson, session);
        Ok(withdrawn)
    }

    /// Writes down the counters that have changed.
    pub(crate) fn save(&mut self, session: &mut Session) {
        self.proven.save(session);
    }

    fn audited(&mut self, ids: &[RuleId], agrees: bool, withdrawn: &mut Vec<RuleId>, session: &mut Session) {
        let Self { proven, trials, families, .. } = self;
        let mut one = Evidence::default();
        one.add(agrees);
        for rule in ids.iter().filter_map(|id| proven.rules().get(*id as usize)) {
            if let (Cause::Rewrite(rewrite), Status::Proven) = (&rule.cause, rule.status) {
                trials.tell(rewrite, one);
            }
        }
        proven.audited(ids, agrees, session, &mut |id, cause| {
            withdrawn.push(id);
            match cause {
                Cause::Rewrite(rewrite) => trials.refuse(rewrite),
                Cause::Trap(family) => families.acquit(&family),
            }
        });
    }

    fn try_candidates(&mut self, lesson: &Lesson<'_>, content: Shows<'_>, session: &mut Session) -> Result<()> {
        let ids = self.trials.of(lesson.url.host_str().unwrap_or_default()).to_vec();
        if ids.is_empty() {
            return Ok(());
        }
        let own = self.proven.class(lesson.url, lesson.hash).0;
        for id in ids {
            let Some(rewrite) = self.trials.rewrite(id) else { continue };
            let target = rewrite.apply(lesson.url);
            let class = target.as_ref().map_or(own, |target| self.proven.class_of(target));
            let (proven, is_mirror) = (&self.proven, rewrite.is_mirror());
            let folder = || is_mirror.then(|| folder(&proven.normal(target.as_ref().unwrap_or(lesson.url)).0));
            let place = Place { class, own, folder: &folder, applies: target.is_some() };
            let claims = &self.claims;
            let proof = self.trials.run(id, lesson, place, &|class| shown(class, claims, content, session))?;
            match proof {
                Proof::Open => {}
                Proof::Refuted => {
                    if let Some(candidate) = self.trials.forget(id) {
                        self.trials.refuse(candidate.rewrite);
                    }
                }
                Proof::Proven => self.prove(id, session),
            }
        }
        Ok(())
    }

    fn prove(&mut self, id: CandidateId, session: &mut Session) {
        let Some(Candidate { rewrite, evidence, members, folders, .. }) = self.trials.forget(id) else { return };
        let rule = self.proven.rules().len() as RuleId;
        self.vouched.extend(folders.into_iter().map(|folder| (rule, folder)));
        self.trials.tell(&rewrite, evidence);
        self.proven.add(Cause::Rewrite(rewrite), evidence, session);
        for (class, member) in members {
            if class != member.hash && !self.claims.contains_key(&class) {
                self.claim(class, member.hash, session);
            }
        }
    }

    fn claim(&mut self, class: u64, hash: u64, session: &mut Session) {
        self.claims.insert(class, hash);
        let mut key = vec![CLAIM];
        key.extend(class.to_be_bytes());
        session.put(spaces::RULES, key, hash.to_be_bytes());
    }

    fn weigh_family(&mut self, lesson: &Lesson<'_>, session: &mut Session) {
        let Some(family) = Family::of(lesson.url) else { return };
        // What a rewrite explains says nothing of the family, nor does what is fetched for completeness' sake.
        if self.lenient || lesson.barren && self.is_explained(lesson.url) {
            return;
        }
        if !self.proven.is_trap(&family) && self.families.page(&family, lesson.barren, lesson.offspring) {
            self.proven.add(Cause::Trap(family), Families::PROOF, session);
        }
    }

    /// Whether a rule or a candidate says why a page shows what another shows.
    fn is_explained(&self, url: &Url) -> bool {
        self.trials.explains(url) || !self.proven.normal(url).1.is_empty()
    }
}

/// The folder and the parameters of a URL, as its group has them.
fn folder(url: &Url) -> u64 {
    xxh3_64(label(url).as_bytes())
}

/// What the URL that stands for a class shows.
fn shown(class: u64, claims: &Map<u64, u64>, content: Shows<'_>, session: &Session) -> Result<Option<Content>> {
    for hash in claims.get(&class).copied().into_iter().chain([class]) {
        if let Some(UrlState::Done { row: Some(row), .. }) = seen::state(hash, session)?
            && let Some(shown) = content(row, session)?
        {
            return Ok(Some(shown));
        }
    }
    Ok(None)
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
