//! Recognises changes of page templates. (A *template* here is the part that many pages of a host have in common. The
//! templates of `frontier/src/hold` are kinds of links.) If several pages of a host change in the same way, their
//! template has changed, and the pages themselves count as unchanged.
//!
//! For example, all pages of a site get a new footer at once, or advertisements take turns on one page after the other.
//! The odd sketches of a page before and after such a change differ in the same bits on all pages, whatever else the
//! pages say ([`Difference`]). So the judge stores the last differences of each host. If a page differs from its
//! earlier content in the same way as another page of its host did, then the page has not changed.
//!
//! A text that disappears from one page and appears on another is no template, because a difference has a direction.
//! And a page that keeps nothing of its earlier content has changed, even if it now shows what another page showed
//! before. The first lines of an article may also stand on the front page, which links to the article: if both change,
//! that is no template either. So pages of which one links to the other in its content do not explain each other,
//! until several pages have changed in this way.
//!
//! Texts may take turns in one place, such as an advertisement between two paragraphs. So if passages came
//! ([`Texts`]), each of them, and what went, is a difference of its own. If one passage takes the place of another, and
//! one of the two has come or gone on another page as well, then the other one takes turns, too.
//!
//! The first page that shows a new template counts as changed, because its change looks like any other change.

use serde::{Deserialize, Serialize};

use super::exchange::Texts;
use super::revisit::TextDifference;
use super::{Case, Judge, Shown};
use crate::signature::{Difference, OddSketch};
use crate::spaces;
use crate::store::{Result, Session, codec};

/// The last differences that were seen between two visits to a page, for all pages of one host.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Differences {
    /// The order of the page that was added last. (The order is the first field of every record of the judge, see
    /// [`crate::stage`].)
    order: u64,
    /// The differences. The one that was seen longest ago comes first.
    seen: Vec<SeenDifference>,
}

/// A difference that was seen.
#[derive(Debug, Serialize, Deserialize)]
struct SeenDifference {
    what: Difference,
    /// The hash of the URL that showed it first.
    page: u64,
    /// The links in the content of the pages that have shown it.
    links: LinkFilter,
    /// How often it was shown, counted up to [`Differences::SEVERAL`].
    shown: u8,
}

impl SeenDifference {
    /// Whether a page other than the first one has shown it.
    fn is_shared(&self) -> bool {
        self.shown > 1
    }

    /// Whether the page of `case` and the pages that have shown it link to each other in their contents.
    fn is_linked(&self, case: &Case<'_>) -> bool {
        self.links.has(case.id.url.url) || content_links(case).any(|link| link == self.page)
    }
}

/// A Bloom filter of 256 bits, with two hashes, for the links in the content of a few pages. It may have a link that no
/// page has. Then one more page counts as changed.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct LinkFilter([u8; 32]);

impl LinkFilter {
    fn of(links: impl Iterator<Item = u64>) -> Self {
        let mut filter = Self::default();
        links.flat_map(Self::places).for_each(|(byte, bit)| filter.0[byte] |= bit);
        filter
    }

    fn has(&self, link: u64) -> bool {
        Self::places(link).iter().all(|(byte, bit)| self.0[*byte] & bit != 0)
    }

    /// The two bits of a link, each as the number of its byte, and its value in that byte.
    fn places(link: u64) -> [(usize, u8); 2] {
        [link as u8, (link >> 8) as u8].map(|place| (usize::from(place / 8), 1 << (place % 8)))
    }

    fn and(self, other: Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] | other.0[at]))
    }
}

/// The hashes of the URLs to which the content of a page links.
fn content_links<'a>(case: &Case<'a>) -> impl Iterator<Item = u64> + use<'a> {
    case.links.iter().filter(|link| link.content).map(|link| link.id.url)
}

/// The last byte of the keys in [`spaces::TEMPLATES`]. (Bytes 2 and 3 are those of `sightings.rs`. Earlier versions
/// wrote differences without links, with byte 1 or no such byte. They are not read again.)
const WITH_LINKS: u8 = 4;

/// If a page resembles its earlier content less than this, its own text has changed, whatever other pages did. (The
/// estimate of two texts that have nothing in common has a standard deviation of 0.053, so one pair of texts in thirty
/// seems to have more than 0.1.)
const OWN: f32 = 0.2;
/// This many pairs of words of a short page are a text of its own ([`OddSketch::kept`]).
const KEPT: f32 = 6.0;

impl Differences {
    /// For each host, at most this many differences are kept that several pages have shown, and at most this many
    /// others. (If many pages of a host change by themselves, their differences must not push out those of the
    /// template.)
    const MOST: usize = 32;

    /// A difference may consist of this many differences. For example, a new footer and another advertisement may come
    /// together. And if three texts take turns, the difference between the first and the third consists of two: between
    /// the first and the second, and between the second and the third.
    const PARTS: usize = 3;

    /// A difference that was shown so often belongs to a template, whatever links to what.
    const SEVERAL: u8 = 5;

    /// Finds differences that make up `what`, among those that `may_explain` allows. Returns their places, the last one
    /// first. It takes as few differences as possible.
    fn explain(
        &self,
        what: Difference,
        may_explain: &dyn Fn(&SeenDifference) -> bool,
        is_small: &dyn Fn(&Difference, usize) -> bool,
    ) -> Option<Vec<usize>> {
        (1..=Self::PARTS)
            .find_map(|parts| self.parts(what, parts, self.seen.len(), may_explain, &|rest| is_small(rest, parts)))
    }

