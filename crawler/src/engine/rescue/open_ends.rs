//! The *open ends* of a crawl: URLs that are held, and that lead on from pages which were only fetched as trials.
//!
//! Where pages alone do not tell whether they bring something, a few are tried, and a chain is followed while it brings
//! something. If it is given up, its next URL stays held. Nobody has seen what lies behind it: perhaps nothing, perhaps
//! the other half of an archive. An estimate can only tell of URLs that are known, so the open ends are counted apart.

use frontier::{Release, Skipped, Via};

use crate::record::PageRecord;

/// Whether a URL that is not fetched is an open end. `source` is the page that linked to it.
pub fn is_open_end(skipped: &Skipped, source: Option<&PageRecord>) -> bool {
    skipped.is_news && source.is_some_and(|page| is_trial(page.via))
}

/// Whether a page was fetched only to see what pages like it bring.
fn is_trial(via: Via) -> bool {
    matches!(via, Via::Trial | Via::Rescue | Via::Released { why: Release::Template | Release::Lot })
}
