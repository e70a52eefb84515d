//! The *open ends* of a crawl: held URLs behind which nobody knows how many pages lie. An estimate can only tell of
//! URLs that are known, so the open ends are counted apart. There are two kinds:
//!
//! 1. URLs without a counterpart, met on pages that were only fetched as trials. If a page alone does not tell whether
//!    pages like it bring something new, a few of these are fetched as trials. A chain of such pages is followed while
//!    it brings something new. When it is given up, its next URL stays held.
//! 2. URLs with a counterpart that were met during the last round of the rescue. No later sample has shown what lies
//!    behind them. For example, an old copy of a site ends with chapter 60, and the site itself goes on. If the budget
//!    of the rescue ends at chapter 50, the URL of chapter 51 stays held, and the new chapters lie behind it.

use dedup_stage::store::{Result, Session};
use frontier::{Release, SkipReason, Skipped, Via};

use super::record::read;
use super::state::RescueState;
use crate::record::PageRecord;

/// Tells which held URLs are open ends.
#[derive(Clone, Copy, Debug)]
pub struct OpenEnds {
    /// The number of the last round of the rescue; `None` if it did not come to its end.
    last: Option<u32>,
}

impl OpenEnds {
    /// Reads the state of the rescue.
    pub fn read(session: &Session) -> Result<Self> {
        let state = RescueState::read(session)?;
        Ok(Self { last: state.lost().map(|_| state.number).filter(|number| *number > 0) })
    }

    /// Whether a URL that is not fetched is an open end. `source` is the page that linked to it.
    pub fn has(self, skipped: &Skipped, source: Option<&PageRecord>, session: &Session) -> bool {
        if skipped.is_news {
            return source.is_some_and(|page| is_trial(page.via));
        }
        let trial = || skipped.source.and_then(|page| read(page.url, session));
        let is_held = skipped.reason == SkipReason::DuplicateSource;
        is_held && self.last.is_some_and(|last| trial().is_some_and(|trial| trial.during == last))
    }
}

/// Whether a page was fetched only to see what pages like it bring.
fn is_trial(via: Via) -> bool {
    matches!(via, Via::Trial | Via::Rescue | Via::Released { why: Release::Template | Release::Fallen })
}
