//! When a host overtakes another one, in `drop`. A link of a duplicate may be held for a counterpart on another domain
//! that is still queued, and a rule may stop a URL for such a representative. If the other host is slow, or has much
//! else to do, the host of these URLs would wait as long.
//!
//! So a host that has nothing else to do waits only for a while: [`Overtaking::PATIENCE`] of its own turns if the other
//! host is much slower, and [`Overtaking::WINDOW`] turns if the other host comes to few of the URLs for which it waits.
//! (A *turn* is the delay of a host and the time in which it answers.) After that, its URLs are queued. When the turn of
//! one of the counterparts comes, it is not fetched any more: it is held for the URL that was queued in its place. URLs
//! of further hosts that wait for it are held for that URL, too. So each content is still fetched once, from the host
//! that comes to it first.
//!
//! While the other host comes to these URLs soon enough, the host waits on: what it would fetch itself in that time
//! would be fetched twice. A counterpart that is overtaken says nothing about how alike the two hosts are, unless the
//! other host has answered nothing in this window: a site that shows a few copies and is silent then may do so to keep
//! the rest of the other site from being fetched.
//!
//! All of this is kept in memory. A crawl that is continued looks up which hosts wait ([`Task::NoteHostsAhead`]). It no
//! longer knows which URLs were queued in the place of others, so it fetches both.

use std::collections::{HashMap, HashSet};

use config::OnDuplicate;
use dedup_stage::store::{Result, Session};
use dedup_stage::url::{SiteId, UrlId};
use url::Url;

use super::Frontier;
use super::ladder_keys::{is_unlike, pair_key};
use crate::hold::ladder::{Ladder, LadderKey, Step, Strictness};
use crate::hold::works::{Task, Which};
use crate::hold::{StandIn, stand_in};
use crate::host::Host;
use crate::host::entry::Entry;
use crate::job::{Release, Via};
use crate::numbers::Millis;
use crate::url::{Standing, State};

/// The hosts that wait for others, and the URLs that were queued in the place of others.
#[derive(Debug, Default)]
pub(super) struct Overtaking {
    waiting: HashMap<SiteId, Waiting>,
    /// A counterpart (`UrlId::url`) → the URL that was queued in its place.
    in_place: HashMap<u64, UrlId>,
    /// Hosts that overtake others, each with one that has answered nothing in the last window.
    silent: HashSet<(SiteId, SiteId)>,
    /// When the hosts were looked at.
    looked_at: Millis,
}

/// The hosts that a host waits for.
#[derive(Debug, Default)]
struct Waiting {
    /// The hosts of the counterparts.
    ahead: Vec<Ahead>,
    /// For how long the host has had nothing else to do, since the window began; `None` if it has something to do.
    idle: Option<Millis>,
}

/// A host that another one waits for.
#[derive(Clone, Copy, Debug)]
struct Ahead {
    site: SiteId,
    /// The number of its pages when the window began.
    before: u64,
    /// The number of URLs that waited for one of its URLs which has ended since the window began.
    answered: u64,
}

/// The decision about a URL in whose place another one was queued.
pub(super) enum Overtaken {
    /// Hold it for this URL. If there is a key of a ladder, the step is to be counted there.
    Hold(UrlId, Option<LadderKey>),
    /// Fetch it, to see whether it shows what this URL shows.
    Try(UrlId, LadderKey),
}

impl Overtaking {
    /// Turns for which a host waits for a host that is much slower.
    const PATIENCE: Millis = 10;
    /// A host is much slower if it fetches less than one page in this many turns.
    const SLOW: Millis = 4;
    /// In so many turns, the other host must come to enough of the URLs for which the host waits. Then the next window
    /// begins.
    const WINDOW: Millis = 100;
    /// One such URL in this many turns is enough.
    const ENOUGH: Millis = 2;
    /// Milliseconds: no turn counts as shorter.
    const SHORTEST: Millis = 50;
    /// Milliseconds between two looks at the hosts.
    const LOOKS: Millis = 250;
    /// At most this many hosts wait, and each for at most this many others. URLs of further hosts wait until the end of
    /// the crawl.
    const HOSTS: (usize, usize) = (10_000, 16);
    /// At most this many URLs that were queued in the place of others are remembered. Beyond that, both URLs are
    /// fetched.
    const IN_PLACE: usize = 100_000;

