//! Caps over all hosts: on requests a second (governor's GCRA, driven by the times that are passed in) and on body
//! bytes a second.

use std::fmt;
use std::num::NonZeroU32;
use std::time::Duration;

use crate::numbers::Millis;
use config::Politeness;
use governor::clock::{Clock, FakeRelativeClock};
use governor::middleware::NoOpMiddleware;
use governor::nanos::Nanos;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};

type Limiter = RateLimiter<NotKeyed, InMemoryState, FakeRelativeClock, NoOpMiddleware<Nanos>>;

/// The two caps.
pub struct Rate {
    requests: Option<(Limiter, FakeRelativeClock)>,
    /// The time that the limiter's clock shows.
    now: Millis,
    bytes_per_second: u64,
    /// At the capped speed, the bytes received so far would take until this time. No request starts before.
    paid: Millis,
}

impl Rate {
    /// The caps in these settings. Time starts at `now`.
    pub fn new(settings: &Politeness, now: Millis) -> Self {
        let requests = NonZeroU32::new(settings.requests_per_second).map(|rate| {
            let clock = FakeRelativeClock::default();
            // Requests are spread evenly. The burst is only as large as a clock of whole milliseconds needs.
            let burst = NonZeroU32::new(rate.get() / 200).unwrap_or(NonZeroU32::MIN);
            let quota = Quota::per_second(rate).allow_burst(burst);
            (RateLimiter::direct_with_clock(quota, clock.clone()), clock)
        });
        Self { requests, now, bytes_per_second: settings.bytes_per_second.0, paid: 0 }
    }

    /// Allows one request at `now`, or returns the time at which to ask again.
    pub fn request(&mut self, now: Millis) -> Result<(), Millis> {
        if self.paid > now {
            return Err(self.paid);
        }
        let Some((limiter, clock)) = &self.requests else { return Ok(()) };
        if now > self.now {
            clock.advance(Duration::from_millis(now - self.now));
            self.now = now;
        }
        limiter.check().map_err(|refusal| {
            let wait = refusal.wait_time_from(clock.now());
            now + (wait.as_micros().div_ceil(1_000) as Millis).max(1)
        })
    }

    /// This many body bytes were received until `at`.
    pub fn received(&mut self, bytes: u64, at: Millis) {
        if let Some(wait) = bytes.saturating_mul(1_000).checked_div(self.bytes_per_second) {
            self.paid = self.paid.max(at) + wait;
        }
    }
}

impl fmt::Debug for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rate").field("paid", &self.paid).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use config::Size;

    use super::*;

    fn settings(requests: u32, bytes: u64) -> Politeness {
        Politeness {
            requests_per_second: requests,
            bytes_per_second: Size(bytes),
            ..config::Settings::default().politeness
        }
    }

    #[test]
    fn no_second_holds_more_requests_than_the_cap() {
        let mut rate = Rate::new(&settings(7, 0), 1_000);
        let mut now = 1_000;
        let mut times = Vec::new();
        while times.len() < 100 {
            match rate.request(now) {
                Ok(()) => times.push(now),
                Err(later) => {
                    assert!(later > now);
                    now = later;
                }
            }
        }
        assert!(times.windows(8).all(|w| w[7] - w[0] >= 1_000), "{times:?}");
        assert!(times[99] - times[0] <= 99 * 1_000 / 7 + 200, "and the cap is used");
    }

    #[test]
    fn bytes_are_paid_for_in_time() {
        let mut rate = Rate::new(&settings(0, 1_000), 0);
        assert_eq!(rate.request(0), Ok(()));
        rate.received(5_000, 100);
        assert_eq!(rate.request(101), Err(5_100));
        assert_eq!(rate.request(5_100), Ok(()));
    }
}
