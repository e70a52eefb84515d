//! One policy on one web: so many fetches a day, hosts that must rest, and the share of pages that are as they are on the web.

use super::web::{DAYS, Shown, Web};

/// Freshness counts from this day on.
pub const FROM: f64 = 20.0;

/// Decides what is fetched.
pub trait Policy {
    /// What to fetch now; `None` to let the moment pass. The page's host must not rest.
    fn next(&mut self, now: f64) -> Option<u32>;

    /// The page was fetched. The archive holds it already; what else is to be taken as shown, the policy says.
    fn fetched(&mut self, page: u32, shown: Shown, now: f64, archive: &mut Archive);
}

/// What was stored of each page, and for how long it was true.
#[derive(Debug)]
pub struct Archive<'a> {
    /// The web.
    pub web: &'a Web,
    stored: Vec<Stored>,
    /// What was stored of the page that was fetched last, before that.
    before: Shown,
    /// Days of freshness, of all pages together, from [`FROM`] on.
    fresh: f64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Stored {
    shown: Shown,
    /// When it was stored, and until when it is true.
    from: f64,
    until: f64,
}

impl<'a> Archive<'a> {
    /// All pages as they are at the start.
    pub fn new(web: &'a Web) -> Self {
        let mut archive =
            Self { web, stored: vec![Stored::default(); web.pages.len()], before: Shown::default(), fresh: 0.0 };
        for page in 0..web.pages.len() as u32 {
            archive.store(page, web.shows(page, 0.0), 0.0);
        }
        archive
    }

    /// What is stored of a page.
    pub fn stored(&self, page: u32) -> Shown {
        self.stored[page as usize].shown
    }

    /// What was stored of the page that is being reported as fetched, before it was fetched.
    pub fn before(&self) -> Shown {
        self.before
    }

    /// The page is believed to show this.
    pub fn store(&mut self, page: u32, shown: Shown, now: f64) {
        self.close(page, now);
        let until = if self.web.shows(page, now) == shown { self.web.shows_until(page, shown) } else { now };
        self.stored[page as usize] = Stored { shown, from: now, until };
    }

    fn close(&mut self, page: u32, now: f64) {
        let Stored { from, until, .. } = self.stored[page as usize];
        self.fresh += (until.min(now) - from.max(FROM)).max(0.0);
    }

    /// Share of pages that were fresh, on average over time.
    fn freshness(mut self) -> f64 {
        for page in 0..self.stored.len() as u32 {
            self.close(page, DAYS);
        }
        self.fresh / (DAYS - FROM) / self.stored.len() as f64
    }
}

/// What came of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct FreshnessResult {
    /// Time-averaged freshness from day 20 on.
    pub freshness: f64,
    /// Share of the budget that was not spent.
    pub unspent: f64,
}

/// Runs a policy for all days, with so many fetches a page and day.
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