    /// A URL of the host `site` is held or stopped for a queued URL of the host `ahead`.
    pub(super) fn waits(&mut self, site: SiteId, ahead: SiteId) {
        if self.waiting.len() >= Self::HOSTS.0 && !self.waiting.contains_key(&site) {
            return;
        }
        let waiting = self.waiting.entry(site).or_default();
        if waiting.ahead.len() < Self::HOSTS.1 && !waiting.ahead.iter().any(|known| known.site == ahead) {
            waiting.ahead.push(Ahead { site: ahead, before: 0, answered: 0 });
            waiting.idle = None;
        }
    }

    /// A URL of the host `site` was held or stopped for a URL of the host `ahead`, which was fetched, or was given up.
    pub(super) fn answered(&mut self, site: SiteId, ahead: SiteId) {
        let Some(waiting) = self.waiting.get_mut(&site) else { return };
        if let Some(known) = waiting.ahead.iter_mut().find(|known| known.site == ahead) {
            known.answered += 1;
        }
    }

    /// When [`Frontier::overtake`] is to be called again; `None` if no host waits.
    pub(super) fn next_look(&self) -> Option<Millis> {
        (!self.waiting.is_empty()).then_some(self.looked_at + Self::LOOKS)
    }

    /// The turn of a URL has come, so the URL that was queued in its place does not matter any more.
    pub(super) fn forget(&mut self, url: u64) {
        if !self.in_place.is_empty() {
            self.in_place.remove(&url);
        }
    }
}

impl Frontier {
    /// A URL is held or stopped for a URL that is still queued.
    pub(super) fn waits_for(&mut self, id: UrlId, at: UrlId) {
        if self.conduct.on_duplicate == OnDuplicate::Drop
            && Strictness::between(id.site, at.site) == Strictness::OtherDomain
        {
            self.overtaking.waits(id.site, at.site);
        }
    }

    /// The same, if that URL is still queued.
    pub(super) fn waits_if_queued(&mut self, id: UrlId, at: UrlId) {
        if let Some(Standing::Queued { .. } | Standing::Open { .. }) = self.urls.get(at.url) {
            self.waits_for(id, at);
        }
    }

    /// Queues the URLs of hosts that have waited for others long enough. True if there are such hosts:
    /// [`Frontier::step`] does the work.
    pub(super) fn overtake(&mut self, now: Millis, session: &mut Session) -> bool {
        if self.overtaking.next_look().is_none_or(|look_at| now < look_at) || !self.works.is_empty() {
            return false;
        }
        let passed = now - std::mem::replace(&mut self.overtaking.looked_at, now);
        let (politeness, hosts) = (&self.conduct.politeness, &self.hosts);
        let find = |site: SiteId| hosts.find(site).map(|id| hosts.get(id));
        let pages = |site: SiteId| find(site).map_or(0, |host| host.pages);
        let (mut due, mut silent) = (Vec::new(), HashSet::new());
        self.overtaking.waiting.retain(|site, waiting| {
            let host = find(*site);
            if host.is_some_and(Host::has_work) {
                waiting.idle = None;
                return true;
            }
            let begin = |ahead: &mut Ahead| (ahead.before, ahead.answered) = (pages(ahead.site), 0);
            let Some(idle) = &mut waiting.idle else {
                waiting.idle = Some(0);
                waiting.ahead.iter_mut().for_each(begin);
                return true;
            };
            let turn = host.map_or(politeness.delay.0, |host| host.pace.turn(politeness)).max(Overtaking::SHORTEST);
            // The time between two looks counts only up to a bound: while the crawl is paused, or this machine sleeps,
            // there are no looks, and the other host cannot fetch anything either.
            *idle += passed.min(turn.saturating_mul(Overtaking::PATIENCE) / 2);
            let turns = *idle / turn;
            let is_end = turns >= Overtaking::WINDOW;
            waiting.ahead.retain_mut(|ahead| {
                let fetched = pages(ahead.site).saturating_sub(ahead.before);
                let is_slow = turns >= Overtaking::PATIENCE && fetched.saturating_mul(Overtaking::SLOW) < turns;
                let is_over = is_slow || is_end && ahead.answered.saturating_mul(Overtaking::ENOUGH) < turns;
                if is_over {
                    due.push((*site, ahead.site));
                    if fetched == 0 {
                        silent.insert((*site, ahead.site));
                    }
                } else if is_end {
                    begin(ahead);
                }
                !is_over
            });
            if is_end {
                *idle = 0;
            }
            !waiting.ahead.is_empty()
        });
        if !due.is_empty() {
            // The work for earlier ones is done.
            self.overtaking.silent = silent;
        }
        due.sort_unstable();
        for (site, ahead) in &due {
            self.works.add(Task::Records { of: Some(*site), which: Which::Overtaking(*ahead) }, session);
        }
        !due.is_empty()
    }

