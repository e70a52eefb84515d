//! The key spaces that this crate owns: the judge's, which every store with a judge has, and the stage's own.

use crate::store::{Layout, Space, Spaces};

/// SHA-256 of a body → the page that had this body first.
pub(crate) const DIGESTS: Space = Space::new(1, "digests", Layout::Known);
/// Fingerprint of an accepted page (and its order, if it is not the earliest page with this fingerprint) → the page, its
/// sketch, its URL, and hashes of its links and media.
pub(crate) const ACCEPTED: Space = Space::new(2, "accepted", Layout::Known);
/// Identity of an accepted page that has too little text for a fingerprint → hashes of its links and media. A page
/// without links and media has no entry.
pub(crate) const LINKS: Space = Space::new(3, "links", Layout::Known);
/// Host → the last differences that were seen between two visits to its pages.
pub(crate) const TEMPLATES: Space = Space::new(4, "templates", Layout::Points);

/// Order of the first of several pages that other processes judged → these pages. An accepted page has an entry either
/// here or in the spaces above.
pub(crate) const FOLLOWED: Space = Space::new(5, "followed", Layout::Volume);

/// The spaces of the judge.
pub const JUDGE: &[Space] = &[DIGESTS, ACCEPTED, LINKS, TEMPLATES, FOLLOWED];

/// Identity of a URL → the page that it showed last, and the name that the caller gave to it.
pub(crate) const STAGE_PAGES: Space = Space::new(8, "pages", Layout::Points);
/// Order of a page → hashes of the URL keys that were met first on it.
pub(crate) const STAGE_URLS: Space = Space::new(9, "urls", Layout::Volume);
/// The values that were overwritten since the last flush.
pub(crate) const STAGE_UNDO: Space = Space::new(10, "undo", Layout::Points);

/// The spaces of the state of `dedup-stage --state`.
pub fn of_stage() -> Spaces {
    Spaces::new(&[JUDGE, &[STAGE_PAGES, STAGE_URLS, STAGE_UNDO]])
}
