//! Bounds the memory of heavy answers that are being read, and of reports on their way from the page workers to the
//! engine.
//!
//! While a page is read, its words, blocks and links take many times the size of its body. With many page workers, some
//! heavy pages at once would take all memory. So the heavy answers that are read at once have a bound.
//!
//! A body is dropped when its page was read, but the URLs of the page stay in its report: a compressed sitemap of some
//! kilobytes can name megabytes of URLs. So no heavy answer is begun while the reports under way hold too much memory.
//! The engine never waits for a heavy answer, so it takes these reports in the meantime.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The memory of all answers that are being read, and of all reports that are under way.
#[derive(Clone, Debug, Default)]
pub struct UnderWay(Arc<(Mutex<State>, Condvar)>);

#[derive(Debug, Default)]
struct State {
    /// The bytes of the reports.
    bytes: usize,
    /// The bytes of the heavy answers that are being read.
    read: usize,
    /// Whether the engine takes no more reports.
    is_over: bool,
}

/// The memory of one report. It is given back on drop.
#[derive(Debug)]
pub struct Weight {
    all: UnderWay,
    bytes: usize,
}

/// A heavy answer that is being read. The next one may begin on drop.
#[derive(Debug)]
pub struct Reading {
    all: UnderWay,
    bytes: usize,
}

impl UnderWay {
    /// If reports hold more bytes than this, no heavy answer is begun.
    const MOST: usize = config::bounds::UNDER_WAY;
    /// The bytes of the heavy answers that are read at once. A larger answer is read alone.
    const AT_ONCE: usize = config::bounds::READ_AT_ONCE;

    /// Waits until a heavy answer of `bytes` bytes may be read. `None` if the engine has ended.
    pub fn admit(&self, bytes: usize) -> Option<Reading> {
        let (_, changed) = &*self.0;
        let mut state = self.lock();
        let waits = |state: &State| {
            let fits = state.read == 0 || state.read.saturating_add(bytes) <= Self::AT_ONCE;
            !fits || state.bytes >= Self::MOST
        };
        while waits(&state) && !state.is_over {
            state = changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.is_over {
            return None;
        }
        state.read += bytes;
        Some(Reading { all: self.clone(), bytes })
    }

    /// Counts the bytes that a report holds from now on.
    pub fn weigh(&self, bytes: usize) -> Weight {
        self.lock().bytes += bytes;
        Weight { all: self.clone(), bytes }
    }

    /// Records that the engine has ended. From now on, no code waits for pages.
    pub fn close(&self) {
        self.change(|state| state.is_over = true);
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.0.1.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Weight {
    fn drop(&mut self) {
        self.all.change(|state| state.bytes -= self.bytes);
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.all.change(|state| state.read -= self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heavy_answer_waits_while_reports_hold_much() {
        let under_way = UnderWay::default();
        assert!(under_way.admit(1).is_some(), "there is room");
        let weight = under_way.weigh(UnderWay::MOST);
        std::thread::scope(|scope| {
            let later = scope.spawn(|| under_way.admit(1).is_some());
            drop(weight);
            assert!(later.join().unwrap());
        });
        let _weight = under_way.weigh(UnderWay::MOST);
        std::thread::scope(|scope| {
            let never = scope.spawn(|| under_way.admit(1).is_some());
            under_way.close();
            assert!(!never.join().unwrap());
        });
    }

    #[test]
    fn heavy_answers_are_read_at_once_as_far_as_they_fit() {
        let under_way = UnderWay::default();
        let half = UnderWay::AT_ONCE / 2;
        let both = [under_way.admit(half), under_way.admit(half)];
        assert!(both.iter().all(Option::is_some), "they fit");
        std::thread::scope(|scope| {
            let alone = scope.spawn(|| under_way.admit(usize::MAX));
            drop(both);
            let alone = alone.join().unwrap();
            assert_eq!(under_way.lock().read, usize::MAX);
            let later = scope.spawn(|| under_way.admit(1).is_some());
            drop(alone);
            assert!(later.join().unwrap());
        });
        assert_eq!(under_way.lock().read, 0);
    }
}
