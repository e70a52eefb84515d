//! The learner answers two questions. A URL's turn has come: do rules stop it ([`Rules::meet`])? A page was judged: what does it
//! teach ([`Rules::learn`])?

use dedup_stage::store::{Error, Result, Session};
use dedup_stage::url::{Keys, PageId, SiteId, UrlId};
use url::Url;

use super::evidence::{Evidence, Proof};
use super::family::{Families, Family};
use super::proven::{Clusters, Proven};
use super::rule::{Cause, Rule, RuleId, Status};
use super::trials::{Candidate, CandidateId, Place, Trials};
use super::{Content, Lesson, Shows, Stop};
use crate::hold::ladder::{self, Ladder, Rung};
use crate::hold::{Fate, fate, folder};
use crate::reason::SkipReason;
use crate::spaces;
use crate::url::{Ended, Standing, State, Urls};

/// All that was learned.
#[derive(Debug)]
pub struct Rules {
    proven: Proven,
    trials: Trials,
    families: Families,
    /// Whether nothing but traps is stopped any more.
    lenient: bool,
}

/// Kind of the records in [`spaces::RULES`] of representatives, by class. Where a class has none, the class itself is it.
const CLAIM: u8 = b'c';

impl Rules {
    /// What `session` remembers.
    pub fn open(keys: Keys, session: &Session) -> Result<Self> {
        let proven = Proven::open(keys, session)?;
        let (mut trials, mut families) = (Trials::default(), Families::default());
        for rule in proven.iter() {
            if let Cause::Rewrite(rewrite) = &rule.cause {
                trials.tell(rewrite, rule.proof.and(rule.audits));
            }
            match (&rule.cause, rule.status) {
                (_, Status::Proven) => {}
                (Cause::Rewrite(rewrite), Status::Withdrawn) => trials.refuse(rewrite.clone()),
                (Cause::Trap(family), Status::Withdrawn) => families.acquit(family),
            }
        }
        Ok(Self { proven, trials, families, lenient: false })
    }

    /// All rules that were ever proven, in the order of proof.
    pub fn iter(&self) -> impl Iterator<Item = &Rule> {
        self.proven.iter()
    }

    /// The rule with this identity.
    pub fn get(&self, id: RuleId) -> Option<&Rule> {
        self.proven.get(id)
    }

