//! An engine that crawls with others: what it hears from them, and when it may end.
//!
//! A process that has nothing to do is *quiet*: only links from others can give it work. When all are quiet and no links
//! are on their way, each releases what it has held back to the end ([`Desk::drain`]); when all are quiet after that, the
//! crawl is over.

use std::collections::BTreeSet;
use std::iter;

use crossbeam_channel::Receiver;
use dedup_stage::judge::Candidate;
use dedup_stage::store::{self, Session, Space};
use frontier::{Asker, Errand, Millis};

use super::allowance::Allowance;
use super::barrier::Barrier;
use super::desk::Desk;
use super::ledger;
use super::message::JobReport;
use super::peers::{All, Event, PeerProgress, Peers, PeersError, Phase, Proposed};
use super::rescue;
use super::stats::StopReason;
use super::{Engine, Result};
use crate::outbound::{self, Outbound, Wish};
use crate::record::PageRecord;

/// A robots file that others were asked for, and of which nothing is heard, is asked for again after so long.
const ASK_AGAIN: Millis = 60_000;

/// Keys in [`Space::META`]: how far this process has read what the others say.
const LINKS_AT: &[u8] = b"links-at";
/// What the judge keeps follows from the pages up to here.
pub const PAGES_AT: &[u8] = b"pages-at";

/// How far a process has read what the others say: the places of the last links and of the last pages that are in its state.
pub fn places(session: &Session) -> store::Result<(u64, u64)> {
    let place = |key| -> store::Result<u64> {
        let bytes = session.get(Space::META, key)?;
        Ok(bytes.and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_be_bytes))
    };
    Ok((place(LINKS_AT)?, place(PAGES_AT)?))
}

/// What an engine keeps of the others.
pub(super) struct Together {
    pub peers: Box<dyn Peers>,
    pub barrier: Barrier,
    /// The pages that may be fetched here; `None` where there is no limit.
    pub allowance: Option<Allowance>,
    /// Where links for others stand in the state that came since the last commit.
    pub outgoing: BTreeSet<Vec<u8>>,
    /// Where pages are judged without waiting for their place: those that the others have not heard of.
    stale: Vec<Proposed>,
    /// Links that came here, and whose hosts another process has now. They are sent on before the commit that says that they
    /// came.
    onward: Vec<Outbound>,
    /// Robots files that others were asked for, with the time; each is asked for again until the rules have come.
    errands: Vec<(Errand, Millis)>,
    links_at: u64,
    pages_at: u64,
    round: u64,
    /// Set while there is nothing to do, with what that means for the end.
    quiet: Option<Quiet>,
}

/// Nothing is to be done until links come.
#[derive(Clone, Copy)]
struct Quiet {
    reason: StopReason,
    /// What was held back is released.
    drained: bool,
}

impl Together {
    pub fn new(peers: Box<dyn Peers>, session: &Session) -> Result<Self> {
        let (links_at, pages_at) = places(session)?;
        let (barrier, outgoing, stale, onward, errands) = Default::default();
        let (allowance, round, quiet) = (peers.pages().map(Allowance::new), 0, None);
        Ok(Self { peers, barrier, allowance, outgoing, stale, onward, errands, links_at, pages_at, round, quiet })
    }

    /// Whether something is awaited from others: while no page may be fetched here (`is_full`) leave to fetch more, and else
    /// robots files.
    pub fn waits(&self, is_full: bool) -> bool {
        match &self.allowance {
            Some(allowance) if is_full => allowance.is_awaited(),
            _ => !self.errands.is_empty(),
        }
    }

    /// The robots files to be asked for now: new ones, and those of which nothing was heard for long.
    fn due_errands(&mut self, new: Vec<Errand>, now: Millis) -> Vec<Outbound> {
        let mut due: Vec<Outbound> = Vec::new();
        for (errand, asked) in self.errands.iter_mut().filter(|(_, asked)| now >= *asked + ASK_AGAIN) {
            *asked = now;
            due.push(Outbound::robots(errand.clone()));
        }
        due.extend(new.iter().cloned().map(Outbound::robots));
        self.errands.extend(new.into_iter().map(|errand| (errand, now)));
        due
    }

    /// Rules have come: nobody need be asked for them any more.
    fn rules_came(&mut self, of: &Asker) {
        for (errand, _) in &mut self.errands {
            errand.askers.retain(|asker| asker.of != of.of);
        }
        self.errands.retain(|(errand, _)| !errand.askers.is_empty());
    }

    /// Whether there is nothing to do until links come.
    pub fn is_quiet(&self) -> bool {
        self.quiet.is_some()
    }
}

