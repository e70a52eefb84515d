//! Visits: this module fetches pages again that were fetched before. It visits one page of each cluster of copies. The
//! visit that buys the most freshness comes first (`frontier::refresh` explains this). A *round* of visits (this file)
//! has an end; a continuous crawl (`continuous`) has none.
//!
//! These files use the following words:
//!
//! - *member*: a URL that was fetched at least once (`member`). The *roster* has all of them. The *place* of a member
//!   is its index there.
//! - *representative*: the member that is visited for its cluster. The *copies* of the cluster show the same page. They
//!   are *trusted*: they are not visited.
//! - *check*: a visit to a copy, made to see whether it is still a copy. If not, it has *diverged*, and *leaves* the
//!   cluster. A copy also leaves, unchecked, if it has probably diverged.
//! - *out of reach*: a host that cannot be asked now. What a round does then is in `reach`. If the representative of a
//!   cluster cannot be had for some time, one of its copies takes its place until it can.
//! - *pair*: the host of a representative and the host of a copy. How often copies diverge is learned for each pair.
//!
//! When a round begins, `roster` reads the records of all pages, and `plan` plans the whole round. An interrupted round
//! is planned again; URLs that were asked for since it began are left out. Each host has at most one visit in the
//! frontier's queue, so the order of the visits is kept however fast the hosts are.

mod continuous;
mod freshness;
mod heard;
mod listed;
mod lists;
mod member;
mod new_links;
mod polls;
mod reach;
mod room_for_new;
mod roster;
mod round;
mod round_plan;
mod share;
mod taken;

use std::collections::{HashMap, HashSet, VecDeque};

use dedup_stage::judge::Changed;
use dedup_stage::store::{Result, Session};
use dedup_stage::url::{PageId, SiteId, UrlId};
use frontier::refresh::scheduler::Refresh;
use frontier::refresh::signals::Source;
use frontier::refresh::time::{days, seconds};
use frontier::refresh::turns::{HostNumber, VisitTurns};
use frontier::{Admission, FoundLink, Frontier, Merits, Millis, State, Via};
use url::Url;

use crate::record::PageRecord;
pub(super) use continuous::Continuous;
pub use freshness::{AGES, Freshness, HostRate};
pub(super) use listed::Listed;
pub(super) use lists::List;
use member::{Life, Member, Reach};
pub(super) use new_links::NewLinks;
use room_for_new::RoomForNew;
use roster::Roster;
pub use round::Round;
use round_plan::RoundPlan;

/// What a visit has shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// With a page: what changed since the last visit, and the URL of the earlier page that it repeats.
    Showed { changed: Option<Changed>, copy_of: Option<UrlId> },
    /// 404 or 410.
    Missing,
    /// A redirect.
    Moved,
    /// No answer, or another error.
    Trouble,
}

/// The visits of a round.
#[derive(Debug)]
pub(super) struct Visits {
    roster: Roster,
    /// Whether the run does nothing but visits (`crawler refresh`).
    pub only: bool,
    /// Copies that are checked after their representatives have been visited.
    checks: HashSet<usize>,
    /// The planned checks, in the order of [`round_plan::RoundPlan::checks`]. Some of these copies may not be in
    /// `checks` any more.
    planned: Vec<usize>,
    /// The URLs that are still to be visited, in the order of the round.
    turns: VisitTurns,
    hosts: HashMap<SiteId, HostNumber>,
    /// URLs that wait in `turns`.
    left: HashSet<u64>,
    /// Visits in the queue of the frontier, with their hosts.
    open: HashMap<u64, HostNumber>,
    /// Hosts whose visits leave room for new URLs.
    waiting: RoomForNew,
    /// Checks of this round, made or waiting in `turns`.
    ordered: u64,
    /// Copies that are checked if planned checks cannot be made ([`round_plan::RoundPlan::reserve`]).
    reserve: VecDeque<usize>,
    /// The estimates of change rates, and how far hosts are believed.
    refresh: Refresh,
    /// The number of each host in `refresh`.
    known: HashMap<SiteId, HostNumber>,
}

