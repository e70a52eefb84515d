//! Runs one policy on one web, with a fixed number of fetches a day and a delay for each host, and measures the share
//! of fresh pages: those whose stored version is the current one.

use super::web::{DAYS, Shown, Web};

/// The day from which freshness is measured.
pub const FROM: f64 = 20.0;

/// A policy, which decides which pages are fetched.
pub trait Policy {
    /// The page to fetch now, or `None` to skip this chance. The host of the page must not be within its delay.
    fn next(&mut self, now: f64) -> Option<u32>;

    /// Reports that a page was fetched. The archive holds it already; the policy may also store it for copies of the
    /// page.
    fn fetched(&mut self, page: u32, shown: Shown, now: f64, archive: &mut Archive);
}

/// The stored version of each page, and how long it was the current one.
#[derive(Debug)]
pub struct Archive<'a> {
    /// The web.
    pub web: &'a Web,
    stored: Vec<Stored>,
    /// The version of the page that was fetched last, as it was stored before that fetch.
    before: Shown,
    /// The sum of the days for which pages were fresh, from [`FROM`] on.
    fresh: f64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Stored {
    shown: Shown,
    /// The time at which it was stored, and the time until which it is current.
    from: f64,
    until: f64,
}

impl<'a> Archive<'a> {
    /// An archive that holds all pages as they are at the start.
    pub fn new(web: &'a Web) -> Self {
        let mut archive =
            Self { web, stored: vec![Stored::default(); web.pages.len()], before: Shown::default(), fresh: 0.0 };
        for page in 0..web.pages.len() as u32 {
            archive.store(page, web.shows(page, 0.0), 0.0);
        }
        archive
    }

    /// The stored version of a page.
    pub fn stored(&self, page: u32) -> Shown {
        self.stored[page as usize].shown
    }

    /// The version that was stored before the fetch that is being reported.
    pub fn before(&self) -> Shown {
        self.before
    }

    /// Stores what the page is believed to show.
    pub fn store(&mut self, page: u32, shown: Shown, now: f64) {
        self.close(page, now);
        let until = if self.web.shows(page, now) == shown { self.web.shows_until(page, shown) } else { now };
        self.stored[page as usize] = Stored { shown, from: now, until };
    }

    fn close(&mut self, page: u32, now: f64) {
        let Stored { from, until, .. } = self.stored[page as usize];
        self.fresh += (until.min(now) - from.max(FROM)).max(0.0);
    }

    /// The average share of fresh pages over time.
    fn freshness(mut self) -> f64 {
        for page in 0..self.stored.len() as u32 {
            self.close(page, DAYS);
        }
        self.fresh / (DAYS - FROM) / self.stored.len() as f64
    }
}

/// The result of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct FreshnessResult {
    /// The average freshness from day 20 on.
    pub freshness: f64,
    /// The share of the budget that was not spent.
    pub unspent: f64,
}

/// Runs a policy for all days, with `budget` fetches per page and day.
pub fn run(web: &Web, budget: f64, policy: &mut dyn Policy) -> FreshnessResult {
    let mut archive = Archive::new(web);
    let step = 1.0 / (budget * web.pages.len() as f64);
    let slots = (DAYS / step) as u64;
    let mut free_at = vec![0.0; web.spec.hosts];
    let mut unspent = 0;
    for slot in 0..slots {
        let now = slot as f64 * step;
        let Some(page) = policy.next(now) else {
            unspent += 1;
            continue;
        };
        let free_at = &mut free_at[web.pages[page as usize].host as usize];
        assert!(now >= *free_at, "a host was asked {} days too soon", *free_at - now);
        *free_at = now + web.delay();
        let shown = web.shows(page, now);
        archive.before = archive.stored(page);
        archive.store(page, shown, now);
        policy.fetched(page, shown, now, &mut archive);
    }
    FreshnessResult { freshness: archive.freshness(), unspent: unspent as f64 / slots as f64 }
}