impl Desk<'_> {
    /// Sends links to where they belong: they must be durable there before the commit that says so.
    pub(super) fn send_links(&mut self) -> Result<()> {
        let Some(together) = &mut self.together else { return Ok(()) };
        let session = &mut self.ledger.session;
        let keys = std::mem::take(&mut together.outgoing);
        let links = keys.iter().filter_map(|key| outbound::waits_at(key, session).transpose());
        let links: Vec<Outbound> = links.collect::<store::Result<_>>()?;
        let mut all = together.due_errands(self.frontier.take_errands(), self.clock.now());
        all.extend(self.frontier.take_answers().into_iter().map(|(asker, rules)| Outbound::rules(asker, &rules)));
        all.extend(links.iter().cloned());
        all.append(&mut together.onward);
        if !all.is_empty() {
            together.peers.send(&all)?;
            outbound::taken(&links, &|url| self.frontier.id(url), session)?;
        }
        for group in std::mem::take(&mut together.stale).chunks(Proposed::MOST) {
            together.peers.propose(group.to_vec())?;
        }
        if places(session)? != (together.links_at, together.pages_at) {
            session.put(Space::META, LINKS_AT, together.links_at.to_be_bytes());
            session.put(Space::META, PAGES_AT, together.pages_at.to_be_bytes());
        }
        Ok(())
    }

    /// Pages that another process judges.
    fn follow(&mut self, at: u64, pages: Vec<Proposed>) -> Result<()> {
        for (place, mut proposed) in pages.into_iter().enumerate() {
            proposed.page.candidate.order = Proposed::order(at, place);
            self.follow_one(&proposed)?;
        }
        Ok(())
    }

    fn follow_one(&mut self, proposed: &Proposed) -> Result<()> {
        let session = &mut self.ledger.session;
        if self.flow.judge_mut().follow(&proposed.page, &ledger::url_of, session)? {
            let Candidate { id, .. } = proposed.page.candidate;
            PageRecord::elsewhere(proposed).put_elsewhere(id, session);
        }
        Ok(())
    }

    /// A page of this process at its place in the common order.
    fn take_in_order(&mut self, report: JobReport, mut proposed: Proposed, order: u64) -> Result<()> {
        self.ledger.set_order(order);
        self.take(report)?;
        if self.ledger.unset_order() {
            // It was not judged after all (its host asked for time, say). The others have followed it.
            proposed.page.candidate.order = order;
            self.follow_one(&proposed)?;
        }
        Ok(())
    }
}

