//! The table of the changes of state that are allowed, with their causes. Any other change is refused.

use super::Standing;

/// The states without their fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Never met.
    Unmet,
    /// Waits for its turn, or is being fetched.
    Queued,
    /// Held for a counterpart.
    HeldFor,
    /// Held as news of a duplicate, or because a corpus has the page that linked to it first.
    HeldAs,
    /// Stopped by learned rules, or for a spent budget.
    Stopped,
    /// Refused.
    Refused,
    /// Answered, or given up.
    Done,
    /// Missing at two visits in a row.
    Gone,
}

/// Why a URL that was held or stopped is refused.
const NO_PLACE: &str = "it would be queued, and its host has too many schemes and ports, or its domain too many hosts";

/// Every change of a record: from, to, causes. A URL in the state `Queued` may also be queued anew (with a better
/// priority, or after a failed attempt). A URL in `HeldFor` may get further counterparts. Neither of the two changes
/// the state.
pub const TABLE: &[(Kind, Kind, &str)] = &[
    (Kind::Unmet, Kind::Queued, "a page that is no duplicate links to it; a seed, sitemap, feed or redirect names it"),
    (Kind::Unmet, Kind::HeldFor, "a duplicate links to it, and the twin has a counterpart of the link"),
    (
        Kind::Unmet,
        Kind::HeldAs,
        "a duplicate links to it, and the link is news; a corpus has the page that links to it",
    ),
    (
        Kind::Unmet,
        Kind::Stopped,
        "a duplicate links to it, the link is news, and a learned rule names a fetched page that shows the same",
    ),
    (Kind::Unmet, Kind::Refused, "scope, scheme, depth, length, trap, nofollow, purpose, too many redirects"),
    (
        Kind::Queued,
        Kind::Stopped,
        "a learned rule says that it shows what its representative shows, or that it is in a trap; in `drop`, a spent budget",
    ),
    (
        Kind::Queued,
        Kind::Refused,
        "robots, address, purpose, budget (not in `drop`), cap, too many schemes and ports of its host, a narrower scope",
    ),
    (
        Kind::Queued,
        Kind::Done,
        "answered, or given up after its attempts; queued for another visit that was refused: the last visit stays",
    ),
    (
        Kind::Queued,
        Kind::HeldFor,
        "a URL that was held for it on another domain was queued in its place, because its host is slow or busy",
    ),
    (Kind::Queued, Kind::Gone, "404 or 410 at two visits in a row"),
    (
        Kind::HeldFor,
        Kind::Queued,
        "a page that is no duplicate links to it; a seed, sitemap, feed or redirect names it; all its counterparts \
         failed; a trial showed that the two hosts differ; its counterpart was never fetched, or robots.txt forbids it \
         now; its host had nothing else to do; a trial; rescue; its lot was released; another mode",
    ),
    (
        Kind::HeldFor,
        Kind::HeldFor,
        "its first counterpart failed, and another twin has one; its counterpart redirects, or waits for another URL",
    ),
    (Kind::HeldFor, Kind::HeldAs, "its counterpart is itself held as news"),
    (
        Kind::HeldFor,
        Kind::Stopped,
        "its counterpart is itself held as news, and a learned rule names a fetched page that shows the same",
    ),
    (Kind::HeldFor, Kind::Refused, NO_PLACE),
    (
        Kind::HeldAs,
        Kind::Queued,
        "a page that is no duplicate links to it; a seed, sitemap, feed or redirect names it; its template brought new \
         contents; a trial; rescue; its lot was released; another mode",
    ),
    (Kind::HeldAs, Kind::HeldFor, "another duplicate links to it, whose twin has a counterpart"),
    (Kind::HeldAs, Kind::Stopped, "a learned rule names a fetched page that shows the same"),
    (Kind::HeldAs, Kind::Refused, NO_PLACE),
    (
        Kind::Stopped,
        Kind::Queued,
        "its representative failed, or was never fetched, or robots.txt forbids it now; its rule failed in its folder, or was withdrawn; a trial; rescue; \
         its lot was released; another mode; its host had nothing else to do; `demote`, at the end",
    ),
    (Kind::Stopped, Kind::Stopped, "its representative redirects, or waits for another URL"),
    (Kind::Stopped, Kind::Refused, NO_PLACE),
    (
        Kind::Refused,
        Kind::Queued,
        "another link, a new robots.txt or a changed setting lifts the reason (not a spent budget, an address or a purpose)",
    ),
    (Kind::Refused, Kind::HeldFor, "a duplicate's link lifts the reason, and the twin has a counterpart of the link"),
    (
        Kind::Refused,
        Kind::HeldAs,
        "a duplicate's link lifts the reason, and the link is news; a corpus has the page that links to it",
    ),
    (
        Kind::Refused,
        Kind::Stopped,
        "a duplicate's link lifts the reason, the link is news, and a learned rule names a fetched page that shows the same",
    ),
    (
        Kind::Done,
        Kind::Queued,
        "its next visit is due; a redirect to its own key, or one that leads back to it with a cookie",
    ),
    (Kind::Gone, Kind::Queued, "its next visit is due"),
];

