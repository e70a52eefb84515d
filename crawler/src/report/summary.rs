//! The facts that are in the state of a crawl but not in its outputs: the seeds, the end of the crawl, what it learned,
//! and what it may have lost.

use super::learned::Learned;
use crate::engine::{Freshness, Round, WorstHost};
use crate::estimate::Lost;
use crate::outcome::Trouble;

/// The facts that are in the state of a crawl but not in its outputs.
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
    /// The reason why the crawl ended, as in `report --json`.
    pub stop_reason: Option<String>,
    /// The end of the crawl, as a sentence.
    pub ending: Option<String>,
    /// The troubles. The most frequent kind comes first.
    pub troubles: Vec<Trouble>,
    /// The hosts with which most went wrong, the worst first.
    pub worst_hosts: Vec<WorstHost>,
    /// Distinct URLs met.
    pub urls_seen: Option<u64>,
    /// URLs still queued.
    pub frontier: Option<u64>,
    /// URLs still held: only duplicates link to them.
    pub held: Option<u64>,
    /// The estimated number of unique pages that were held back, if there is an estimate.
    pub lost: Option<Lost>,
    /// The last round of visits to pages that were fetched before.
    pub round: Option<Round>,
    /// The freshness of the pages of a continuous crawl.
    pub freshness: Option<Freshness>,
    /// The rules and hosts that the crawl has learned. Not known while the crawl runs.
    pub learned: Option<Learned>,
    /// The settings, as TOML.
    pub settings: Option<String>,
}
