//! Does the work in the background, a little at a time: it decides again about URLs that are held or stopped, after the
//! URL that they wait for was fetched, a template was tried, a trial showed that a rule or a pair of hosts is wrong, or
//! the scope or a cap changed.

use std::ops::ControlFlow;
use std::sync::Arc;

use dedup_stage::store::{Result, Session};
use dedup_stage::url::{SiteId, UrlId};
use url::Url;

use super::Frontier;
use super::admit::again;
use super::hold::Way;
use super::ladder_keys::stop_key;
use crate::folder::folder;
use crate::hold::ladder::{Ladder, Step, Strictness};
use crate::hold::works::{Task, Which, Work, Works};
use crate::hold::{StandIn, stand_in, url_sets};
use crate::job::{Release, Via};
use crate::reason::{Detail, SkipReason};
use crate::spaces;
use crate::trial::{Stop, Trial, UrlSet};
use crate::url::{HoldCause, KeptLink, Standing, State, Urls, WaitPlace, held_for};

/// The place at which a stopped URL counts as waiting, if it waits.
type Waits = Option<WaitPlace>;

impl Frontier {
    /// Does a little of the work in the background: at most some 256 URLs change. The engine calls this once in each
    /// pass through its loop. True if there is more to do.
    pub fn step(&mut self, session: &mut Session) -> Result<bool> {
        let asks = self.go_on_asking_robots(session)?;
        let Some(Work { task, at }) = self.works.first().cloned() else { return Ok(asks) };
        let up_to = match task {
            Task::Ended(anchor) => self.each_held_for(anchor, at, session, &mut |frontier, id, session| {
                frontier.overtaking.answered(id.site, anchor.site);
                frontier.look_again(id, session).map(|()| true)
            })?,
            Task::Template { anchor, follow } => {
                self.each_held_for(anchor, at, session, &mut |frontier, id, session| {
                    frontier.template_ended(id, anchor.url, follow, session)
                })?
            }
            Task::Forbidden(anchor) => self.each_held_for(anchor, at, session, &mut |frontier, id, session| {
                frontier.release_from(anchor, id, session).map(|()| true)
            })?,
            Task::Away(site) => self.each_held_for_host(site, at, session)?,
            Task::ReleaseWaiting => self.release_waiting(at, session)?,
            Task::Records { of, which } => self.each_record(of, &which, at, session)?,
            Task::NoteHostsAhead => {
                let keys = part(spaces::HELD_FOR, &at, &[], 64 * Works::STEP, session)?;
                self.note_waiting(&keys);
                behind(&keys, 64 * Works::STEP)
            }
        };
        self.works.done(up_to, session);
        Ok(asks || !self.works.is_empty())
    }

    /// Calls `act` for the next URLs that wait for `anchor` (a URL or a template), until `act` returns false. Returns
    /// the key from which to go on, if there are more.
    fn each_held_for(
        &mut self,
        anchor: UrlId,
        at: Vec<u8>,
        session: &mut Session,
        act: &mut dyn FnMut(&mut Self, UrlId, &mut Session) -> Result<bool>,
    ) -> Result<Option<Vec<u8>>> {
        let (from, to) = held_for(anchor);
        let from = if at.is_empty() { from } else { at };
        let keys = part(spaces::HELD_FOR, &from, &to, Works::STEP, session)?;
        for key in &keys {
            if let Some(id) = key.get(UrlId::BYTES..).and_then(UrlId::read)
                && !act(self, id, session)?
            {
                return Ok(None);
            }
        }
        Ok(behind(&keys, Works::STEP))
    }

    /// Decides again about the next URLs that are held or stopped for URLs of a host. Returns the key from which to go
    /// on, if there are more.
    fn each_held_for_host(&mut self, site: SiteId, at: Vec<u8>, session: &mut Session) -> Result<Option<Vec<u8>>> {
        let begin = site.to_bytes().to_vec();
        let to = [&begin[..], &[0xff; 2 * UrlId::BYTES]].concat();
        let from = if at.is_empty() { begin } else { at };
        let keys = part(spaces::HELD_FOR, &from, &to, Works::STEP, session)?;
        for id in keys.iter().filter_map(|key| key.get(UrlId::BYTES..).and_then(UrlId::read)) {
            self.look_again(id, session)?;
        }
        Ok(behind(&keys, Works::STEP))
    }