/// The highest priority, so the visits of a host come before nearly all of its new URLs.
const PRIORITY: f32 = 1.0;
/// The most visits that wait in the queue of the frontier.
const MOST_OPEN: usize = 4_096;
/// All checks together, planned or not, are at most this share of the visits, rounded up to a whole check.
const MOST_CHECKS: f64 = 0.1;

impl Visits {
    /// Plans a round at `now`, or what is left of it. `only`: the run does nothing else. `trusts`: whether copies are
    /// trusted. `min_age`: the least time from one visit of a URL to the next, in milliseconds. `priority` gives the
    /// priority of a page, 0..1, by its depth.
    pub fn plan(
        round: &mut Round,
        only: bool,
        trusts: bool,
        min_age: Millis,
        priority: &dyn Fn(u32) -> f32,
        now: Millis,
        session: &Session,
    ) -> Result<Self> {
        let mut roster = Roster::read(session, trusts, priority)?;
        let since = (round.visits > 0).then_some(round.started);
        let RoundPlan { order, checks, reserve, tries, trusted, departed, freshness, refresh, hosts: known } =
            round_plan::plan(&mut roster, &NewLinks::all(session)?, since, min_age, now);
        round.left = departed;
        round.trusted = trusted.saturating_sub(checks.len() as u64 + round.checked - round.diverged);
        if round.visits == 0 {
            round.freshness_before = freshness;
        }
        let (turns, hosts, left, open) = Default::default();
        let (planned, checks) = (checks.clone(), checks.into_iter().collect());
        let (ordered, waiting) = (round.checked, RoomForNew::new(1.0));
        let mut visits =
            Self { roster, only, checks, planned, turns, hosts, left, open, waiting, ordered, reserve, refresh, known };
        for (rank, at) in order.into_iter().enumerate() {
            visits.push(at, u32::try_from(rank).unwrap_or(u32::MAX));
        }
        visits.try_again(tries, round);
        Ok(visits)
    }

    /// While a host has new URLs in the queue, at most this share of its fetches are visits, 0..1.
    pub fn share_with_new_urls(&mut self, most: f64) {
        self.waiting = RoomForNew::new(most);
    }

    /// Whether the URL is a representative that has copies.
    pub fn has_copies(&self, url: UrlId) -> bool {
        self.roster.has_copies(url)
    }

    /// Whether every visit has ended.
    pub fn are_done(&self) -> bool {
        self.not_ended() == 0
    }

    /// Visits that have not ended.
    pub fn not_ended(&self) -> u64 {
        (self.left.len() + self.open.len()) as u64
    }

    /// Puts a visit into the queue of the frontier for each host that has none there. True if it put any.
    pub fn feed(
        &mut self,
        now: Millis,
        round: &mut Round,
        frontier: &mut Frontier,
        session: &mut Session,
    ) -> Result<bool> {
        for (url, reason) in frontier.take_withdrawn() {
            self.refused(url, reason, now, round, session)?;
        }
        self.check_out_of_reach(now, round, frontier);
        self.waiting.check(now, &mut self.turns, frontier);
        let mut any = false;
        while self.open.len() < MOST_OPEN
            && let Some(turn) = self.turns.peek(0)
        {
            let place = self.roster.at(turn.page).filter(|_| self.left.contains(&turn.page));
            if let Some(place) = place {
                let site = self.roster.members[place].id.site;
                if self.waiting.must_wait(site, turn.host, now, &mut self.turns, frontier) {
                    continue;
                }
            }
            self.turns.take(turn);
            self.left.remove(&turn.page);
            let queued = match place {
                Some(place) => queue(&self.roster.members[place], PRIORITY, frontier, session)?,
                None => false,
            };
            if queued {
                self.open.insert(turn.page, turn.host);
                any = true;
            } else {
                self.turns.rest(turn.host, 0);
            }
        }
        Ok(any)
    }

