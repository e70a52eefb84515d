//! Troubles of this machine: files, memory, disk, network. While one lasts, nothing is fetched, and no host is blamed.

use frontier::Millis;

/// Trouble on this machine: files, memory, disk, network. While it lasts, nothing is fetched, and no host is blamed.
#[derive(Debug, Default)]
pub(super) struct LocalTrouble {
    /// The last trouble, and the time at which the crawl tries again.
    now: Option<(String, Millis)>,
    /// Troubles in a row.
    times: u32,
    /// The time of the first of them.
    since: Millis,
    /// Whether something was answered in this run.
    has_begun: bool,
}

impl LocalTrouble {
    /// First pause; doubled at each trouble in a row.
    const PAUSE: Millis = 1_000;
    /// Longest pause.
    const LONGEST: Millis = 30_000;

    /// Whether something was answered in this run.
    pub fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Whether the trouble has lasted for this time, and nothing has been answered in this run.
    pub fn lasts(&self, time: Millis, now: Millis) -> bool {
        self.now.is_some() && !self.has_begun && now >= self.since.saturating_add(time)
    }

    /// A job failed because of this machine.
    pub fn note(&mut self, what: &str, now: Millis) {
        if self.now.as_ref().is_some_and(|(_, until)| now < *until) {
            // This job was open when the trouble began, so it is part of the same trouble.
            return;
        }
        if self.now.is_none() {
            self.since = now;
        }
        let pause = (Self::PAUSE << self.times.min(5)).min(Self::LONGEST);
        self.times += 1;
        tracing::warn!("trouble on this machine: {what}; the crawl pauses for {} s and tries again", pause / 1_000);
        self.now = Some((what.to_owned(), now + pause));
    }

    /// A job was answered.
    pub fn answered(&mut self) {
        (self.now, self.times, self.has_begun) = (None, 0, true);
    }

    /// The time until which nothing is fetched, if there is trouble at `now`.
    pub fn pause(&self, now: Millis) -> Option<Millis> {
        self.now.as_ref().map(|(_, until)| *until).filter(|until| now < *until)
    }

    /// The trouble, while it lasts.
    pub fn what(&self) -> Option<&str> {
        self.now.as_ref().map(|(what, _)| what.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_grows_with_each_trouble_in_a_row_and_jobs_that_were_open_do_not_count() {
        let mut local = LocalTrouble::default();
        assert_eq!(local.pause(0), None);
        local.note("no files", 10);
        local.note("no files", 20);
        assert_eq!(local.pause(20), Some(1_010));
        assert_eq!(local.pause(1_010), None);
        local.note("no files", 1_010);
        assert_eq!(local.pause(1_010), Some(3_010));
        assert_eq!(local.what(), Some("no files"));
        local.answered();
        assert_eq!((local.pause(1_020), local.what()), (None, None));
        local.note("no network", 5_000);
        assert_eq!(local.pause(5_000), Some(6_000), "it begins anew");
    }

    #[test]
    fn a_trouble_from_the_start_on_lasts_until_something_is_answered() {
        let mut local = LocalTrouble::default();
        local.note("no network", 1_000);
        local.note("no network", 5_000);
        assert!(!local.lasts(10_000, 10_999) && local.lasts(10_000, 11_000));
        local.answered();
        local.note("no network", 12_000);
        assert!(!local.lasts(10_000, 99_000), "the crawl has begun, and waits");
    }
}
