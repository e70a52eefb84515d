//! The learner decides whether rules stop a URL whose turn has come ([`Rules::meet`]), and learns from each page that
//! was judged ([`Rules::learn`]).

use dedup_stage::store::{Error, Result, Session};
use dedup_stage::url::{Keys, PageId, SiteId, UrlId};
use url::Url;

use super::area::{Area, Areas};
use super::candidates::{Candidate, CandidateId, Candidates, TestedClasses};
use super::evidence::{Evidence, Proof};
use super::proven::Proven;
use super::rule::{Rule, RuleStatus, Statement};
use super::{Content, Lesson, Shows};
use crate::folder::folder;
use crate::hold::ladder::{self, Ladder, LadderKey};
use crate::hold::{StandIn, stand_in};
use crate::numbers::RuleId;
use crate::reason::SkipReason;
use crate::spaces;
use crate::trial::Stop;
use crate::url::{EndedAs, Standing, State, Urls};

/// The learned rules, the candidates, and the areas that are watched.
#[derive(Debug)]
pub struct Rules {
    pub(super) proven: Proven,
    candidates: Candidates,
    areas: Areas,
    /// Whether only traps are stopped from now on.
    pub(super) lenient: bool,
}

/// The results of learning from a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Learned {
    /// The hosts whose links may be explained by rewrites that are proven now.
    pub proven: Vec<SiteId>,
    /// Places where two hosts show different things under the same URLs.
    pub unlike: Vec<Unlike>,
}

/// A folder of a host in which another host shows something else under the same URLs: one host was suggested as a
/// mirror of the other, and pairs of this folder refuted that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unlike {
    /// The host.
    pub site: SiteId,
    /// The other host.
    pub other: SiteId,
    /// The folder, as a hash: see [`folder`].
    pub folder: u64,
}

/// Kind of the records of representatives in [`spaces::RULES`], by class. If a class has no such record, the class
/// itself is its representative.
const REPRESENTATIVE: u8 = b'c';

impl Rules {
    /// The rules in `session`. Candidates and watched areas are not kept there: they are suggested and tested anew.
    pub fn open(keys: Keys, session: &Session) -> Result<Self> {
        let proven = Proven::open(keys, session)?;
        let (mut candidates, mut areas) = (Candidates::default(), Areas::default());
        for rule in proven.iter() {
            if let Statement::Rewrite(rewrite) = &rule.statement {
                candidates.tell(rewrite, rule.proof.and(rule.trials));
            }
            match (&rule.statement, rule.status) {
                (_, RuleStatus::Proven) => {}
                (Statement::Rewrite(rewrite), RuleStatus::Withdrawn) => candidates.bar(rewrite.clone()),
                (Statement::Trap(area), RuleStatus::Withdrawn) => areas.exempt(area),
            }
        }
        Ok(Self { proven, candidates, areas, lenient: false })
    }

    /// All rules that were ever proven, in the order of proof.
    pub fn iter(&self) -> impl Iterator<Item = &Rule> {
        self.proven.iter()
    }

    /// The rule with this identity.
    pub fn get(&self, id: RuleId) -> Option<&Rule> {
        self.proven.get(id)
    }

    /// Decides whether rules stop a URL whose turn has come. `None`: it is fetched, and if no other URL of its class
    /// was fetched well or is queued, it becomes the representative of the class. Otherwise returns the stop, and
    /// whether the representative was fetched well or is still queued. (A trap has no representative; for a trap this
    /// returns [`StandIn::Well`].)
    pub(crate) fn meet(
        &mut self,
        url: &Url,
        id: UrlId,
        urls: &Urls,
        session: &mut Session,
    ) -> Result<Option<(Stop, StandIn)>> {
        if self.proven.is_empty() {
            return Ok(None);
        }
        if let Some(rule) = self.proven.trap(url) {
            let stop = Stop { rules: vec![rule], reason: SkipReason::Trap, representative: None };
            return Ok(Some((stop, StandIn::Well(id))));
        }
        if self.lenient {
            return Ok(None);
        }
        if !self.proven.concerns(url) {
            return Ok(None);
        }
        let (class, chain) = self.proven.class(url, id);
        let recorded = Representative::of(class, session)?;
        if recorded.as_ref().is_some_and(|recorded| recorded.id == id) {
            return Ok(None);
        }
        for (other, rules) in self.others(id, class, &chain, recorded) {
            let stand_in = stand_in(urls, other, id, session)?;
            if let StandIn::Well(at) | StandIn::Pending(at) = stand_in {
                return Ok(Some((self.stop(rules, at), stand_in)));
            }
        }
        if class != id {
            Representative { id, rules: chain }.put(class, session);
            return Ok(None);
        }
        // Before the rule was proven, the mirror may have been fetched first.
        for (rule, other) in self.proven.mirrored(url) {
            if urls.get(other.url) == Some(Standing::Done(EndedAs::Well)) {
                return Ok(Some((self.stop(vec![rule], other), StandIn::Well(other))));
            }
        }
        Ok(None)
    }

