//! The spaces of a crawl's state: those of the crawler, and those of the judge and the frontier.

use dedup_stage::store::{Layout, Space, Spaces};

/// Identity of a page (URL and visit) → the record of the visit.
pub const PAGES: Space = Space::new(32, "pages", Layout::Points);

/// Identity of a URL that was held or stopped and is tried at the end → the result of the trial.
pub const TRIALS: Space = Space::new(33, "trials", Layout::Points);

/// Registrable domain → its cookies. These are secrets.
pub const COOKIES: Space = Space::new(34, "cookies", Layout::Points);

/// Origin → the part of its robots.txt about the use of pages.
pub const USAGE: Space = Space::new(35, "usage", Layout::Points);

/// Identity of a URL of a host that another directory has → the link to it, or a mark that the link was taken there.
pub const OUTBOUND: Space = Space::new(36, "outbound", Layout::Points);

/// Identity of a page that another process of the crawl fetched → what is needed to name it.
pub const ELSEWHERE: Space = Space::new(37, "elsewhere", Layout::Points);

/// Identity of a URL → the time of its last change, as sitemaps say.
pub const LISTED: Space = Space::new(38, "listed", Layout::Points);

/// Identity of a page that had changed → what is known about the time of the change.
pub const DATED: Space = Space::new(39, "dated", Layout::Points);

/// Identity of a host → how far its statements about changes of its pages can be believed.
pub const SIGNALS: Space = Space::new(40, "signals", Layout::Points);

/// Identity of a sitemap or a feed → what is known about it.
pub const LISTS: Space = Space::new(41, "lists", Layout::Points);

/// Identity of a URL that is queued → the last attempt at it, which failed.
pub const ATTEMPTS: Space = Space::new(42, "attempts", Layout::Points);

/// Host, content of a stub → counts of the URLs of the host that have shown it.
pub const STUBS: Space = Space::new(43, "stubs", Layout::Points);

/// Identity of a URL that redirected → the cookies that came with the redirect, and whether the URL was requested
/// once more because of them. Identity of a host → the notice by which it asks for consent; one of its pages was
/// requested once more because of the cookies that its link had set. Identity of a URL, `notice` → nothing; the entry
/// means that the URL still shows the notice.
pub const HOPS: Space = Space::new(44, "hops", Layout::Points);

/// Identity of a URL → the trouble at its last visit.
pub const TROUBLES: Space = Space::new(45, "troubles", Layout::Points);

/// Identity of a URL → the response in the archive that has its content, if that is not the response to its first
/// visit.
pub const ARCHIVED: Space = Space::new(46, "archived", Layout::Points);

/// Identity of a sitemap that was given up, and was not answered since → nothing.
pub const FAILED_SITEMAPS: Space = Space::new(47, "failed-sitemaps", Layout::Points);

/// Identity of a URL whose last visit was refused, or of a host that could not be asked → since when.
pub const UNVISITED: Space = Space::new(48, "unvisited", Layout::Points);

/// Identity of a host → whether it is honest about changes of its pages when it is asked with validators.
pub const VALIDATORS: Space = Space::new(49, "validators", Layout::Points);

/// Identity of a URL that had no page at its last visit, and to which a link has come since → nothing.
pub const RELINKED: Space = Space::new(50, "relinked", Layout::Points);

/// Identity of a page whose later visits have brought links to new URLs → how many, and when it was visited last.
pub const NEW_LINKS: Space = Space::new(51, "new-links", Layout::Points);

/// The spaces above whose keys are identities of hosts or URLs, and whose records are moved unchanged.
pub const BY_SITE: [Space; 15] = [
    TRIALS,
    LISTED,
    DATED,
    SIGNALS,
    LISTS,
    ATTEMPTS,
    STUBS,
    HOPS,
    TROUBLES,
    ARCHIVED,
    FAILED_SITEMAPS,
    UNVISITED,
    VALIDATORS,
    RELINKED,
    NEW_LINKS,
];

/// All spaces of a crawl directory.
pub fn of_crawl() -> Spaces {
    let own = [PAGES, COOKIES, USAGE, OUTBOUND, ELSEWHERE];
    Spaces::new(&[dedup_stage::spaces::JUDGE, frontier::spaces::FRONTIER, &own, &BY_SITE])
}
