//! Shares the slots, and the room for bodies, by progress. While hosts wait for a free slot, an answer that hardly
//! moves loses its slot. While bodies find no room, a body that holds much and hardly grows loses its room. Otherwise a
//! few hosts that send a byte a second would hold everything.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::budget::ByteBudget;

/// Whether hosts wait for a slot now, and how many slots have been held for long. The engine sets the first, and the
/// fetcher counts the second.
#[derive(Clone, Debug, Default)]
pub struct Pressure(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    waiting: AtomicBool,
    slots: usize,
    /// The number of requests that have held their slot for long.
    long: AtomicUsize,
    /// The usual time for which requests that ended well held their slots lately, in milliseconds; 0 before the first.
    usual: AtomicU64,
}

/// The progress of one request.
#[derive(Debug)]
pub(super) struct Watch {
    pressure: Pressure,
    budget: Arc<ByteBudget>,
    started: Instant,
    /// The time for which it may go on without enough progress.
    window: Duration,
    /// The last time at which it had made enough progress, and its bytes at that time.
    mark: (Instant, u64),
    is_long: bool,
}

/// The reason why a request must give way to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Given {
    /// Hosts wait for a slot.
    Slot,
    /// Bodies find no room.
    Room,
}

impl Pressure {
    /// The bytes a second that a body must bring while others wait.
    const LEAST_RATE: u64 = 1_024;
    /// The bytes a second that it must bring while more than half of all slots are held for long, although answers
    /// usually come at once. (If answers usually do not come at once, the line of this machine is slow.)
    const LEAST_RATE_OF_MANY: u64 = 16 * Self::LEAST_RATE;
    /// While more than half of all slots are held for long, a request may hold its slot for this many of its windows,
    /// however much it brings.
    const WINDOWS_OF_MANY: u32 = 2;
    /// The number of milliseconds within which an answer counts as coming at once.
    const AT_ONCE: u64 = 1_000;
    /// While others find no room, a body that holds much must bring this fraction of it each second (one part in
    /// `RENT`).
    const RENT: u64 = 32;
    /// The time for which the first attempt may go on without enough progress while others wait. Each later attempt has
    /// twice the time of the one before. So an honest server that is slow gets its answer through in the end.
    const FIRST: Duration = Duration::from_secs(3);
    /// The interval at which an answer is checked.
    pub(super) const LOOK: Duration = Duration::from_millis(500);

    /// A pressure for a number of slots, without anything that waits.
    pub fn new(slots: usize) -> Self {
        Self(Arc::new(Shared { slots, ..Shared::default() }))
    }

    /// Sets whether hosts wait for a slot.
    pub fn set(&self, waiting: bool) {
        self.0.waiting.store(waiting, Ordering::Relaxed);
    }

    /// Watches a request that starts at `now` as attempt number `attempt` (from 0).
    pub(super) fn watch(&self, budget: &Arc<ByteBudget>, attempt: u32, now: Instant) -> Watch {
        let window = Self::FIRST * 2u32.saturating_pow(attempt.min(8));
        let (pressure, budget) = (self.clone(), Arc::clone(budget));
        Watch { pressure, budget, started: now, window, mark: (now, 0), is_long: false }
    }
}

impl Watch {
    /// The reason why a request that has brought `bytes` so far, and holds `held` of the budget, must give way now, if
    /// it must.
    pub(super) fn must_give_way(&mut self, bytes: u64, held: u64, now: Instant) -> Option<Given> {
        let shared = &self.pressure.0;
        if !self.is_long && now - self.started > Pressure::FIRST {
            self.is_long = true;
            shared.long.fetch_add(1, Ordering::Relaxed);
        }
        let (since, before) = self.mark;
        let span = now - since;
        if span < self.window {
            return None;
        }
        let brought = (bytes - before).saturating_mul(1_000) / (span.as_millis() as u64).max(1);
        let many = 2 * shared.long.load(Ordering::Relaxed) > shared.slots
            && (1..Pressure::AT_ONCE).contains(&shared.usual.load(Ordering::Relaxed));
        let least = if many { Pressure::LEAST_RATE_OF_MANY } else { Pressure::LEAST_RATE };
        let rent = if self.budget.is_tight(now) { self.budget.beyond(held) / Pressure::RENT } else { 0 };
        let is_over = many && now - self.started >= self.window * Pressure::WINDOWS_OF_MANY;
        if (brought < least || is_over) && shared.waiting.load(Ordering::Relaxed) {
            return Some(Given::Slot);
        }
        if brought < rent {
            return Some(Given::Room);
        }
        if brought >= least {
            self.mark = (now, bytes);
        }
        None
    }