impl Kind {
    /// Whether the URL is held or stopped: not fetched, because another URL, a rule or a budget stands against it.
    pub fn is_held_back(self) -> bool {
        matches!(self, Self::HeldFor | Self::HeldAs | Self::Stopped)
    }

    /// Whether a URL of this kind may become one of that kind.
    pub fn may_become(self, to: Kind) -> bool {
        TABLE.iter().any(|row| (row.0, row.1) == (self, to))
    }

    /// The word in messages and in the table of the README.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Unmet => "–",
            Kind::Queued => "Queued",
            Kind::HeldFor => "HeldFor",
            Kind::HeldAs => "HeldAs",
            Kind::Stopped => "Stopped",
            Kind::Refused => "Refused",
            Kind::Done => "Done",
            Kind::Gone => "Gone",
        }
    }
}

impl From<Standing> for Kind {
    fn from(standing: Standing) -> Self {
        match standing {
            Standing::Queued { .. } | Standing::Open { .. } => Kind::Queued,
            Standing::HeldFor => Kind::HeldFor,
            Standing::HeldAs { .. } => Kind::HeldAs,
            Standing::Stopped { .. } => Kind::Stopped,
            Standing::Refused(_) => Kind::Refused,
            Standing::Done(_) => Kind::Done,
            Standing::Gone => Kind::Gone,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [Kind; 8] =
        [Kind::Unmet, Kind::Queued, Kind::HeldFor, Kind::HeldAs, Kind::Stopped, Kind::Refused, Kind::Done, Kind::Gone];

    #[test]
    fn the_readme_shows_this_table() {
        let mut printed = String::from("| from | to | when |\n|---|---|---|\n");
        for (from, to, when) in TABLE {
            printed += &format!("| {} | {} | {when} |\n", from.name(), to.name());
        }
        let readme = include_str!("../../README.md");
        assert!(readme.contains(&printed), "README.md must have this table:\n{printed}");
    }

    #[test]
    fn each_transition_stands_in_the_table_once_and_every_state_can_be_left_and_reached() {
        for (at, row) in TABLE.iter().enumerate() {
            assert!(TABLE[..at].iter().all(|other| (other.0, other.1) != (row.0, row.1)), "{row:?}");
        }
        for kind in KINDS {
            assert!(KINDS.iter().any(|to| kind.may_become(*to)), "{kind:?} cannot be left");
            assert!(kind == Kind::Unmet || KINDS.iter().any(|from| from.may_become(kind)), "{kind:?}");
            assert!(!kind.may_become(Kind::Unmet), "what was met stays met");
        }
        assert!(!Kind::Done.may_become(Kind::Refused), "what was fetched is not skipped afterwards");
    }
}
