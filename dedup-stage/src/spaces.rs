//! The key spaces that this crate owns: the judge's, which every store with a judge has, and the stage's own.

use crate::store::{Layout, Space, Spaces};

/// SHA-256 of a body → the page that had it first.
pub(crate) const DIGESTS: Space = Space::new(1, "digests", Layout::Known);
/// Fingerprint of an accepted page (and its order, if it is not the earliest with this one) → the page and its sketch.
pub(crate) const ACCEPTED: Space = Space::new(2, "accepted", Layout::Known);
/// Identity of an accepted page → hashes of its links and media. Nothing for a page without any.
pub(crate) const LINKS: Space = Space::new(3, "links", Layout::Known);
/// Host → the last differences between two visits to a page of it.
pub(crate) const TEMPLATES: Space = Space::new(4, "templates", Layout::Points);

/// What the judge keeps.
pub const JUDGE: &[Space] = &[DIGESTS, ACCEPTED, LINKS, TEMPLATES];

/// Identity of a URL → the page that it showed last, and what the caller calls it.
pub(crate) const STAGE_PAGES: Space = Space::new(8, "pages", Layout::Points);
/// Order of a page → hashes of URL keys met on it.
pub(crate) const STAGE_URLS: Space = Space::new(9, "urls", Layout::Volume);
/// What was overwritten since the last flush.
pub(crate) const STAGE_UNDO: Space = Space::new(10, "undo", Layout::Points);

/// The spaces of a `--state` of `dedup-stage`.
pub fn of_stage() -> Spaces {
    Spaces::new(&[JUDGE, &[STAGE_PAGES, STAGE_URLS, STAGE_UNDO]])
}
