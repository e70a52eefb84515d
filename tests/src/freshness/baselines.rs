//! Policies for comparison: common ones, and optimal ones that know everything about the web.

use frontier::refresh::turns::{HostNumber, VisitTurns};

use super::optimum::{self, Item};
use super::run::{Archive, Policy};
use super::web::{DAYS, Shown, Web};

/// The time of the scheduler at which a simulation starts, in seconds.
pub const START: u32 = 1_000_000_000;

/// Converts a time in days since the start of the simulation to a time of the scheduler, in seconds.
pub fn seconds(now: f64) -> u32 {
    START + (now * 86_400.0).clamp(0.0, 3e9) as u32
}

/// The times between visits to a page.
pub trait Intervals {
    /// The days until the page is due, after a visit that showed whether it has changed.
    fn after(&mut self, page: u32, changed: bool) -> f64;
    /// The days until the first visit.
    fn first(&mut self, page: u32) -> f64;
    /// Whether a page may be visited before it is due.
    fn early(&self) -> bool {
        true
    }
}

/// Visits each page on its own, without regard to copies.
pub struct ByPage<'a, I> {
    web: &'a Web,
    turns: VisitTurns,
    intervals: I,
    last: Vec<Shown>,
}

impl<'a, I: Intervals> ByPage<'a, I> {
    /// A policy under which each page is first due as `intervals` says.
    pub fn new(web: &'a Web, mut intervals: I) -> Self {
        let mut turns = VisitTurns::default();
        (0..web.spec.hosts).for_each(|_| _ = turns.add_host());
        for page in 0..web.pages.len() as u32 {
            let first = intervals.first(page);
            if first.is_finite() {
                turns.push(web.pages[page as usize].host, seconds(first), u64::from(page));
            }
        }
        let last = (0..web.pages.len() as u32).map(|page| web.shows(page, 0.0)).collect();
        Self { web, turns, intervals, last }
    }
}

impl<I: Intervals> Policy for ByPage<'_, I> {
    fn next(&mut self, now: f64) -> Option<u32> {
        let turn = self.turns.peek(seconds(now))?;
        if turn.due > seconds(now) && !self.intervals.early() {
            return None;
        }
        self.turns.take(turn);
        Some(turn.page as u32)
    }

    fn fetched(&mut self, page: u32, shown: Shown, now: f64, _: &mut Archive) {
        let host = self.web.pages[page as usize].host;
        self.turns.rest(host, rested(self.web, now));
        let changed = std::mem::replace(&mut self.last[page as usize], shown) != shown;
        let next = self.intervals.after(page, changed);
        if next.is_finite() {
            self.turns.push(host, seconds(now + next), u64::from(page));
        }
    }
}

/// The time at which a host may get the next request if it gets one now.
pub fn rested(web: &Web, now: f64) -> u32 {
    // One second is added because times are cut to whole seconds.
    seconds(now + web.delay()) + 1
}

/// Visits all pages equally often.
pub struct Uniform {
    every: f64,
    pages: f64,
}

impl Uniform {
    /// A policy with `budget` fetches per page and day.
    pub fn new(web: &Web, budget: f64) -> Self {
        Self { every: 1.0 / budget, pages: web.pages.len() as f64 }
    }
}

impl Intervals for Uniform {
    fn after(&mut self, _: u32, _: bool) -> f64 {
        self.every
    }

    fn first(&mut self, page: u32) -> f64 {
        (f64::from(page) * 0.618_033_988_75).fract() * self.every + self.pages * 0.0
    }
}

/// Intervals that grow by a factor if a page has not changed, and shrink by another if it has.
pub struct Multiply {
    intervals: Vec<f64>,
    shrink: f64,
    grow: f64,
}

impl Multiply {
    /// A policy whose first intervals together spend the budget.
    pub fn new(web: &Web, budget: f64, shrink: f64, grow: f64) -> Self {
        Self { intervals: vec![1.0 / budget; web.pages.len()], shrink, grow }
    }
}

impl Intervals for Multiply {
    fn after(&mut self, page: u32, changed: bool) -> f64 {
        let interval = &mut self.intervals[page as usize];
        // The bounds are one minute and one year, as in Nutch.
        *interval = (*interval * if changed { self.shrink } else { self.grow }).clamp(1.0 / 1440.0, 365.0);
        *interval
    }

    fn first(&mut self, page: u32) -> f64 {
        (f64::from(page) * 0.618_033_988_75).fract() * self.intervals[page as usize]
    }

    fn early(&self) -> bool {
        false
    }
}

/// Intervals that are fixed from the start.
pub struct Known(Vec<f64>);

impl Known {
    /// Visits each page in proportion to its change rate.
    pub fn proportional(web: &Web, budget: f64) -> Self {
        let sum: f64 = web.pages.iter().map(|page| web.rates[page.source as usize]).sum();
        let each = sum / (budget * web.pages.len() as f64);
        Self(web.pages.iter().map(|page| each / web.rates[page.source as usize]).collect())
    }

