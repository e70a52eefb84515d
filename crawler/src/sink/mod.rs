//! Outputs. They are append-only files to which the engine writes. At the start, they are cut back to the lengths that
//! the state vouches for.

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

pub use jsonl::PagesJsonl;
pub use skipped::{SkippedJsonl, write_lines, write_skipped};
pub(crate) use sort::sort_lines;
pub use texts::TextJsonl;
pub use warc::Warc;

use crate::archive::Exchange;
use crate::extract::Texts;
use crate::record::PageRecord;

/// The lengths of outputs, by their names relative to the crawl directory. An output in parts counts as one
/// ([`series`](crate::series)).
pub type Lengths = BTreeMap<String, u64>;

/// A fetched page on its way to the outputs. A page worker has finished the bytes, and the engine adds the verdict.
#[derive(Clone, Debug)]
pub struct PageOut<'a> {
    /// The beginning of the page's line, `{"url":…`, without the fields that depend on the verdict.
    pub line: &'a [u8],
    /// The verdict.
    pub judgement: &'a Judgement,
    /// The URL of the page that this page repeats.
    pub twin: Option<&'a str>,
    /// The name of the known corpus that has the page.
    pub known: Option<&'a str>,
    /// The earlier page to which a revisit record of the archive would refer: the twin, or the same URL at the visit
    /// whose response the archive has.
    pub earlier: Option<Earlier>,
    /// The exchange for the archive; `None` without an archive.
    pub exchange: Option<&'a Exchange>,
    /// The page's record in the link graph; empty if the page has no links.
    pub graph: &'a [u8],
    /// Whether this is no page but a file that pages need to be shown. Such a file is only for the archive.
    pub is_requisite: bool,
    /// The main text, if it is written.
    pub texts: Option<&'a Texts>,
    /// In a focused crawl: the relevance of the page to the topic.
    pub relevance: Option<f32>,
    /// `wall` or `soft-404`, if the page is one of them.
    pub label: Option<&'a str>,
    /// The numbers of links that were not seen before; that were queued at once; and that were held, stopped or tried
    /// because the page is a duplicate.
    pub links: [u32; 3],
    /// The change since the last visit to this URL; `None` at the first visit.
    pub changed: Option<Changed>,
    /// The resemblance of the text to that of this URL at its last visit, 0..1.
    pub resemblance_before: Option<f32>,
    /// At a later visit to this URL: the links that were not met before.
    pub new_links: Option<&'a [Url]>,
    /// The links that the last visit to this URL showed, and this one does not: their number, and the URLs of some.
    pub vanished: Option<(u32, &'a [String])>,
}

impl<'a> PageOut<'a> {
    /// The entry of a URL that was given up without an answer.
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
    /// The page to which the record in the archive refers, if that is a revisit record. It is one if the server says
    /// that nothing has changed, or if the payload is the same.
    pub fn revisits(&self) -> Option<&Earlier> {
        let (exchange, earlier) = (self.exchange?, self.earlier.as_ref()?);
        let is_copy = matches!(self.judgement.verdict, Verdict::Exact { .. } | Verdict::Unchanged { bytes: false, .. });
        let is_same = is_copy && earlier.payload == Some(exchange.payload.0);
        (exchange.status == 304 || is_same).then_some(earlier)
    }
}

/// An earlier page, for a revisit record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Earlier {
    /// The URL of the page.
    pub url: String,
    /// The time at which it was fetched.
    pub fetched_at: Millis,
    /// The SHA-256 of its payload as received, if there is an archive.
    pub payload: Option<[u8; 32]>,
}

impl Earlier {
    /// Makes it from the record of the page.
    pub fn of(record: &PageRecord) -> Self {
        Self { url: record.url.clone(), fetched_at: record.fetched_at, payload: record.payload }
    }
}

/// An output of the crawl.
pub trait Sink {
    /// Takes a page. Returns the place where its record begins in the sink's file.
    fn page(&mut self, page: &PageOut<'_>) -> io::Result<u64>;

    /// Makes everything taken so far durable, and adds the lengths of the files to `lengths`.
    fn sync(&mut self, lengths: &mut Lengths) -> io::Result<()>;

    /// Records that everything taken so far is committed. The open file may now be closed, and another begun. If
    /// `period_ended`, it is closed unless it is empty.
    fn committed(&mut self, _period_ended: bool) -> io::Result<()> {
        Ok(())
    }

    /// Records that the run has ended, and that everything is committed. Nothing more is taken.
    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}
