//! Why a URL was not fetched: the reasons of `skipped.jsonl`, with details.

use serde::{Deserialize, Serialize};

use crate::failure::Failure;

/// Why a URL was not fetched; the `reason` of `skipped.jsonl`.
///
/// The order is part of the stored form: new reasons go to the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum SkipReason {
    /// robots.txt forbids it, or could not be read.
    Robots,
    /// Outside the scope, or cut by `--include` and `--exclude`.
    Scope,
    /// A private or otherwise forbidden address, or none that is known.
    Address,
    /// Neither http nor https.
    Scheme,
    /// Deeper than `--max-depth`.
    Depth,
    /// A trap: repeating segments, a growing query, a folder that brings nothing new, endless redirects.
    Trap,
    /// Only duplicate pages link to it.
    DuplicateSource,
    /// `rel=nofollow`, or its page says so; or it would end the session of a crawl that has logged in.
    Nofollow,
    /// A learned URL rule stopped it.
    Rule,
    /// A mirror of another host.
    Mirror,
    /// The budget of its host or path prefix is spent, or the cap on pages of its host or domain is reached.
    Budget,
    /// Longer than a URL may be.
    TooLong,
    /// A known corpus has the page that linked to it first.
    Known,
    /// Its site says that it may not be used for the purpose of this crawl.
    Purpose,
}

impl SkipReason {
    /// Every reason.
    pub const ALL: [SkipReason; 14] = [
        SkipReason::Robots,
        SkipReason::Scope,
        SkipReason::Address,
        SkipReason::Scheme,
        SkipReason::Depth,
        SkipReason::Trap,
        SkipReason::DuplicateSource,
        SkipReason::Nofollow,
        SkipReason::Rule,
        SkipReason::Mirror,
        SkipReason::Budget,
        SkipReason::TooLong,
        SkipReason::Known,
        SkipReason::Purpose,
    ];

    /// The reason with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.name() == name)
    }

    /// A sentence for people.
    pub fn explanation(self) -> &'static str {
        match self {
            SkipReason::Robots => "robots.txt forbids it, or could not be read",
            SkipReason::Scope => "outside --scope, --include or --exclude",
            SkipReason::Address => {
                "no address is known, or only a forbidden one (--allow-private lifts that for private ones)"
            }
            SkipReason::Scheme => "neither http nor https",
            SkipReason::Depth => "deeper than --max-depth",
            SkipReason::Trap => "a trap: too many or repeating path segments, or a folder that brought nothing new",
            SkipReason::DuplicateSource => "only a duplicate page links to it",
            SkipReason::Nofollow => "the link or its page says nofollow, or it would end the session of --login",
            SkipReason::Rule => "a learned URL rule says that it is a copy",
            SkipReason::Mirror => "its host or folder is a mirror of another",
            SkipReason::Budget => {
                "its host or folder has spent its budget on duplicates, or has as many pages as a cap allows"
            }
            SkipReason::TooLong => "longer than --max-url-length",
            SkipReason::Known => "a known corpus has the page that links to it",
            SkipReason::Purpose => "its site does not allow the purpose of this crawl",
        }
    }

    /// The word used in outputs.
    pub fn name(self) -> &'static str {
        match self {
            SkipReason::Robots => "robots",
            SkipReason::Scope => "scope",
            SkipReason::Address => "address",
            SkipReason::Scheme => "scheme",
            SkipReason::Depth => "depth",
            SkipReason::Trap => "trap",
            SkipReason::DuplicateSource => "duplicate_source",
            SkipReason::Nofollow => "nofollow",
            SkipReason::Rule => "rule",
            SkipReason::Mirror => "mirror",
            SkipReason::Budget => "budget",
            SkipReason::TooLong => "too_long",
            SkipReason::Known => "known",
            SkipReason::Purpose => "purpose",
        }
    }
}

/// More about a reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Detail {
    /// Nothing.
    #[default]
    None,
    /// robots.txt was read, and forbids it.
    RobotsForbid,
    /// robots.txt cannot be read, because of this.
    NoRobots(Failure),
    /// robots.txt cannot be read: the server answers with this status.
    RobotsStatus(u16),
    /// The host's name leads to no address.
    NoAddress(Failure),
    /// The host's addresses may not be connected to.
    ForbiddenAddress,
    /// More redirects in a row than are followed.
    Redirects,
    /// More schemes and ports of one host than are followed.
    Origins,
    /// The cap on pages of its host is reached.
    HostCap,
    /// The cap on pages of its registrable domain is reached.
    DomainCap,
    /// More hosts of one registrable domain than it may name.
    Hosts,
}

impl Detail {
    /// The failure because of which a host cannot be asked, by the words of a detail; `None` if they tell of none.
    pub fn failure_of_host(words: &str) -> Option<Failure> {
        let tells = |failure: &Failure| {
            [Detail::NoRobots(*failure), Detail::NoAddress(*failure)].iter().any(|detail| detail.to_string() == words)
        };
        Failure::ALL.into_iter().find(tells)
    }
}

impl std::fmt::Display for Detail {
    /// A few words for people; nothing for [`Detail::None`].
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Detail::None => Ok(()),
            Detail::RobotsForbid => f.write_str("robots.txt forbids it"),
            Detail::NoRobots(failure) => write!(f, "robots.txt cannot be read: {failure}"),
            Detail::RobotsStatus(status) => write!(f, "robots.txt cannot be read: the server answers {status}"),
            Detail::NoAddress(failure) => write!(f, "no address is known: {failure}"),
            Detail::ForbiddenAddress => f.write_str("its addresses may not be connected to"),
            Detail::Redirects => f.write_str("too many redirects in a row"),
            Detail::Origins => f.write_str("too many schemes and ports of one host"),
            Detail::HostCap => f.write_str("the cap on pages of its host is reached"),
            Detail::DomainCap => f.write_str("the cap on pages of its registrable domain is reached"),
            Detail::Hosts => f.write_str("too many hosts of one registrable domain"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_detail_tell_the_failure_of_its_host() {
        for failure in Failure::ALL {
            for detail in [Detail::NoRobots(failure), Detail::NoAddress(failure)] {
                assert_eq!(Detail::failure_of_host(&detail.to_string()), Some(failure));
            }
        }
        for detail in [Detail::RobotsStatus(503), Detail::RobotsForbid, Detail::ForbiddenAddress] {
            assert_eq!(Detail::failure_of_host(&detail.to_string()), None);
        }
    }
}