    /// A sitemap says when a page has changed. If the sitemaps of the host are believed, a page that has changed is
    /// visited before all others of its host. Returns how far they are believed, 0..1; 0 if the page has not changed.
    pub fn listed(&mut self, url: UrlId, listed: Listed) -> f32 {
        let Some(place) = self.roster.place(url) else { return 0.0 };
        let tells = self.roster.members[place].hear(listed);
        let host = self.number(url.site);
        let signals = &self.refresh.learned(host).signals;
        if !tells || !signals.believes(Source::Sitemap) {
            return 0.0;
        }
        let trust = signals.trust(Source::Sitemap);
        if self.left.contains(&url.url) {
            // The page has an older entry in `turns`, which is ignored when its turn comes.
            self.turns.push(self.hosts[&url.site], 0, url.url);
        }
        trust
    }

    /// A page was fetched: compares what its host said of it with what the visit shows.
    pub fn hear(&mut self, page: PageId, record: &PageRecord, session: &mut Session) {
        let Some(place) = self.roster.place(page.url) else { return };
        let host = self.number(page.url.site);
        let dated = heard::hear(&mut self.refresh, host, &self.roster.members[place], page.visit, record);
        heard::keep(page, dated, &self.refresh.learned(host).signals, session);
    }

    /// The number of a host in `refresh`. Adds the host if it has none.
    fn number(&mut self, site: SiteId) -> HostNumber {
        let (refresh, learned) = (&mut self.refresh, self.roster.learned(site));
        *self.known.entry(site).or_insert_with(|| refresh.add_host(round_plan::DELAY, learned))
    }

    /// A page was fetched: by a visit, or for the first time (`is_new`).
    pub fn ended(&mut self, url: UrlId, is_new: bool, ended: Ended, now: Millis, round: &mut Round) {
        self.waiting.fetched(url.site, is_new, now, &mut self.turns);
        self.close(url);
        // A URL that was fetched for another reason is not visited again in this round.
        self.left.remove(&url.url);
        let Some(place) = self.roster.place(url) else { return };
        let member = &mut self.roster.members[place];
        round.count(ended, member.was_there());
        (member.asked, member.reach) = (now, Reach::Open);
        member.life = match ended {
            Ended::Showed { .. } => Life::Alive,
            Ended::Missing => Life::Missing { times: 1, since: seconds(now) },
            Ended::Moved => Life::Moved,
            Ended::Trouble => member.life.troubled(seconds(now)),
        };
        match self.roster.members[place].of {
            Some(of) => self.checked(place, of, ended, now, round),
            None => self.visited(place, ended, round),
        }
    }

    /// A representative was visited.
    fn visited(&mut self, place: usize, ended: Ended, round: &mut Round) {
        match ended {
            Ended::Showed { changed, .. } => {
                let mut due = self.due_checks(place);
                // The representative has changed, or shows nothing that can be compared. So one copy is checked: has it
                // changed, too?
                let is_other = matches!(changed, Some(Changed::Content) | None) && due.is_empty();
                let unseen = self.roster.copies(place).iter().copied().filter(|copy| !self.was_seen(*copy, round));
                let oldest = unseen.min_by_key(|copy| self.roster.members[*copy].checked);
                if let Some(copy) = oldest.filter(|_| is_other)
                    && (self.may_check(round) || self.gives_up_a_check(round))
                {
                    due.push(copy);
                }
                due.into_iter().for_each(|copy| self.check(copy, round));
            }
            Ended::Missing | Ended::Moved => _ = self.replace(place, round),
            Ended::Trouble => {
                // Trouble that lasts: a copy takes the place. Otherwise the copies are checked as planned.
                if self.roster.members[place].may_represent() || !self.replace(place, round) {
                    self.due_checks(place).into_iter().for_each(|copy| self.check(copy, round));
                }
            }
        }
    }

    /// Gives up the least urgent of the planned checks. False if none is left.
    fn gives_up_a_check(&mut self, round: &mut Round) -> bool {
        while let Some(copy) = self.planned.pop() {
            if self.checks.remove(&copy) {
                round.trusted += 1;
                return true;
            }
        }
        false
    }

    /// The copies of a representative whose planned checks have not been ordered.
    fn due_checks(&self, place: usize) -> Vec<usize> {
        self.roster.copies(place).iter().copied().filter(|copy| self.checks.contains(copy)).collect()
    }

