//! The end of a run: what is written down only then, because it needs a walk over the whole state.

use std::collections::BTreeMap;
use std::path::Path;

use frontier::{Detail, SkipReason};

use super::Result;
use super::desk::Desk;
use super::stats::StopReason;
use crate::sink::write_skipped;

impl Desk<'_> {
    /// The run ends: writes `skipped.jsonl` anew, and counts what only the whole state tells.
    pub(super) fn close(&mut self, reason: StopReason, dir: &Path) -> Result<()> {
        self.ledger.note_end(reason)?;
        let rules = self.frontier.rules();
        let mut withheld = BTreeMap::<String, u64>::new();
        let session = &self.ledger.session;
        write_skipped(dir, &self.frontier, &|id| rules?.get(id), session, &mut |skipped| {
            let failure = match skipped.detail {
                Detail::NoRobots(failure) | Detail::NoAddress(failure) => failure.name().to_owned(),
                Detail::RobotsStatus(status) => format!("robots_{status}"),
                _ if skipped.reason == SkipReason::Robots => "robots".to_owned(),
                _ => return,
            };
            *withheld.entry(failure).or_default() += 1;
        })?;
        let sample = self.frontier.sample_held(0, 0, 0, session)?;
        let stats = &mut self.ledger.stats;
        stats.withheld = withheld;
        stats.uncovered = sample.held.saturating_sub(sample.covered);
        stats.worst_host = self.hosts.worst().or(stats.worst_host.take());
        let server_errors: u64 = stats.statuses.range(500..).map(|(_, count)| *count).sum();
        stats.complete = reason == StopReason::Done
            && self.frontier.counts().queued == 0
            && stats.uncovered == 0
            && stats.failed == 0
            && server_errors == 0;
        Ok(())
    }
}
