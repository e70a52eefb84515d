//! Bounds the memory of reports on their way from the page workers to the engine.
//!
//! A body is dropped when its page was read, but the URLs of the page stay in its report: a compressed sitemap of some
//! kilobytes can name megabytes of URLs. So a worker begins no large answer while the reports under way hold too much
//! memory. The answer that the engine waits for is always read, because nothing would move without it.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The memory of all reports that are under way.
#[derive(Clone, Debug, Default)]
pub struct UnderWay(Arc<(Mutex<State>, Condvar)>);

#[derive(Debug, Default)]
struct State {
    bytes: usize,
    /// The report that the engine takes next.
    next: u64,
    /// Whether the engine takes no more reports.
    is_over: bool,
}

/// The memory of one report. It is given back on drop.
#[derive(Debug)]
pub struct Weight {
    all: UnderWay,
    bytes: usize,
}

impl UnderWay {
    /// If reports hold more bytes than this, no large answer is begun.
    const MOST: usize = config::bounds::UNDER_WAY;

    /// Waits until a large answer may be read. False if the engine has ended.
    pub fn admit(&self, sequence: u64) -> bool {
        let (_, changed) = &*self.0;
        let mut state = self.lock();
        while state.bytes >= Self::MOST && sequence > state.next && !state.is_over {
            state = changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        !state.is_over
    }

    /// Counts the bytes that a report holds from now on.
    pub fn weigh(&self, bytes: usize) -> Weight {
        self.lock().bytes += bytes;
        Weight { all: self.clone(), bytes }
    }

    /// Sets the report that the engine takes next.
    pub fn next(&self, sequence: u64) {
        self.change(|state| state.next = sequence);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_answer_waits_unless_it_is_the_next_one() {
        let under_way = UnderWay::default();
        under_way.next(7);
        assert!(under_way.admit(9), "there is room");
        let weight = under_way.weigh(UnderWay::MOST);
        assert!(under_way.admit(7), "the engine waits for it");
        std::thread::scope(|scope| {
            let later = scope.spawn(|| under_way.admit(9));
            drop(weight);
            assert!(later.join().unwrap());
        });
        let _weight = under_way.weigh(UnderWay::MOST);
        std::thread::scope(|scope| {
            let never = scope.spawn(|| under_way.admit(9));
            under_way.close();
            assert!(!never.join().unwrap());
        });
    }
}