    /// The rule that a trial of a stopped URL counts for: the first mirror among the rules that stopped it, or else the
    /// first rule.
    pub(crate) fn rule_of_trial(&self, stop: &Stop) -> Option<RuleId> {
        let mirror = stop.rules.iter().find(|id| self.get(**id).is_some_and(Rule::is_mirror));
        mirror.or(stop.rules.first()).copied()
    }

    pub(super) fn stop(&self, rules: Vec<RuleId>, representative: UrlId) -> Stop {
        let mirror = rules.iter().filter_map(|id| self.get(*id)).any(Rule::is_mirror);
        let reason = if mirror { SkipReason::Mirror } else { SkipReason::Rule };
        Stop { rules, reason, representative: Some(representative) }
    }

    /// Counts a URL that these rules stopped.
    pub(crate) fn stopped(&mut self, stop: &Stop, url: &str, id: UrlId, session: &mut Session) {
        self.proven.stopped(&stop.rules, url, id.site, session);
    }

    /// From now on, only traps are stopped.
    pub(crate) fn be_lenient(&mut self) {
        self.lenient = true;
    }

    /// A trial of a stopped URL ended. Returns the rules that are withdrawn because of it.
    pub(crate) fn tried(&mut self, stop: &Stop, agrees: bool, session: &mut Session) -> Vec<RuleId> {
        let Self { proven, candidates, areas, .. } = self;
        let mut one = Evidence::default();
        one.add(agrees);
        for rule in stop.rules.iter().filter_map(|id| proven.get(*id)) {
            if let (Statement::Rewrite(rewrite), RuleStatus::Proven) = (&rule.statement, rule.status) {
                candidates.tell(rewrite, one);
            }
        }
        let mut withdrawn = Vec::new();
        proven.tried(&stop.rules, agrees, session, &mut |id, statement| {
            withdrawn.push(id);
            match statement {
                Statement::Rewrite(rewrite) => candidates.bar(rewrite),
                Statement::Trap(area) => areas.exempt(&area),
            }
        });
        withdrawn
    }

    /// Learns from a page that was judged. `shows` reads the content of an earlier page.
    pub(crate) fn learn(
        &mut self,
        lesson: &Lesson<'_>,
        shows: Shows<'_>,
        urls: &Urls,
        session: &mut Session,
    ) -> Result<Learned> {
        let learned = self.test_candidates(lesson, shows, urls, session)?;
        if let Some(twin) = lesson.twin {
            self.candidates.suggest(lesson.url, twin, &self.proven);
        }
        self.candidates.shrink();
        self.weigh_area(lesson, session);
        Ok(learned)
    }

    /// Writes down the counters that have changed.
    pub(crate) fn save(&mut self, session: &mut Session) {
        self.proven.save(session);
    }

    /// Tests candidates with a page that was judged. `shows` reads the content of an earlier page.
    pub(crate) fn test_candidates(
        &mut self,
        lesson: &Lesson<'_>,
        shows: Shows<'_>,
        urls: &Urls,
        session: &mut Session,
    ) -> Result<Learned> {
        let mut learned = Learned::default();
        let ids = self.candidates.of(lesson.url.host_str().unwrap_or_default()).to_vec();
        if ids.is_empty() {
            return Ok(learned);
        }
        let class_without = self.proven.class(lesson.url, lesson.id).0;
        for id in ids {
            let Some(rewrite) = self.candidates.rewrite(id) else { continue };
            let target = rewrite.apply(lesson.url);
            let class = target.as_ref().map_or(class_without, |target| self.proven.class_of(target));
            let folder = target.map(|_| folder(lesson.url));
            let place = TestedClasses { class, class_without, folder };
            let proof = self.candidates.test(id, lesson, place, &|class| shown(class, shows, urls, session))?;
            match proof {
                Proof::Open => {}
                Proof::Refuted => {
                    if let Some(candidate) = self.candidates.forget(id) {
                        self.tell_unlike(&candidate, lesson.url, &mut learned.unlike)?;
                        self.candidates.bar(candidate.rewrite);
                    }
                }
                Proof::Proven => learned.proven.extend(self.prove(id, lesson.url, session)?.into_iter().flatten()),
            }
        }
        Ok(learned)
    }

    /// A candidate was refuted. If it is a mirror, the two hosts show different things in the folders in which pairs
    /// differ.
    fn tell_unlike(&self, candidate: &Candidate, url: &Url, unlike: &mut Vec<Unlike>) -> Result<()> {
        let rewrite = &candidate.rewrite;
        if rewrite.host() == rewrite.target_host() {
            return Ok(());
        }
        let (from, to) = (self.site_of(rewrite.host(), url)?, self.site_of(rewrite.target_host(), url)?);
        for [of_from, of_to] in &candidate.differing {
            unlike.push(Unlike { site: from, other: to, folder: *of_from });
            unlike.push(Unlike { site: to, other: from, folder: *of_to });
        }
        Ok(())
    }

    /// The identity of a host of a rewrite. `url` is any URL: only its host is changed.
    fn site_of(&self, host: &str, url: &Url) -> Result<SiteId> {
        let mut any = url.clone();
        any.set_host(Some(host))
            .map_err(|error| Error::Engine(format!("internal: a rule about a host that is none: {error}")))?;
        Ok(self.proven.site(&any))
    }

