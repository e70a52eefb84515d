//! How many jobs are open while this machine is behind with reading answers.
//!
//! Page workers and engine take usual answers in the order in which they came. If there is more to read than they can
//! read, a cheap page waits until all costly ones before it have been read, however soon its host had its turn. Heavy
//! answers are read apart, but each of them holds a slot until it has been read. So while answers of one of these kinds
//! wait for long, fewer costly jobs are open at once: only as many as keep the page workers busy. The crawl reads no
//! less in this way. The waiting hosts are given their turns by cost (see `schedule/turns.rs`).
//!
//! It is not known what the pages of a new host cost. So while answers wait for long, hosts whose domains are not known
//! yet may hold half of the slots all the same, unless the files and first pages of new domains have cost more than
//! other pages lately.
//!
//! # References
//!
//! Chiu and Jain, "Analysis of the Increase and Decrease Algorithms for Congestion Avoidance in Computer Networks"
//! (1989).

use crate::job::{AnswerCost, JobKind};
use crate::numbers::Millis;

/// The number of costly jobs that may be open, and the number of sitemaps among them.
#[derive(Debug, Default)]
pub struct Load {
    slots: usize,
    /// The number of costly jobs that may be open, times [`Load::PARTS`].
    window: usize,
    /// The number of sitemaps that may be open.
    sitemaps: usize,
    /// The time since which every usual answer was late, and the same for heavy ones; `None` if the last one was not.
    late: [Option<Millis>; 2],
    /// The time at which the window was last made smaller.
    cut_at: Millis,
}

impl Load {
    /// An answer that has waited for longer than this is late.
    const LATE: Millis = 100;
    /// The window becomes smaller only if all answers of one kind were late for this time. After a commit, a few
    /// answers are late, and this does not show that the machine is behind.
    const PATIENCE: Millis = 300;
    /// The window becomes smaller at most once in this time.
    const PAUSE: Millis = 100;
    /// The smallest window. One answer is read while the next one is fetched.
    const LEAST: usize = 2;
    /// The sitemaps that may be open at first, when it is not known yet how much they name.
    const SITEMAPS: usize = 2;
    /// Each answer that is taken in time, and costs at least half as much as a usual one, makes the window larger by
    /// one part: one job divided by this.
    const PARTS: usize = 8;

    /// The load of a crawl that has this many slots and has read nothing.
    pub fn new(slots: usize) -> Self {
        Self { slots, window: slots * Self::PARTS, sitemaps: Self::SITEMAPS, late: [None; 2], cut_at: 0 }
    }

    /// The answer to a request for a page, a sitemap or a robots.txt was taken at `now`. `usual` is the cost of a usual
    /// one, in microseconds.
    pub fn taken(&mut self, taken: &AnswerCost, usual: u64, now: Millis) {
        let AnswerCost { lag, micros, .. } = *taken;
        if taken.kind == JobKind::Sitemap {
            // For sitemaps, the time that their own entries take counts as lag, too.
            self.sitemaps = if lag > Self::LATE { (self.sitemaps / 2).max(1) } else { self.sitemaps + 1 };
            self.sitemaps = self.sitemaps.min(self.slots.max(1));
        }
        let late = &mut self.late[usize::from(taken.heavy)];
        if lag.saturating_sub(micros / 1_000) <= Self::LATE {
            *late = None;
            // A cheap answer that is in time does not show that there is room for more costly jobs.
            let tells = 2 * micros >= usual;
            self.window = (self.window + usize::from(tells)).min(self.slots * Self::PARTS);
            return;
        }
        let since = *late.get_or_insert(now);
        if now >= since.saturating_add(Self::PATIENCE) && now >= self.cut_at.saturating_add(Self::PAUSE) {
            let least = Self::LEAST.min(self.slots) * Self::PARTS;
            self.window = (self.window / 2).max(least);
            self.cut_at = now;
        }
    }

    /// A sitemap was still open when it gave up its place. Unless this machine is behind, one more may be open.
    pub fn sitemap_is_slow(&mut self) {
        if !self.is_behind() {
            self.sitemaps = (self.sitemaps + 1).min(self.slots.max(1));
        }
    }

    /// Whether this machine is behind, or was shortly before.
    pub fn is_behind(&self) -> bool {
        self.window < self.slots * Self::PARTS
    }

    /// The number of costly jobs that may be open.
    pub fn window(&self) -> usize {
        self.window / Self::PARTS
    }

    /// The number of costly jobs that may be open before hosts must wait whose domains are not known yet.
    pub fn window_of_unknown(&self) -> usize {
        self.window().max(self.slots / 2)
    }

    /// The number of sitemaps that may be open.
    pub fn sitemaps(&self) -> usize {
        self.sitemaps
    }
}

#[cfg(test)]
mod tests {
    use dedup_stage::url::SiteId;

    use super::*;

    /// An answer that was taken after this time, and cost little.
    fn after(lag: Millis, kind: JobKind) -> AnswerCost {
        AnswerCost { site: SiteId { domain: 1, host: 1 }, kind, answered: true, heavy: false, lag, micros: 100 }
    }

    #[test]
    fn the_window_is_small_only_while_answers_are_late() {
        let (mut load, late) = (Load::new(64), after(400, JobKind::Page));
        let in_time = after(10, JobKind::Page);
        for now in [1_000, 1_001, 1_002] {
            load.taken(&late, 100, now);
        }
        assert!(!load.is_behind(), "a few are late after a commit");
        load.taken(&in_time, 100, 1_003);
        for now in (2_000..4_000).step_by(20) {
            load.taken(&AnswerCost { micros: 400_000, ..late }, 100, now);
        }
        assert!(!load.is_behind(), "they have waited for nothing but themselves");
        for now in (4_000..6_000).step_by(20) {
            load.taken(&late, 100, now);
        }
        assert!(load.is_behind());
        assert_eq!(load.window(), Load::LEAST);
        (0..1_000).for_each(|n| load.taken(&in_time, 10_000, 6_000 + n));
        assert_eq!(load.window(), Load::LEAST, "they cost little");
        (0..1_000).for_each(|n| load.taken(&in_time, 100, 7_000 + n));
        assert_eq!((load.is_behind(), load.window()), (false, 64));
    }

    #[test]
    fn heavy_answers_that_wait_count_although_the_usual_ones_are_in_time() {
        let (mut load, in_time) = (Load::new(64), after(10, JobKind::Page));
        let late = AnswerCost { heavy: true, micros: 200_000, ..after(2_000, JobKind::Page) };
        for now in (1_000..3_000).step_by(20) {
            load.taken(&late, 100_000, now);
            load.taken(&in_time, 100_000, now + 10);
        }
        assert_eq!((load.is_behind(), load.window()), (true, Load::LEAST));
        assert_eq!(load.window_of_unknown(), 32, "nobody knows what the pages of new hosts cost");
        (0..500).for_each(|n| load.taken(&AnswerCost { lag: 210, ..late }, 100_000, 3_000 + n));
        assert_eq!((load.is_behind(), load.window_of_unknown()), (false, 64), "they are in time again");
    }

    #[test]
    fn more_sitemaps_are_open_as_long_as_they_are_read_in_time() {
        let mut load = Load::new(64);
        assert_eq!(load.sitemaps(), Load::SITEMAPS);
        (0..100).for_each(|now| load.taken(&after(10, JobKind::Sitemap), 100, now));
        assert_eq!(load.sitemaps(), 64);
        (0..10).for_each(|now| load.taken(&after(2_000, JobKind::Sitemap), 100, now));
        assert_eq!(load.sitemaps(), 1);
    }
}
