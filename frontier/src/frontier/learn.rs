//! What a judged page says of others: of its group and host, of the template, pair or rule that it was a trial of.

use dedup_stage::store::{Result, Session};
use dedup_stage::url::UrlId;
use url::Url;

use super::Frontier;
use super::hold::pair;
use super::plan::rung;
use crate::hold::Trial;
use crate::hold::ladder::{Cause, Ladder, Rung};
use crate::hold::news::{Next, Showed};
use crate::hold::works::{Task, Which};
use crate::job::{Brought, Job};
use crate::numbers::Millis;
use crate::rules::{Lesson, RuleId, Shows, Stop, shown_at};
use crate::url::{Ended, Standing};

impl Frontier {
    /// A page was answered, and all its links were added, held or refused: what it brought, and how much of it was new, 0..1.
    /// Of a page that was not judged (an error, an image) nobody can say (`None`). To be called for every page that was
    /// answered.
    ///
    /// Duplicates spend the budget of their group and host, others earn it back. What is queued where a budget is spent is
    /// refused when its turn comes. Novelty bears on what is expected of other pages of the group. For a trial of news, this
    /// is the result.
    pub fn verdict(&mut self, job: &Job, brought: Option<Brought>, novelty: f32, session: &mut Session) -> Result<()> {
        let duplicate = brought.map(|brought| brought == Brought::Nothing);
        match job.trial.as_deref() {
            Some(Trial::News { template }) => {
                if let Some(showed) = self.news.showed(job.page, brought) {
                    self.news_ended(job.page.url, *template, showed, session)?;
                }
            }
            // Nothing more will be learned of this one.
            Some(trial) if duplicate.is_none() && self.is_well(job.page.url) => {
                self.trial_is_off(job.page.url, &job.url, trial, session)?;
            }
            _ => {}
        }
        let Some(id) = self.hosts.find(job.page.url.site) else { return Ok(()) };
        let host = self.hosts.get_mut(id);
        let Some(origin) = host.origins.find(&job.url) else { return Ok(()) };
        let weights = self.conduct.expects.then_some(&self.conduct.priority);
        host.groups.judged(&job.url, origin, (duplicate, novelty), weights, host.site, session);
        if duplicate.is_some_and(|duplicate| host.budget.page(duplicate)) {
            host.record(session);
        }
        if let Some(standing) = host.standing {
            let rank = host.rank();
            if rank != standing {
                self.schedule.stands(id, &mut host.standing, Some(rank));
            }
        }
        Ok(())
    }

    /// A page was judged: whether it is like others of its host, and so brought little text of its own. A host of which many
    /// are gets a falling share of the fetches.
    pub fn looked_alike(&mut self, job: &Job, alike: bool, session: &mut Session) {
        if let Some(id) = self.hosts.find(job.page.url.site) {
            self.hosts.get_mut(id).looked_alike(alike, session);
        }
    }

    /// What a page that was judged teaches rules, and what a trial of rules or of a hold across domains showed. To be called
    /// after [`Frontier::verdict`] for every page that was judged, whether rules are used or not. What a rule that is
    /// withdrawn by this had stopped is queued again, by [`Frontier::step`].
    pub fn learn(&mut self, job: &Job, lesson: &Lesson<'_>, shows: Shows<'_>, session: &mut Session) -> Result<()> {
        match job.trial.as_deref() {
            Some(Trial::Pair { counterpart }) => {
                let shown = shown_at(*counterpart, shows, &self.urls, session)?;
                let agrees = shown.map(|shown| shown.agrees(lesson.content));
                self.pair_tried(lesson.id, *counterpart, agrees, session)?;
            }
            Some(Trial::Rules(stop)) => self.rules_tried(stop, lesson, shows, session)?,
            Some(Trial::News { .. }) | None => {}
        }
        let Some(rules) = &mut self.rules else { return Ok(()) };
        for site in rules.learn(lesson, shows, &self.urls, session)? {
            // What is held there as news may be what the new rule explains.
            self.works.add(Task::Records { of: Some(site), which: Which::News }, session);
        }
        Ok(())
    }

    /// So many body bytes were received until `at`; counts for the cap on bytes a second.
    pub fn received(&mut self, bytes: u64, at: Millis) {
        self.rate.received(bytes, at);
    }

