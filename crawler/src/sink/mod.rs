//! Outputs: append-only files that the engine writes to and that are cut back, at start, to what the state vouches for.

mod append;
mod jsonl;
mod sort;
mod warc;

use std::collections::BTreeMap;
use std::io;

use dedup_stage::judge::Judgement;
use frontier::{Millis, SkipReason};

pub use append::AppendFile;
pub use jsonl::{PagesJsonl, SkippedJsonl};
pub(crate) use sort::sort_lines;
pub use warc::Warc;

use crate::archive::Exchange;

/// Lengths of output files, by name, relative to the crawl directory.
pub type Lengths = BTreeMap<String, u64>;

/// A fetched page on its way to the outputs. The bytes were finished by a worker; the verdict is the engine's.
#[derive(Clone, Debug)]
pub struct PageOut<'a> {
    /// `{"url":…` up to and without the fields that depend on the verdict.
    pub line: &'a [u8],
    /// The verdict, `None` where there is nothing to judge.
    pub judgement: &'a Judgement,
    /// The earlier page that this one repeats; for a 304, its own earlier self.
    pub twin: Option<Twin>,
    /// The exchange for the archive, where one is kept.
    pub exchange: Option<&'a Exchange>,
    /// In a focused crawl: how much the page has to do with the topic.
    pub relevance: Option<f32>,
    /// Link counts: not seen before, passed to the frontier, kept from it.
    pub links: [u32; 3],
}

/// The earlier page that a page repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Twin {
    /// Its URL.
    pub url: String,
    /// When it was fetched.
    pub fetched_at: Millis,
    /// SHA-256 of its payload as received, where an archive is kept.
    pub payload: Option<[u8; 32]>,
}

/// A URL that will not be fetched.
#[derive(Clone, Copy, Debug)]
pub struct SkipOut<'a> {
    /// The URL as written.
    pub url: &'a str,
    /// Why.
    pub reason: SkipReason,
    /// URL of the page that carried it; empty for seeds.
    pub source: &'a str,
    /// Name of the rule, where `reason` is a rule.
    pub rule: Option<&'a str>,
    /// More about the reason, for people.
    pub detail: Option<&'a str>,
}

/// An output of the crawl.
pub trait Sink {
    /// Takes a page; returns where its record begins in the sink's file.
    fn page(&mut self, page: &PageOut<'_>) -> io::Result<u64>;

    /// Takes a skipped URL.
    fn skipped(&mut self, skip: &SkipOut<'_>) -> io::Result<()>;

    /// Brings everything taken so far to the disk, and adds the lengths of its files.
    fn sync(&mut self, lengths: &mut Lengths) -> io::Result<()>;

    /// The run has ended, and everything is committed: nothing more is taken.
    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}
