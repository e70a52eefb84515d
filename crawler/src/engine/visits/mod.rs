//! Visits to pages that were fetched before: one page of each content cluster, in the order of what a visit buys, and a
//! small sample of the copies that are trusted. Either a round of them (here), or without end (`continuous`).
//!
//! Everything that a round needs to know is read from the records of pages when it begins (`roster`), and planned at
//! once (`plan`). So a round that was interrupted goes on by planning again: what was visited since it began is done. A
//! host has one visit in the frontier's queue at a time, so that the order is kept whatever the hosts allow.

mod continuous;
mod freshness;
mod heard;
mod listed;
mod lists;
mod member;
mod plan;
mod polls;
mod roster;
mod share;
mod taken;
mod waiting;

use std::collections::{HashMap, HashSet};

use dedup_stage::judge::Changed;
use dedup_stage::store::{Result, Session};
use dedup_stage::url::{PageId, SiteId, UrlId};
use frontier::refresh::scheduler::Refresh;
use frontier::refresh::signals::Source;
use frontier::refresh::time::{days, seconds};
use frontier::refresh::turns::{HostId, Turns};
use frontier::{Admission, Found, Frontier, Merits, Millis, State, Via};
use serde::{Deserialize, Serialize};
use url::Url;

use crate::record::PageRecord;
pub(super) use continuous::Continuous;
pub use freshness::{AGES, Freshness, HostRate};
pub(super) use listed::Listed;
pub(super) use lists::List;
use member::{Life, Member};
use plan::RoundPlan;
use roster::Roster;
use waiting::Waiting;

/// The last round of visits, or the visits of a continuous crawl: a part of the counters, which the state keeps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Round {
    /// Number of the round, from 1.
    pub number: u32,
    /// When it began, in milliseconds since 1970.
    pub started: Millis,
    /// Whether it is without end.
    pub continuous: bool,
    /// Whether it came to its end.
    pub done: bool,
    /// Whether the last run was this round, by `crawler refresh`, and ended because its budget was spent.
    pub spent: bool,
    /// Visits that were not made, because their hosts could not be asked in time (`--patience`) when the run ended.
    pub put_off: u64,
    /// Whether the crawl had more to fetch when `crawler refresh` began it: then the round ends with its last visit.
    pub amid_crawl: bool,
    /// Visits, checks of copies included.
    pub visits: u64,
    /// Visits that showed another content than the one before.
    pub changed: u64,
    /// Visits that were answered with 404 or 410, of pages that were there before.
    pub missing: u64,
    /// Copies that were trusted to show what another page shows, and not visited.
    pub trusted: u64,
    /// Copies that were visited, to see whether they still do.
    pub checked: u64,
    /// Of these, those that do not.
    pub diverged: u64,
    /// Copies that are visited as pages of their own, because copies of their pair of hosts have diverged.
    pub left: u64,
    /// Pages that are not there any more, and a copy of which is visited from now on.
    pub replaced: u64,
    /// Fetches that would have been made if each visit to a page had been made to its trusted copies too.
    pub saved: u64,
    /// Estimated share of pages that were as they were when last seen, 0..1, when the round began.
    pub freshness_before: f64,
}

impl Round {
    /// Counts a visit. `was_there`: whether the URL had a page before.
    pub(super) fn count(&mut self, ended: Ended, was_there: bool) {
        self.visits += 1;
        self.changed += u64::from(matches!(ended, Ended::Showed { changed: Some(Changed::Content), .. }));
        self.missing += u64::from(ended == Ended::Missing && was_there);
    }
}

/// What a visit has shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// A page: what changed, and what other page it repeats word by word.
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
    /// Whether they are all that the run is to do (`crawler refresh`).
    pub only: bool,
    /// Copies to be checked once their representatives were visited.
    checks: HashSet<usize>,
    /// What is to be visited, by its place in the order of the round.
    turns: Turns,
    hosts: HashMap<SiteId, HostId>,
    /// URLs that wait in `turns`.
    left: HashSet<u64>,
    /// Visits in the queue of the frontier, with their hosts.
    open: HashMap<u64, HostId>,
    /// Hosts whose visits leave room for new URLs.
    waiting: Waiting,
    /// Checks that were ordered in this round.
    ordered: u64,
    /// What is believed of change rates and of what hosts say of them, and the numbers of hosts there.
    refresh: Refresh,
    known: HashMap<SiteId, HostId>,
}

/// Above the priority of every link: within a host, visits come first.
const PRIORITY: f32 = 1.0;
/// Visits in the queue of the frontier, at most.
const MOST_OPEN: usize = 4_096;
/// Checks that changes and divergences call for, those that are planned included: at most this share of the visits.
const MOST_CHECKS: f64 = 0.1;

