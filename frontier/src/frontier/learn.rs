//! What the frontier learns from a judged page: about its group and host, and about the template, pair of hosts or rule
//! that the page was a trial of.

use dedup_stage::store::{Result, Session};
use dedup_stage::url::{PageId, UrlId};
use url::Url;

use super::Frontier;
use super::ladder_keys::{pair_key, stop_key};
use crate::hold::ladder::{Ladder, LadderKey, LadderPlace, Strictness};
use crate::hold::news::{AfterTrial, Showed};
use crate::hold::works::{Task, Which};
use crate::job::Job;
use crate::numbers::Millis;
use crate::numbers::RuleId;
use crate::rules::{Content, Learned, Lesson, Shows, Unlike, shown_at};
use crate::taught::{Brought, Taught};
use crate::trial::Stop;
use crate::trial::Trial;
use crate::url::{EndedAs, Standing};

impl Frontier {
    /// Learns from an answer: about the group and the host of its URL, and, if it was a trial of news, about the template
    /// of the link. To be called after all links of the page were added, held or refused. `learns`: [`Frontier::learn`]
    /// follows, and takes the result of a trial of rules or of a pair of hosts.
    pub fn teach(&mut self, job: &Job, taught: Taught, learns: bool, session: &mut Session) -> Result<()> {
        self.news_tried(job, taught.brought(), session)?;
        match taught {
            Taught::Error => self.judged(job, None, 0.0, session),
            Taught::Page { brought, novelty } => {
                // A trap may have a few words more on each page, so some of these pages spend the budget.
                let spends = brought == Brought::Words && is_one_in_four(job);
                self.judged(job, Some(if spends { Brought::Nothing } else { brought }), novelty, session);
            }
            // A trap may have such pages without end.
            Taught::Little if is_one_in_four(job) => self.spend(job, session),
            Taught::Little | Taught::File { .. } | Taught::Nothing => {}
        }
        match taught {
            Taught::Error | Taught::Page { .. } => Ok(()),
            Taught::Little | Taught::File { .. } | Taught::Nothing => self.end_without_lesson(job, learns, session),
        }
    }

    /// A page was judged. Duplicates spend the budget of their group and host; other pages earn it back. If a budget is
    /// spent, a URL of the group or host is refused (in `drop`: stopped) when its turn comes. The novelty changes the
    /// priority of other URLs of the group. `brought` is `None` for an error page.
    fn judged(&mut self, job: &Job, brought: Option<Brought>, novelty: f32, session: &mut Session) {
        let Some(id) = self.hosts.find(job.page.url.site) else { return };
        let host = self.hosts.get_mut(id);
        let Some(origin) = host.origins.find(&job.url) else { return };
        let weights = self.conduct.expects.then_some(&self.conduct.priority);
        host.groups.judged(&job.url, origin, (brought, novelty), weights, host.site, session);
        if brought.is_some_and(|brought| host.budget.page(brought)) {
            host.record(session);
        }
        if let Some(awaited) = host.awaited {
            let rank = host.rank();
            if rank != awaited {
                self.schedule.set_awaited(id, &mut host.awaited, Some(rank));
            }
        }
    }

    /// Spends the budget of the group and host of a page, as a duplicate does.
    fn spend(&mut self, job: &Job, session: &mut Session) {
        let Some(id) = self.hosts.find(job.page.url.site) else { return };
        let host = self.hosts.get_mut(id);
        if let Some(origin) = host.origins.find(&job.url) {
            host.groups.judged(&job.url, origin, (Some(Brought::Nothing), 0.0), None, host.site, session);
        }
        if host.budget.page(Brought::Nothing) {
            host.record(session);
        }
    }

    /// If the page was a trial of rules or of a pair of hosts, and [`Frontier::learn`] does not follow, the trial ends
    /// without a result.
    fn end_without_lesson(&mut self, job: &Job, learns: bool, session: &mut Session) -> Result<()> {
        match job.trial.as_deref() {
            Some(trial @ (Trial::Pair { .. } | Trial::Rules(_))) if !learns && self.is_well(job.page.url) => {
                self.trial_is_off(job.page.url, &job.url, trial, session)
            }
            _ => Ok(()),
        }
    }

    /// If the page was a trial of news, this is its result.
    fn news_tried(&mut self, job: &Job, brought: Option<Brought>, session: &mut Session) -> Result<()> {
        if let Some(Trial::News { template }) = job.trial.as_deref()
            && let Some(showed) = self.news.showed(job.page, brought)
        {
            self.news_ended(job.page.url, *template, showed, session)?;
        }
        Ok(())
    }

