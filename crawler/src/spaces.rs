//! The key spaces of a crawl: the crawler's own, and those of the judge and the frontier beside them.

use dedup_stage::store::{Layout, Space, Spaces};

/// Row → what was recorded of the page.
pub(crate) const PAGES: Space = Space::new(32, "pages", Layout::Points);
/// Links kept from the frontier, by the page that carried them.
pub(crate) const HELD: Space = Space::new(33, "held", Layout::Points);
/// Hash of a URL key and a reason → the page that carried it.
pub(crate) const SKIPPED: Space = Space::new(34, "skipped", Layout::Points);

/// All spaces of a crawl directory.
pub fn of_crawl() -> Spaces {
    Spaces::new(&[dedup_stage::spaces::JUDGE, frontier::spaces::FRONTIER, &[PAGES, HELD, SKIPPED]])
}