    /// A copy takes the place of a representative, and is visited at once. False if no copy can.
    fn replace(&mut self, place: usize, round: &mut Round) -> bool {
        let Some(next) = self.roster.replace(place) else { return false };
        round.replaced += 1;
        // Its check may have been made, or may wait already.
        let was_seen = self.was_seen(next, round);
        if !self.checks.remove(&next) && !was_seen {
            round.trusted = round.trusted.saturating_sub(1);
        }
        if !was_seen {
            self.push(next, 0);
        }
        true
    }

    /// A copy was checked.
    fn checked(&mut self, place: usize, of: UrlId, ended: Ended, now: Millis, round: &mut Round) {
        round.checked += 1;
        let days = days(self.roster.members[place].checked, seconds(now));
        match ended {
            Ended::Trouble => return,
            Ended::Showed { copy_of, changed } if self.is_still_copy(place, of, copy_of, changed) => return,
            Ended::Showed { .. } => round.diverged += 1,
            Ended::Missing | Ended::Moved => {}
        }
        self.roster.leave(place, days, true);
        for other in self.roster.alike(of, place) {
            if self.may_check(round) && !self.was_seen(other, round) {
                self.check(other, round);
            }
        }
    }

    /// Whether a copy of `of` that showed this is still a copy, or cannot be compared. A copy that has changed and now
    /// repeats a page of another cluster (a site that is closed shows one notice at all its URLs) is no copy any more.
    fn is_still_copy(&self, place: usize, of: UrlId, copy_of: Option<UrlId>, changed: Option<Changed>) -> bool {
        match (copy_of, changed) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(shows), Some(Changed::Content)) => {
                shows == of || self.roster.root_of(place, Some(shows)) == self.roster.place(of)
            }
            (Some(_), Some(_)) => true,
        }
    }

    /// Whether one more check keeps the checks within [`MOST_CHECKS`].
    fn may_check(&self, round: &Round) -> bool {
        let checks = self.ordered + self.checks.len() as u64;
        (checks as f64) < MOST_CHECKS * (round.visits + self.left.len() as u64) as f64
    }

    /// Whether a copy was visited in this round, or waits to be visited.
    fn was_seen(&self, copy: usize, round: &Round) -> bool {
        let member = &self.roster.members[copy];
        member.asked >= round.started || self.left.contains(&member.id.url) || self.open.contains_key(&member.id.url)
    }

    fn check(&mut self, copy: usize, round: &mut Round) {
        if !self.checks.remove(&copy) {
            round.trusted = round.trusted.saturating_sub(1);
        }
        self.ordered += 1;
        self.push(copy, 0);
    }

    /// Adds a page to `turns`. The page with the lowest rank comes first.
    fn push(&mut self, place: usize, rank: u32) {
        let UrlId { site, url } = self.roster.members[place].id;
        let turns = &mut self.turns;
        let host = *self.hosts.entry(site).or_insert_with(|| turns.add_host());
        if !self.open.contains_key(&url) && self.left.insert(url) {
            turns.push(host, rank, url);
        }
    }

    fn close(&mut self, url: UrlId) {
        if let Some(host) = self.open.remove(&url.url) {
            self.turns.rest(host, 0);
        }
    }
}

/// Puts a visit into the queue of the frontier. False if the URL is not queued afterwards.
fn queue(member: &Member, priority: f32, frontier: &mut Frontier, session: &mut Session) -> Result<bool> {
    let page = PageId { url: member.id, visit: member.visit };
    let Some(PageRecord { url, depth, source, .. }) = PageRecord::get(page, session)? else { return Ok(false) };
    let Ok(url) = Url::parse(&url) else { return Ok(false) };
    let found =
        FoundLink { url: &url, id: member.id, depth, priority, merits: Merits::default(), source, via: Via::Again };
    Ok(match frontier.add(&found, session)? {
        Admission::Queued => true,
        // An earlier run may have queued this visit.
        Admission::Seen => matches!(frontier.state(member.id, session)?, Some(State::Queued { .. })),
        _ => false,
    })
}