    /// A page was judged. `little` says that it brought little text of its own. A host with many such pages gets a
    /// falling share of the fetches.
    pub fn brought(&mut self, job: &Job, little: bool, session: &mut Session) {
        if let Some(id) = self.hosts.find(job.page.url.site) {
            self.hosts.get_mut(id).brought(little, session);
        }
    }

    /// Learns rules from a page that was judged, and takes the result of a trial of rules or of a pair of hosts. To be
    /// called after [`Frontier::teach`] for every page that was judged, even if rules are switched off. If this
    /// withdraws a rule, [`Frontier::step`] queues the URLs that the rule stopped.
    pub fn learn(&mut self, job: &Job, lesson: &Lesson<'_>, shows: Shows<'_>, session: &mut Session) -> Result<()> {
        match job.trial.as_deref() {
            Some(Trial::Pair { counterpart }) => {
                let shown = shown_at(*counterpart, shows, &self.urls, session)?;
                let agrees = shown.map(|shown| shown.agrees(lesson.content));
                self.pair_tried(lesson.id, *counterpart, agrees, session)?;
            }
            Some(Trial::Rules(stop)) => self.rules_tried(stop, lesson, shows, session)?,
            Some(Trial::News { .. } | Trial::Fallen(_)) | None => {}
        }
        let Some(rules) = &mut self.rules else { return Ok(()) };
        let learned = rules.learn(lesson, shows, &self.urls, session)?;
        self.learned(learned, session);
        Ok(())
    }

    /// Learns rules from a page that was visited again and has not changed. Such a page suggests no rule, because it
    /// did so when it was new. But it tests rules that were suggested since: a site that makes new URLs for its pages
    /// at each visit is understood only if the old URLs of these pages are compared with the new ones.
    pub fn learn_again(&mut self, lesson: &Lesson<'_>, shows: Shows<'_>, session: &mut Session) -> Result<()> {
        let Some(rules) = &mut self.rules else { return Ok(()) };
        let learned = rules.test_candidates(lesson, shows, &self.urls, session)?;
        self.learned(learned, session);
        Ok(())
    }

    fn learned(&mut self, Learned { proven, unlike }: Learned, session: &mut Session) {
        for site in proven {
            // The new rule may explain some of the news that is held on this host.
            self.works.add(Task::Records { of: Some(site), which: Which::News }, session);
        }
        for Unlike { site, other, folder } in unlike {
            if Strictness::between(site, other) == Strictness::OtherDomain && !self.is_elsewhere(site) {
                let ladder_key = LadderKey { site, place: LadderPlace::PairIn(other, folder) };
                Ladder::broken().put(ladder_key, session);
                self.works.add(Task::Records { of: Some(site), which: Which::PairIn(other, folder) }, session);
            }
        }
    }

    /// Counts body bytes that were received until `at`, for the cap on bytes a second.
    pub fn received(&mut self, bytes: u64, at: Millis) {
        self.rate.received(bytes, at);
    }

    /// Writes down the counters of rules, which are counted in memory. To be called before each commit.
    pub fn save(&mut self, session: &mut Session) {
        if let Some(rules) = &mut self.rules {
            rules.save(session);
        }
    }

    /// A trial was called off, or ended without a result.
    pub(super) fn trial_is_off(&mut self, id: UrlId, url: &Url, trial: &Trial, session: &mut Session) -> Result<()> {
        let ladder_key = match trial {
            Trial::News { template } => return self.news_ended(id, *template, Showed::Neither, session),
            Trial::Pair { counterpart } => Some(pair_key(id, *counterpart)),
            Trial::Rules(stop) => self.rules.as_ref().and_then(|rules| stop_key(stop, rules, id, url)),
            Trial::Fallen(_) => None,
        };
        ladder_key.map_or(Ok(()), |ladder_key| climb(ladder_key, Ladder::end_without_result, session))
    }

    /// A trial of news ended. More links of its template are tried, or all of them are followed, or they stay held.
    pub(super) fn news_ended(&mut self, id: UrlId, template: u64, showed: Showed, session: &mut Session) -> Result<()> {
        let anchor = UrlId { site: id.site, url: template };
        let (own, others) = self.news.ended(id.site, template, showed, session)?;
        if others {
            self.works.add(Task::Records { of: Some(id.site), which: Which::News }, session);
        }
        match own {
            AfterTrial::Release => self.works.add(Task::Template { anchor, follow: true }, session),
            AfterTrial::Try => self.works.add(Task::Template { anchor, follow: false }, session),
            AfterTrial::Nothing => {}
        }
        Ok(())
    }

