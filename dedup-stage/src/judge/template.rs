//! Changes of templates: what changes in the same way on several pages of a host is no change of these pages.
//!
//! A site that gets a new footer changes on all pages at once, and an advertisement that takes turns with others does so on
//! one page after the other. The judge knows them by the difference that they make: the odd sketches of two texts differ by
//! the same bits, whatever else the pages say ([`Difference`]). So the judge keeps the last differences of each host. A page
//! that differs from what it showed before, as another page of its host did, has not changed.
//!
//! The first page that shows a new template counts as changed, because it cannot be told from a page of other content.

use serde::{Deserialize, Serialize};

use super::{Case, Judge, Shown};
use crate::signature::{Difference, OddSketch};
use crate::spaces;
use crate::store::{Result, Session, codec};

/// The last differences between two visits to a page, of all pages of one host.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Differences {
    /// The order of the page that was added last. (First in every record of the judge, see [`crate::stage`].)
    order: u64,
    /// The earliest comes first.
    seen: Vec<Seen>,
}

/// A difference that was seen.
#[derive(Debug, Serialize, Deserialize)]
struct Seen {
    what: Difference,
    /// Hash of the URL that showed it first.
    page: u64,
    /// Whether another URL has shown it since.
    shared: bool,
}

impl Differences {
    /// Differences that are kept of one host.
    const MOST: usize = 32;

    /// The places of one or two differences of other pages of which this one is made. Two, because of three texts that take
    /// turns, the first differs from the third by what it differs from the second, and that from the third.
    fn explain(&self, page: u64, is_same: impl Fn(&[&Difference]) -> bool) -> Option<Vec<usize>> {
        let others = || self.seen.iter().enumerate().rev().filter(|(_, seen)| seen.shared || seen.page != page);
        let one = others().find(|(_, seen)| is_same(&[&seen.what])).map(|(at, _)| vec![at]);
        one.or_else(|| {
            others().find_map(|(at, first)| {
                let mut rest = others().filter(|(other, _)| *other < at);
                rest.find(|(_, second)| is_same(&[&first.what, &second.what])).map(|(other, _)| vec![at, other])
            })
        })
    }
}

impl Judge {
    /// Whether a page that differs from what its URL showed `before` differs as other pages of its host did. If not, the
    /// judge remembers the difference. Pages that repeat others are left out: of course they change as these do.
    pub(super) fn is_template(&self, case: &Case<'_>, before: &Shown, session: &mut Session) -> Result<bool> {
        let (Some(now), Some(then), false) = (&case.page.odd, &before.odd, before.is_duplicate()) else {
            return Ok(false);
        };
        let key = case.id.url.site.to_bytes();
        let known = session.get(spaces::TEMPLATES, &key)?;
        let known = known.map(|value| codec::decode(&value, "the differences of a host")).transpose()?;
        let mut known: Differences = known.unwrap_or_default();
        let (what, page) = (now.difference(then), case.id.url.url);
        let is_same = |parts: &[&Difference]| {
            let rest = parts.iter().fold(what, |rest, part| rest.without(part));
            now.is_same(then, &rest)
        };
        let explained = known.explain(page, is_same);
        match &explained {
            Some(parts) => parts.iter().for_each(|at| known.seen[*at].shared = true),
            None => {
                if known.seen.len() >= Differences::MOST {
                    known.seen.remove(0);
                }
                known.seen.push(Seen { what, page, shared: false });
            }
        }
        known.order = case.order;
        session.overwrite(spaces::TEMPLATES, key, Some(codec::encode(&known)))?;
        Ok(explained.is_some())
    }
}

/// The sketch with which the next visit is compared, after a page was found unchanged. A page that has small changes is
/// compared with what it said at first, so that such changes add up. A page with another template is compared with that.
pub(super) fn kept(before: Option<OddSketch>, now: Option<OddSketch>) -> Option<OddSketch> {
    match (before, now) {
        (Some(before), Some(now)) if before.is_same(&now, &before.difference(&now)) => Some(before),
        (_, now) => now,
    }
}
