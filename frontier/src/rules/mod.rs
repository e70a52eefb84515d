//! Learned rules: which URLs need no fetch, because what they show was fetched elsewhere or is worth nothing.

mod evidence;
mod family;
mod rewrite;
mod rule;

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use dedup_stage::store::{Result, Session};
use dedup_stage::url::{PageId, UrlId};
use url::Url;
use xxhash_rust::xxh3::Xxh3Default;

use crate::reason::SkipReason;
pub use evidence::{Evidence, Proof, Watch};
pub use family::Family;
pub use rewrite::Rewrite;
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// The rules, in the order in which they were applied.
    pub rules: Vec<RuleId>,
    /// For outputs.
    pub reason: SkipReason,
    /// The URL that is fetched in its place; none for a trap.
    pub representative: Option<UrlId>,
}

/// Tells what a page showed, from the record that the owner of the pages keeps.
pub type Shows<'a> = &'a dyn Fn(PageId, &Session) -> Result<Option<Content>>;

/// All that was learned.
#[derive(Debug)]
pub struct Rules {}

impl Rules {
    /// All rules that were ever proven, in the order of proof.
    pub fn iter(&self) -> impl Iterator<Item = &Rule> {
        std::iter::empty()
    }

    /// The rule with this identity.
    pub fn get(&self, _id: RuleId) -> Option<&Rule> {
        todo!()
    }
}
