//! The sitemap of which the engine has taken only a part.

use std::vec;

use frontier::{Job, Millis};

use super::message::{Named, SitemapFinding};
use super::under_way::Weight;

/// A sitemap of which a part was taken. Its job is open until all of it was taken. So if the crawl ends before that,
/// the next run reads the sitemap again.
pub(super) struct Unfinished {
    pub job: Job,
    pub at: Millis,
    pub finding: SitemapFinding,
    /// The pages that are left.
    pub pages: vec::IntoIter<Named>,
    /// The number of new pages so far, weighted.
    pub news: f32,
    /// The time that it has cost so far, in microseconds.
    pub micros: u64,
    /// The memory that it holds. It is given back on drop.
    pub _weight: Option<Weight>,
}
