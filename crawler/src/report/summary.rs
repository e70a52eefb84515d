//! What the state of a crawl knows and its outputs do not: where it started, how it ended, what it learned, what it may have lost.

use super::learned::Learned;
use crate::engine::{Freshness, Round, WorstHost};
use crate::estimate::Lost;
use crate::outcome::Trouble;

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
    /// How it ended, as a sentence.
    pub ending: Option<String>,
    /// What went wrong, the most frequent first.
    pub troubles: Vec<Trouble>,
    /// The host with which most went wrong.
    pub worst_host: Option<WorstHost>,
    /// Distinct URLs met.
    pub urls_seen: Option<u64>,
    /// URLs still queued.
    pub frontier: Option<u64>,
    /// Unique pages that were held back, so far as they can be estimated.
    pub lost: Option<Lost>,
    /// The last round of visits to pages that were fetched before.
    pub round: Option<Round>,
    /// How fresh the pages of a continuous crawl are.
    pub freshness: Option<Freshness>,
    /// What the crawl learned of URLs; not known while it runs.
    pub learned: Option<Learned>,
    /// Settings, as TOML.
    pub settings: Option<String>,
}
