//! The rate over the last seconds, from a total that is read now and then.

use std::collections::VecDeque;

use frontier::Millis;

/// The time that counts as "now" for pages a second.
const RECENTLY: Millis = 5_000;

/// The totals of the last seconds.
#[derive(Clone, Debug, Default)]
pub struct Recent {
    seen: VecDeque<(Millis, u64)>,
}

impl Recent {
    /// Takes the total at a time. Returns the rate a second over the last seconds; 0 at the first call.
    pub fn rate(&mut self, now: Millis, total: u64) -> f64 {
        self.seen.push_back((now, total));
        while self.seen.len() > 1 && self.seen[0].0 + RECENTLY < now {
            self.seen.pop_front();
        }
        let (since, before) = self.seen[0];
        if now > since { total.saturating_sub(before) as f64 * 1000.0 / (now - since) as f64 } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_long_ago_does_not_count() {
        let mut recent = Recent::default();
        assert_eq!(recent.rate(0, 0), 0.0);
        assert_eq!(recent.rate(1_000, 500), 500.0);
        assert_eq!(recent.rate(11_000, 500), 0.0);
        assert_eq!(recent.rate(13_000, 520), 10.0);
    }
}
