//! One budget of bytes for all bodies in memory. A body that does not fit is given up. So no body waits while it holds
//! bytes.
//!
//! A part of the budget is divided evenly among the slots: each body has that much for itself, whatever the others
//! hold. So bodies that are large, or never end, leave room for the pages of others.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The number of bytes that all bodies may hold together.
#[derive(Debug)]
pub struct ByteBudget {
    /// The number of bytes that each body may hold for itself.
    own: u64,
    /// The number of bytes that all bodies together may hold beyond that.
    shared: u64,
    used: AtomicU64,
    used_of_shared: AtomicU64,
    began: Instant,
    /// The last time at which a body found no room, in milliseconds since `began`, plus 1; 0: never.
    refused: AtomicU64,
}

impl ByteBudget {
    /// The divisor that gives the part of the budget that bodies have for themselves.
    pub(super) const OWN: u64 = 16;
    /// The divisor that gives the most bytes of a connection's buffers that one body takes from the budget. So a body
    /// that fits into a small budget still fits, however fast its host is.
    const BUFFERS: u64 = 64;
    /// The time after a body has found no room in which other bodies are asked to make room.
    const TIGHT: Duration = Duration::from_secs(3);

    /// A budget of `total` bytes, all of them shared.
    pub fn new(total: u64) -> Arc<Self> {
        Self::of(0, total)
    }

    /// A budget of `total` bytes for a number of slots.
    pub fn for_slots(total: u64, slots: usize) -> Arc<Self> {
        let own = total / Self::OWN / slots.max(1) as u64;
        Self::of(own, total - own * slots as u64)
    }

    fn of(own: u64, shared: u64) -> Arc<Self> {
        let (used, used_of_shared, refused) = Default::default();
        Arc::new(Self { own, shared, used, used_of_shared, began: Instant::now(), refused })
    }

    /// An empty share of the budget. It grows as a body arrives.
    pub fn share(self: &Arc<Self>) -> BudgetShare {
        BudgetShare { budget: Some(Arc::clone(self)), bytes: 0 }
    }

    /// The number of bytes that are held now.
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// The part of `held` bytes of a body that comes from the shared bytes.
    pub(super) fn beyond(&self, held: u64) -> u64 {
        held.saturating_sub(self.own)
    }

    /// Whether a body found no room shortly before `now`.
    pub(super) fn is_tight(&self, now: Instant) -> bool {
        let refused = self.refused.load(Ordering::Relaxed);
        let at = self.began + Duration::from_millis(refused);
        refused > 0 && now.saturating_duration_since(at) < Self::TIGHT
    }
}

/// The bytes of a budget that one body holds. They are given back on drop.
#[derive(Debug, Default)]
pub struct BudgetShare {
    budget: Option<Arc<ByteBudget>>,
    bytes: u64,
}

impl BudgetShare {
    /// Takes `bytes` more. If the budget has no room, returns false and takes nothing.
    pub fn grow(&mut self, bytes: u64) -> bool {
        let Some(budget) = &self.budget else { return true };
        let more = budget.beyond(self.bytes + bytes) - budget.beyond(self.bytes);
        let fit = |used: u64| (used + more <= budget.shared).then_some(used + more);
        let fits = budget.used_of_shared.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fit).is_ok();
        if fits {
            self.bytes += bytes;
            budget.used.fetch_add(bytes, Ordering::Relaxed);
        } else {
            budget.refused.store(budget.began.elapsed().as_millis() as u64 + 1, Ordering::Relaxed);
        }
        fits
    }

    /// The most bytes of its connection's buffers that the body takes from the budget.
    pub(super) fn most_buffers(&self) -> u64 {
        self.budget.as_ref().map_or(0, |budget| budget.shared / ByteBudget::BUFFERS)
    }

    /// Gives back `bytes` of those that it holds.
    pub(super) fn shrink(&mut self, bytes: u64) {
        let left = self.bytes - bytes;
        if let Some(budget) = &self.budget {
            budget.used_of_shared.fetch_sub(budget.beyond(self.bytes) - budget.beyond(left), Ordering::Relaxed);
            budget.used.fetch_sub(bytes, Ordering::Relaxed);
        }
        self.bytes = left;
    }

    /// The number of bytes that it holds.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for BudgetShare {
    fn drop(&mut self) {
        self.shrink(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slot_has_room_for_a_small_body_whatever_others_hold() {
        let (total, slots) = (64 << 20, 64);
        let budget = ByteBudget::for_slots(total, slots);
        let mut large: Vec<BudgetShare> = (0..8).map(|_| budget.share()).collect();
        while large.iter_mut().any(|share| share.grow(64 << 10)) {}
        assert!(budget.is_tight(Instant::now()));
        let small: Vec<BudgetShare> = (8..slots).map(|_| budget.share()).collect();
        let fit = small.into_iter().map(|mut share| (share.grow(64 << 10), share)).collect::<Vec<_>>();
        assert!(fit.iter().all(|(fits, _)| *fits));
        assert!(budget.used() <= total);
        drop((large, fit));
        assert_eq!((budget.used(), budget.used_of_shared.load(Ordering::Relaxed)), (0, 0));
    }
}
