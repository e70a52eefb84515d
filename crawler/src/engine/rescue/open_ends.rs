//! The *open ends* of a crawl: URLs that are held, and that lead on from pages which were only fetched as trials.
//!
//! If a page alone does not tell whether pages like it bring something new, a few of these are fetched as trials. A
//! chain of such pages is followed while it brings something new. When it is given up, its next URL stays held. Nobody
//! knows how many pages lie behind that URL. An estimate can only tell of URLs that are known, so the open ends are
//! counted apart.

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
