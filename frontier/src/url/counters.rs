//! The number of URLs in each state. The code that changes states also counts them, so that all outputs give the same
//! numbers.

use super::standing::{EndedAs, Standing, StoppedBy};
use crate::reason::SkipReason;

/// URLs by state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Wait for their turn.
    pub queued: u64,
    /// Handed out.
    pub open: u64,
    /// Held for a counterpart.
    pub held_for: u64,
    /// Held as news of a duplicate.
    pub held_news: u64,
    /// Held because a corpus knows the page.
    pub held_known: u64,
    /// Stopped by learned rules, mirrors not included.
    pub stopped_rule: u64,
    /// Stopped because their host or folder is a mirror.
    pub stopped_mirror: u64,
    /// Stopped in a learned trap.
    pub stopped_trap: u64,
    /// Stopped because their host or folder has spent its budget.
    pub stopped_budget: u64,
    /// Refused, by reason, in the order of [`SkipReason::ALL`].
    pub refused: [u64; SkipReason::ALL.len()],
    /// Last visit answered with 2xx or 304.
    pub answered: u64,
    /// Last visit answered with a redirect.
    pub redirected: u64,
    /// Last visit answered with another status.
    pub errors: u64,
    /// Last visit without a whole answer.
    pub failed: u64,
    /// Gone.
    pub gone: u64,
}

impl Counters {
    /// URLs whose last visit is over, those that are gone included.
    pub fn fetched(&self) -> u64 {
        self.answered + self.redirected + self.errors + self.failed + self.gone
    }

    /// Links of duplicates that are held.
    pub fn held(&self) -> u64 {
        self.held_for + self.held_news + self.held_known
    }

    /// URLs stopped by learned rules, or for a spent budget.
    pub fn stopped(&self) -> u64 {
        self.stopped_rule + self.stopped_mirror + self.stopped_trap + self.stopped_budget
    }

    /// URLs refused, for any reason.
    pub fn refused(&self) -> u64 {
        self.refused.iter().sum()
    }

    /// URLs refused for one reason.
    pub fn refused_for(&self, reason: SkipReason) -> u64 {
        self.refused[reason as usize]
    }

    /// URLs that `skipped.jsonl` lists with this reason: held, stopped or refused.
    pub fn skipped_for(&self, reason: SkipReason) -> u64 {
        let kept = match reason {
            SkipReason::DuplicateSource => self.held_for + self.held_news,
            SkipReason::Known => self.held_known,
            SkipReason::Rule => self.stopped_rule,
            SkipReason::Mirror => self.stopped_mirror,
            SkipReason::Trap => self.stopped_trap,
            SkipReason::Budget => self.stopped_budget,
            _ => 0,
        };
        kept + self.refused_for(reason)
    }

    /// The number of URLs ever met. Each is in exactly one state.
    pub fn met(&self) -> u64 {
        self.queued + self.open + self.held() + self.stopped() + self.refused() + self.fetched()
    }

    /// Counts one more URL with this standing.
    pub(crate) fn add(&mut self, standing: Standing) {
        *self.of(standing) += 1;
    }

    /// The counter of the URLs with this standing.
    pub(super) fn of(&mut self, standing: Standing) -> &mut u64 {
        match standing {
            Standing::Queued { .. } => &mut self.queued,
            Standing::Open { .. } => &mut self.open,
            Standing::HeldFor => &mut self.held_for,
            Standing::HeldAs { known: false } => &mut self.held_news,
            Standing::HeldAs { known: true } => &mut self.held_known,
            Standing::Stopped { by: StoppedBy::Rule } => &mut self.stopped_rule,
            Standing::Stopped { by: StoppedBy::Mirror } => &mut self.stopped_mirror,
            Standing::Stopped { by: StoppedBy::Trap } => &mut self.stopped_trap,
            Standing::Stopped { by: StoppedBy::Budget } => &mut self.stopped_budget,
            Standing::Refused(reason) => &mut self.refused[reason as usize],
            Standing::Done(EndedAs::Well) => &mut self.answered,
            Standing::Done(EndedAs::Redirected) => &mut self.redirected,
            Standing::Done(EndedAs::Error) => &mut self.errors,
            Standing::Done(EndedAs::Failed) => &mut self.failed,
            Standing::Gone => &mut self.gone,
        }
    }
}
