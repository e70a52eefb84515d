//! The places of sitemaps. Few sitemaps are open at once, because one can take long to read (`process/load.rs`). But a
//! sitemap that a server sends slowly takes nothing of this machine. So after a while it gives its place to another
//! one. Otherwise two slow servers would keep all other sitemaps waiting.

use super::Frontier;
use crate::job::JobKind;
use crate::numbers::{HostId, Millis};
use crate::process::Line;

impl Frontier {
    /// A sitemap has its place for this long.
    const PLACE: Millis = 3_000;
    /// While this machine is behind, it has its place for this long, because it may have come and wait to be read.
    const PLACE_BEHIND: Millis = 30_000;

    /// Takes the shares of the slots for a job of a host.
    pub(super) fn take_shares(&mut self, id: HostId, kind: JobKind, job: u64) -> Box<[Line]> {
        let mut lines = self.hosts.get(id).shares(&self.shares, self.now).into_vec();
        if kind == JobKind::Sitemap {
            lines.push(Line::Sitemaps);
            self.jobs.sitemaps.push_back((self.now, job));
        }
        self.shares.take(&lines);
        lines.into()
    }

    /// Takes their places away from sitemaps that have had them long enough. While this machine keeps up, each of these
    /// also lets one more sitemap be open.
    pub(super) fn pass_on_places(&mut self, now: Millis) {
        let place = self.place();
        while let Some((began, job)) = self.jobs.sitemaps.front().copied() {
            let open = self.jobs.open.get_mut(&job);
            if open.is_some() && now < began.saturating_add(place) {
                break;
            }
            self.jobs.sitemaps.pop_front();
            if let Some(open) = open {
                open.lines = open.lines.iter().copied().filter(|line| *line != Line::Sitemaps).collect();
                self.shares.give_back(&[Line::Sitemaps]);
                self.shares.load.sitemap_is_slow();
            }
        }
    }

    /// The time at which the next place becomes free, if a host waits for one.
    pub(super) fn next_place(&self) -> Option<Millis> {
        let (began, _) = self.jobs.sitemaps.front()?;
        let waits = self.schedule.has_hosts_in(Line::Sitemaps);
        waits.then(|| began.saturating_add(self.place()))
    }

    fn place(&self) -> Millis {
        if self.shares.load.is_behind() { Self::PLACE_BEHIND } else { Self::PLACE }
    }
}
