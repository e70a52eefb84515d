//! Begins and ends the rounds of visits (`visits`), and reports each visit that has ended to them.

use config::OnDuplicate;
use dedup_stage::judge::{Changed, Shown};
use dedup_stage::url::{PageId, UrlId};
use frontier::{Job, Millis, State, Via};

use super::error::Result;
use super::state::EngineState;
use super::stats::StopReason;
use super::visits::{Continuous, Ended, Listed, Round, Visits};
use crate::record::PageRecord;
use crate::spaces;
use crate::unvisited::{self, Refused, Unreachable};

impl Ended {
    /// The result of a visit whose answer has this status. `copy_of`: the other page that it repeats word by word.
    pub(super) fn of(status: u16, copy_of: Option<UrlId>, changed: Option<Changed>) -> Self {
        match status {
            200..300 | 304 => Ended::Showed { changed, copy_of },
            300..400 => Ended::Moved,
            404 | 410 => Ended::Missing,
            _ => Ended::Trouble,
        }
    }
}

impl EngineState<'_> {
    /// A continuous crawl looks this often for a robots.txt that has forbidden URLs and has expired, in milliseconds.
    /// Such a file expires after a day, so the crawl notices within 25 hours that it has changed.
    const ROBOTS_AGAIN: Millis = 3_600_000;

    /// A run begins. What is held for pages of hosts that could not be asked in the last rounds is fetched in their
    /// place.
    pub(super) fn find_hosts_away(&mut self) -> Result<()> {
        for (site, host) in unvisited::Records::read(&self.ledger.session)?.unreachable {
            if host.is_away() {
                self.frontier.set_away(site, true, &mut self.ledger.session);
            }
        }
        Ok(())
    }

    /// Begins a round of visits, or continues one that was interrupted. `only_visits`: the run does nothing else.
    pub(super) fn begin_round(&mut self, only_visits: bool) -> Result<()> {
        let now = self.clock.now();
        let mut round = self.next_round(false, now);
        if round.started == now {
            let stats = &self.ledger.stats;
            round.amid_crawl = only_visits && !stats.was_finished && self.frontier.counts().queued > 0;
        }
        let trusts = self.trusts_copies();
        let min_age = self.settings.refresh.min_age.0;
        let priority = |depth| self.scores.of_depth(depth);
        let mut visits = Visits::plan(&mut round, only_visits, trusts, min_age, &priority, now, &self.ledger.session)?;
        if !round.amid_crawl {
            visits.share_with_new_urls(self.settings.refresh.share.most.0);
        }
        self.visits = Some(visits);
        self.ledger.stats.round = Some(round);
        self.frontier.ask_robots_again(now);
        self.poll_sitemaps()
    }

    /// Begins the visits of a continuous crawl, or continues them.
    pub(super) fn begin_continuous(&mut self) -> Result<()> {
        let now = self.clock.now();
        let mut round = self.next_round(true, now);
        let priority = |depth| self.scores.of_depth(depth);
        let visits = Continuous::open(self.settings, self.trusts_copies(), &priority, now, &self.ledger.session)?;
        if visits.has_no_lists() {
            // An earlier version has kept no records of sitemaps: they are named again by robots.txt.
            self.frontier.forget_sitemaps();
        }
        round.trusted = visits.trusted();
        self.continuous = Some(visits);
        self.robots_due = Some(now);
        self.ledger.stats.round = Some(round);
        Ok(())
    }

    /// The round that was interrupted, or the next one.
    fn next_round(&mut self, continuous: bool, now: Millis) -> Round {
        match self.ledger.stats.round.take() {
            Some(round) if !round.done && round.continuous == continuous => round,
            last => {
                let number = last.map_or(1, |last| last.number + 1);
                Round { number, started: now, continuous, ..Round::default() }
            }
        }
    }

    /// Whether copies are trusted. A user who keeps duplicates wants each of them as it is.
    fn trusts_copies(&self) -> bool {
        self.settings.dedup.on_duplicate != OnDuplicate::Keep
    }

    /// In a continuous crawl, begins to ask again for each robots.txt that has forbidden URLs, when that is due.
    pub(super) fn ask_robots_when_due(&mut self) {
        let now = self.clock.now();
        if self.robots_due.is_some_and(|due| due <= now) {
            self.frontier.ask_robots_again(now);
            self.robots_due = Some(now + Self::ROBOTS_AGAIN);
        }
    }

    /// Queues the next visits. True if there were any.
    pub(super) fn feed_visits(&mut self) -> Result<bool> {
        if let (Some(visits), Some(round)) = (&mut self.continuous, &mut self.ledger.stats.round) {
            let any = visits.feed(self.clock.now(), round, &mut self.frontier, &mut self.ledger.session)?;
            if visits.freshness().map(|found| found.at) != self.ledger.stats.freshness.as_ref().map(|found| found.at) {
                self.ledger.stats.freshness = visits.freshness().cloned();
                round.gone = visits.gone(&self.frontier);
            }
            return Ok(any);
        }
        let (Some(visits), Some(round)) = (&mut self.visits, &mut self.ledger.stats.round) else { return Ok(false) };
        Ok(visits.feed(self.clock.now(), round, &mut self.frontier, &mut self.ledger.session)?)
    }

    /// Whether the run must end now: it was started only for visits while the crawl still had URLs to fetch, and the
    /// visits are done.
    pub(super) fn round_is_over(&self) -> bool {
        let amid_crawl = self.ledger.stats.round.as_ref().is_some_and(|round| round.amid_crawl);
        amid_crawl && self.visits.as_ref().is_some_and(Visits::are_done)
    }

    /// The time at which a continuous crawl has something to do next besides its queue: a visit, or a robots.txt to ask
    /// for again. In milliseconds. A report may make it earlier.
    pub(super) fn visits_due(&mut self) -> Option<Millis> {
        let now = self.clock.now();
        let visit = self.continuous.as_mut().and_then(|visits| visits.due(now));
        visit.into_iter().chain(self.robots_due).min()
    }

    /// The run ends. A round that was stopped is not done: the next run continues it.
    pub(super) fn end_round(&mut self, reason: StopReason) -> Result<()> {
        if let Some(visits) = &mut self.continuous {
            visits.survey(self.clock.now(), &self.ledger.session)?;
            self.ledger.stats.freshness = visits.freshness().cloned();
        }
        if let Some(visits) = &self.visits {
            let (waited, now) = (reason == StopReason::Waiting, self.clock.now());
            visits.note_out_of_reach(waited, now, &self.frontier, &mut self.ledger.session)?;
        }
        if let Some(round) = &mut self.ledger.stats.round {
            let gone = self.visits.as_ref().map(|visits| visits.gone(&self.frontier));
            let gone = gone.or(self.continuous.as_ref().map(|visits| visits.gone(&self.frontier)));
            round.gone = gone.unwrap_or(round.gone);
            if let Some(visits) = &self.visits {
                round.done = reason != StopReason::Stopped;
                round.put_off = if reason == StopReason::Waiting { visits.not_ended() } else { 0 };
            }
            let is_refresh = self.visits.as_ref().is_some_and(|visits| visits.only);
            round.spent = is_refresh && matches!(reason, StopReason::PageLimit | StopReason::TimeLimit);
        }
        Ok(())
    }

    /// A visit to a page has ended, the first one included, and was recorded.
    pub(super) fn visit_ended(&mut self, job: &Job, at: Millis, ended: Ended) -> Result<()> {
        self.was_had(job)?;
        if let (Some(visits), Some(round)) = (&mut self.continuous, &mut self.ledger.stats.round)
            && let Some(record) = PageRecord::get(job.page, &self.ledger.session)?
        {
            let priority = self.scores.of_depth(record.depth);
            visits.recorded(job.page, &record, priority, at, round, &mut self.ledger.session)?;
        }
        if let (Some(visits), Some(round)) = (&mut self.visits, &mut self.ledger.stats.round) {
            if let Some(record) = PageRecord::get(job.page, &self.ledger.session)? {
                visits.hear(job.page, &record, &mut self.ledger.session);
            }
            visits.ended(job.page.url, job.page.visit == 1, ended, at, round);
        }
        self.left_over(job, ended)
    }

    /// Ends records that are out of date when a page was visited again: that robots.txt forbids the page, that a link
    /// to it has come, and, if it was answered, that its host cannot be asked.
    fn was_had(&mut self, job: &Job) -> Result<()> {
        if job.page.visit < 2 {
            return Ok(());
        }
        Refused::fetched(job.page.url, self.clock.now(), &mut self.ledger.session)?;
        let key = job.page.url.to_bytes();
        if self.ledger.session.get(spaces::RELINKED, &key)?.is_some() {
            self.ledger.session.delete(spaces::RELINKED, key);
        }
        if PageRecord::get(job.page, &self.ledger.session)?.is_some_and(|record| record.status > 0) {
            Unreachable::clear(job.page.url.site, &mut self.ledger.session)?;
            self.frontier.set_away(job.page.url.site, false, &mut self.ledger.session);
        }
        Ok(())
    }

    /// Counts a visit that a round has queued but that is made by a run without visits of its own: `crawler crawl`
    /// after a round that was killed, or whose budget was spent.
    fn left_over(&mut self, job: &Job, ended: Ended) -> Result<()> {
        let is_visit = job.via == Via::Again && self.visits.is_none() && self.continuous.is_none();
        if is_visit && let Some(round) = &mut self.ledger.stats.round {
            let before = PageId { visit: job.page.visit.saturating_sub(1), ..job.page };
            let before = PageRecord::get(before, &self.ledger.session)?;
            let was_there =
                before.is_some_and(|before| before.shown.is_some() || matches!(before.status, 200..300 | 304));
            round.count(ended, was_there);
        }
        Ok(())
    }

    /// Records that a sitemap says when a page has changed. Returns how far such a change is believed, 0..1.
    pub(super) fn hear_of(&mut self, url: UrlId, lastmod: Millis, at: Millis) -> Result<f32> {
        let Some(listed) = Listed::put(url, lastmod, at, &mut self.ledger.session)? else { return Ok(0.0) };
        Ok(match (&mut self.continuous, &mut self.visits) {
            (Some(visits), _) => visits.listed(url, listed),
            (None, Some(visits)) => visits.listed(url, listed),
            (None, None) => 0.0,
        })
    }

    /// Whether the judge must forget the content of a URL, so that no later page is a duplicate of it: the URL is gone,
    /// or a copy takes its place.
    pub(super) fn is_to_forget(&self, job: &Job, ended: Ended) -> Result<bool> {
        if job.page.visit < 2 || !matches!(ended, Ended::Missing | Ended::Moved) {
            return Ok(false);
        }
        let url = job.page.url;
        let is_replaced = self.visits.as_ref().is_some_and(|visits| visits.has_copies(url))
            || self.continuous.as_ref().is_some_and(|visits| visits.has_copies(url));
        let state = self.frontier.state(job.page.url, &self.ledger.session)?;
        Ok(is_replaced || matches!(state, Some(State::Gone(_))))
    }

    /// Makes the judge forget the content of a URL. Returns the record to store for the next visit, which is none.
    pub(super) fn forget(&mut self, job: &Job, shown: Option<Shown>) -> Result<Option<Shown>> {
        if let Some(shown) = shown {
            self.flow.judge_mut().forget(&shown, job.page.url, &mut self.ledger.session)?;
        }
        Ok(None)
    }
}
