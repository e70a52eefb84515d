//! Decides which hosts are in memory. Their number is bounded. If there are more, some hosts that have nothing to do soon
//! sleep on disk, and come back when they are due.

use dedup_stage::store::{Result, Session};

use super::Frontier;
use crate::numbers::{HostId, Millis};
use crate::schedule::Phase;

impl Frontier {
    /// A host sleeps for this time if it waits for something that may never come.
    const LONG: Millis = 600_000;
    /// A host may have this many jobs in a row while other hosts sleep that are due.
    const IN_A_ROW: u32 = 16;

    /// Puts hosts to sleep while there are too many in memory.
    pub(super) fn make_room(&mut self, session: &mut Session) {
        while self.hosts.is_full(&self.queues) {
            let Some(id) = self.spare().or_else(|| self.addresses.last_in_line().filter(|id| self.can_sleep(*id)))
            else {
                break;
            };
            self.put_to_sleep(id, session);
        }
    }

    /// The host that can best leave memory, one of a domain that has many there first.
    fn spare(&self) -> Option<HostId> {
        let mut first = None;
        for id in self.schedule.least().take(64).filter(|id| self.can_sleep(*id)) {
            if self.hosts.is_of_large_domain(id) {
                return Some(id);
            }
            first.get_or_insert(id);
        }
        first
    }

    fn can_sleep(&self, id: HostId) -> bool {
        let host = self.hosts.get(id);
        host.errands.is_empty() && host.phase != Phase::Fetching
    }

    fn put_to_sleep(&mut self, id: HostId, session: &mut Session) {
        let host = self.hosts.get_mut(id);
        let due = match host.phase {
            Phase::Waiting(due, _) => due.min(self.now + Self::LONG),
            Phase::Parked(address, rank, turn) => {
                self.addresses.unpark(id, (address, rank, turn));
                host.pace.not_before
            }
            Phase::Idle(_) | Phase::Ready(..) | Phase::Benched(..) | Phase::Fetching => host.pace.not_before,
        };
        self.schedule.leave(id, host.phase);
        self.schedule.set_awaited(id, &mut host.awaited, None);
        self.shares.count(&mut host.counted, false);
        self.troubled -= u64::from(host.pace.is_troubled());
        self.addresses.leave(host.addresses.ids(), self.now);
        let due = host.has_work().then_some(due);
        self.hosts.put_to_sleep(id, due, &mut self.queues, session);
    }

    /// Brings back hosts that sleep: as many as there is room for. If all hosts in memory wait, one host that is due
    /// comes back although there is no room.
    pub(super) fn call_sleepers(&mut self, now: Millis, session: &mut Session) -> Result<()> {
        while let Some((due, site)) = self.hosts.sleep.first(session)? {
            if !self.hosts.has_room(&self.queues) {
                let idle = self.schedule.is_calm() && self.schedule.next_due().is_none_or(|next| due < next);
                if due > now || !idle {
                    break;
                }
                let Some(id) = self.spare() else { break };
                self.put_to_sleep(id, session);
            }
            self.wake_host(site, "", session)?;
        }
        Ok(())
    }

    /// A host has had a job. If other hosts sleep that were due before it, it makes room for them now and then.
    pub(super) fn take_turns(&mut self, id: HostId, session: &mut Session) -> Result<()> {
        let host = self.hosts.get_mut(id);
        host.jobs += 1;
        let (jobs, due) = (host.jobs, host.pace.not_before);
        if self.hosts.sleep.count() == 0 || jobs < Self::IN_A_ROW {
            return Ok(());
        }
        if self.can_sleep(id) && self.hosts.sleep.first(session)?.is_some_and(|(first, _)| first < due) {
            self.put_to_sleep(id, session);
        }
        Ok(())
    }
}