    /// Like `explain`, with exactly this many differences, all of them before the place `end`.
    fn parts(
        &self,
        what: Difference,
        parts: usize,
        end: usize,
        may_explain: &dyn Fn(&SeenDifference) -> bool,
        is_small: &dyn Fn(&Difference) -> bool,
    ) -> Option<Vec<usize>> {
        if parts == 0 {
            return is_small(&what).then(Vec::new);
        }
        let others = self.seen[..end].iter().enumerate().rev().filter(|(_, seen)| may_explain(seen));
        others.into_iter().find_map(|(at, seen)| {
            let mut rest = self.parts(what.without(&seen.what), parts - 1, at, may_explain, is_small)?;
            rest.insert(0, at);
            Some(rest)
        })
    }

    /// Notes that a page with these `links` has shown these differences, too. They move to the end, so that the others
    /// are forgotten first.
    fn share(&mut self, places: &[usize], links: LinkFilter) {
        let once_more = |seen: SeenDifference| SeenDifference {
            links: seen.links.and(links),
            shown: (seen.shown + 1).min(Self::SEVERAL),
            ..seen
        };
        // The last place comes first, so removing a difference does not move the ones that are still to be removed.
        let again: Vec<SeenDifference> = places.iter().map(|at| once_more(self.seen.remove(*at))).collect();
        again.into_iter().for_each(|seen| self.add(seen));
    }

    /// Adds a difference. Forgets the one that was seen longest ago if there are too many of its kind.
    fn add(&mut self, seen: SeenDifference) {
        let mut alike = self.seen.iter().enumerate().filter(|(_, other)| other.is_shared() == seen.is_shared());
        if alike.clone().count() >= Self::MOST
            && let Some((oldest, _)) = alike.next()
        {
            self.seen.remove(oldest);
        }
        self.seen.push(seen);
    }
}

impl Judge {
    /// Whether a page differs from what its URL showed `before` only as other pages of its host did. If not, the judge
    /// remembers the difference. A duplicate changes when its twin does, and that is no template. So the difference of
    /// a duplicate is not remembered, and it is explained only by differences that two other pages have shown. Pages
    /// with too little text are left out.
    pub(super) fn is_template(
        &mut self,
        case: &Case<'_>,
        before: &Shown,
        difference: &TextDifference,
        session: &mut Session,
    ) -> Result<bool> {
        if before.statement.is_some() || case.page.statement.is_some() {
            return Ok(false);
        }
        let resemblance = self.resemblance_to(before, case, session)?;
        let is_beside_long = resemblance.is_some_and(|resemblance| resemblance < OWN);
        if is_beside_long && !keeps_short_text(case, before) {
            return Ok(false);
        }
        let key = [&case.id.url.site.to_bytes()[..], &[WITH_LINKS]].concat();
        let known = session.get(spaces::TEMPLATES, &key)?;
        let known = known.map(|value| codec::decode(&value, "the differences of a host")).transpose()?;
        let mut known: Differences = known.unwrap_or_default();
        let TextDifference { what, gone, .. } = *difference;
        let (page, is_duplicate) = (case.id.url.url, before.is_duplicate());
        let is_other = |seen: &SeenDifference| seen.is_shared() || !is_duplicate && seen.page != page;
        let may_explain =
            |seen: &SeenDifference| seen.shown >= Differences::SEVERAL || is_other(seen) && !seen.is_linked(case);
        // The rest must be small, and less than half of the whole difference. Otherwise small differences would explain
        // anything. (Links that were exchanged count in neither.)
        // (The first comparison is a quick one that most differences fail.)
        let own = |difference: &Difference| difference.pairs() - gone as f32;
        let is_small = |rest: &Difference, of: &Difference, parts| {
            rest.odd() <= of.odd()
                && difference.is_small(rest, parts)
                && own(rest) * 2.0 <= own(of)
                && (!is_beside_long || rest.pairs() < KEPT)
        };
        let links = LinkFilter::of(content_links(case));
        let explained = known.explain(what, &may_explain, &|rest, parts| is_small(rest, &what, parts));
        let is_explained = match explained {
            Some(places) => {
                known.share(&places, links);
                true
            }
            // No other page shows this difference, because the links that went belong to it.
            None if is_duplicate || gone > 0 => return Ok(false),
            None => {
                let texts = Texts::of(&what, &case.page.passages);
                let turns = texts.as_ref().and_then(Texts::exchange).and_then(|(came, went)| {
                    let known_as = |text: &Difference| {
                        known.parts(*text, 1, known.seen.len(), &may_explain, &|rest| is_small(rest, text, 1))
                    };
                    known_as(came).map(|places| (places, *went)).or_else(|| Some((known_as(went)?, *came)))
                });
                let is_turn = turns.is_some();
                let new = match turns {
                    Some((places, other)) => {
                        known.share(&places, links);
                        vec![other]
                    }
                    None => texts.map_or_else(|| vec![what], Texts::into_parts),
                };
                new.into_iter().for_each(|what| known.add(SeenDifference { what, page, links, shown: 1 }));
                is_turn
            }
        };
        known.order = case.order;
        session.overwrite(spaces::TEMPLATES, key, Some(codec::encode(&known)))?;
        Ok(is_explained)
    }
}

/// Whether a short page keeps a part of its earlier content. (If a text beside it is longer than its own and is replaced,
/// the two contents resemble each other little.)
fn keeps_short_text(case: &Case<'_>, before: &Shown) -> bool {
    let (Some(now), Some(then)) = (&case.page.odd, &before.odd) else { return false };
    now.kept(then) >= KEPT
}

/// The odd sketch with which the next visit is compared, after a page was found unchanged. A page with small changes is
/// compared with its first content, so that small changes add up. A page with a new template is compared with its
/// present content.
pub(super) fn kept(before: Option<OddSketch>, now: Option<OddSketch>) -> Option<OddSketch> {
    match (before, now) {
        (Some(before), Some(now)) if before.is_same(&now) => Some(before),
        (_, now) => now,
    }
}
