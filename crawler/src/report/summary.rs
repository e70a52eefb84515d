//! What the state of a crawl knows and its outputs do not: where the crawl started, how it ended, what it learned, what
//! it may have lost.

use super::learned::Learned;
use crate::engine::{Freshness, Round, WorstHost};
use crate::estimate::Lost;
use crate::outcome::Trouble;

/// What the state of a crawl says, and its outputs do not.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// The seeds.
    pub seeds: Vec<String>,
    /// `drop`, `demote` or `keep`.
    pub on_duplicate: Option<String>,
    /// The Hamming distance within which pages may be near-duplicates.
    pub distance: Option<u32>,
    /// Time spent crawling, in milliseconds.
    pub elapsed_ms: Option<u64>,
    /// Why the crawl ended, in the word of `report --json`.
    pub stop_reason: Option<String>,
    /// How the crawl ended, as a sentence.
    pub ending: Option<String>,
    /// What went wrong. The most frequent kind comes first.
    pub troubles: Vec<Trouble>,
    /// The host with which most went wrong.
    pub worst_host: Option<WorstHost>,
    /// Distinct URLs met.
    pub urls_seen: Option<u64>,
    /// URLs still queued.
    pub frontier: Option<u64>,
    /// The estimated number of unique pages that were held back, if there is an estimate.
    pub lost: Option<Lost>,
    /// The last round of visits to pages that were fetched before.
    pub round: Option<Round>,
    /// How fresh the pages of a continuous crawl are.
    pub freshness: Option<Freshness>,
    /// What the crawl has learned about URLs. Not known while the crawl runs.
    pub learned: Option<Learned>,
    /// The settings, as TOML.
    pub settings: Option<String>,
}
