//! Outputs: append-only files that the engine writes to and that are cut back, at start, to what the state vouches for.

mod append;
mod jsonl;
mod skipped;
mod sort;
mod texts;
mod warc;

use std::collections::BTreeMap;
use std::io;

use dedup_stage::judge::{Changed, Judgement, Verdict};
use frontier::Millis;
use url::Url;

pub use append::AppendFile;
pub use jsonl::PagesJsonl;
pub use skipped::{SkippedJsonl, write_lines, write_skipped};
pub(crate) use sort::sort_lines;
pub use texts::{TextJsonl, Texts};
pub use warc::Warc;

use crate::archive::Exchange;
use crate::record::PageRecord;

/// Lengths of outputs, by name, relative to the crawl directory. An output in parts counts as one
/// ([`series`](crate::series)).
pub type Lengths = BTreeMap<String, u64>;

/// A fetched page on its way to the outputs. The bytes were finished by a worker; the verdict is the engine's.
#[derive(Clone, Debug)]
pub struct PageOut<'a> {
    /// `{"url":…` up to and without the fields that depend on the verdict.
    pub line: &'a [u8],
    /// The verdict.
    pub judgement: &'a Judgement,
    /// The page of another URL that this one repeats.
    pub twin: Option<Twin>,
    /// Name of the known corpus that has the page.
    pub known: Option<&'a str>,
    /// The earlier page that a revisit record of the archive would refer to: that of the twin or of the same URL, at the visit whose
    /// response the archive has.
    pub earlier: Option<Twin>,
    /// The exchange for the archive, where one is kept.
    pub exchange: Option<&'a Exchange>,
    /// Its record in the link graph; empty without links.
    pub graph: &'a [u8],
    /// Whether it is no page but what pages need to be shown: then it is for the archive alone.
    pub is_requisite: bool,
    /// Its main text, where that is written.
    pub texts: Option<&'a Texts>,
    /// In a focused crawl: how much the page has to do with the topic.
    pub relevance: Option<f32>,
    /// `wall` or `soft-404`, if it is either.
    pub label: Option<&'a str>,
    /// Link counts: not seen before; queued at once; held, stopped or tried because the page is a duplicate.
    pub links: [u32; 3],
    /// What changed since the last visit to this URL; `None` at the first.
    pub changed: Option<Changed>,
    /// Resemblance of the text to what this URL showed at its last visit, 0..1.
    pub resemblance_before: Option<f32>,
    /// Links not met before, at a later visit to this URL.
    pub new_links: Option<&'a [Url]>,
    /// Links that the last visit to this URL showed, and this one does not: how many, and the URLs of some.
    pub vanished: Option<(u32, &'a [String])>,
}

impl<'a> PageOut<'a> {
    /// A URL that was given up without an answer.
    pub fn failed(line: &'a [u8]) -> Self {
        const NOT_JUDGED: &Judgement = &Judgement::UNJUDGED;
        let (twin, known, earlier, exchange, texts, relevance, changed) = (None, None, None, None, None, None, None);
        let (judgement, links) = (NOT_JUDGED, [0; 3]);
        let (resemblance_before, new_links, vanished) = (None, None, None);
        Self {
            line,
            judgement,
            twin,
            known,
            earlier,
            exchange,
            graph: &[],
            is_requisite: false,
            texts,
            relevance,
            label: None,
            links,
            changed,
            resemblance_before,
            new_links,
            vanished,
        }
    }
}

impl PageOut<'_> {
    /// The page that the record in the archive refers to, if that is a revisit record: the server says that nothing has changed, or
    /// the payload is the same.
    pub fn revisits(&self) -> Option<&Twin> {
        let (exchange, earlier) = (self.exchange?, self.earlier.as_ref()?);
        let is_copy = matches!(self.judgement.verdict, Verdict::Exact { .. } | Verdict::Unchanged { bytes: false, .. });
        let is_same = is_copy && earlier.payload == Some(exchange.payload.0);
        (exchange.status == 304 || is_same).then_some(earlier)
    }
}

/// An earlier page that a page repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Twin {
    /// Its URL.
    pub url: String,
    /// When it was fetched.
    pub fetched_at: Millis,
    /// SHA-256 of its payload as received, where an archive is kept.
    pub payload: Option<[u8; 32]>,
}

impl Twin {
    /// From its record.
    pub fn of(record: &PageRecord) -> Self {
        Self { url: record.url.clone(), fetched_at: record.fetched_at, payload: record.payload }
    }
}

/// An output of the crawl.
pub trait Sink {
    /// Takes a page; returns where its record begins in the sink's file.
    fn page(&mut self, page: &PageOut<'_>) -> io::Result<u64>;

    /// Brings everything taken so far to the disk, and adds the lengths of its files.
    fn sync(&mut self, lengths: &mut Lengths) -> io::Result<()>;

    /// Everything taken so far is committed: the file that is open may be closed, and another begun. Where `period_ended`, it is
    /// closed, if anything is in it.
    fn committed(&mut self, _period_ended: bool) -> io::Result<()> {
        Ok(())
    }

    /// The run has ended, and everything is committed: nothing more is taken.
    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}
