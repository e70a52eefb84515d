//! The scheduler of this project on a web whose hosts all have a sitemap, which is read once a day.

use super::baselines::seconds;
use super::ours::Ours;
use super::run::{Archive, Policy};
use super::web::{Shown, Web};

/// The meaning of `lastmod` in the sitemaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lastmod {
    /// The time at which the page changed.
    Honest,
    /// The time at which the sitemap was requested.
    Lying,
    /// There is no `lastmod`.
    Silent,
}

/// The policy of this project's scheduler, with sitemaps.
#[derive(Debug)]
pub struct WithSitemaps<'a> {
    web: &'a Web,
    ours: Ours<'a>,
    lastmod: Lastmod,
    /// The version of each page at its last visit.
    last: Vec<Shown>,
    /// The time at which the sitemaps are read next.
    reads: f64,
}

impl<'a> WithSitemaps<'a> {
    /// A policy for hosts whose sitemaps are all of this kind.
    pub fn new(web: &'a Web, ours: Ours<'a>, lastmod: Lastmod) -> Self {
        let last = (0..web.pages.len() as u32).map(|page| web.shows(page, 0.0)).collect();
        Self { web, ours, lastmod, last, reads: 1.0 }
    }

    fn read(&mut self, now: f64) {
        for page in 0..self.web.pages.len() as u32 {
            match self.lastmod {
                Lastmod::Honest => {
                    let has_changed = self.web.shows(page, now) != self.last[page as usize];
                    self.ours.listed(page, has_changed.then_some(seconds(now)));
                }
                Lastmod::Lying => self.ours.listed(page, Some(seconds(now))),
                Lastmod::Silent => {}
            }
        }
    }
}

impl Policy for WithSitemaps<'_> {
    fn next(&mut self, now: f64) -> Option<u32> {
        if now >= self.reads {
            self.reads += 1.0;
            self.read(now);
        }
        self.ours.next(now)
    }

    fn fetched(&mut self, page: u32, shown: Shown, now: f64, archive: &mut Archive) {
        self.last[page as usize] = shown;
        self.ours.fetched(page, shown, now, archive);
    }
}
