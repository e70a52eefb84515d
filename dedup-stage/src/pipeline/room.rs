//! The bound of what is under way: a number of inputs, and a number of bytes.

use std::sync::{Condvar, Mutex, PoisonError};

use super::Limits;

/// Counts the inputs and the bytes that are under way.
#[derive(Default)]
pub(super) struct Room {
    used: Mutex<Used>,
    freed: Condvar,
}

#[derive(Default)]
struct Used {
    inputs: usize,
    bytes: usize,
    closed: bool,
}

impl Room {
    /// Waits for room and takes it. False if results are not taken any more.
    pub(super) fn take(&self, weight: usize, limits: &Limits) -> bool {
        let used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let full = |used: &mut Used| {
            !used.closed
                && used.inputs > 0
                && (used.inputs >= limits.inputs || used.bytes.saturating_add(weight) > limits.bytes)
        };
        let mut used = self.freed.wait_while(used, full).unwrap_or_else(PoisonError::into_inner);
        used.inputs += 1;
        used.bytes += weight;
        !used.closed
    }

    /// Gives back the room of one input.
    pub(super) fn give(&self, weight: usize) {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.inputs -= 1;
        used.bytes -= weight;
        self.freed.notify_one();
    }

    /// Ends all waiting, because results are not taken any more.
    pub(super) fn close(&self) {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
        self.freed.notify_one();
    }
}
