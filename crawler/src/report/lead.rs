//! The crawl in words: whether it failed, what it found, what the gate did.

use super::Report;
use super::html::{Web, put};
use crate::units;

impl Report {
    /// Says that the crawl has failed, if nothing, or little, was answered well.
    pub(super) fn failure(&self) -> Option<String> {
        let (verdicts, statuses) = (&self.tally.verdicts, &self.tally.statuses);
        let troubles = &self.summary.troubles;
        let retrying = troubles.iter().filter(|trouble| trouble.kind.starts_with("retry_"));
        let failed = verdicts.failed + retrying.map(|trouble| trouble.count).sum::<u64>();
        let asked = verdicts.pages() + failed;
        let sum = |from: u16, to: u16| statuses.range(from..to).map(|(_, count)| *count).sum::<u64>();
        let (good, bad) = (sum(200, 300) + sum(304, 305), sum(400, 1_000) + failed);
        let why = troubles.first().map(|trouble| format!(" Most often: {}.", Web(&trouble.meaning)));
        let why = why.unwrap_or_default();
        if good == 0 {
            return Some(format!("This crawl failed: not one page could be had.{why}"));
        }
        (2 * bad > asked).then(|| {
            format!(
                "Most of this crawl failed: {} of {} URLs brought no page.{why}",
                units::count(bad),
                units::count(asked)
            )
        })
    }

    /// The crawl in two sentences.
    pub(super) fn lead(&self) -> String {
        let verdicts = &self.tally.verdicts;
        let mut lead = format!("{} fetched", units::counted(verdicts.pages(), "page"));
        if let Some(elapsed) = self.summary.elapsed_ms.filter(|elapsed| *elapsed > 0) {
            put!(lead, " in {}", units::duration(elapsed));
        }
        put!(
            lead,
            "; {} said something new, and {} repeated what an earlier page had said.",
            units::count(verdicts.unique),
            units::count(verdicts.duplicates())
        );
        if let Some(ending) = &self.summary.ending {
            put!(lead, " {ending}");
        }
        lead
    }

    /// The sentence about what the gate did.
    pub(super) fn gate(&self) -> String {
        let tally = &self.tally;
        let duplicates = units::counted(tally.verdicts.duplicates(), "duplicate");
        let mut text =
            format!("{duplicates} were fetched before they could be judged: {}.", units::bytes(tally.duplicate_bytes));
        match self.summary.on_duplicate.as_deref() {
            Some("keep") => {
                text.push_str(" The gate only reported (--on-duplicate keep): all their links were followed.")
            }
            Some("demote") => {
                text.push_str(" Their links were queued with a lower priority (--on-duplicate demote); none was lost.");
            }
            _ => {
                put!(text, " {} on them were not followed at once", units::counted(tally.links_dropped, "new link"));
                if let Some(held) = self.summary.held {
                    let are = if held == 1 { "is" } else { "are" };
                    put!(text, ", and {} {are} held aside now", units::counted(held, "URL"));
                }
                text.push_str(": run the crawl again with <code>--on-duplicate demote</code> to fetch what is held.");
            }
        }
        match &self.summary.lost {
            Some(lost) => put!(
                text,
                " Among the URLs held back, and behind them, there are an estimated {:.0} unique pages (95 % interval {:.0} to {:.0}). What lies \
                 behind them is counted as far as a sample tells.",
                lost.estimate,
                lost.low,
                lost.high
            ),
            None => {
                text.push_str(" How many unique pages are among the URLs held back is estimated when the crawl ends.")
            }
        }
        text
    }
}
