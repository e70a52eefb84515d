//! Troubles of this machine: files, memory, disk, network. While one lasts, nothing is fetched, and no host is blamed.

use frontier::{Job, Millis};

use super::state::EngineState;

/// Trouble on this machine: files, memory, disk, network. While it lasts, nothing is fetched, and no host is blamed.
#[derive(Debug, Default)]
pub(super) struct LocalTrouble {
    /// The last trouble, and the time at which the crawl tries again.
    now: Option<(String, Millis)>,
    /// Troubles in a row.
    times: u32,
    /// The time of the first of them.
    since: Millis,
    /// The time of the last answer; `None` if there was none in this run.
    heard: Option<Millis>,
    /// Whether the network has failed since the last answer.
    has_failed: bool,
    /// The last time in which the network had failed: from the answer before to the answer after.
    silence: (Millis, Millis),
}

impl LocalTrouble {
    /// First pause; doubled at each trouble in a row.
    const PAUSE: Millis = 1_000;
    /// Longest pause.
    const LONGEST: Millis = 30_000;

    /// If nothing has come for this time, and several hosts that have answered before are silent, then the network has
    /// failed.
    const SILENT: Millis = 2_500;
    /// The number of these hosts.
    const HOSTS: usize = 3;
    /// After so many troubles in a row, silent hosts are not excused any more.
    const EXCUSED: u32 = 12;

    /// An answer of a host failed to come by `at`. `silent` is the number of hosts that have answered before and have
    /// had an open job for long, if this host is one of them. Whether the network has failed, and not the host. Once it has, the others
    /// of these hosts are excused, too, until something comes.
    pub fn is_of_network(&mut self, silent: Option<usize>, at: Millis) -> bool {
        let has_failed = self.is_silent(at) && silent.is_some_and(|hosts| hosts >= Self::HOSTS || self.has_failed);
        self.has_failed |= has_failed;
        has_failed && self.times < Self::EXCUSED
    }

    /// Whether nothing has come for long at `at`, and something had come before.
    fn is_silent(&self, at: Millis) -> bool {
        self.heard.is_some_and(|heard| at >= heard.saturating_add(Self::SILENT))
    }

    /// The time that an answer took that ended at `at`, without the time in which the network had failed.
    pub fn without_silence(&self, elapsed: Millis, at: Millis) -> Millis {
        let (from, to) = (self.silence.0.max(at.saturating_sub(elapsed)), self.silence.1.min(at));
        elapsed - to.saturating_sub(from)
    }

    /// Whether the trouble has lasted for this time, and nothing has been answered in this run.
    pub fn lasts(&self, time: Millis, now: Millis) -> bool {
        self.now.is_some() && self.heard.is_none() && now >= self.since.saturating_add(time)
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

    /// A job was answered at `at`. `silent` is as for [`LocalTrouble::is_of_network`].
    fn answered(&mut self, at: Millis, silent: Option<usize>) {
        if self.is_of_network(silent, at) {
            self.silence = (self.heard.unwrap_or(at), at);
        }
        (self.now, self.times, self.heard, self.has_failed) = (None, 0, self.heard.max(Some(at)), false);
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

impl EngineState<'_> {
    /// The number of silent hosts, as for [`LocalTrouble::is_of_network`].
    pub(super) fn silent_beside(&self, job: &Job, at: Millis) -> Option<usize> {
        self.frontier.silent_beside(job, at.saturating_sub(LocalTrouble::SILENT))
    }

    /// A job was answered at `at`.
    pub(super) fn heard(&mut self, job: &Job, at: Millis) {
        let silent = self.local.is_silent(at).then(|| self.silent_beside(job, at)).flatten();
        self.local.answered(at, silent);
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
        local.answered(1_015, None);
        assert_eq!((local.pause(1_020), local.what()), (None, None));
        local.note("no network", 5_000);
        assert_eq!(local.pause(5_000), Some(6_000), "it begins anew");
    }

    #[test]
    fn silent_hosts_are_excused_if_several_fall_silent_at_once_and_not_for_ever() {
        let mut local = LocalTrouble::default();
        assert!(!local.is_of_network(Some(9), 10_000), "nothing was ever heard");
        local.answered(10_000, None);
        assert!(local.is_of_network(Some(3), 12_500));
        assert!(!local.is_of_network(Some(3), 12_499), "something came lately");
        assert!(local.is_of_network(Some(1), 15_500), "the others failed before");
        assert!(!local.is_of_network(None, 15_500), "it has shown no page yet");
        local.answered(16_000, None);
        assert!(!local.is_of_network(Some(2), 20_000), "few hosts are silent");
        assert!(local.is_of_network(Some(3), 20_000));
        for at in 0..u64::from(LocalTrouble::EXCUSED) {
            local.note("silence", 20_000 + at * LocalTrouble::LONGEST);
        }
        assert!(!local.is_of_network(Some(3), 1_000_000));
    }

    #[test]
    fn the_time_in_which_the_network_had_failed_does_not_count() {
        let mut local = LocalTrouble::default();
        local.answered(10_000, None);
        local.answered(25_000, Some(3));
        assert_eq!(local.without_silence(15_100, 25_000), 100);
        assert_eq!(local.without_silence(15_300, 25_200), 300, "an answer that came a little later");
        assert_eq!(local.without_silence(400, 25_500), 400, "a request that was sent later");
        assert_eq!(local.without_silence(500, 10_100), 500 - 100);
        local.answered(40_000, Some(2));
        assert_eq!(local.without_silence(14_000, 40_000), 14_000, "one slow host");
    }

    #[test]
    fn a_trouble_from_the_start_on_lasts_until_something_is_answered() {
        let mut local = LocalTrouble::default();
        local.note("no network", 1_000);
        local.note("no network", 5_000);
        assert!(!local.lasts(10_000, 10_999) && local.lasts(10_000, 11_000));
        local.answered(11_000, None);
        local.note("no network", 12_000);
        assert!(!local.lasts(10_000, 99_000), "the crawl has begun, and waits");
    }
}