    /// Tells which URLs of any hosts may show the same.
    pub fn clusters(&self) -> Clusters<'_> {
        self.proven.clusters()
    }

    /// A URL's turn has come. If rules stop it: which, and what has become of its representative. The first URL of a class whose
    /// turn comes becomes the representative of the class.
    pub(crate) fn meet(
        &mut self,
        url: &Url,
        id: UrlId,
        urls: &Urls,
        session: &mut Session,
    ) -> Result<Option<(Stop, Fate)>> {
        if self.proven.is_empty() {
            return Ok(None);
        }
        if let Some(rule) = self.proven.trap(url) {
            let stop = Stop { rules: vec![rule], reason: SkipReason::Trap, representative: None };
            return Ok(Some((stop, Fate::Well(id))));
        }
        if self.lenient {
            return Ok(None);
        }
        if !self.proven.concerns(url) {
            return Ok(None);
        }
        let (class, chain) = self.proven.class(url, id);
        let claimant = claimant(class, session)?;
        if claimant == Some(id) {
            return Ok(None);
        }
        for representative in claimant.into_iter().chain([class]).filter(|other| *other != id) {
            let fate = fate(urls, representative, id, session)?;
            if let Fate::Well(at) | Fate::Pending(at) = fate {
                return Ok(Some((self.stop(chain, at), fate)));
            }
        }
        if class != id {
            claim(class, id, session);
        }
        Ok(None)
    }

    /// Which page shows what a URL shows, if rewrites say so and the page was fetched well.
    pub(crate) fn shown_by(&self, url: &Url, id: UrlId, urls: &Urls, session: &Session) -> Result<Option<Stop>> {
        if self.lenient || !self.proven.concerns(url) {
            return Ok(None);
        }
        let (class, chain) = self.proven.class(url, id);
        for other in claimant(class, session)?.into_iter().chain([class]).filter(|other| *other != id) {
            if let Fate::Well(at) = fate(urls, other, id, session)? {
                return Ok(Some(self.stop(chain, at)));
            }
        }
        Ok(None)
    }

    fn stop(&self, rules: Vec<RuleId>, representative: UrlId) -> Stop {
        let mirror = rules.iter().filter_map(|id| self.get(*id)).any(Rule::is_mirror);
        let reason = if mirror { SkipReason::Mirror } else { SkipReason::Rule };
        Stop { rules, reason, representative: Some(representative) }
    }

    /// These rules stopped a URL.
    pub(crate) fn stopped(&mut self, stop: &Stop, url: &str, id: UrlId, session: &mut Session) {
        self.proven.stopped(&stop.rules, url, id.site, session);
    }

    /// From now on, nothing but traps is stopped.
    pub(crate) fn be_lenient(&mut self) {
        self.lenient = true;
    }

    /// A trial ended. Returns the rules that are withdrawn by that.
    pub(crate) fn tried(&mut self, stop: &Stop, agrees: bool, session: &mut Session) -> Vec<RuleId> {
        let Self { proven, trials, families, .. } = self;
        let mut one = Evidence::default();
        one.add(agrees);
        for rule in stop.rules.iter().filter_map(|id| proven.get(*id)) {
            if let (Cause::Rewrite(rewrite), Status::Proven) = (&rule.cause, rule.status) {
                trials.tell(rewrite, one);
            }
        }
        let mut withdrawn = Vec::new();
        proven.tried(&stop.rules, agrees, session, &mut |id, cause| {
            withdrawn.push(id);
            match cause {
                Cause::Rewrite(rewrite) => trials.refuse(rewrite),
                Cause::Trap(family) => families.acquit(&family),
            }
        });
        withdrawn
    }

    /// What a page that was judged teaches. `shows` tells what an earlier page shows. Returns the hosts that rewrites are
    /// about which were proven by this.
    pub(crate) fn learn(
        &mut self,
        lesson: &Lesson<'_>,
        shows: Shows<'_>,
        urls: &Urls,
        session: &mut Session,
    ) -> Result<Vec<SiteId>> {
        let proven = self.try_candidates(lesson, shows, urls, session)?;
        if let Some(twin) = lesson.twin {
            self.trials.suggest(lesson.url, twin, &self.proven);
        }
        self.trials.shrink();
        self.weigh_family(lesson, session);
        Ok(proven)
    }

    /// Writes down the counters that have changed.
    pub(crate) fn save(&mut self, session: &mut Session) {
        self.proven.save(session);
    }

    fn try_candidates(
        &mut self,
        lesson: &Lesson<'_>,
        shows: Shows<'_>,
        urls: &Urls,
        session: &mut Session,
    ) -> Result<Vec<SiteId>> {
        let mut proven = Vec::new();
        let ids = self.trials.of(lesson.url.host_str().unwrap_or_default()).to_vec();
        if ids.is_empty() {
            return Ok(proven);
        }
        let own = self.proven.class(lesson.url, lesson.id).0;
        for id in ids {
            let Some(rewrite) = self.trials.rewrite(id) else { continue };
            let target = rewrite.apply(lesson.url);
            let class = target.as_ref().map_or(own, |target| self.proven.class_of(target));
            let folder = target.map(|_| folder(lesson.url));
            let place = Place { class, own, folder };
            let proof = self.trials.run(id, lesson, place, &|class| shown(class, shows, urls, session))?;
            match proof {
                Proof::Open => {}
                Proof::Refuted => {
                    if let Some(candidate) = self.trials.forget(id) {
                        self.trials.refuse(candidate.rewrite);
                    }
                }
                Proof::Proven => proven.extend(self.prove(id, lesson.url, session)?),
            }
        }
        Ok(proven)
    }

    /// A candidate becomes a rule. Returns the host that it is about, if there is room for one more rule.
    fn prove(&mut self, id: CandidateId, url: &Url, session: &mut Session) -> Result<Option<SiteId>> {
        let Some(Candidate { rewrite, evidence, members, folders, .. }) = self.trials.forget(id) else {
            return Ok(None);
        };
        self.trials.tell(&rewrite, evidence);
        // Any URL of the host will do: only its host counts.
        let mut any = url.clone();
        any.set_host(Some(rewrite.host()))
            .map_err(|error| Error::Engine(format!("internal: a rule about a host that is none: {error}")))?;
        let Some(rule) = self.proven.add(&any, Cause::Rewrite(rewrite), evidence, session) else {
            return Ok(None);
        };
        let site = self.proven.get(rule).map(|rule| rule.site).unwrap_or_default();
        for (folder, agreed) in folders {
            let rung = Rung { site, cause: ladder::Cause::Rule(rule, folder) };
            Ladder::proven(agreed).put(rung, session);
        }
        for (class, member) in members {
            if class != member.id && claimant(class, session)?.is_none() {
                claim(class, member.id, session);
            }
        }
        Ok(Some(site))
    }

    fn weigh_family(&mut self, lesson: &Lesson<'_>, session: &mut Session) {
        let Some(family) = Family::of(lesson.url) else { return };
        // What a rewrite explains says nothing of the family, nor does what is fetched for completeness' sake.
        if self.lenient || lesson.barren && self.is_explained(lesson.url) {
            return;
        }
        if !self.proven.is_trap(&family) && self.families.page(&family, lesson.barren, lesson.offspring) {
            let proof = Families::PROOF;
            if let Some(rule) = self.proven.add(lesson.url, Cause::Trap(family), proof, session) {
                let rung = Rung { site: lesson.id.site, cause: ladder::Cause::Rule(rule, 0) };
                Ladder::proven(proof.agreed).put(rung, session);
            }
        }
    }

    /// Whether a rule or a candidate explains why a page shows what another shows.
    fn is_explained(&self, url: &Url) -> bool {
        self.trials.explains(url) || !self.proven.normal(url).1.is_empty()
    }
}

