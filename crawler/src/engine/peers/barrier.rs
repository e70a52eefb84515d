//! Pages that wait for their place in the common order of several processes.
//!
//! A page is judged only when it has come back from the common order. By then, all pages before it, from all processes,
//! have been judged or followed here. So if different processes crawl two mirrors at the same moment, this is seen at
//! once, and "the earliest of several twins" means the same everywhere.
//!
//! Reports are taken in order. If a page waits, all later reports wait. Pages are sent in groups. Only one group is
//! under way at a time. In the meantime, the next group gathers pages. So if the log that makes the common order is
//! slow, the groups become larger, but no more groups are under way.

use std::collections::VecDeque;

use frontier::Millis;

use crate::engine::error::{EngineError, Result};
use crate::engine::message::JobReport;
use crate::engine::peers::{Peers, Proposed};

/// A group gathers pages for this time, unless it is full before.
const GATHER: Millis = 20;
/// A group with this many pages is full, and is sent as soon as no other group is under way.
const GROUP: usize = 256;

/// The reports that wait, in their order.
#[derive(Default)]
pub(in crate::engine) struct Barrier {
    waiting: VecDeque<Waiting>,
    /// The number of reports, from the first one, in the group that is under way.
    under_way: Option<usize>,
    /// The number of pages that wait and are in no group yet.
    gathering: usize,
    /// The time from which [`GATHER`] counts: the first of these pages came, or the last group was sent.
    since: Millis,
}

/// A report that waits.
pub(in crate::engine) struct Waiting {
    pub report: JobReport,
    /// The message to the other processes, if the report is a page to be judged. It is sent with its group, and kept.
    pub proposed: Option<Proposed>,
    /// The bytes of this message.
    bytes: usize,
}

impl Barrier {
    /// Whether nothing waits. If so, a report that is no page to be judged need not wait either. If something waits,
    /// the reports that come can be taken later, all at once: they wait in any case, until a group has come back.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Adds a report.
    pub fn push(&mut self, report: JobReport, proposed: Option<Proposed>, now: Millis) {
        if proposed.is_some() {
            if self.gathering == 0 {
                self.since = now;
            }
            self.gathering += 1;
        }
        let bytes = proposed.as_ref().map_or(0, Proposed::bytes);
        self.waiting.push_back(Waiting { report, proposed, bytes });
    }

    /// The time at which the next group must be sent; `None` while nothing gathers or a group is under way.
    pub fn due(&self) -> Option<Millis> {
        let is_full = self.gathering >= GROUP;
        let due = if is_full { self.since } else { self.since + GATHER };
        (self.gathering > 0 && self.under_way.is_none()).then_some(due)
    }

    /// Sends the next group if it is due.
    pub fn send(&mut self, now: Millis, peers: &mut dyn Peers) -> Result<()> {
        if self.due().is_none_or(|due| now < due) {
            return Ok(());
        }
        let mut group = Vec::with_capacity(self.gathering.min(Proposed::MOST));
        let (mut reports, mut bytes) = (0, 0);
        for waiting in &self.waiting {
            bytes += waiting.bytes;
            let is_full = group.len() == Proposed::MOST || bytes > Proposed::MOST_BYTES;
            if waiting.proposed.is_some() && is_full {
                break;
            }
            group.extend(&waiting.proposed);
            reports += 1;
        }
        peers.propose(&group)?;
        self.gathering -= group.len();
        self.since = now;
        self.under_way = Some(reports);
        Ok(())
    }

    /// The reports of the group that was under way. Call this when it has come back.
    pub fn came_back(&mut self) -> Result<Vec<Waiting>> {
        let reports = self.under_way.take().ok_or(EngineError::Internal("a group came back that nobody sent"))?;
        Ok(self.waiting.drain(..reports).collect())
    }

    /// The first report, if it need not wait because no page is before it. Call this until it returns `None`.
    pub fn free(&mut self) -> Option<JobReport> {
        let is_free = self.under_way.is_none() && self.waiting.front()?.proposed.is_none();
        if is_free { self.waiting.pop_front().map(|waiting| waiting.report) } else { None }
    }
}
