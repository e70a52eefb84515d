//! Measures how much processor time a thread spends on one page after the other.
//!
//! The clock of the processor time of a thread is in the kernel. Reading it twice for each page costs 1 to 2 % of a
//! crawl of small pages. The monotonic clock is read without the kernel. It also counts the time in which the thread did
//! not run. But a thread that was interrupted usually waits for milliseconds. So short spans are taken from the
//! monotonic clock, and only for long ones the processor time is read.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, Timespec, clock_gettime};

/// Measures the processor time of the thread that uses it.
#[derive(Debug)]
pub struct Stopwatch {
    /// The processor time that the thread had used when it was last read …
    read: Duration,
    /// … the sum of the short spans since then …
    counted: Duration,
    /// … and their number.
    spans: u32,
}

impl Stopwatch {
    /// A shorter span is taken from the monotonic clock.
    const SHORT: Duration = Duration::from_micros(500);
    /// After this many short spans, the processor time is read again. The thread also does other work between the
    /// spans. If the time was read long ago, this work would count for the next long span.
    const SPANS: u32 = 64;

    /// Begins to measure. To be called by the thread that is measured.
    pub fn new() -> Self {
        Self { read: thread_time(), counted: Duration::ZERO, spans: 0 }
    }

    /// The processor time since `began`, in microseconds. The span between a call of this and the next `began` is not
    /// measured.
    pub fn micros_since(&mut self, began: Instant) -> u64 {
        let passed = began.elapsed();
        let mut ran = passed;
        self.spans += 1;
        if passed > Self::SHORT || self.spans > Self::SPANS {
            let now = thread_time();
            ran = now.saturating_sub(self.read).saturating_sub(self.counted).min(passed);
            *self = Self { read: now, counted: Duration::ZERO, spans: 0 };
        } else {
            self.counted += passed;
        }
        ran.as_micros() as u64
    }
}

/// The processor time that this thread has used.
fn thread_time() -> Duration {
    let Timespec { tv_sec, tv_nsec } = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(tv_sec.unsigned_abs(), tv_nsec.unsigned_abs() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Uses this much processor time, and returns how long that took.
    fn work(time: Duration) -> Duration {
        let (began, used) = (Instant::now(), thread_time());
        while thread_time() - used < time {}
        began.elapsed()
    }

    /// Catches a stopwatch that charges a page for the time in which others had the processor.
    #[test]
    fn a_thread_that_waits_uses_no_time() {
        let mut stopwatch = Stopwatch::new();
        let began = Instant::now();
        let passed = std::thread::spawn(|| work(Duration::from_millis(40))).join().unwrap();
        let micros = u128::from(stopwatch.micros_since(began));
        assert!(micros < passed.as_micros() / 2, "{micros} of {passed:?}");
    }

    /// Catches a stopwatch that misses the time of long spans, or that counts short spans again with the next long one.
    #[test]
    fn the_sum_of_long_and_short_spans_is_the_time_of_the_thread() {
        let (used, mut stopwatch, mut sum) = (thread_time(), Stopwatch::new(), 0);
        for span in [100, 100, 3_000, 20, 20, 20, 2_000, 50].repeat(12) {
            let began = Instant::now();
            work(Duration::from_micros(span));
            sum += stopwatch.micros_since(began);
        }
        let used = (thread_time() - used).as_micros() as u64;
        assert!(sum > used * 8 / 10 && sum < used * 12 / 10, "{sum} of {used}");
    }
}
