//! Learned rules. A rule says that some URLs need no fetch: another URL shows the same, or their pages are worth nothing.
//!
//! There are two kinds of rules.
//!
//! A *rewrite* changes a URL, for example by dropping a parameter. It says that both URLs show the same page. The life of a
//! rewrite:
//!
//! 1. Two URLs were found to show the same. This pair suggests rewrites that turn one into the other (`propose`). Each of
//!    them becomes a *candidate* (`trials`).
//! 2. Other pairs of fetched URLs test the candidate, until it is proven or refuted (`evidence`).
//! 3. A proven rewrite is applied (`proven`). The URL that all rewrites together make of a URL is its *class*. One URL of
//!    each class is fetched; it is the *representative* of the class. It is the class itself if that URL was met, else the
//!    first URL of the class whose turn comes. When the turn of another URL of the class comes, that URL is stopped.
//! 4. Some of the stopped URLs are fetched all the same, as trials (`crate::hold::ladder`). A trial that shows something
//!    else ends the rule in the folder of that URL. Where trials fail often, the whole rule is withdrawn, and what it
//!    stopped is queued again.
//!
//! A URL whose representative is still queued waits undecided. If the representative has no good answer, the URL is queued
//! again.
//!
//! A *trap* is a *family* of URLs (a folder, or the queries of one path) whose pages bring nothing (`family`): no new text,
//! and no new link out of the family, but ever more links to URLs of the family. URLs of a trap are stopped, and tried as
//! those of a rewrite are.
//!
//! Rules act when the turn of a URL comes. They never change the queue. Nothing here reads a clock or opens a socket. What is
//! learned goes into the session, which the caller commits. Start to read at `learner`, which puts these parts together.

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