fn key(class: UrlId) -> Vec<u8> {
    [&class.site.to_bytes()[..], &[CLAIM], &class.url.to_be_bytes()].concat()
}

/// The representative of a class, if it is another URL than the class itself.
fn claimant(class: UrlId, session: &Session) -> Result<Option<UrlId>> {
    match session.get(spaces::RULES, &key(class))? {
        Some(bytes) => match UrlId::read(&bytes) {
            Some(id) => Ok(Some(id)),
            None => Err(Error::Damaged("what stands for a class cannot be read".into())),
        },
        None => Ok(None),
    }
}

fn claim(class: UrlId, id: UrlId, session: &mut Session) {
    session.put(spaces::RULES, key(class), id.to_bytes());
}

/// What the representative of a class shows.
fn shown(class: UrlId, shows: Shows<'_>, urls: &Urls, session: &Session) -> Result<Option<Content>> {
    for id in claimant(class, session)?.into_iter().chain([class]) {
        if let Some(shown) = shown_at(id, shows, urls, session)? {
            return Ok(Some(shown));
        }
    }
    Ok(None)
}

/// What a URL showed at its last visit, if that ended well.
pub(crate) fn shown_at(id: UrlId, shows: Shows<'_>, urls: &Urls, session: &Session) -> Result<Option<Content>> {
    if urls.get(id.url) != Some(Standing::Done(Ended::Well)) {
        return Ok(None);
    }
    match urls.state(id, session)? {
        Some(State::Done(visit)) => shows(PageId { url: id, visit: visit.number }, session),
        _ => Ok(None),
    }
}
