//! Learned rules. A rule says that some URLs need no fetch: another URL shows the same, or their pages are worth
//! nothing.
//!
//! There are two kinds of rules.
//!
//! A *rewrite* changes a URL, for example by dropping a parameter. It says that both URLs show the same page. The life
//! of a rewrite:
//!
//! 1. Two URLs were found to show the same. This pair suggests rewrites that turn one into the other (`propose`). A
//!    suggested rewrite becomes a *candidate* (`candidates`), unless it is proven or was refuted before, or its host
//!    has too many candidates. A mirror of a part of a host must be suggested several times.
//! 2. Other pairs of fetched URLs test the candidate, until it is proven or refuted (`evidence`).
//! 3. A proven rewrite is applied (`proven`). Apply all proven rewrites to a URL, one after the other: the result is a
//!    URL, the *class* of the first URL. (If the parameter `sid` makes no difference, `/x` is the class of `/x?sid=1`
//!    and `/x?sid=2`, and of itself.) One URL of each class is fetched. It is the *representative* of the class. When
//!    the turn of another URL of the class comes, that URL is stopped.
//! 4. Some of the stopped URLs are fetched all the same, as trials (`crate::hold::ladder`). A trial that shows
//!    something else ends the rule in the folder of that URL. Two failed trials close together withdraw the whole rule,
//!    and the URLs that it stopped are queued again.
//!
//! The representative of a class is the first of these:
//!
//! 1. The URL that is on record for the class, unless it failed.
//! 2. The class itself, if it was fetched well or is queued.
//! 3. The next URL of the class whose turn comes. It is then put on record.
//!
//! When a rule is proven, the page that was fetched first in each class that tested the rule is put on record. If
//! another URL is on record, the class itself is stopped, too, when its turn comes. The same holds if a mirror turns a
//! URL of another host that was fetched well into the class. So a mirror also explains links to the host to which it
//! leads.
//!
//! A URL whose representative is still queued is stopped, too. When the representative was fetched, the stopped URL is
//! tried or stays stopped. If the representative has no good answer, the stopped URL is queued again.
//!
//! A *trap* is an *area* of URLs (a folder, or the queries of one path) whose pages bring nothing (`area`): no new
//! text, and no new link out of the area, but ever more links to URLs of the area. The URLs of a trap are stopped,
//! and some of them are tried.
//!
//! A rule can stop a URL at three moments: when the turn of the URL comes; when a duplicate is found to have a link
//! that its twin does not have; and, for such links that are held already, when the rule is proven or when their
//! template is tried further. Proving a rule removes nothing from the queue. A trial of a URL that several rules
//! stopped counts for each of them, so a wrong rule may withdraw a right one that acts together with it. A rule also
//! fails if visits to fetched pages show that they differ by now ([`crate::Frontier::learn_parted`]). Nothing here
//! reads a clock or opens a socket. What is learned goes into the session, which the caller commits. Start to read at
//! `learner`, which puts these parts together.

mod area;
mod candidates;
mod evidence;
mod explain;
mod learner;
mod propose;
mod proven;
mod rewrite;
mod rule;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use dedup_stage::store::{Result, Session};
use dedup_stage::url::{PageId, UrlId};
use url::Url;
use xxhash_rust::xxh3::Xxh3Default;

pub use area::Area;
pub use evidence::{Evidence, Proof, Watch};
pub use learner::Rules;
pub(crate) use learner::{Learned, Unlike, shown_at};

pub use crate::numbers::RuleId;
pub use rewrite::Rewrite;
pub use rule::{Rule, RuleStatus, Statement, Totals, stored};

type Map<K, V> = HashMap<K, V, BuildHasherDefault<Xxh3Default>>;

/// The content of a page, as rules compare it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Content {
    /// Hash of all its words, in order.
    pub text: u64,
    /// `id.url` of the first page that shows the same or nearly the same. This may be the page itself.
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
    /// The URL of the page.
    pub url: &'a Url,
    /// The identity of the URL.
    pub id: UrlId,
    /// The content of the page.
    pub content: Content,
    /// The URL of an earlier page that shows the same.
    pub twin: Option<&'a Url>,
    /// Whether the page brought nothing: no new text, and no new link out of its area. The engine decides this
    /// (`crawler/src/engine/answers/barren.rs`).
    pub barren: bool,
    /// The number of links from a seed to the page.
    pub depth: u32,
    /// New links to URLs of the page's area, if the page has no new text.
    pub offspring: u32,
}

/// Reads the content of a page from the records of pages, which the caller keeps.
pub type Shows<'a> = &'a dyn Fn(PageId, &Session) -> Result<Option<Content>>;
