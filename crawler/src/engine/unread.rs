//! URLs and links that a crawl leaves unread although the user did not exclude them, because of a bound or guard of the
//! crawler. A crawl that left something unread is not complete, and reports the reasons.
//!
//! (Limits that the user gave, such as `--max-depth`, are no such reasons. They are reported as limits: see `beyond` in
//! [`Stats`].)

use config::Urls;
use frontier::scope::TrapShape;
use frontier::{Detail, SkipReason, Skipped};
use url::Url;

use super::stats::Stats;

/// A reason for which URLs or links were left unread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unread {
    /// The word for the reason, for scripts that read the outputs.
    pub kind: &'static str,
    /// The number of URLs or links.
    pub count: u64,
    /// The noun for them, for users.
    pub what: &'static str,
    /// The reason, with the setting that changes it, if there is one.
    pub why: &'static str,
}

impl Unread {
    /// Whether these are URLs that were met and not asked for.
    pub fn are_urls(&self) -> bool {
        self.what == "URL"
    }
}

/// The word for held or stopped URLs of which the rescue has tried none, although others of their family gained
/// something.
pub(super) const UNTRIED: &str = "untried";

/// The causes: the word, what is counted, and why. The first ones are kinds of URLs.
const CAUSES: [(&str, &str, &str); 16] = [
    (UNTRIED, "URL", "held back like others that led to new pages; a larger --rescue tries more of them"),
    ("budget", "URL", "their host or folder brought too many duplicates, and its budget for them is spent"),
    ("max_repeats", "URL", "one part of the URL repeats too often, as in a trap: --max-repeats"),
    ("max_segments", "URL", "the path of the URL has too many segments, as in a trap: --max-segments"),
    ("origins", "URL", "their host has too many schemes and ports"),
    ("hosts", "URL", "their registrable domain has too many hosts"),
    ("redirect_loop", "redirect", "leading in a circle, or on for more than 10 hops"),
    ("redirect_nowhere", "redirect", "without a Location that is a URL"),
    ("links_cut", "link", "their page has more than 10,000 of them, or 1 MiB"),
    ("hosts_left", "link", "to further hosts of a registrable domain that names hosts without end"),
    (
        "doubtful_sessions",
        "link",
        "they differ from others of their page only in what looks like a session id, but one page has several: \
         --keep-params, with the name of that parameter",
    ),
    ("notices", "page", "showing only a notice that asks for consent, although consent was given"),
    ("sitemaps_cut", "sitemap", "read in part, because of more than 50,000 entries, 50 MiB, or 8 MiB of URLs"),
    ("sitemaps_failed", "sitemap", "given up: no answer, an error of the server, or an HTML page"),
    ("sitemaps_left", "sitemap", "8 or more sitemaps in a row lead to it, or too many are on its host or named by one"),
    ("sitemaps_elsewhere", "sitemap", "named by a sitemap of another site, and not by the robots.txt of its own host"),
];

/// The word for the reason why a URL was skipped; `None` if it is a reason of another kind.
pub(super) fn kind(skipped: &Skipped, urls: &Urls) -> Option<&'static str> {
    match (skipped.reason, skipped.detail) {
        (SkipReason::Budget, Detail::None) => Some("budget"),
        // This is counted as the redirect that leads there.
        (SkipReason::Trap, Detail::Redirects) => None,
        (SkipReason::Trap, Detail::Origins) => Some("origins"),
        (SkipReason::Trap, Detail::Hosts) => Some("hosts"),
        (SkipReason::Trap, _) if skipped.rules.is_empty() => {
            match TrapShape::of_trap(&Url::parse(&skipped.url).ok()?, urls)? {
                TrapShape::Repeats => Some("max_repeats"),
                TrapShape::Segments => Some("max_segments"),
            }
        }
        _ => None,
    }
}

/// The reasons for which something was left unread.
pub fn causes(stats: &Stats) -> impl Iterator<Item = Unread> + '_ {
    let count = |kind| match kind {
        "redirect_loop" => stats.redirects_endless,
        "redirect_nowhere" => stats.redirects_nowhere,
        "links_cut" => stats.links_cut,
        "hosts_left" => stats.hosts_left,
        "doubtful_sessions" => stats.doubtful_sessions,
        "notices" => stats.notices,
        "sitemaps_cut" => stats.sitemaps_cut,
        "sitemaps_failed" => stats.sitemaps_failed,
        "sitemaps_left" => stats.sitemaps_left,
        "sitemaps_elsewhere" => stats.sitemaps_elsewhere,
        refused => stats.unread.get(refused).copied().unwrap_or(0),
    };
    let all = CAUSES.into_iter().map(move |(kind, what, why)| Unread { kind, count: count(kind), what, why });
    all.filter(|unread| unread.count > 0)
}