    /// Queues a URL that is held or stopped, if it waits for a queued URL of the host `ahead`.
    pub(super) fn overtake_with(
        &mut self,
        id: UrlId,
        state: &State,
        ahead: SiteId,
        session: &mut Session,
    ) -> Result<()> {
        let waits = matches!(state, State::HeldFor { .. } | State::Stopped { .. });
        let (Some(anchor), Some(link)) = (state.anchor(id).filter(|_| waits), state.link()) else { return Ok(()) };
        if anchor.site != ahead {
            return Ok(());
        }
        let StandIn::Pending(at) = stand_in(&self.urls, anchor, id, session)? else { return Ok(()) };
        if !matches!(self.urls.get(at.url), Some(Standing::Queued { .. })) {
            return Ok(());
        }
        if let Some(other) = self.overtaking.in_place.get(&at.url).copied()
            && let StandIn::Well(at) | StandIn::Pending(at) = stand_in(&self.urls, other, id, session)?
        {
            return self.hold_for_another(id, state, at, session);
        }
        if !self.release(id, link, Via::Released { why: Release::Waited }, session)? {
            return Ok(());
        }
        if self.overtaking.in_place.len() < Overtaking::IN_PLACE {
            self.overtaking.in_place.insert(at.url, id);
        }
        if self.overtaking.silent.contains(&(id.site, ahead)) { self.pair_lacks(id, at, session) } else { Ok(()) }
    }

    /// A URL is held or stopped for `at` from now on: the URL of a third host, which was queued in the place of the one
    /// that it waited for.
    fn hold_for_another(&mut self, id: UrlId, state: &State, at: UrlId, session: &mut Session) -> Result<()> {
        let mut state = state.clone();
        match &mut state {
            State::HeldFor { counterparts, .. } => counterparts[0] = at,
            State::Stopped { representative, .. } => *representative = Some(at),
            _ => return Ok(()),
        }
        self.urls.change(id, &state, session)?;
        self.look_again(id, session)
    }

    /// Decides about a queued URL whose turn has come, if another URL was queued in its place. `None`: it is fetched
    /// as if there were no such URL.
    pub(super) fn overtaken(&self, entry: &Entry, url: &Url, session: &Session) -> Result<Option<Overtaken>> {
        let is_link = matches!(entry.via, Via::Link | Via::Sitemap | Via::Feed) && entry.trial.is_none();
        let other = self.overtaking.in_place.get(&entry.id.url).filter(|_| is_link);
        let Some(other) = other.copied() else { return Ok(None) };
        let (at, is_fetched) = match stand_in(&self.urls, other, entry.id, session)? {
            StandIn::Well(at) => (at, true),
            StandIn::Pending(at) => (at, false),
            StandIn::Failed | StandIn::News => return Ok(None),
        };
        let ladder_key = pair_key(entry.id, at);
        let ladder = Ladder::get(ladder_key, session)?;
        if ladder.is_broken() || is_unlike(entry.id, url, at, session)? {
            return Ok(None);
        }
        if !is_fetched {
            return Ok(Some(Overtaken::Hold(at, None)));
        }
        Ok(match ladder.next(Strictness::between(entry.id.site, at.site)) {
            Step::Stay => Some(Overtaken::Hold(at, Some(ladder_key))),
            Step::Try => Some(Overtaken::Try(at, ladder_key)),
            Step::Let => None,
        })
    }

    /// Reads some keys of the index and notes the hosts that wait for others.
    pub(super) fn note_waiting(&mut self, keys: &[Vec<u8>]) {
        for key in keys {
            let Some((at, id)) = UrlId::read(key).zip(key.get(UrlId::BYTES..).and_then(UrlId::read)) else { continue };
            self.waits_if_queued(id, at);
        }
    }
}