impl Visits {
    /// Plans a round at `now`, or what is left of it. `only`: the run is to do nothing else; `trusts`: whether copies
    /// are trusted; `min_age`: milliseconds from a visit to the next one at least; `priority` is that of a page so
    /// deep.
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
        let RoundPlan { order, checks, trusted, left, freshness, refresh, hosts: known } =
            plan::plan(&mut roster, since, min_age, now);
        round.left = left;
        round.trusted = trusted.saturating_sub(checks.len() as u64 + round.checked - round.diverged);
        if round.visits == 0 {
            round.freshness_before = freshness;
        }
        let (turns, hosts, left, open) = Default::default();
        let (ordered, waiting) = (round.checked, Waiting::new(1.0));
        let mut visits = Self { roster, only, checks, turns, hosts, left, open, waiting, ordered, refresh, known };
        for (rank, at) in order.into_iter().enumerate() {
            visits.push(at, u32::try_from(rank).unwrap_or(u32::MAX));
        }
        Ok(visits)
    }

    /// Where new URLs of a host wait, its visits get at most this share of its fetches.
    pub fn share_with_new_urls(&mut self, most: f64) {
        self.waiting = Waiting::new(most);
    }

    /// Whether a URL is one that copies are trusted to follow.
    pub fn has_copies(&self, url: UrlId) -> bool {
        self.roster.place(url).is_some_and(|place| !self.roster.copies(place).is_empty())
    }

    /// Whether every visit has ended.
    pub fn are_done(&self) -> bool {
        self.not_ended() == 0
    }

    /// Visits that have not ended.
    pub fn not_ended(&self) -> u64 {
        (self.left.len() + self.open.len()) as u64
    }

    /// Puts visits into the queue of the frontier, as far as hosts have none there. True if there were any.
    pub fn feed(&mut self, frontier: &mut Frontier, session: &mut Session) -> Result<bool> {
        for url in frontier.take_withdrawn() {
            self.close(url);
        }
        self.waiting.check(&mut self.turns, frontier);
        let mut any = false;
        while self.open.len() < MOST_OPEN
            && let Some(turn) = self.turns.peek(0)
        {
            let place = self.roster.at(turn.page).filter(|_| self.left.contains(&turn.page));
            if let Some(place) = place {
                let site = self.roster.members[place].id.site;
                if self.waiting.must_wait(site, turn.host, &mut self.turns, frontier) {
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

    /// A sitemap says when a page has changed. If that is believed, a page that has changed is visited before all
    /// others of its host. Returns how far a change that it tells of is believed, 0..1.
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
            // Its entry with another rank is passed over when its turn comes.
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

    /// The number of a host in `refresh`, which is added if need be.
    fn number(&mut self, site: SiteId) -> HostId {
        let (refresh, learned) = (&mut self.refresh, self.roster.learned(site));
        *self.known.entry(site).or_insert_with(|| refresh.add_host(plan::DELAY, learned))
    }

    /// A page was fetched: by a visit, or for the first time (`is_new`).
    pub fn ended(&mut self, url: UrlId, is_new: bool, ended: Ended, now: Millis, round: &mut Round) {
        self.waiting.fetched(url.site, is_new, &mut self.turns);
        self.close(url);
        // It is not visited twice in one round.
        self.left.remove(&url.url);
        let Some(place) = self.roster.place(url) else { return };
        round.count(ended, self.roster.members[place].was_there());
        self.roster.members[place].asked = now;
        self.roster.members[place].life = match ended {
            Ended::Showed { .. } => Life::Alive,
            Ended::Missing => Life::Missing { times: 1, since: seconds(now) },
            Ended::Moved => Life::Moved,
            Ended::Trouble => Life::Trouble,
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
                let mut due: Vec<usize> =
                    self.roster.copies(place).iter().copied().filter(|copy| self.checks.contains(copy)).collect();
                if changed == Some(Changed::Content) && due.is_empty() && self.may_check(round) {
                    // Whether copies go along shows when their original changes.
                    let unseen = self.roster.copies(place).iter().copied().filter(|copy| !self.was_seen(*copy, round));
                    due.extend(unseen.min_by_key(|copy| self.roster.members[*copy].checked));
                }
                due.into_iter().for_each(|copy| self.check(copy, round));
            }
            Ended::Missing | Ended::Moved => {
                if let Some(next) = self.roster.replace(place) {
                    round.replaced += 1;
                    round.trusted = round.trusted.saturating_sub(1);
                    self.push(next, 0);
                }
            }
            Ended::Trouble => {}
        }
    }

    /// A copy was visited, to see whether it is still one.
    fn checked(&mut self, place: usize, of: UrlId, ended: Ended, now: Millis, round: &mut Round) {
        round.checked += 1;
        let days = days(self.roster.members[place].checked, seconds(now));
        match ended {
            // Without a verdict nothing is known.
            Ended::Showed { copy_of: Some(_), .. } | Ended::Showed { changed: None, .. } | Ended::Trouble => {}
            Ended::Showed { copy_of: None, changed: Some(_) } => {
                round.diverged += 1;
                self.roster.leave(place, days, true);
                for other in self.roster.alike(of, place) {
                    if self.may_check(round) && !self.was_seen(other, round) {
                        self.check(other, round);
                    }
                }
            }
            Ended::Missing | Ended::Moved => self.roster.leave(place, days, false),
        }
    }

    /// Whether one more check is within the bound.
    fn may_check(&self, round: &Round) -> bool {
        let checks = self.ordered + self.checks.len() as u64;
        (checks as f64) < MOST_CHECKS * (round.visits + self.left.len() as u64) as f64
    }

    /// Whether a copy was visited in this round, or is about to be.
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

    /// The page is visited when its rank comes.
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

/// Puts a visit into the queue of the frontier; false where it is not there then.
fn queue(member: &Member, priority: f32, frontier: &mut Frontier, session: &mut Session) -> Result<bool> {
    let page = PageId { url: member.id, visit: member.visit };
    let Some(PageRecord { url, depth, source, .. }) = PageRecord::get(page, session)? else { return Ok(false) };
    let Ok(url) = Url::parse(&url) else { return Ok(false) };
    let found = Found { url: &url, id: member.id, depth, priority, merits: Merits::default(), source, via: Via::Again };
    Ok(match frontier.add(&found, session)? {
        Admission::Queued => true,
        // One that was queued when an earlier run ended is still there.
        Admission::Seen => matches!(frontier.state(member.id, session)?, Some(State::Queued { .. })),
        _ => false,
    })
}
