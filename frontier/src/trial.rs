//! Trials: fetches that test whether a URL is held or stopped rightly.

use dedup_stage::url::UrlId;
use serde::{Deserialize, Serialize};

use crate::numbers::RuleId;
use crate::reason::SkipReason;

/// The question that a trial answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Trial {
    /// A duplicate has a link, and its twin does not have it. Does the link bring anything?
    News {
        /// The template of the link.
        template: u64,
    },
    /// Does a held link show what its counterpart on another domain shows?
    Pair {
        /// The counterpart.
        counterpart: UrlId,
    },
    /// Learned rules stopped the URL. Were they right?
    Rules(Stop),
    /// Does a set of URLs that has fallen still bring new pages?
    Fallen(UrlSet),
}

/// The decision of learned rules that a URL need not be fetched, with its reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stop {
    /// The rules, in the order in which they were applied.
    pub rules: Vec<RuleId>,
    /// The reason that outputs give.
    pub reason: SkipReason,
    /// The URL that is fetched in its place, after redirects and holds of the representative were followed; none for a
    /// trap.
    pub representative: Option<UrlId>,
}

/// The identity of a set of URLs that are held or stopped and most likely share their fate, a hash. The set is a
/// section, a lot, siblings or a family ([`UrlSets`](crate::UrlSets)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct UrlSet(pub u64);
