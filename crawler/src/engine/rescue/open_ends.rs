//! The *open ends* of a crawl: URLs that are held, and that lead on from pages which were only fetched as trials.
//!
//! Where pages alone do not tell whether they bring something, a few are tried, and a chain is followed while it brings
//! something. If it is given up, its next URL stays held. Nobody has seen what lies behind it: perhaps nothing, perhaps
//! the other half of an archive. An estimate can only tell of URLs that are known, so the open ends are counted apart.

use dedup_stage::store::{Result, Session};
use dedup_stage::url::PageId;
use frontier::{Release, Skipped, Via};

use crate::record::PageRecord;

/// Counts the open ends among URLs that are shown to it one by one.
#[derive(Debug, Default)]
pub struct OpenEnds {
    count: u64,
    /// The page that linked to the last URL that was news, and whether it was a trial. Links of one page mostly follow
    /// each other.
    last: Option<(PageId, bool)>,
}

impl OpenEnds {
    /// Counts a URL that is not fetched, if it is an open end.
    pub fn show(&mut self, skipped: &Skipped, session: &Session) -> Result<()> {
        let Some(source) = skipped.source.filter(|_| skipped.is_news) else { return Ok(()) };
        let of_trial = match self.last {
            Some((page, of_trial)) if page == source => of_trial,
            _ => PageRecord::get(source, session)?.is_some_and(|record| is_trial(record.via)),
        };
        self.last = Some((source, of_trial));
        self.count += u64::from(of_trial);
        Ok(())
    }

    /// The number of open ends.
    pub fn count(&self) -> u64 {
        self.count
    }
}

/// Whether a page was fetched only to see what pages like it bring.
fn is_trial(via: Via) -> bool {
    matches!(via, Via::Trial | Via::Rescue | Via::Released { why: Release::Template | Release::Lot })
}
