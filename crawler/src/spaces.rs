//! The key spaces of a crawl: the crawler's own, and those of the judge and the frontier beside them.

use dedup_stage::store::{Layout, Space, Spaces};

/// Identity of a page (URL and visit) → what was recorded of the visit.
pub const PAGES: Space = Space::new(32, "pages", Layout::Points);

/// Identity of a URL that was held or stopped and is tried at the end → what came of it.
pub const TRIALS: Space = Space::new(33, "trials", Layout::Points);

/// Registrable domain → its cookies. These are secrets.
pub const COOKIES: Space = Space::new(34, "cookies", Layout::Points);

/// Origin → the part of its robots.txt that speaks of the use of pages.
pub const USAGE: Space = Space::new(35, "usage", Layout::Points);

/// Identity of a URL of a host that another directory has → the link to it, or that it was taken there.
pub const OUTBOUND: Space = Space::new(36, "outbound", Layout::Points);

/// Identity of a page → what has to be known of it to name it, where another process of the crawl fetched it.
pub const ELSEWHERE: Space = Space::new(37, "elsewhere", Layout::Points);

/// All spaces of a crawl directory.
pub fn of_crawl() -> Spaces {
    let own = [PAGES, TRIALS, COOKIES, USAGE, OUTBOUND, ELSEWHERE];
    Spaces::new(&[dedup_stage::spaces::JUDGE, frontier::spaces::FRONTIER, &own])
}
