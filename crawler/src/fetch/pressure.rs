//! Slots are shared by progress. While hosts wait for a free slot, an answer that hardly moves loses the slot that it holds:
//! else a few hosts that send a byte a second would hold them all.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Whether hosts wait for a slot now. The engine says so; the fetcher asks.
#[derive(Clone, Debug, Default)]
pub struct Pressure(Arc<AtomicBool>);

impl Pressure {
    /// Bytes a second that a body must bring while others wait.
    const LEAST_RATE: u64 = 1_024;
    /// How long the first attempt may go on without enough progress while others wait. Each later attempt has twice the time
    /// of the one before: an honest server that is slow is heard in the end.
    const FIRST: Duration = Duration::from_secs(3);
    /// How often an answer is looked at.
    pub(super) const LOOK: Duration = Duration::from_millis(500);

    /// Says whether hosts wait for a slot.
    pub fn set(&self, waiting: bool) {
        self.0.store(waiting, Ordering::Relaxed);
    }

    /// Whether an answer that has brought `bytes` in `elapsed`, at its attempt number `attempt` (from 0), should give up its
    /// slot now.
    pub(super) fn takes_slot(&self, bytes: u64, elapsed: Duration, attempt: u32) -> bool {
        let allowed = Self::FIRST * 2u32.saturating_pow(attempt.min(8));
        self.0.load(Ordering::Relaxed)
            && elapsed > allowed
            && bytes < (elapsed.as_millis() as u64).saturating_mul(Self::LEAST_RATE) / 1_000
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_slow_answers_lose_their_slot_and_only_while_others_wait() {
        let pressure = Pressure::default();
        let (short, long) = (Duration::from_secs(2), Duration::from_secs(10));
        assert!(!pressure.takes_slot(5, long, 0), "nobody waits");
        pressure.set(true);
        assert!(!pressure.takes_slot(0, short, 0), "it has only begun");
        assert!(pressure.takes_slot(5, long, 0));
        assert!(!pressure.takes_slot(20_000, long, 0), "it makes progress");
        assert!(!pressure.takes_slot(5, long, 2), "a later attempt has more time");
        pressure.set(false);
        assert!(!pressure.takes_slot(5, long, 0));
    }
}
