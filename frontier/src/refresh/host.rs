//! What the scheduler knows of a host: what is stored, and what is in memory only.

use serde::{Deserialize, Serialize};

use super::market::{CompactDemand, Demand, Market};
use super::prior::{Effects, Prior};
use super::settings::{LESSON_SHARE, Settings};
use super::signals::Signals;
use super::time::Seconds;

/// What was learned of a host. It is stored with the other records of the host. A new host has the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Learned {
    /// How the change rates of its pages differ from those of other hosts.
    pub effects: Effects,
    /// How far its dates and lists can be trusted.
    pub signals: Signals,
}

/// A host.
#[derive(Clone, Debug, Default)]
pub(super) struct Host {
    pub learned: Learned,
    /// Fetches a day that its delay allows.
    pub allows: f32,
    /// The price of a fetch.
    pub price: f32,
    /// The price of a fetch that is no lesson (see `settings::LESSON_DAYS`). It is higher than `price` while lessons
    /// use a part of the budget.
    pub pressed: f32,
    /// The demand at the last review.
    pub demand: CompactDemand,
    /// Clusters whose representative is here.
    pub pages: u32,
    /// Clusters that had been visited again, at the last review.
    pub seen: u32,
    /// Pages whose rate is worth a lesson, but whose last visit was too long ago for a lesson by one visit: the next
    /// visit alone would teach nothing.
    pub unknown: u32,
    /// The last review.
    pub reviewed: Seconds,
    /// Days from the last review to the next one.
    pub window: f32,
    /// Days over which the first visits of the lessons are spread.
    pub lessons_take: f32,
    /// Whether the last review was that at the start of this process. Then pages may be overdue because no process ran.
    pub is_first_review: bool,
    /// Days that it takes to visit all pages once, at the delay of the host and at the budget. After a pause, pages
    /// that are overdue are spread over no more than this.
    pub catch_up: f32,
}

/// Sums over all hosts, and what all hosts share.
#[derive(Clone, Debug, Default)]
pub(super) struct Shared {
    pub prior: Prior,
    pub market: Market,
    /// Sums of the fields of the same names.
    pub pages: u64,
    pub seen: u64,
    pub unknown: u64,
    /// Fetches a day for lessons.
    pub lessons: f32,
}

impl Host {
    /// Fetches a day for its lessons. Each lesson takes two.
    fn lessons(&self) -> f32 {
        if self.unknown == 0 { 0.0 } else { 2.0 * self.unknown as f32 / self.lessons_take }
    }

    /// Takes the counts of a review.
    pub fn counted(&mut self, demand: &Demand, seen: u32, unknown: u32, shared: &mut Shared, settings: &Settings) {
        shared.seen = shared.seen + u64::from(seen) - u64::from(self.seen);
        shared.unknown = shared.unknown + u64::from(unknown) - u64::from(self.unknown);
        shared.lessons -= self.lessons();
        (self.seen, self.unknown) = (seen, unknown);
        let share = unknown as f32 / shared.unknown.max(1) as f32;
        let pace = LESSON_SHARE * (settings.budget * share).min(self.allows);
        // A few lessons take two days at least.
        self.lessons_take = (2.0 * unknown as f32 / pace.max(f32::MIN_POSITIVE)).max(2.0);
        shared.lessons += self.lessons();
        shared.market.change((&self.demand.demand(), self.allows), (&Demand::default(), self.allows));
        self.demand = CompactDemand::new(demand);
        shared.market.change((&Demand::default(), self.allows), (&self.demand.demand(), self.allows));
    }

    /// Whether its delay binds: without the delay, more of its pages would be visited.
    pub fn is_bound(&self, shared: &Shared, settings: &Settings) -> bool {
        self.demand.demand().price(self.allows) > shared.market.price(settings.budget)
    }

    /// Computes the prices again.
    pub fn reprice(&mut self, shared: &Shared, settings: &Settings) {
        let demand = self.demand.demand();
        let price = shared.market.price(settings.budget).max(demand.price(self.allows));
        self.price = price.max(settings.least_price);
        let (left, own_left) = (settings.budget - shared.lessons, self.allows - self.lessons());
        self.pressed = shared.market.price(left).max(demand.price(own_left)).max(self.price);
    }
}