    /// Decides again about a URL that is held or stopped for another one, which was fetched, was given up, or waits for
    /// another URL itself.
    pub(super) fn look_again(&mut self, id: UrlId, session: &mut Session) -> Result<()> {
        match self.urls.state(id, session)? {
            Some(State::HeldFor { counterparts, link }) => self.hold_again(id, counterparts, link, session),
            Some(State::Stopped { rules, reason, representative: Some(other), waits, link }) => {
                let stop = Stop { rules, reason, representative: Some(other) };
                self.stop_again(id, stop, (waits, link), session)
            }
            _ => Ok(()),
        }
    }

    /// A URL is not held or stopped any more for `anchor`, which cannot be visited.
    fn release_from(&mut self, anchor: UrlId, id: UrlId, session: &mut Session) -> Result<()> {
        let link = match self.urls.state(id, session)? {
            Some(State::HeldFor { counterparts, link }) if counterparts.first() == Some(&anchor) => link,
            Some(State::Stopped { representative: Some(other), link, .. }) if other == anchor => link,
            _ => return Ok(()),
        };
        self.release(id, &link, Via::Released { why: Release::Forbidden }, session).map(|_| ())
    }

    /// A link is held for the first of its counterparts that has not failed. If all have failed, it is queued.
    fn hold_again(
        &mut self,
        id: UrlId,
        mut counterparts: Vec<UrlId>,
        link: KeptLink,
        session: &mut Session,
    ) -> Result<()> {
        let Ok(url) = Url::parse(&link.url) else { return Ok(()) };
        let found = again(&url, id, &link, Via::Link);
        let before = counterparts.clone();
        let mut why = Release::Counterpart;
        while let Some(first) = counterparts.first().copied() {
            match self.way(id, &url, first, session)? {
                Way::Hold(at) => {
                    counterparts[0] = at;
                    if counterparts != before {
                        self.urls.change(id, &State::HeldFor { counterparts, link }, session)?;
                    }
                    return Ok(());
                }
                Way::Try(trial) => return self.try_link(&found, trial, session).map(|_| ()),
                way @ (Way::News | Way::Stop(_)) => return self.go(&found, way, session).map(|_| ()),
                Way::Follow(because) => {
                    why = because;
                    counterparts.remove(0);
                }
            }
        }
        self.go(&found, Way::Follow(why), session).map(|_| ())
    }

    /// A stopped URL is tried, stays stopped, or is queued because its representative has failed. If it waited, the
    /// change of its state says that it waits no longer. If it did not wait, it was decided about before.
    fn stop_again(
        &mut self,
        id: UrlId,
        stop: Stop,
        (waits, link): (Waits, KeptLink),
        session: &mut Session,
    ) -> Result<()> {
        let (Ok(url), Some(anchor)) = (Url::parse(&link.url), stop.representative) else { return Ok(()) };
        let ladder_key = self.rules.as_ref().and_then(|rules| stop_key(&stop, rules, id, &url));
        match stand_in(&self.urls, anchor, id, session)? {
            StandIn::Well(at) => {
                let mut ladder =
                    ladder_key.map(|ladder_key| Ladder::get(ladder_key, session)).transpose()?.unwrap_or_default();
                let step = ladder.next(Strictness::between(id.site, at.site));
                ladder.take(step);
                if let Some(ladder_key) = ladder_key {
                    ladder.put(ladder_key, session);
                }
                let stop = Stop { representative: Some(at), ..stop };
                match step {
                    Step::Try => {
                        let found = again(&url, id, &link, Via::Trial);
                        self.try_link(&found, Trial::Rules(stop), session)?;
                    }
                    Step::Let => _ = self.release(id, &link, Via::Released { why: Release::Rule }, session)?,
                    Step::Stay => self.stop_for(id, stop, (None, link), (anchor, waits), session)?,
                }
            }
            StandIn::Pending(at) => {
                let stop = Stop { representative: Some(at), ..stop };
                self.urls.await_end(at.url);
                self.waits_for(id, at);
                let waits_now = waits.or(ladder_key.and_then(|ladder_key| ladder_key.wait_place()));
                self.stop_for(id, stop, (waits_now, link), (anchor, waits), session)?;
            }
            StandIn::Failed | StandIn::News => {
                self.release(id, &link, Via::Released { why: Release::Counterpart }, session)?;
            }
        }
        Ok(())
    }

