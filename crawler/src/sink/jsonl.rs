//! `pages.jsonl`: one object a line for each page fetched.

use std::io::{self, Write};
use std::path::Path;

use super::{Lengths, PageOut, Sink};
use crate::series::SeriesWriter;
use dedup_stage::corpus::CorpusMatch;
use dedup_stage::judge::Verdict;

/// Writes `pages.jsonl`.
#[derive(Debug)]
pub struct PagesJsonl {
    file: SeriesWriter,
    tail: Vec<u8>,
}

impl PagesJsonl {
    /// The name of the newest part in the crawl directory.
    pub const NAME: &str = "pages.jsonl";

    /// Opens the series, cut back to its length in `lengths`. Its parts are closed when they have `most` bytes.
    pub fn open(dir: &Path, lengths: &Lengths, most: Option<u64>) -> io::Result<Self> {
        let length = lengths.get(Self::NAME).copied().unwrap_or(0);
        Ok(Self { file: SeriesWriter::open(dir, Self::NAME, length, most)?, tail: Vec::new() })
    }
}

impl Sink for PagesJsonl {
    fn page(&mut self, page: &PageOut<'_>) -> io::Result<u64> {
        let offset = self.file.length();
        if page.is_requisite {
            return Ok(offset);
        }
        let tail = &mut self.tail;
        tail.clear();
        write!(tail, ",\"verdict\":\"{}\",\"duplicate_of\":", page.judgement.verdict.name())?;
        match page.twin.filter(|_| page.judgement.verdict.duplicate_of().is_some()) {
            Some(twin) => serde_json::to_writer(&mut *tail, twin)?,
            None => tail.extend(b"null"),
        }
        match page.judgement.verdict {
            Verdict::Near { distance, resemblance, .. }
            | Verdict::Known { document: CorpusMatch { exact: false, distance, resemblance, .. }, .. } => {
                write!(tail, ",\"distance\":{distance},\"resemblance\":{resemblance:.3}")?;
            }
            Verdict::Exact { .. } | Verdict::Known { .. } => tail.extend(b",\"distance\":0,\"resemblance\":1.0"),
            Verdict::Unique | Verdict::Unchanged { .. } | Verdict::Unjudged => {
                tail.extend(b",\"distance\":null,\"resemblance\":null");
            }
        }
        match page.relevance {
            Some(relevance) => write!(tail, ",\"relevance\":{relevance:.3}")?,
            None => tail.extend(b",\"relevance\":null"),
        }
        match page.changed {
            Some(changed) => write!(tail, ",\"changed\":\"{}\"", changed.name())?,
            None => tail.extend(b",\"changed\":null"),
        }
        match page.resemblance_before {
            Some(resemblance) => write!(tail, ",\"resemblance_before\":{resemblance:.3}")?,
            None => tail.extend(b",\"resemblance_before\":null"),
        }
        tail.extend(b",\"new_links\":");
        serde_json::to_writer(&mut *tail, &page.new_links)?;
        let (count, named) = page.vanished.unzip();
        tail.extend(b",\"links_gone\":");
        serde_json::to_writer(&mut *tail, &count)?;
        tail.extend(b",\"gone_links\":");
        serde_json::to_writer(&mut *tail, &named)?;
        tail.extend(b",\"label\":");
        serde_json::to_writer(&mut *tail, &page.label)?;
        tail.extend(b",\"known\":");
        serde_json::to_writer(&mut *tail, &page.known)?;
        let [new, admitted, dropped] = page.links;
        writeln!(tail, ",\"links_new\":{new},\"links_admitted\":{admitted},\"links_dropped\":{dropped}}}")?;
        self.file.append(&[page.line, tail])?;
        Ok(offset)
    }

    fn sync(&mut self, lengths: &mut Lengths) -> io::Result<()> {
        lengths.insert(Self::NAME.into(), self.file.sync()?);
        Ok(())
    }

    fn committed(&mut self, period_ended: bool) -> io::Result<()> {
        self.file.committed(period_ended)
    }
}
