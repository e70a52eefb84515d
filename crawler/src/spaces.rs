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

/// Identity of a URL → when it changed last, as sitemaps say.
pub const LISTED: Space = Space::new(38, "listed", Layout::Points);

/// Identity of a page that had changed → what is known of the time of the change.
pub const DATED: Space = Space::new(39, "dated", Layout::Points);

/// Identity of a host → how far what it says of changes of its pages can be believed.
pub const SIGNALS: Space = Space::new(40, "signals", Layout::Points);

/// Identity of a sitemap or a feed → what is known of it.
pub const LISTS: Space = Space::new(41, "lists", Layout::Points);

/// Identity of a URL that is queued → the last attempt at it, which failed.
pub const ATTEMPTS: Space = Space::new(42, "attempts", Layout::Points);

/// Host, what a stub shows → the URLs of the host that have shown it, in numbers.
pub const STUBS: Space = Space::new(43, "stubs", Layout::Points);

/// Identity of a URL that redirected → the cookies that came with that, and whether the URL was asked once more for them.
/// Identity of a host → nothing: one of its pages was asked once more for the cookies that its link had set.
pub const HOPS: Space = Space::new(44, "hops", Layout::Points);

/// Identity of a URL → what was wrong with its last visit.
pub const TROUBLES: Space = Space::new(45, "troubles", Layout::Points);

/// Identity of a URL → the response in the archive that has what it shows, if that is not the response to its first visit.
pub const ARCHIVED: Space = Space::new(46, "archived", Layout::Points);

/// Of the spaces above, those that are kept under identities of hosts or URLs and are moved as they are.
pub const BY_SITE: [Space; 10] = [TRIALS, LISTED, DATED, SIGNALS, LISTS, ATTEMPTS, STUBS, HOPS, TROUBLES, ARCHIVED];

/// All spaces of a crawl directory.
pub fn of_crawl() -> Spaces {
    let own = [
        PAGES, TRIALS, COOKIES, USAGE, OUTBOUND, ELSEWHERE, LISTED, DATED, SIGNALS, LISTS, ATTEMPTS, STUBS, HOPS,
        TROUBLES, ARCHIVED,
    ];
    Spaces::new(&[dedup_stage::spaces::JUDGE, frontier::spaces::FRONTIER, &own])
}