    /// A candidate becomes a rule. Returns the hosts whose links it may explain: the one whose URLs it rewrites, and
    /// the one to which it leads. `None` if there is no room for the rule.
    fn prove(&mut self, id: CandidateId, url: &Url, session: &mut Session) -> Result<Option<[SiteId; 2]>> {
        let Some(Candidate { rewrite, evidence, members, folders, mirrored, .. }) = self.candidates.forget(id) else {
            return Ok(None);
        };
        self.candidates.tell(&rewrite, evidence);
        let (site, target) = (self.site_of(rewrite.host(), url)?, self.site_of(rewrite.target_host(), url)?);
        let Some(rule) = self.proven.add(site, Statement::Rewrite(rewrite), evidence, session) else {
            return Ok(None);
        };
        let folders = folders.into_iter().map(|(folder, agreed)| (site, folder, agreed));
        let mirrored = mirrored.into_iter().map(|(folder, agreed)| (target, folder, agreed));
        for (site, folder, agreed) in folders.chain(mirrored) {
            let ladder_key = LadderKey { site, place: ladder::LadderPlace::Rule(rule, folder) };
            Ladder::proven(agreed).put(ladder_key, session);
        }
        for (class, member) in members {
            if class != member.id && Representative::of(class, session)?.is_none() {
                Representative { id: member.id, rules: vec![rule] }.put(class, session);
            }
        }
        // A hostile site may be proven a mirror of another again and again. So the links to that one are looked at again
        // only as often as mirrors of it are applied.
        let explains = if self.proven.is_applied_to_target(rule) { target } else { site };
        Ok(Some([site, explains]))
    }

    fn weigh_area(&mut self, lesson: &Lesson<'_>, session: &mut Session) {
        let Some(area) = Area::of(lesson.url) else { return };
        // If a rewrite explains why the page is a copy, the page says nothing about its area. Neither does a stopped
        // URL that is fetched at the end of a crawl in `demote`.
        if self.lenient || lesson.barren && self.is_explained(lesson.url) {
            return;
        }
        if !self.proven.is_trap(&area) && self.areas.page(&area, lesson) {
            let proof = Areas::PROOF;
            if let Some(rule) = self.proven.add(lesson.id.site, Statement::Trap(area), proof, session) {
                let ladder_key = LadderKey { site: lesson.id.site, place: ladder::LadderPlace::Rule(rule, 0) };
                Ladder::proven(proof.agreed).put(ladder_key, session);
            }
        }
    }

    /// Whether a rule or a candidate explains why a page shows what another shows.
    fn is_explained(&self, url: &Url) -> bool {
        self.candidates.explains(url) || !self.proven.normal(url).1.is_empty()
    }
}

fn key(class: UrlId) -> Vec<u8> {
    [&class.site.to_bytes()[..], &[REPRESENTATIVE], &class.url.to_be_bytes()].concat()
}

/// The representative that is on record for a class. Without a record, the class itself is its representative.
pub(super) struct Representative {
    pub id: UrlId,
    /// The rules that lead from it to the class.
    pub rules: Vec<RuleId>,
}

impl Representative {
    pub fn of(class: UrlId, session: &Session) -> Result<Option<Self>> {
        let Some(bytes) = session.get(spaces::RULES, &key(class))? else { return Ok(None) };
        let damaged = || Error::Damaged("the representative of a class cannot be read".into());
        let id = UrlId::read(&bytes).ok_or_else(damaged)?;
        let (rules, []) = bytes[UrlId::BYTES..].as_chunks() else { return Err(damaged()) };
        Ok(Some(Self { id, rules: rules.iter().map(|rule| RuleId::from_be_bytes(*rule)).collect() }))
    }

    fn put(&self, class: UrlId, session: &mut Session) {
        let mut bytes = self.id.to_bytes().to_vec();
        bytes.extend(self.rules.iter().flat_map(|rule| rule.to_be_bytes()));
        session.put(spaces::RULES, key(class), bytes);
    }
}

/// The content of the representative of a class, or else that of the class itself.
fn shown(class: UrlId, shows: Shows<'_>, urls: &Urls, session: &Session) -> Result<Option<Content>> {
    let recorded = Representative::of(class, session)?.map(|recorded| recorded.id);
    for id in recorded.into_iter().chain([class]) {
        if let Some(shown) = shown_at(id, shows, urls, session)? {
            return Ok(Some(shown));
        }
    }
    Ok(None)
}

/// The content of a URL at its last visit, if that visit ended well.
pub(crate) fn shown_at(id: UrlId, shows: Shows<'_>, urls: &Urls, session: &Session) -> Result<Option<Content>> {
    if urls.get(id.url) != Some(Standing::Done(EndedAs::Well)) {
        return Ok(None);
    }
    match urls.state(id, session)? {
        Some(State::Done(visit)) => shows(PageId { url: id, visit: visit.number }, session),
        _ => Ok(None),
    }
}
