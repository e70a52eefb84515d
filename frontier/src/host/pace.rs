//! The pace of a host: how soon it may be asked again.
//!
//! The delay is the time from the end of a response to the next request. It is the largest of these: the setting, the
//! Crawl-delay of robots.txt (clamped), a multiple of the host's own response time, and a penalty. An answer 429 or 503
//! doubles the penalty, and so do many server errors among the last answers. Every other answer makes it smaller. After
//! each further failure in a row, the host rests twice as long. After a number of failures it is set aside.

use crate::numbers::Millis;
use config::Politeness;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3;

/// The pace of one host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pace {
    /// No request before this time.
    pub not_before: Millis,
    /// Largest Crawl-delay of its origins, as robots.txt says it.
    pub crawl_delay: Millis,
    /// Smoothed response time. 0 before the first answer.
    response: Millis,
    /// The penalty. An answer 429 or 503 doubles it, and so do many server errors among the last answers.
    penalty: Millis,
    /// Failures in a row.
    failures: u32,
    /// How often it was set aside since its last answer.
    set_aside: u32,
    /// How much longer the delay is because the host brings little, in thousandths.
    #[serde(skip)]
    pub stretch: u64,
    /// A part of the jitter, so that hosts that failed together do not come back together.
    seed: u64,
}

impl Pace {
    /// The first rest after a failure, and the first penalty.
    const BASE: Millis = 1_000;
    /// The longest rest before the host is set aside, and the longest penalty.
    const CEILING: Millis = 5 * 60_000;
    /// The longest penalty of a host that answers with errors that may pass.
    const STRAIN: Millis = 16_000;
    /// The time for which a failing host is set aside the first time. It doubles each time.
    const ASIDE: Millis = 30 * 60_000;
    /// The longest time for which a host is set aside, and the longest Retry-After that is believed.
    const LONGEST: Millis = 24 * 3_600_000;

    /// The pace of a host that was not met before.
    pub fn new(name: &str) -> Self {
        Self { seed: xxh3::xxh3_64(name.as_bytes()), ..Self::default() }
    }

    /// The time from the end of a response to the next request.
    pub fn delay(&self, settings: &Politeness) -> Millis {
        let own = (self.response as f64 * settings.delay_factor) as Millis;
        let clamp = settings.max_crawl_delay.0.max(settings.delay.0);
        let delay = settings.delay.0.max(self.crawl_delay.min(clamp)).max(own.min(clamp)).max(self.penalty);
        delay.saturating_add(delay.saturating_mul(self.stretch) / 1_000).min(delay.max(Self::LONGEST))
    }

    /// The Crawl-delay of robots.txt, clamped; `None` if something else makes the delay longer.
    pub fn kept_crawl_delay(&self, settings: &Politeness) -> Option<Millis> {
        let kept = self.crawl_delay.min(settings.max_crawl_delay.0.max(settings.delay.0));
        let others = Self { crawl_delay: 0, ..self.clone() }.delay(settings);
        (kept > settings.delay.0 && self.delay(settings) > others).then_some(kept)
    }

    /// The time from one request to the next: the delay, and the time of an answer.
    pub fn turn(&self, settings: &Politeness) -> Millis {
        self.delay(settings).saturating_add(self.response)
    }

    /// Whether the host is slowed down, or set aside.
    pub fn is_troubled(&self) -> bool {
        self.failures > 0 || self.penalty > 0
    }

    /// A request ended at `at`. It tells nothing about the health of the host.
    pub fn ended(&mut self, at: Millis, settings: &Politeness) {
        let delay = self.delay(settings);
        // Times are rounded down to milliseconds. One more millisecond keeps the gap from being too short.
        self.wait_until(if delay == 0 { at } else { at + delay + 1 });
    }

    /// An answer ended at `at` that does not ask the crawl to wait. It may be a 404, or a single server error.
    pub fn answered(&mut self, at: Millis, elapsed: Millis, settings: &Politeness) {
        self.response = if self.response == 0 { elapsed } else { (self.response * 3 + elapsed) / 4 };
        self.failures = 0;
        self.set_aside = 0;
        self.penalty = if self.penalty > Self::BASE / 2 { self.penalty / 4 * 3 } else { 0 };
        self.ended(at, settings);
    }

    /// The host answered 429 or 503, or gave a Retry-After.
    pub fn slowed(&mut self, at: Millis, retry_after: Option<Millis>, settings: &Politeness) {
        self.failures = 0;
        self.penalty = (self.penalty * 2).clamp(Self::BASE, Self::CEILING);
        self.ended(at, settings);
        self.wait_until(at + self.penalty + self.jitter(at, self.penalty));
        if let Some(wait) = retry_after {
            self.wait_until(at + wait.min(Self::LONGEST) + 1);
        }
    }

    /// More than half of the host's last answers were server errors or were cut, and such answers are tried again.
    /// Without a random part, the wait is at most `most`.
    pub fn strained(&mut self, at: Millis, most: Millis, settings: &Politeness) {
        self.failures = 0;
        // The penalty is part of the delay after the next answers, too.
        let most = Self::STRAIN.min(most).max(self.penalty);
        self.penalty = (self.penalty * 2).max(Self::BASE).min(most);
        self.ended(at, settings);
        self.wait_until(at + self.penalty + self.jitter(at, self.penalty));
    }

