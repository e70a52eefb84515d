//! Learned rules: which URLs need no fetch, because what they show was fetched elsewhere or is worth nothing.
//!
//! Pairs of URLs that were found to show the same suggest rules; other pairs prove or refute them (`trials`, `evidence`).
//! A proven rule maps each URL of its domain to a *class*: the URL that all rules together make of it. One URL of a class is
//! fetched and stands for it: its *representative*. The others are stopped when their turn comes; what is queued is never
//! touched. The class itself need not be a URL that anybody linked to; then the first of its URLs that comes up is the
//! representative. While the representative is not fetched nothing is decided; if it has no good answer, the others are
//! queued again.
//!
//! A *trap* is a family of URLs (a folder, or the queries of one path) whose pages keep bringing nothing: no new text, and
//! no link to anything new outside the family, but ever more links to their own kind.
//!
//! While a rule acts, some of what it stops is fetched all the same, as trials (`crate::hold::ladder`). A trial that fails
//! ends the rule in the folder of the URL; where trials fail often, the whole rule is withdrawn.
//!
//! Nothing here reads a clock or opens a socket, and what is learned goes to the session that the caller commits.

mod evidence;
mod family;
mod learner;
mod propose;
mod proven;
mod rewrite;
mod rule;
#[cfg(test)]
mod tests;
mod trials;

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use dedup_stage::store::{Result, Session};
use dedup_stage::url::{PageId, UrlId};
use serde::{Deserialize, Serialize};
use url::Url;
use xxhash_rust::xxh3::Xxh3Default;

use crate::reason::SkipReason;
pub use evidence::{Evidence, Proof, Watch};
pub use family::Family;
pub use learner::Rules;
pub(crate) use learner::shown_at;
pub use proven::Clusters;
pub use rewrite::Rewrite;
pub(crate) use rewrite::is_id;
pub use rule::{Cause, Rule, RuleId, Status, Totals, stored};

type Map<K, V> = HashMap<K, V, BuildHasherDefault<Xxh3Default>>;

/// What a page shows, as far as rules are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Content {
    /// Hash of all its words, in order.
    pub text: u64,
    /// `id.url` of the first page that shows the same or nearly the same; its own, where no other page does.
    pub shows: u64,
}

impl Content {
    /// Whether two pages show the same.
    pub fn agrees(self, other: Content) -> bool {
        self.text == other.text || self.shows == other.shows
    }
}

/// A page that was fetched and judged.
#[derive(Clone, Copy, Debug)]
pub struct Lesson<'a> {
    /// Where it is.
    pub url: &'a Url,
    /// Its identity.
    pub id: UrlId,
    /// What it shows.
    pub content: Content,
    /// The URL of an earlier page that shows the same.
    pub twin: Option<&'a Url>,
    /// Whether it brought nothing: no new text, and no new link out of its family.
    pub barren: bool,
    /// Links to URLs of its family that were not known.
    pub offspring: u32,
}

/// That learned rules say that a URL need not be fetched, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stop {
    /// The rules, in the order in which they were applied.
    pub rules: Vec<RuleId>,
    /// For outputs.
    pub reason: SkipReason,
    /// The URL that is fetched in its place; none for a trap.
    pub representative: Option<UrlId>,
}

impl Stop {
    /// The rule that is tried by what this stops: the mirror among them, else the first one.
    pub(crate) fn tried(&self, rules: &Rules) -> Option<RuleId> {
        let mirror = self.rules.iter().find(|id| rules.get(**id).is_some_and(Rule::is_mirror));
        mirror.or(self.rules.first()).copied()
    }
}

/// Tells what a page showed, from the record that the owner of the pages keeps.
pub type Shows<'a> = &'a dyn Fn(PageId, &Session) -> Result<Option<Content>>;