    /// Records the representative of a stopped URL and whether it waits, if one of them is not as `before`.
    fn stop_for(
        &mut self,
        id: UrlId,
        stop: Stop,
        (waits, link): (Waits, KeptLink),
        before: (UrlId, Waits),
        session: &mut Session,
    ) -> Result<()> {
        let Stop { rules, reason, representative } = stop;
        if (representative, waits) == (Some(before.0), before.1) {
            return Ok(());
        }
        self.urls.change(id, &State::Stopped { rules, reason, representative, waits, link }, session)
    }

    /// A held link of a template is followed (if the template is followed) or tried. False if no more may be tried now.
    fn template_ended(&mut self, id: UrlId, template: u64, follow: bool, session: &mut Session) -> Result<bool> {
        let Some(State::HeldAs { cause: HoldCause::News { .. }, link }) = self.urls.state(id, session)? else {
            return Ok(true);
        };
        let Ok(url) = Url::parse(&link.url) else { return Ok(true) };
        if let Some(way) = self.explained(id, &url, session)? {
            self.go(&again(&url, id, &link, Via::Link), way, session)?;
            return Ok(true);
        }
        if follow {
            if !self.news.follow(id.site, template, session)? {
                return Ok(false);
            }
            self.follow_news(&again(&url, id, &link, Via::Trial), template, session)?;
            return Ok(true);
        }
        if !self.news.try_held(id.site, template, session)? {
            return Ok(false);
        }
        self.try_link(&again(&url, id, &link, Via::Trial), Trial::News { template }, session)?;
        Ok(true)
    }

    /// Releases the URLs that are held or stopped for URLs that are still queued.
    fn release_waiting(&mut self, at: Vec<u8>, session: &mut Session) -> Result<Option<Vec<u8>>> {
        let keys = part(spaces::HELD_FOR, &at, &[], Works::STEP, session)?;
        for key in &keys {
            let Some((anchor, id)) = UrlId::read(key).zip(key.get(UrlId::BYTES..).and_then(UrlId::read)) else {
                continue;
            };
            if let Some(Standing::Queued { .. } | Standing::Open { .. }) = self.urls.get(anchor.url)
                && let Some(state) = self.urls.state(id, session)?
                && let Some(link) = state.link()
            {
                if Strictness::between(id.site, anchor.site) == Strictness::OtherDomain {
                    self.pair_lacks(id, anchor, session)?;
                }
                self.release(id, link, Via::Released { why: Release::Waited }, session)?;
            }
        }
        Ok(behind(&keys, Works::STEP))
    }

