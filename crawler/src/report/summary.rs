//! What the state of a crawl knows and its outputs do not: where it started, how it ended, what it learned, what it may have lost.

use super::learned::Learned;
use crate::estimate::Lost;

/// What the outputs of a crawl do not say, but its state does.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Where it started.
    pub seeds: Vec<String>,
    /// `drop`, `demote` or `keep`.
    pub on_duplicate: Option<String>,
    /// Hamming distance of a near-duplicate.
    pub distance: Option<u32>,
    /// Time spent crawling, milliseconds.
    pub elapsed_ms: Option<u64>,
    /// Why it ended, as `report --json` says it.
    pub stop_reason: Option<String>,
    /// Distinct URLs met.
    pub urls_seen: Option<u64>,
    /// URLs still queued.
    pub frontier: Option<u64>,
    /// Unique pages that were held back, so far as they can be estimated.
    pub lost: Option<Lost>,
    /// What the crawl learned of URLs; not known while it runs.
    pub learned: Option<Learned>,
    /// Settings, as TOML.
    pub settings: Option<String>,
}

/// Why a crawl ended, as a sentence.
pub fn ending(reason: &str) -> &'static str {
    match reason {
        "done" => "It is complete: nothing in scope is left to fetch.",
        "waiting" => "It ended because nothing became due within --patience; what is queued stays queued.",
        "page_limit" => "It stopped at --max-pages; with a higher one it goes on.",
        "time_limit" => "It stopped at --time-limit; the same command goes on.",
        "stopped" => "It was stopped, and can be taken up again.",
        "running" => "It is still running; this is how it stands.",
        _ => "It was interrupted, and can be taken up again.",
    }
}