    /// The time at which a URL may be tried again if its attempt with this number (from 0) failed at `at`. Without a
    /// random part, the wait is at most `most`.
    pub fn back_off(&self, at: Millis, attempts: u32, most: Millis) -> Millis {
        let wait = (Self::BASE << attempts.min(16)).min(Self::CEILING).min(most);
        at + wait + self.jitter(at, wait)
    }

    /// The host gave no answer.
    pub fn failed(&mut self, at: Millis, settings: &Politeness) {
        self.failures += 1;
        let wait = if self.failures >= settings.host_failures.max(1) {
            self.set_aside += 1;
            // When the host is tried again, one more failure sets it aside again.
            self.failures = settings.host_failures.max(1) - 1;
            (Self::ASIDE << (self.set_aside - 1).min(8)).min(Self::LONGEST)
        } else {
            (Self::BASE << (self.failures - 1).min(16)).min(Self::CEILING)
        };
        self.failures = self.failures.max(1);
        self.ended(at, settings);
        self.wait_until(at + wait + self.jitter(at, wait));
    }

    /// There will be no request before `time`. Never moves to an earlier time.
    pub fn wait_until(&mut self, time: Millis) {
        self.not_before = self.not_before.max(time);
    }

    /// A duration between 0 and a quarter of `span`.
    fn jitter(&self, at: Millis, span: Millis) -> Millis {
        xxh3::xxh3_64_with_seed(&at.to_be_bytes(), self.seed) % (span / 4 + 1)
    }
}

#[cfg(test)]
mod tests {
    use config::Duration;

    use super::*;

    fn settings() -> Politeness {
        Politeness {
            delay: Duration(100),
            delay_factor: 2.0,
            host_failures: 3,
            max_crawl_delay: Duration(5_000),
            ..config::Settings::default().politeness
        }
    }

    #[test]
    fn the_delay_is_the_largest_of_its_parts() {
        let settings = settings();
        let mut pace = Pace::new("a");
        assert_eq!(pace.delay(&settings), 100);
        pace.answered(0, 80, &settings);
        assert_eq!(pace.delay(&settings), 160);
        pace.crawl_delay = 400;
        assert_eq!(pace.delay(&settings), 400);
        pace.crawl_delay = 1_000_000;
        assert_eq!(pace.delay(&settings), 5_000, "clamped");
        pace.stretch = 500;
        assert_eq!(pace.delay(&settings), 7_500, "a host that brings little is asked more seldom");
        pace.crawl_delay = Millis::MAX;
        pace.stretch = u64::MAX;
        assert_eq!(pace.delay(&settings), Pace::LONGEST);
    }

    #[test]
    fn a_crawl_delay_is_named_only_where_it_makes_the_delay() {
        let settings = settings();
        let mut pace = Pace::new("a");
        assert_eq!(pace.kept_crawl_delay(&settings), None);
        pace.crawl_delay = 100;
        assert_eq!(pace.kept_crawl_delay(&settings), None, "the crawl waits as long by itself");
        pace.crawl_delay = 400;
        assert_eq!(pace.kept_crawl_delay(&settings), Some(400));
        pace.crawl_delay = 1_000_000;
        assert_eq!(pace.kept_crawl_delay(&settings), Some(5_000), "clamped");
        pace.penalty = 6_000;
        assert_eq!(pace.kept_crawl_delay(&settings), None, "the penalty is longer");
    }

    #[test]
    fn retry_after_is_obeyed_and_mercy_ends() {
        let settings = settings();
        let mut pace = Pace::new("a");
        pace.slowed(1_000, Some(7_000), &settings);
        assert!((8_000..8_100).contains(&pace.not_before));
        pace.slowed(10_000, None, &settings);
        assert!(pace.not_before >= 12_000, "doubled");
        assert!(pace.is_troubled());
        for n in 0..20 {
            pace.answered(20_000 + n, 10, &settings);
        }
        assert!(!pace.is_troubled());
        assert_eq!(pace.delay(&settings), 100);
    }

    #[test]
    fn failures_back_off_then_set_aside_then_longer() {
        let settings = settings();
        let mut pace = Pace::new("a");
        let mut at = 0;
        let mut waits = Vec::new();
        for _ in 0..5 {
            pace.failed(at, &settings);
            waits.push(pace.not_before - at);
            at = pace.not_before;
        }
        assert!(waits[0] >= 1_000 && waits[0] <= 1_250, "{waits:?}");
        assert!(waits[1] >= 2_000 && waits[1] <= 2_500, "{waits:?}");
        assert!(waits[2] >= Pace::ASIDE, "{waits:?}");
        assert!(waits[3] >= 2 * Pace::ASIDE && waits[4] >= 4 * Pace::ASIDE, "{waits:?}");
        pace.answered(at, 1, &settings);
        assert!(!pace.is_troubled());
    }
}