    /// Reads the next records of a host, or of all hosts, and releases those that are meant by `which`.
    fn each_record(
        &mut self,
        of: Option<SiteId>,
        which: &Which,
        at: Vec<u8>,
        session: &mut Session,
    ) -> Result<Option<Vec<u8>>> {
        let begin = of.map_or(Vec::new(), |site| site.to_bytes().to_vec());
        let to = if begin.is_empty() { Vec::new() } else { [&begin[..], &[0xff; 17]].concat() };
        let from = if at.is_empty() { begin } else { at };
        let (mut met, mut last, mut failure) = (Vec::new(), None, None);
        let mut seen = 0;
        session.scan(spaces::URLS, &from, &to, &mut |key, value| {
            seen += 1;
            last = Some(key.to_vec());
            if State::has_link(value) {
                match Urls::read(key, value) {
                    Ok(record) => met.push(record),
                    Err(error) => failure = Some(error),
                }
            }
            // Records that cannot be released cost little, so more of them are read in one step.
            let enough = met.len() == Works::STEP || seen == 64 * Works::STEP || failure.is_some();
            if enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        if let Some(error) = failure {
            return Err(error);
        }
        let more = met.len() == Works::STEP || seen == 64 * Works::STEP;
        for (id, state) in met {
            self.release_if_meant(id, state, which, session)?;
        }
        Ok(last.filter(|_| more).map(next))
    }

    fn release_if_meant(&mut self, id: UrlId, state: State, which: &Which, session: &mut Session) -> Result<()> {
        let why = match (which, &state) {
            (Which::Rule(rule, of), State::Stopped { rules, link, .. }) if rules.contains(rule) => {
                let here = || Url::parse(&link.url).ok().map(|url| folder(&url));
                if of.is_some() && *of != here() {
                    return Ok(());
                }
                Release::Rule
            }
            (Which::Pair(other) | Which::PairIn(other, _), State::HeldFor { counterparts, link })
                if counterparts.first().is_some_and(|first| first.site == *other) =>
            {
                let here = || Url::parse(&link.url).ok().map(|url| folder(&url));
                if matches!(which, Which::PairIn(_, of) if Some(*of) != here()) {
                    return Ok(());
                }
                // The ladder is broken, so `hold_again` does not hold the link for this counterpart.
                let State::HeldFor { counterparts, link } = state else { return Ok(()) };
                return self.hold_again(id, counterparts, link, session);
            }
            (Which::News, State::HeldAs { cause: HoldCause::News { template }, .. }) => {
                let follow = false;
                return self.template_ended(id, *template, follow, session).map(|_| ());
            }
            (Which::Robots, State::Refused { reason: SkipReason::Robots, link, .. }) => {
                if !self.robots_allow(id.site, &link.url, session)? {
                    return Ok(());
                }
                Release::Reason
            }
            (Which::Bounds, State::Refused { reason, detail, link }) => {
                let bound = match reason {
                    SkipReason::Scope | SkipReason::Depth | SkipReason::TooLong => true,
                    SkipReason::Trap => *detail == Detail::None,
                    SkipReason::Budget => matches!(detail, Detail::HostCap | Detail::DomainCap),
                    _ => false,
                };
                let admits = |url: &Url| {
                    let scope = self.bounds.scope.as_ref();
                    scope.is_none_or(|scope| scope.admits(url, link.depth).is_ok())
                };
                if !bound || !Url::parse(&link.url).is_ok_and(|url| admits(&url)) {
                    return Ok(());
                }
                Release::Reason
            }
            (Which::All { .. }, State::HeldFor { .. } | State::HeldAs { cause: HoldCause::News { .. }, .. }) => {
                Release::Mode
            }
            (Which::All { stopped: true }, State::Stopped { representative: Some(_), .. })
            | (Which::All { .. }, State::Stopped { reason: SkipReason::Budget, .. }) => Release::Mode,
            (Which::Late, State::Stopped { representative: Some(_), link, .. }) => {
                let last = KeptLink { priority: 0.0, ..link.clone() };
                return self.release(id, &last, Via::Released { why: Release::Mode }, session).map(|_| ());
            }
            (Which::Overtaking(ahead), state) => return self.overtake_with(id, state, *ahead, session),
            (Which::Set(of), state) if url_sets(id, state).is_some_and(|sets| sets.contains(UrlSet(*of))) => {
                let (Some(link), trial) = (state.link(), Trial::Fallen(UrlSet(*of))) else { return Ok(()) };
                let Ok(url) = Url::parse(&link.url) else { return Ok(()) };
                let found = again(&url, id, link, Via::Released { why: Release::Fallen });
                return self.admit(&found, Some(Arc::new(trial)), session).map(|_| ());
            }
            _ => return Ok(()),
        };
        if let Some(link) = state.link() {
            self.release(id, link, Via::Released { why }, session)?;
        }
        Ok(())
    }
}

/// The next keys of a space, at most `most`.
fn part(
    space: dedup_stage::store::Space,
    from: &[u8],
    to: &[u8],
    most: usize,
    session: &Session,
) -> Result<Vec<Vec<u8>>> {
    let mut keys = Vec::new();
    session.scan(space, from, to, &mut |key, _| {
        keys.push(key.to_vec());
        if keys.len() == most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Ok(keys)
}

/// The key from which to go on after `keys`; `None` if these were fewer than `most`, so that there are no more.
fn behind(keys: &[Vec<u8>], most: usize) -> Option<Vec<u8>> {
    keys.last().filter(|_| keys.len() == most).cloned().map(next)
}

/// The lowest key that is greater than this one.
fn next(mut key: Vec<u8>) -> Vec<u8> {
    key.push(0);
    key
}
