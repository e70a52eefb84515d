//! The loop of an engine that crawls with other processes: pages wait for their place in the common order, and the run
//! ends only when all processes are quiet.

use std::iter;

use crossbeam_channel::{Receiver, never};

use super::error::PeersError;
use super::error::Result;
use super::main_loop::Engine;
use super::message::JobReport;
use super::peers::state::{PeerState, Quiet};
use super::peers::{All, Event, PeerProgress, Phase, Proposed};
use super::rescue;
use super::stats::StopReason;
use crate::outbound::Wish;

impl Engine<'_> {
    /// Takes the reports that have come. With other processes, pages wait for their place in the common order.
    pub(super) fn take_reports(&mut self) -> Result<()> {
        let Some(peer_state) = &self.state.peer_state else {
            while let Some(report) = self.jobs.next_report() {
                self.state.take(report)?;
                if self.state.ledger.is_full() {
                    self.state.commit()?;
                }
            }
            return Ok(());
        };
        let is_ordered = peer_state.peers.is_ordered();
        while let Some(mut report) = self.jobs.pop() {
            let proposed = self.state.proposed(&mut report)?;
            let now = self.now();
            if !is_ordered {
                self.jobs.end(&report);
                self.state.take(report)?;
                let Some(peer_state) = &mut self.state.peer_state else { break };
                peer_state.stale.extend(proposed);
                continue;
            }
            let Some(peer_state) = &mut self.state.peer_state else { break };
            if peer_state.barrier.is_empty() && proposed.is_none() {
                self.jobs.end(&report);
                self.state.take(report)?;
            } else {
                peer_state.barrier.push(report, proposed, now);
            }
        }
        if self.state.ledger.is_full() {
            self.state.commit()?;
        }
        self.send_group()
    }

    /// The channel of the reports that wake the engine. While reports wait for their place in the common order, a new
    /// report would only wait behind them. To wake up for each new report would cost more than to take it.
    pub(super) fn wakes(&self) -> Receiver<Vec<JobReport>> {
        let waits = |peer_state: &PeerState| peer_state.peers.is_ordered() && !peer_state.barrier.is_empty();
        if self.state.peer_state.as_ref().is_some_and(waits) { never() } else { self.jobs.reports.clone() }
    }

    /// Takes the reports that have come in the meantime, and sends the pages that have gathered, if it is time.
    pub(super) fn take_late_reports(&mut self) -> Result<()> {
        if self.state.peer_state.is_none() {
            return Ok(());
        }
        while let Ok(reports) = self.jobs.reports.try_recv() {
            self.jobs.arrived(reports);
        }
        self.take_reports()
    }

    /// Whether there is nothing to do here until other processes send links.
    pub(super) fn is_quiet(&self) -> bool {
        self.state.peer_state.as_ref().is_some_and(PeerState::is_quiet)
    }

    /// Sends the pages that have gathered, if it is time.
    fn send_group(&mut self) -> Result<()> {
        let now = self.now();
        match &mut self.state.peer_state {
            Some(peer_state) => peer_state.barrier.send(now, peer_state.peers.as_mut()),
            None => Ok(()),
        }
    }

    /// Takes an event, and the other events that have come. Returns why the run ends, if it does.
    pub(super) fn hear_all(&mut self, first: Event, more: &Receiver<Event>) -> Result<Option<StopReason>> {
        for event in iter::once(first).chain(more.try_iter()) {
            if let Some(reason) = self.hear(event)? {
                return Ok(Some(reason));
            }
        }
        Ok(None)
    }

    /// Takes one event. Returns why the run ends, if it does.
    fn hear(&mut self, event: Event) -> Result<Option<StopReason>> {
        let Some(peer_state) = &mut self.state.peer_state else { return Ok(None) };
        match event {
            Event::Links { at, links } => {
                let now = self.state.clock.now();
                for link in links {
                    if let Wish::Rules(asker, _) = &link.wish {
                        peer_state.rules_came(asker);
                    }
                    if self.state.frontier.has_host_of(&link.url) {
                        let admission = link.arrive(&mut self.state.frontier, now, &mut self.state.ledger.session)?;
                        self.state.ledger.stats.count_left_out(admission);
                    } else if peer_state.peers.forwards() {
                        peer_state.onward.push(link);
                    }
                }
                peer_state.links_at = at;
                self.wake();
                if self.state.ledger.is_full() {
                    self.state.commit()?;
                }
            }
            Event::Theirs { at, pages } => {
                peer_state.pages_at = at;
                self.state.follow(at, pages)?;
                if self.state.ledger.is_full() {
                    self.state.commit()?;
                }
            }
            Event::Mine { at } => {
                peer_state.pages_at = at;
                if peer_state.peers.is_ordered() {
                    self.take_group(at)?;
                }
            }
            Event::Pages { number, pages } => {
                if peer_state.allowance.as_mut().is_some_and(|allowance| allowance.heard(number, pages)) {
                    self.wake();
                }
            }
            Event::AllQuiet { round, all } => return self.all_quiet(round, all),
            Event::Lost(why) => return Err(PeersError(why).into()),
        }
        Ok(None)
    }

    /// Takes the group that was under way, whose place is `at`. No commit comes before all of it is taken. So after a
    /// crash, no page of the group is on record here, and the whole group is followed like a group of another process.
    fn take_group(&mut self, at: u64) -> Result<()> {
        let Some(peer_state) = &mut self.state.peer_state else { return Ok(()) };
        let mut place = 0;
        for waiting in peer_state.barrier.came_back()? {
            self.jobs.end(&waiting.report);
            match waiting.proposed {
                Some(proposed) => {
                    self.state.take_in_order(waiting.report, proposed, Proposed::order(at, place))?;
                    place += 1;
                }
                None => self.state.take(waiting.report)?,
            }
        }
        while let Some(report) = self.state.peer_state.as_mut().and_then(|peer_state| peer_state.barrier.free()) {
            self.jobs.end(&report);
            self.state.take(report)?;
        }
        self.take_late_reports()
    }

    /// Ends being quiet: there is something to do again.
    fn wake(&mut self) {
        let Some(peer_state) = &mut self.state.peer_state else { return };
        if peer_state.quiet.take().is_some() {
            peer_state.round += 1;
            self.tell(None);
        }
    }

    /// Becomes quiet: there is nothing to do until links come. `reason` is the reason for which a crawl by one process
    /// would end now.
    pub(super) fn be_quiet(&mut self, reason: StopReason) -> Result<()> {
        if self.state.peer_state.as_ref().is_none_or(|peer_state| peer_state.is_quiet()) {
            return Ok(());
        }
        // Everything that this process has for others must be on its way before it says that it has nothing to do.
        self.state.commit()?;
        let fetched = self.state.ledger.stats.pages;
        if let Some(peer_state) = &mut self.state.peer_state {
            let back = peer_state.allowance.as_mut().and_then(|allowance| allowance.give_back(fetched));
            if let Some(back) = back {
                peer_state.peers.ask_for_pages(back);
            }
            peer_state.quiet = Some(Quiet { reason, drained: false });
            peer_state.round += 1;
        }
        self.tell(None);
        Ok(())
    }

    /// Acts on the news that all processes were quiet at the same time.
    fn all_quiet(&mut self, round: u64, all: All) -> Result<Option<StopReason>> {
        let Some(peer_state) = &mut self.state.peer_state else { return Ok(None) };
        let Some(quiet) = peer_state.quiet.filter(|_| peer_state.round == round) else { return Ok(None) };
        match all {
            All::Spent => return Ok(Some(StopReason::PageLimit)),
            All::Over => return Ok(Some(quiet.reason)),
            All::Quiet if quiet.drained => return Ok(None),
            All::Quiet => {}
        }
        let more = self.state.drain()?;
        if more {
            self.more = true;
            self.wake();
        } else if let Some(peer_state) = &mut self.state.peer_state {
            peer_state.quiet = Some(Quiet { drained: true, ..quiet });
            peer_state.round += 1;
            self.tell(None);
        }
        Ok(None)
    }

    /// Tells the others the progress of this process.
    pub(super) fn tell(&mut self, ended: Option<StopReason>) {
        let (queued, open) = (self.state.frontier.counts().queued, self.jobs.open());
        let stats = self.state.ledger.stats.clone();
        let lost = rescue::lost(&self.state.ledger.session).ok().flatten();
        let Some(peer_state) = &mut self.state.peer_state else { return };
        let phase = match (ended, peer_state.quiet) {
            (Some(reason), _) => Phase::after(reason),
            (None, None) => Phase::Busy,
            (None, Some(Quiet { reason: StopReason::PageLimit, .. })) => Phase::Full,
            (None, Some(Quiet { drained: false, .. })) => Phase::Idle,
            (None, Some(Quiet { drained: true, .. })) => Phase::Drained,
        };
        let PeerState { round, links_at, pages_at, .. } = *peer_state;
        let stop_reason = ended;
        peer_state.peers.tell(PeerProgress {
            phase,
            round,
            links_at,
            pages_at,
            queued,
            open,
            stats,
            version: 0,
            stop_reason,
            lost,
        });
    }
}
