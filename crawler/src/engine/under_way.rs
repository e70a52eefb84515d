//! Bounds the memory of heavy answers that are being read, and of reports on their way from the page workers to the
//! engine.
//!
//! While a page is read, its words, blocks and links take many times the size of its body. If many page workers read
//! heavy pages at the same time, these could take all memory. So there is a bound for the heavy answers that are read
//! at the same time.
//!
//! A body is dropped when its page was read, but the URLs of the page stay in its report: a compressed sitemap of some
//! kilobytes can name megabytes of URLs. So no large answer is begun while the reports under way hold too much memory.
//! The usual answer that the engine waits for does not wait for reports, because nothing would move without it. (The
//! engine never waits for a heavy answer, because that has no number yet.)

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

/// A large answer that is being read. If it is heavy, the next one may begin on drop.
#[derive(Debug)]
pub struct Reading {
    all: UnderWay,
    bytes: usize,
}

impl UnderWay {
    /// If reports hold more bytes than this, no large answer is begun.
    const MOST: usize = config::bounds::UNDER_WAY;
    /// At most this many bytes of heavy answers are read at the same time. A larger answer is read alone.
    const AT_ONCE: usize = config::bounds::READ_AT_ONCE;

    /// Waits until a large answer may be read. A usual one has a number (`sequence`), and `bytes` is 0; a heavy one has
    /// this many bytes and no number. `None` if the engine has ended.
    pub fn admit(&self, sequence: Option<u64>, bytes: usize) -> Option<Reading> {
        let (_, changed) = &*self.0;
        let mut state = self.lock();
        let waits = |state: &State| {
            let fits = bytes == 0 || state.read == 0 || state.read.saturating_add(bytes) <= Self::AT_ONCE;
            !fits || state.bytes >= Self::MOST && sequence.is_none_or(|sequence| sequence > state.next)
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

    /// Sets the report that the engine takes next.
    pub fn next(&self, sequence: u64) {
        self.change(|state| state.next = sequence);
    }

    /// Records that the engine has ended. From now on, no page worker waits.
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
    fn a_large_answer_waits_unless_it_is_the_next_one() {
        let under_way = UnderWay::default();
        under_way.next(7);
        assert!(under_way.admit(Some(9), 0).is_some() && under_way.admit(None, 1).is_some(), "there is room");
        for (sequence, bytes) in [(Some(9), 0), (None, 1)] {
            let weight = under_way.weigh(UnderWay::MOST);
            assert!(under_way.admit(Some(7), 0).is_some(), "the engine waits for it");
            std::thread::scope(|scope| {
                let later = scope.spawn(|| under_way.admit(sequence, bytes).is_some());
                drop(weight);
                assert!(later.join().unwrap());
            });
        }
        let _weight = under_way.weigh(UnderWay::MOST);
        std::thread::scope(|scope| {
            let never = [(Some(9), 0), (None, 1)];
            let never = never.map(|(sequence, bytes)| {
                scope.spawn({
                    let under_way = &under_way;
                    move || under_way.admit(sequence, bytes).is_some()
                })
            });
            under_way.close();
            assert!(never.into_iter().all(|never| !never.join().unwrap()));
        });
    }

    #[test]
    fn heavy_answers_are_read_at_once_as_far_as_they_fit() {
        let under_way = UnderWay::default();
        let half = UnderWay::AT_ONCE / 2;
        let both = [under_way.admit(None, half), under_way.admit(None, half)];
        assert!(both.iter().all(Option::is_some) && under_way.admit(Some(5), 0).is_some(), "they fit");
        std::thread::scope(|scope| {
            let alone = scope.spawn(|| under_way.admit(None, usize::MAX));
            drop(both);
            let alone = alone.join().unwrap();
            assert_eq!(under_way.lock().read, usize::MAX);
            let later = scope.spawn(|| under_way.admit(None, 1).is_some());
            drop(alone);
            assert!(later.join().unwrap());
        });
        assert_eq!(under_way.lock().read, 0);
    }
}
