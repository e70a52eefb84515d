//! Areas of URLs, and the test that tells which of them are traps. An area is a folder, or the queries of one path.
//!
//! A page is *barren* if its text was known and it has no new link out of its area. (The engine decides this:
//! `crawler/src/engine/answers/barren.rs`.) The test is a cumulative sum over the pages of an area. Each page adds the
//! log-likelihood ratio of "99 in 100 are barren" against "nine in ten are barren"; the sum is never below zero. So
//! [`RUN`] barren pages in a row prove a trap. A page that brought something lowers the sum, so more barren pages are
//! needed after it. In an area in which one page in ten brings something, [`RUN`] barren pages in a row come up once
//! in 2,000 runs.
//!
//! Lists of lists (makes, models, years of cars) are barren, too, until the crawl comes to the pages that they list. So
//! a barren page does not count if it is fewer than [`LISTS`] links deeper than the page of the area that is nearest
//! to a seed.
//!
//! A trap also has no end: on average, each of its pages leads to at least [`OFFSPRING`] new URLs of the area. A
//! area with fewer new URLs comes to an end by itself, and is no trap.

use std::fmt;

use serde::{Deserialize, Serialize};
use url::Url;
use xxhash_rust::xxh3::xxh3_64;

use super::evidence::Evidence;
use super::rewrite::origin;
use super::{Lesson, Map};

/// Barren pages in a row that prove a trap.
const RUN: u32 = 73;
/// The sum at which an area is a trap: ln(1 / 0.001).
const LIMIT: f64 = 6.907;
/// An area may have this many levels of lists before it brings something.
const LISTS: u32 = 3;
/// The share of barren pages in a trap.
const TRAP: f64 = 0.99;
/// The share of barren pages in an area that is no trap.
const NONE: f64 = 0.9;
/// The pages of a trap link to at least this many new URLs of the area each, on average.
const OFFSPRING: f64 = 0.5;

/// An area.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Area {
    /// The beginning of its URLs.
    prefix: String,
    /// Whether its URLs have a query.
    query: bool,
}

impl Area {
    /// The area of a URL. Pages at the top of a host have none.
    pub fn of(url: &Url) -> Option<Self> {
        if url.query().is_some() {
            let prefix = url[..url::Position::AfterPath].to_owned();
            return Some(Self { prefix, query: true });
        }
        let (folder, _) = url.path().get(1..)?.split_once('/')?;
        Some(Self { prefix: format!("{}/{folder}/", origin(url)), query: false })
    }

    /// Whether a URL belongs to the area.
    pub fn has(&self, url: &Url) -> bool {
        match self.query {
            true => url.query().is_some() && url[..url::Position::AfterPath] == self.prefix,
            false => url.query().is_none() && url.as_str().starts_with(&self.prefix),
        }
    }

    pub(super) fn id(&self) -> u64 {
        xxh3_64(self.prefix.as_bytes()) ^ u64::from(self.query)
    }
}

impl fmt::Display for Area {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{} = nothing new", self.prefix, if self.query { "?*" } else { "*" })
    }
}

/// The areas that are watched, with the sums of their pages.
#[derive(Debug, Default)]
pub(super) struct Areas {
    watched: Map<u64, Watched>,
}

/// The state of the test of one area.
#[derive(Clone, Copy, Debug)]
struct Watched {
    sum: f64,
    /// The lowest depth of its pages.
    top: u32,
    /// Pages since the sum was last zero.
    pages: u32,
    /// New URLs of the area that these pages led to.
    offspring: u32,
}

impl Areas {
    /// The evidence on the record of a trap: the barren pages in a row that prove one.
    pub const PROOF: Evidence = Evidence { agreed: RUN, differed: 0 };
    /// At most this many areas are watched.
    const MOST: usize = 65_536;

    /// Counts one more page of an area. True if the area is a trap now.
    pub fn page(&mut self, area: &Area, lesson: &Lesson<'_>) -> bool {
        let id = area.id();
        if self.watched.len() >= Self::MOST && !self.watched.contains_key(&id) {
            return false;
        }
        let watched = self.watched.entry(id).or_insert(Watched { sum: 0.0, top: lesson.depth, pages: 0, offspring: 0 });
        let trap = watched.page(lesson);
        if trap {
            self.watched.remove(&id);
        }
        trap
    }

    /// Trials have shown that this area is no trap. It is never taken for one again.
    pub fn exempt(&mut self, area: &Area) {
        self.watched.insert(area.id(), Watched { sum: f64::NEG_INFINITY, top: 0, pages: 0, offspring: 0 });
    }
}