    /// Writes down what is only counted in memory; to be called before each commit.
    pub fn save(&mut self, session: &mut Session) {
        if let Some(rules) = &mut self.rules {
            rules.save(session);
        }
    }

    /// A trial was called off, or ended without a result.
    pub(super) fn trial_is_off(&mut self, id: UrlId, url: &Url, trial: &Trial, session: &mut Session) -> Result<()> {
        let rung = match trial {
            Trial::News { template } => return self.news_ended(id, *template, Showed::Neither, session),
            Trial::Pair { counterpart } => Some(pair(id, *counterpart)),
            Trial::Rules(stop) => self.rules.as_ref().and_then(|rules| rung(stop, rules, id, url)),
        };
        rung.map_or(Ok(()), |rung| climb(rung, Ladder::is_off, session))
    }

    /// A trial of news ended: more of its template is tried, or all of it is followed, or nothing.
    pub(super) fn news_ended(&mut self, id: UrlId, template: u64, showed: Showed, session: &mut Session) -> Result<()> {
        let anchor = UrlId { site: id.site, url: template };
        let (own, others) = self.news.ended(id.site, template, showed, session)?;
        if others {
            self.works.add(Task::Records { of: Some(id.site), which: Which::News }, session);
        }
        match own {
            Next::Release => self.works.add(Task::Template { anchor, acquitted: true }, session),
            Next::Try => self.works.add(Task::Template { anchor, acquitted: false }, session),
            Next::Nothing => {}
        }
        Ok(())
    }

    /// A counterpart on another domain is missing.
    pub(super) fn pair_lacks(&mut self, id: UrlId, counterpart: UrlId, session: &mut Session) -> Result<()> {
        if climb(pair(id, counterpart), Ladder::is_missing, session)? {
            self.works.add(Task::Records { of: Some(id.site), which: Which::Pair(counterpart.site) }, session);
        }
        Ok(())
    }

    fn pair_tried(&mut self, id: UrlId, counterpart: UrlId, agrees: Option<bool>, session: &mut Session) -> Result<()> {
        let Some(agrees) = agrees else { return climb(pair(id, counterpart), Ladder::is_off, session) };
        if climb(pair(id, counterpart), |ladder| ladder.tried(agrees), session)? {
            self.works.add(Task::Records { of: Some(id.site), which: Which::Pair(counterpart.site) }, session);
        }
        Ok(())
    }

    fn rules_tried(&mut self, stop: &Stop, lesson: &Lesson<'_>, shows: Shows<'_>, session: &mut Session) -> Result<()> {
        let agrees = match stop.representative {
            None => Some(lesson.barren),
            Some(other) => shown_at(other, shows, &self.urls, session)?.map(|shown| shown.agrees(lesson.content)),
        };
        let Some(rules) = &mut self.rules else { return Ok(()) };
        let Some(rung) = rung(stop, rules, lesson.id, lesson.url) else { return Ok(()) };
        let Some(agrees) = agrees else { return climb(rung, Ladder::is_off, session) };
        let withdrawn = rules.tried(stop, agrees, session);
        let fell = climb(rung, |ladder| ladder.tried(agrees), session)?;
        if let Cause::Rule(rule, folder) = rung.cause
            && fell
            && !withdrawn.contains(&rule)
        {
            let folder = stop.representative.map(|_| folder);
            self.works.add(Task::Records { of: Some(rung.site), which: Which::Rule(rule, folder) }, session);
        }
        withdrawn.into_iter().try_for_each(|rule| self.withdraw(rule, session))
    }

    fn is_well(&self, id: UrlId) -> bool {
        self.urls.get(id.url) == Some(Standing::Done(Ended::Well))
    }

    /// What a rule stopped is released.
    fn withdraw(&mut self, rule: RuleId, session: &mut Session) -> Result<()> {
        let Some(known) = self.rules.as_ref().and_then(|rules| rules.get(rule)) else { return Ok(()) };
        for site in known.sites(session)? {
            self.works.add(Task::Records { of: Some(site), which: Which::Rule(rule, None) }, session);
        }
        Ok(())
    }
}

/// Tells a ladder something, and puts it on record.
fn climb<T>(rung: Rung, tell: impl FnOnce(&mut Ladder) -> T, session: &mut Session) -> Result<T> {
    let mut ladder = Ladder::get(rung, session)?;
    let answer = tell(&mut ladder);
    ladder.put(rung, session);
    Ok(answer)
}
