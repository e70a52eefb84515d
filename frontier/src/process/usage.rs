//! How much of the time a host holds a slot.

use crate::numbers::Millis;

/// The share of the lately passed time for which a host held a slot.
#[derive(Clone, Copy, Debug, Default)]
pub struct SlotUsage {
    /// When its last job began.
    began: Millis,
    /// For how long the last job held its slot; `None` while it is open.
    last: Option<Millis>,
    /// The time for which the jobs before it held slots, and the time from each of them to the next. Earlier ones weigh
    /// less.
    held: f32,
    span: f32,
}

impl SlotUsage {
    /// The weight of a job, relative to that of the next one.
    const FADES: f32 = 0.75;

    /// A job of the host takes a slot at `now`.
    pub fn begins(&mut self, now: Millis) {
        (self.held, self.span) = self.up_to(now);
        (self.began, self.last) = (now, None);
    }

    /// The job gives its slot back at `now`.
    pub fn ends(&mut self, now: Millis) {
        self.last = Some(now.saturating_sub(self.began));
    }

    /// The share up to `now`, in 0..1; `None` if it is not known yet. An open job does not count.
    pub fn share(&self, now: Millis) -> Option<f32> {
        let (held, span) = self.up_to(now);
        (span > 0.0).then(|| held / span)
    }

    /// The time for which jobs have held slots, and the time that has passed.
    fn up_to(&self, now: Millis) -> (f32, f32) {
        match self.last {
            Some(last) => {
                let span = now.saturating_sub(self.began).max(last);
                (self.held * Self::FADES + last as f32, self.span * Self::FADES + span as f32)
            }
            None => (self.held, self.span),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_follows_what_the_host_does() {
        let (mut usage, mut at) = (SlotUsage::default(), 1_000);
        let mut jobs = |usage: &mut SlotUsage, count: u32, held: Millis, pause: Millis| {
            for _ in 0..count {
                usage.begins(at);
                usage.ends(at + held);
                at += held + pause;
            }
            usage.share(at).unwrap_or(-1.0)
        };
        assert_eq!(usage.share(500), None);
        assert_eq!(jobs(&mut usage, 1, 1, 0), 1.0);
        assert!((0.045..0.055).contains(&jobs(&mut usage, 3, 10, 190)), "{usage:?}: the first job was short");
        assert!(jobs(&mut usage, 1, 2_800, 0) > 0.8, "{usage:?}: a long job counts at once");
        assert!(jobs(&mut usage, 20, 2_800, 200) > 0.9, "{usage:?}");
        assert!(jobs(&mut usage, 30, 10, 190) < 0.1, "{usage:?}");
        usage.begins(1 << 40);
        assert!(
            usage.share(1 << 41).is_some_and(|share| share < 0.001),
            "{usage:?}: waiting counts, an open job does not"
        );
    }
}