impl Watched {
    /// Counts one more page. True if the area is a trap now.
    fn page(&mut self, lesson: &Lesson<'_>) -> bool {
        let &Lesson { barren, depth, offspring, .. } = lesson;
        self.top = self.top.min(depth);
        if barren && depth < self.top + LISTS {
            return false;
        }
        self.sum = weigh(self.sum, barren);
        if self.sum <= 0.0 {
            (self.pages, self.offspring) = (0, 0);
            return false;
        }
        self.pages = self.pages.saturating_add(1);
        self.offspring = self.offspring.saturating_add(offspring);
        self.sum >= LIMIT && f64::from(self.offspring) >= OFFSPRING * f64::from(self.pages)
    }
}

/// The sum after one more page.
fn weigh(sum: f64, barren: bool) -> f64 {
    let ratio = if barren { (TRAP / NONE).ln() } else { ((1.0 - TRAP) / (1.0 - NONE)).ln() };
    // An area that trials have shown to be no trap has an infinitely low sum, which no page raises.
    if sum == f64::NEG_INFINITY { sum } else { (sum + ratio).clamp(0.0, LIMIT + ratio.abs()) }
}

#[cfg(test)]
mod tests {
    use dedup_stage::url::{SiteId, UrlId};

    use super::*;
    use crate::rules::Content;

    #[test]
    fn an_area_is_a_path_with_queries_or_a_folder() {
        let area = |url: &str| Area::of(&Url::parse(url).unwrap());
        assert_eq!(area("http://a/x.html"), None);
        assert_eq!(area("http://a/"), None);
        let folder = area("http://a/cal/2026/01/").unwrap();
        let queries = area("http://a/shop/?a=1").unwrap();
        assert_eq!(
            (folder.to_string(), queries.to_string()),
            ("http://a/cal/* = nothing new".into(), "http://a/shop/?* = nothing new".into())
        );
        for (url, in_folder, in_queries) in [
            ("http://a/cal/x", true, false),
            ("http://a/cal/x?y=1", false, false),
            ("http://a/shop/?b=2&c", false, true),
            ("http://a/shop/", false, false),
            ("http://b/cal/x", false, false),
        ] {
            let url = Url::parse(url).unwrap();
            assert_eq!((folder.has(&url), queries.has(&url)), (in_folder, in_queries), "{url}");
        }
    }

    #[test]
    fn a_run_of_barren_pages_makes_a_trap_and_what_came_before_does_not_prolong_it() {
        let mut sum = (0..1_000).fold(0.0, |sum, _| weigh(sum, false));
        let run = (1..).find(|_| {
            sum = weigh(sum, true);
            sum >= LIMIT
        });
        assert_eq!(run, Some(RUN));
        assert!((0..10_000).fold(0.0, |sum, page| weigh(sum, page % 8 != 0)) < LIMIT);
    }

    #[test]
    fn what_does_not_feed_itself_is_no_trap() {
        let area = Area::of(&Url::parse("http://a/item?id=1").unwrap()).unwrap();
        let traps = |offspring: fn(u32) -> u32| position(&area, |page| (page + LISTS, offspring(page)));
        assert_eq!(traps(|_| 0), None, "a list of them stands elsewhere");
        assert_eq!(traps(|page| u32::from(page == 0) * 30), None, "thirty, and no more");
        assert_eq!(traps(|_| 1), Some(RUN as usize - 1));
        assert_eq!(traps(|page| u32::from(page % 40 == 0) * 40), Some(RUN as usize - 1));
    }

    #[test]
    fn lists_of_lists_are_no_trap_before_their_last_level_is_reached() {
        let area = Area::of(&Url::parse("http://a/cars/1").unwrap()).unwrap();
        assert_eq!(position(&area, |page| (1 + page / 400, 1)), Some(2 * 400 + RUN as usize - 1));
        assert_eq!(position(&area, |page| (page % LISTS, 1)), None);
    }

    /// Of 2,000 barren pages, the number of the one that proves a trap. `page` gives the depth and the offspring of
    /// each.
    fn position(area: &Area, page: impl Fn(u32) -> (u32, u32)) -> Option<usize> {
        let url = Url::parse("http://a/").unwrap();
        let id = UrlId { site: SiteId { domain: 1, host: 1 }, url: 1 };
        let mut areas = Areas::default();
        // The first page of the area lies above the others.
        let first = page(0).0.saturating_sub(LISTS);
        let lesson = |depth, offspring| {
            let content = Content { text: 1, shows: 1 };
            Lesson { url: &url, id, content, twin: None, barren: true, depth, offspring }
        };
        assert!(!areas.page(area, &lesson(first, 0)));
        (0..2_000).position(|number| {
            let (depth, offspring) = page(number);
            areas.page(area, &lesson(depth, offspring))
        })
    }
}