    /// The optimum for a policy that knows the change rates but not which pages are copies.
    pub fn optimum(web: &Web, budget: f64) -> Self {
        let items: Vec<Item> =
            web.pages.iter().map(|p| Item { host: p.host, rate: web.rates[p.source as usize], weight: 1.0 }).collect();
        let prices = optimum::prices(&items, web.spec.hosts, budget * items.len() as f64, 1.0 / web.delay());
        Self(items.iter().map(|i| optimum::interval(i.rate, i.weight, prices[i.host as usize])).collect())
    }
}

impl Intervals for Known {
    fn after(&mut self, page: u32, _: bool) -> f64 {
        self.0[page as usize]
    }

    fn first(&mut self, page: u32) -> f64 {
        (f64::from(page) * 0.618_033_988_75).fract() * self.0[page as usize]
    }
}

/// The optimum for a policy that knows the change rates, the clusters of copies, and the times at which copies diverge.
pub struct ClusterOptimum<'a> {
    web: &'a Web,
    budget: f64,
    turns: VisitTurns,
    /// By page: the copies that are assumed to show the same as this page.
    trusted: Vec<Vec<u32>>,
    /// The times and pages of future divergences, the next one last.
    to_come: Vec<(f64, u32)>,
    prices: Vec<f64>,
    /// The time of the next computation of the prices.
    again: f64,
}

impl<'a> ClusterOptimum<'a> {
    /// A policy with `budget` fetches per page and day.
    pub fn new(web: &'a Web, budget: f64) -> Self {
        let mut turns = VisitTurns::default();
        (0..web.spec.hosts).for_each(|_| _ = turns.add_host());
        let mut trusted = vec![Vec::new(); web.pages.len()];
        let mut to_come = Vec::new();
        for (n, page) in web.pages.iter().enumerate() {
            if let Some(original) = page.original {
                trusted[original as usize].push(n as u32);
            }
            to_come.extend(page.diverges.map(|(at, _)| (at, n as u32)));
        }
        to_come.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut policy = Self { web, budget, turns, trusted, to_come, prices: Vec::new(), again: DAYS / 5.0 };
        policy.reprice(0.0);
        for page in 0..web.pages.len() as u32 {
            if web.pages[page as usize].original.is_none() {
                let interval = policy.interval(page, 0.0);
                policy.push(page, (f64::from(page) * 0.618_033_988_75).fract() * interval);
            }
        }
        policy
    }

    fn reprice(&mut self, now: f64) {
        let alone = |page: u32| {
            let page = self.web.pages[page as usize];
            page.original.is_none() || page.diverges.is_some_and(|(at, _)| at <= now)
        };
        let items: Vec<Item> = (0..self.web.pages.len() as u32)
            .filter(|page| alone(*page))
            .map(|page| Item {
                host: self.web.pages[page as usize].host,
                rate: self.web.rate(page, now),
                weight: self.weight(page),
            })
            .collect();
        let budget = self.budget * self.web.pages.len() as f64;
        self.prices = optimum::prices(&items, self.web.spec.hosts, budget, 1.0 / self.web.delay());
    }

    fn weight(&self, page: u32) -> f64 {
        1.0 + self.trusted[page as usize].len() as f64
    }

    fn interval(&self, page: u32, now: f64) -> f64 {
        let host = self.web.pages[page as usize].host as usize;
        optimum::interval(self.web.rate(page, now), self.weight(page), self.prices[host])
    }

    fn push(&mut self, page: u32, due: f64) {
        if due.is_finite() {
            let host: HostNumber = self.web.pages[page as usize].host;
            self.turns.push(host, seconds(due), u64::from(page));
        }
    }
}

impl Policy for ClusterOptimum<'_> {
    fn next(&mut self, now: f64) -> Option<u32> {
        while let Some((_, page)) = self.to_come.pop_if(|(at, _)| *at <= now) {
            let original = self.web.pages[page as usize].original.unwrap_or(page);
            self.trusted[original as usize].retain(|trusted| *trusted != page);
            if self.interval(page, now).is_finite() {
                self.push(page, now);
            }
        }
        if now >= self.again {
            self.again += DAYS / 5.0;
            self.reprice(now);
        }
        let turn = self.turns.peek(seconds(now))?;
        self.turns.take(turn);
        Some(turn.page as u32)
    }

    fn fetched(&mut self, page: u32, shown: Shown, now: f64, archive: &mut Archive) {
        self.turns.rest(self.web.pages[page as usize].host, rested(self.web, now));
        for &copy in &self.trusted[page as usize] {
            archive.store(copy, shown, now);
        }
        self.push(page, now + self.interval(page, now));
    }
}
