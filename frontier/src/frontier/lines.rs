//! Which ready hosts must wait although their turn has come: for their share of the slots, for other sitemaps, or until
//! more answers have been read.

use super::Frontier;
use crate::job::JobKind;
use crate::numbers::{HostId, Millis};
use crate::process::Line;
use crate::schedule::{HostPhase, Room};

impl Frontier {
    /// Whether a host must wait until more answers are read, while this machine is behind.
    pub(super) fn must_wait_until_read(&self, id: HostId) -> bool {
        let domain = self.hosts.get(id).site.domain;
        let may_be_light = || !self.shares.is_far_behind(self.jobs.costly) && !self.schedule.is_costly_newcomer(domain);
        !(self.schedule.is_light(domain) || !self.schedule.is_known(domain) && may_be_light())
    }

    /// Whether the robots.txt files of the domain of a host cost as much as pages do. Then, while this machine is
    /// behind, they must wait like pages.
    pub(super) fn has_costly_files(&self, id: HostId) -> bool {
        self.schedule.is_costly(self.hosts.get(id).site.domain, JobKind::Robots)
    }

    /// Whether a ready host would exceed a share of the slots, or is of a large domain that had the last slot. If so,
    /// it waits in the line of that share from now on.
    pub(super) fn must_wait_in_line(&mut self, id: HostId, room: Room) -> bool {
        let is_of_large = self.hosts.is_of_large_domain(id);
        let host = self.hosts.get_mut(id);
        // A host that is in a line already has let the others go first.
        let yields = is_of_large && matches!(host.phase, HostPhase::Ready(..));
        let full = |line: &Line| self.shares.is_full(*line) && (room == Room::Own || self.shares.is_strict(*line));
        let had_last = |line: &Line| yields && self.shares.had_last_slot(*line);
        let behind = self.shares.load.is_behind();
        let mut lines = host.shares(&self.shares, self.now).into_iter().filter(|line| !behind || line.counts_behind());
        lines
            .find(|line| full(line) || had_last(line))
            .is_some_and(|line| self.schedule.bench(id, &mut host.phase, line))
    }

    /// Whether a ready host whose next job is a sitemap must wait for other sitemaps. If so, it waits in their line.
    pub(super) fn waits_for_sitemaps(&mut self, id: HostId) -> bool {
        let phase = &mut self.hosts.get_mut(id).phase;
        self.shares.is_full(Line::Sitemaps) && self.schedule.bench(id, phase, Line::Sitemaps)
    }

    /// Whether hosts are ready at `now` for which there is no slot, as far as a look at the schedule tells.
    pub fn is_crowded(&self, now: Millis, free_slots: usize) -> bool {
        self.schedule.has_line()
            || free_slots == 0 && (!self.schedule.is_calm() || self.schedule.next_due().is_some_and(|due| due <= now))
    }
}
