//! One byte budget for all bodies in memory: a body that does not fit is given up, nobody waits while holding bytes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that bodies may hold together.
#[derive(Debug)]
pub struct Budget {
    total: u64,
    used: AtomicU64,
}

impl Budget {
    /// A budget of so many bytes.
    pub fn new(total: u64) -> Arc<Self> {
        Arc::new(Self { total, used: AtomicU64::new(0) })
    }

    /// An empty share of it, to grow as a body arrives.
    pub fn share(self: &Arc<Self>) -> Share {
        Share { budget: Some(Arc::clone(self)), bytes: 0 }
    }

    /// Bytes held now.
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }
}

/// What one body holds of a budget; given back on drop.
#[derive(Debug, Default)]
pub struct Share {
    budget: Option<Arc<Budget>>,
    bytes: u64,
}

impl Share {
    /// Takes `bytes` more; false, and nothing taken, if the budget has no room.
    pub fn grow(&mut self, bytes: u64) -> bool {
        let Some(budget) = &self.budget else { return true };
        let fits = budget
            .used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
                (used + bytes <= budget.total).then_some(used + bytes)
            })
            .is_ok();
        if fits {
            self.bytes += bytes;
        }
        fits
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        if let Some(budget) = &self.budget {
            budget.used.fetch_sub(self.bytes, Ordering::Relaxed);
        }
    }
}