impl Engine<'_> {
    /// Takes the reports that have come; with others, pages wait for their place in the common order.
    pub(super) fn take_reports(&mut self) -> Result<()> {
        let Some(together) = &self.desk.together else {
            while let Some(report) = self.jobs.next_report() {
                self.desk.take(report)?;
                if self.desk.ledger.is_full() {
                    self.desk.commit()?;
                }
            }
            return Ok(());
        };
        let is_ordered = together.peers.is_ordered();
        while let Some(report) = self.jobs.pop() {
            let proposed = self.desk.proposed(&report)?;
            let now = self.now();
            if !is_ordered {
                self.jobs.end(&report);
                self.desk.take(report)?;
                let Some(together) = &mut self.desk.together else { break };
                together.stale.extend(proposed);
                continue;
            }
            let Some(together) = &mut self.desk.together else { break };
            if together.barrier.is_empty() && proposed.is_none() {
                self.jobs.end(&report);
                self.desk.take(report)?;
            } else {
                together.barrier.push(report, proposed, now);
            }
        }
        if self.desk.ledger.is_full() {
            self.desk.commit()?;
        }
        self.send_group()
    }

    /// Whether there is nothing to do here until other processes send links.
    pub(super) fn is_quiet(&self) -> bool {
        self.desk.together.as_ref().is_some_and(Together::is_quiet)
    }

    /// Sends the pages that have gathered, if it is time.
    pub(super) fn send_group(&mut self) -> Result<()> {
        let now = self.now();
        match &mut self.desk.together {
            Some(together) => together.barrier.send(now, together.peers.as_mut()),
            None => Ok(()),
        }
    }

    /// Takes an event and, as with reports, what else has come. Returns why the run ends, if it does.
    pub(super) fn hear_all(&mut self, first: Event, more: &Receiver<Event>) -> Result<Option<StopReason>> {
        for event in iter::once(first).chain(more.try_iter()) {
            if let Some(reason) = self.hear(event)? {
                return Ok(Some(reason));
            }
        }
        Ok(None)
    }

    /// Takes what has been heard. Returns why the run ends, if it does.
    fn hear(&mut self, event: Event) -> Result<Option<StopReason>> {
        let Some(together) = &mut self.desk.together else { return Ok(None) };
        match event {
            Event::Links { at, links } => {
                let now = self.desk.clock.now();
                for link in links {
                    if let Wish::Rules(asker, _) = &link.wish {
                        together.rules_came(asker);
                    }
                    if self.desk.frontier.has_host_of(&link.url) {
                        link.arrive(&mut self.desk.frontier, now, &mut self.desk.ledger.session)?;
                    } else if together.peers.forwards() {
                        together.onward.push(link);
                    }
                }
                together.links_at = at;
                self.wake();
                if self.desk.ledger.is_full() {
                    self.desk.commit()?;
                }
            }
            Event::Theirs { at, pages } => {
                together.pages_at = at;
                self.desk.follow(at, pages)?;
                if self.desk.ledger.is_full() {
                    self.desk.commit()?;
                }
            }
            Event::Mine { at } => {
                together.pages_at = at;
                if together.peers.is_ordered() {
                    self.take_group(at)?;
                }
            }
            Event::Pages { number, pages } => {
                if together.allowance.as_mut().is_some_and(|allowance| allowance.heard(number, pages)) {
                    self.wake();
                }
            }
            Event::AllQuiet { round, all } => return self.all_quiet(round, all),
            Event::Lost(why) => return Err(PeersError(why).into()),
        }
        Ok(None)
    }

    /// The group that was under way is at this place. No commit comes before all of it is taken: after a crash the whole
    /// group is followed, as pages of nobody.
    fn take_group(&mut self, at: u64) -> Result<()> {
        let Some(together) = &mut self.desk.together else { return Ok(()) };
        let mut place = 0;
        for waiting in together.barrier.came_back()? {
            self.jobs.end(&waiting.report);
            match waiting.proposed {
                Some(proposed) => {
                    self.desk.take_in_order(waiting.report, proposed, Proposed::order(at, place))?;
                    place += 1;
                }
                None => self.desk.take(waiting.report)?,
            }
        }
        while let Some(report) = self.desk.together.as_mut().and_then(|together| together.barrier.free()) {
            self.jobs.end(&report);
            self.desk.take(report)?;
        }
        if self.desk.ledger.is_full() {
            self.desk.commit()?;
        }
        self.send_group()
    }

    /// There is something to do again.
    fn wake(&mut self) {
        let Some(together) = &mut self.desk.together else { return };
        if together.quiet.take().is_some() {
            together.round += 1;
            self.tell(None);
        }
    }

    /// There is nothing to do until links come; `reason` is what that would mean for a crawl that is alone.
    pub(super) fn be_quiet(&mut self, reason: StopReason) -> Result<()> {
        if self.desk.together.as_ref().is_none_or(|together| together.is_quiet()) {
            return Ok(());
        }
        // What it has for others must be on its way before it says that it has nothing to do.
        self.desk.commit()?;
        let fetched = self.desk.ledger.stats.pages;
        if let Some(together) = &mut self.desk.together {
            let back = together.allowance.as_mut().and_then(|allowance| allowance.give_back(fetched));
            if let Some(back) = back {
                together.peers.ask_for_pages(back);
            }
            together.quiet = Some(Quiet { reason, drained: false });
            together.round += 1;
        }
        self.tell(None);
        Ok(())
    }

    /// Every process was quiet at one time.
    fn all_quiet(&mut self, round: u64, all: All) -> Result<Option<StopReason>> {
        let Some(together) = &mut self.desk.together else { return Ok(None) };
        let Some(quiet) = together.quiet.filter(|_| together.round == round) else { return Ok(None) };
        match all {
            All::Spent => return Ok(Some(StopReason::PageLimit)),
            All::Over => return Ok(Some(quiet.reason)),
            All::Quiet if quiet.drained => return Ok(None),
            All::Quiet => {}
        }
        let more = self.desk.drain()?;
        if more {
            self.more = true;
            self.wake();
        } else if let Some(together) = &mut self.desk.together {
            together.quiet = Some(Quiet { drained: true, ..quiet });
            together.round += 1;
            self.tell(None);
        }
        Ok(None)
    }

    /// Says how far this process is.
    pub(super) fn tell(&mut self, ended: Option<StopReason>) {
        let (queued, open) = (self.desk.frontier.counts().queued, self.jobs.open());
        let stats = self.desk.ledger.stats.clone();
        let lost = rescue::lost(&self.desk.ledger.session).ok().flatten();
        let Some(together) = &mut self.desk.together else { return };
        let phase = match (ended, together.quiet) {
            (Some(reason), _) => Phase::after(reason),
            (None, None) => Phase::Busy,
            (None, Some(Quiet { reason: StopReason::PageLimit, .. })) => Phase::Full,
            (None, Some(Quiet { drained: false, .. })) => Phase::Idle,
            (None, Some(Quiet { drained: true, .. })) => Phase::Drained,
        };
        let Together { round, links_at, pages_at, .. } = *together;
        let stop_reason = ended;
        together.peers.tell(PeerProgress { phase, round, links_at, pages_at, queued, open, stats, stop_reason, lost });
    }
}
