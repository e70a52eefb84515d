//! The key spaces that this crate owns: the judge's, which every store with a judge has, and the stage's own.

use crate::store::{Layout, Space, Spaces};

/// SHA-256 of a body → the page that had it first.
pub(crate) const DIGESTS: Space = Space::new(1, "digests", Layout::Points);
/// Fingerprint of an accepted page (and its order, if it is not the first with this one) → the page and its sketch.
pub(crate) const ACCEPTED: Space = Space::new(2, "accepted", Layout::Points);

/// What the judge keeps.
pub const JUDGE: &[Space] = &[DIGESTS, ACCEPTED];

/// Row → what the caller calls the page.
pub(crate) const STAGE_PAGES: Space = Space::new(8, "pages", Layout::Points);
/// Row → hashes of URL keys met on that page.
pub(crate) const STAGE_URLS: Space = Space::new(9, "urls", Layout::Volume);

/// The spaces of a `--state` of `dedup-stage`.
pub fn of_stage() -> Spaces {
    Spaces::new(&[JUDGE, &[STAGE_PAGES, STAGE_URLS]])
}
