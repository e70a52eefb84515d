//! Finds the troubles that still stand. A URL that is visited again may be answered well, or fail in another way. Only
//! the trouble at its last visit counts. The totals over all visits stay as they are ([`Stats`]). The state has the
//! troubles of the last visit to each URL that had any, and the counters have the numbers of troubles that were
//! superseded.

use frontier::Job;

use super::error::Result;
use super::state::EngineState;
use super::stats::Stats;
use super::unread;
use crate::spaces;

/// The words for redirects that are not followed: without end, out of the scope, or to no URL.
pub(super) const LOOP: &str = "redirect_loop";
pub(super) const OUT: &str = "redirected_out";
pub(super) const NOWHERE: &str = "redirect_nowhere";

/// The text between two kinds of trouble of one visit.
const AND: char = ' ';

impl EngineState<'_> {
    /// Records the troubles of a visit: statuses, the words for failures, and the words above. The first of them counts
    /// against the host. The troubles of the last visit to this URL are superseded, and do not count against the host
    /// any more.
    pub(super) fn note_troubles(&mut self, job: &Job, kinds: &[&str]) -> Result<()> {
        let (key, session) = (job.page.url.to_bytes(), &mut self.ledger.session);
        if job.page.visit > 1
            && let Some(before) = session.get(spaces::TROUBLES, &key)?
        {
            for (at, kind) in String::from_utf8_lossy(&before).split(AND).enumerate() {
                if at == 0 {
                    self.hosts.take_back(&job.url, kind);
                }
                *self.ledger.stats.superseded.entry(kind.to_owned()).or_default() += 1;
            }
            session.delete(spaces::TROUBLES, key);
        }
        if let Some(first) = kinds.first() {
            self.hosts.note(&job.url, first);
            session.put(spaces::TROUBLES, key, kinds.join(&AND.to_string()).into_bytes());
        }
        Ok(())
    }
}

impl Stats {
    /// The same counters, but with only those troubles that belong to the last visit to each URL.
    pub fn standing(&self) -> Self {
        let mut rest = self.clone();
        for (kind, times) in &self.superseded {
            let count = match (kind.as_str(), kind.parse::<u16>(), kind.strip_prefix("cut_")) {
                (LOOP, ..) => Some(&mut rest.redirects_endless),
                (OUT, ..) => Some(&mut rest.redirects_out),
                (NOWHERE, ..) => Some(&mut rest.redirects_nowhere),
                (_, Ok(status), _) => rest.statuses.get_mut(&status),
                (.., Some(cut)) => rest.cut.get_mut(cut),
                _ => {
                    rest.failed = rest.failed.saturating_sub(*times);
                    rest.failures.get_mut(kind)
                }
            };
            if let Some(count) = count {
                *count = count.saturating_sub(*times);
            }
        }
        rest.cut.retain(|_, count| *count > 0);
        rest
    }

    /// Whether no URL was given up, no answer was a server error, no body was cut, and nothing was left unread.
    pub fn has_all(&self) -> bool {
        let server_errors: u64 = self.statuses.range(500..).map(|(_, count)| *count).sum();
        self.failed == 0 && self.cut.is_empty() && server_errors == 0 && unread::causes(self).next().is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_superseded_counts_no_more_and_the_rest_stays() {
        let stats = Stats {
            statuses: [(200, 9), (503, 3)].into(),
            failures: [("reset".to_owned(), 2), ("timeout".to_owned(), 1)].into(),
            failed: 3,
            cut: [("timeout".to_owned(), 1), ("reset".to_owned(), 2)].into(),
            redirects_endless: 1,
            redirects_out: 4,
            redirects_nowhere: 2,
            ..Stats::default()
        };
        assert_eq!(stats.standing(), stats);
        let superseded = [("503", 2), ("reset", 2), ("cut_timeout", 1), (LOOP, 1), (OUT, 1), (NOWHERE, 9)];
        let superseded = superseded.map(|(kind, times)| (kind.to_owned(), times)).into();
        let rest = Stats { superseded, ..stats }.standing();
        assert_eq!(rest.statuses, [(200, 9), (503, 1)].into());
        assert_eq!((rest.failed, rest.failures), (1, [("reset".to_owned(), 0), ("timeout".to_owned(), 1)].into()));
        assert_eq!(rest.cut, [("reset".to_owned(), 2)].into());
        assert_eq!([rest.redirects_endless, rest.redirects_out, rest.redirects_nowhere], [0, 3, 0]);
    }
}