    /// A counterpart on another domain is missing.
    pub(super) fn pair_lacks(&mut self, id: UrlId, counterpart: UrlId, session: &mut Session) -> Result<()> {
        if climb(pair_key(id, counterpart), Ladder::count_missing, session)? {
            self.works.add(Task::Records { of: Some(id.site), which: Which::Pair(counterpart.site) }, session);
        }
        Ok(())
    }

    /// A page that was a copy of a page of another host shows something else at a later visit. If several copies of
    /// these two hosts do, the URLs that are held for counterparts there may show something else, too. They are
    /// released.
    pub fn copy_parted(&mut self, id: UrlId, original: UrlId, session: &mut Session) -> Result<()> {
        if id.site != original.site && climb(pair_key(id, original), Ladder::count_parted, session)? {
            self.works.add(Task::Records { of: Some(id.site), which: Which::Pair(original.site) }, session);
        }
        Ok(())
    }

    fn pair_tried(&mut self, id: UrlId, counterpart: UrlId, agrees: Option<bool>, session: &mut Session) -> Result<()> {
        let Some(agrees) = agrees else { return climb(pair_key(id, counterpart), Ladder::end_without_result, session) };
        if climb(pair_key(id, counterpart), |ladder| ladder.tried(agrees), session)? {
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
        let Some(ladder_key) = stop_key(stop, rules, lesson.id, lesson.url) else { return Ok(()) };
        let Some(agrees) = agrees else { return climb(ladder_key, Ladder::end_without_result, session) };
        self.count_trial(stop, ladder_key, agrees, session)
    }

    /// A page was visited again, and shows this. If learned rules say that it shows what another page shows, and both
    /// showed the same at their first visits, and they differ by now, the rules have failed, as in a trial. (A rule may
    /// have exceptions that have differed from the beginning. These were counted when it was tested.)
    pub fn learn_parted(&mut self, job: &Job, content: Content, shows: Shows<'_>, session: &mut Session) -> Result<()> {
        let (Some(rules), url) = (&self.rules, job.page.url) else { return Ok(()) };
        let Some((stop, named)) = rules.named_by(&job.url, url, &self.urls, session)? else { return Ok(()) };
        let (Some(ladder_key), Some(other)) = (stop_key(&stop, rules, url, &job.url), stop.representative) else {
            return Ok(());
        };
        if shown_at(other, shows, &self.urls, session)?.is_none_or(|shown| shown.agrees(content)) {
            return Ok(());
        }
        let first = |url| shows(PageId { url, visit: 1 }, session);
        match (first(url)?, first(named)?) {
            (Some(one), Some(other)) if one.agrees(other) => self.count_trial(&stop, ladder_key, false, session),
            _ => Ok(()),
        }
    }

    /// Counts the result of a trial of rules. If it breaks their ladder, or if they are withdrawn, what they stopped is
    /// released.
    fn count_trial(&mut self, stop: &Stop, ladder_key: LadderKey, agrees: bool, session: &mut Session) -> Result<()> {
        let Some(rules) = &mut self.rules else { return Ok(()) };
        let withdrawn = rules.tried(stop, agrees, session);
        let breaks = climb(ladder_key, |ladder| ladder.tried(agrees), session)?;
        if let LadderPlace::Rule(rule, folder) = ladder_key.place
            && breaks
            && !withdrawn.contains(&rule)
        {
            let folder = stop.representative.map(|_| folder);
            self.works.add(Task::Records { of: Some(ladder_key.site), which: Which::Rule(rule, folder) }, session);
        }
        withdrawn.into_iter().try_for_each(|rule| self.withdraw(rule, session))
    }

    pub(super) fn is_well(&self, id: UrlId) -> bool {
        self.urls.get(id.url) == Some(Standing::Done(EndedAs::Well))
    }

    /// Releases the URLs that a withdrawn rule stopped.
    fn withdraw(&mut self, rule: RuleId, session: &mut Session) -> Result<()> {
        let Some(known) = self.rules.as_ref().and_then(|rules| rules.get(rule)) else { return Ok(()) };
        for site in known.sites(session)? {
            self.works.add(Task::Records { of: Some(site), which: Which::Rule(rule, None) }, session);
        }
        Ok(())
    }
}

/// Changes a ladder, and puts it on record.
fn climb<T>(ladder_key: LadderKey, tell: impl FnOnce(&mut Ladder) -> T, session: &mut Session) -> Result<T> {
    let mut ladder = Ladder::get(ladder_key, session)?;
    let answer = tell(&mut ladder);
    ladder.put(ladder_key, session);
    Ok(answer)
}

/// Whether a page is one of the quarter of all pages that spend a budget if pages like it spend a quarter.
fn is_one_in_four(job: &Job) -> bool {
    job.page.url.url.is_multiple_of(4)
}
