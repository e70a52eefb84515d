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
    /// The one that was seen longest ago comes first.
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

    /// Differences of which a difference may be made: a new footer and another advertisement come together. And of three texts
    /// that take turns, the first differs from the third as it does from the second, and that from the third.
    const PARTS: usize = 3;

    /// The places of differences of other pages of which this one of `page` is made, the last one first; as few as do.
    fn explain(
        &self,
        page: u64,
        what: Difference,
        is_small: &dyn Fn(&Difference, usize) -> bool,
    ) -> Option<Vec<usize>> {
        (1..=Self::PARTS)
            .find_map(|parts| self.parts(page, what, parts, self.seen.len(), &|rest| is_small(rest, parts)))
    }

    /// The same with so many parts, all of which stand before `end`.
    fn parts(
        &self,
        page: u64,
        what: Difference,
        parts: usize,
        end: usize,
        is_small: &dyn Fn(&Difference) -> bool,
    ) -> Option<Vec<usize>> {
        if parts == 0 {
            return is_small(&what).then(Vec::new);
        }
        let others = self.seen[..end].iter().enumerate().rev().filter(|(_, seen)| seen.shared || seen.page != page);
        others.into_iter().find_map(|(at, seen)| {
            let mut rest = self.parts(page, what.without(&seen.what), parts - 1, at, is_small)?;
            rest.insert(0, at);
            Some(rest)
        })
    }

    /// These differences were seen once more: the others are forgotten first.
    fn share(&mut self, places: &[usize]) {
        // The last place comes first, so that the others stay where they are.
        let again: Vec<Seen> = places.iter().map(|at| Seen { shared: true, ..self.seen.remove(*at) }).collect();
        self.seen.extend(again);
    }

    fn add(&mut self, seen: Seen) {
        if self.seen.len() >= Self::MOST {
            self.seen.remove(0);
        }
        self.seen.push(seen);
    }
}

impl Judge {
    /// Whether a page that differs from what its URL showed `before` differs as other pages of its host did. If not, the
    /// judge remembers the difference. Pages that repeat others are left out, since they change as these do. So are pages with
    /// too little text.
    pub(super) fn is_template(&self, case: &Case<'_>, before: &Shown, session: &mut Session) -> Result<bool> {
        let is_left_out = before.is_duplicate() || before.statement.is_some() || case.page.statement.is_some();
        let (Some(now), Some(then), false) = (&case.page.odd, &before.odd, is_left_out) else { return Ok(false) };
        let key = case.id.url.site.to_bytes();
        let known = session.get(spaces::TEMPLATES, &key)?;
        let known = known.map(|value| codec::decode(&value, "the differences of a host")).transpose()?;
        let mut known: Differences = known.unwrap_or_default();
        let (what, page) = (now.difference(then), case.id.url.url);
        // What is left must be little, and less than half of what there was: small differences explain nothing.
        let is_small = |rest: &Difference, parts| now.is_same(then, rest, parts) && rest.pairs() * 2.0 <= what.pairs();
        let explained = known.explain(page, what, &is_small);
        match &explained {
            Some(places) => known.share(places),
            None => known.add(Seen { what, page, shared: false }),
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
        (Some(before), Some(now)) if before.is_same(&now, &before.difference(&now), 0) => Some(before),
        (_, now) => now,
    }
}