    /// Records that the request ended well.
    pub(super) fn ended_well(&self, now: Instant) {
        let held = ((now - self.started).as_millis() as u64).max(1);
        let usual = &self.pressure.0.usual;
        let mean = match usual.load(Ordering::Relaxed) {
            0 => held,
            before => (7 * before + held) / 8,
        };
        usual.store(mean.max(1), Ordering::Relaxed);
    }

    /// The time for which the request has been going on.
    pub(super) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if self.is_long {
            self.pressure.0.long.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn while_many_slots_are_held_for_long_no_request_holds_one_for_ever() {
        for (slots, expected) in [(2, Some(Given::Slot)), (64, None)] {
            let (pressure, budget, start) = (Pressure::new(slots), ByteBudget::new(1 << 30), Instant::now());
            pressure.watch(&budget, 0, start).ended_well(start + SECOND / 10);
            pressure.set(true);
            let mut watches = [0, 0].map(|attempt| pressure.watch(&budget, attempt, start));
            for watch in &mut watches {
                assert_eq!(watch.must_give_way(4 << 20, 0, start + 4 * SECOND), None);
            }
            assert_eq!(watches[0].must_give_way(8 << 20, 0, start + 8 * SECOND), expected, "{slots} slots");
        }
    }

    #[test]
    fn only_slow_answers_lose_their_slot_and_only_while_others_wait() {
        let (pressure, budget, start) = (Pressure::new(64), ByteBudget::new(1 << 20), Instant::now());
        let mut watch = pressure.watch(&budget, 0, start);
        assert_eq!(watch.must_give_way(5, 0, start + 10 * SECOND), None, "nobody waits");
        pressure.set(true);
        assert_eq!(watch.must_give_way(5, 0, start + 11 * SECOND), Some(Given::Slot));
        let mut watch = pressure.watch(&budget, 0, start);
        assert_eq!(watch.must_give_way(0, 0, start + 2 * SECOND), None, "it has only begun");
        assert_eq!(watch.must_give_way(20_000, 0, start + 10 * SECOND), None, "it makes progress");
        assert_eq!(watch.must_give_way(20_001, 0, start + 12 * SECOND), None);
        assert_eq!(watch.must_give_way(20_002, 0, start + 14 * SECOND), Some(Given::Slot), "it makes none any more");
        let mut watch = pressure.watch(&budget, 2, start);
        assert_eq!(watch.must_give_way(5, 0, start + 10 * SECOND), None, "a later attempt has more time");
    }

    #[test]
    fn where_slots_are_held_for_long_a_trickle_is_not_enough() {
        let (pressure, budget, start) = (Pressure::new(4), ByteBudget::new(1 << 20), Instant::now());
        pressure.set(true);
        let mut watches: Vec<_> = (0..3).map(|_| pressure.watch(&budget, 0, start)).collect();
        let trickle = |watch: &mut Watch, seconds: u32| {
            watch.must_give_way(u64::from(seconds) * 2_048, 0, start + seconds * SECOND)
        };
        for watch in &mut watches {
            assert_eq!(trickle(watch, 4), None, "nobody has ended yet");
        }
        pressure.watch(&budget, 0, start).ended_well(start + 12 * SECOND);
        for watch in &mut watches {
            assert_eq!(trickle(watch, 8), None, "our own line is slow");
        }
        (0..50).for_each(|_| pressure.watch(&budget, 0, start).ended_well(start));
        assert_eq!(trickle(&mut watches[0], 12), Some(Given::Slot), "three of four slots are held for long");
        watches.truncate(1);
        assert_eq!(trickle(&mut watches[0], 16), None);
    }

    #[test]
    fn a_body_that_holds_much_and_hardly_grows_loses_its_room_where_there_is_none() {
        let (budget, start) = (ByteBudget::new(1 << 20), Instant::now());
        let mut watch = Pressure::new(64).watch(&budget, 0, start);
        let mut share = budget.share();
        assert!(share.grow(1 << 20));
        assert_eq!(watch.must_give_way(1 << 20, 1 << 20, start + 4 * SECOND), None);
        assert_eq!(watch.must_give_way(1 << 20, 1 << 20, start + 8 * SECOND), None, "all others have room");
        assert!(!budget.share().grow(1));
        assert_eq!(watch.must_give_way(1 << 20, 1 << 20, Instant::now() + 8 * SECOND), None, "that was long ago");
        let mut watch = Pressure::new(64).watch(&budget, 0, start - 8 * SECOND);
        assert_eq!(watch.must_give_way(8_192, 1 << 20, Instant::now()), Some(Given::Room));
    }
}
