//! `text.jsonl` and `markdown.jsonl`: the main text of each page that has any.

use std::io;
use std::path::Path;

use dedup_stage::judge::Verdict;

use super::{Lengths, PageOut, Sink};
use crate::extract::Texts;
use crate::series::SeriesWriter;

/// Writes one of the two files.
#[derive(Debug)]
pub struct TextJsonl {
    file: SeriesWriter,
    line: fn(&Texts) -> &[u8],
}

impl TextJsonl {
    /// The name of the file of plain text in the crawl directory.
    pub const TEXT: &str = "text.jsonl";
    /// The name of the file of Markdown in the crawl directory.
    pub const MARKDOWN: &str = "markdown.jsonl";

    /// Opens the file of plain text, cut back to the length in `lengths`. Its parts are closed when they have `most`
    /// bytes.
    pub fn text(dir: &Path, lengths: &Lengths, most: Option<u64>) -> io::Result<Self> {
        Self::open(dir, lengths, most, Self::TEXT, |texts| &texts.text)
    }

    /// Opens the file of Markdown in the same way.
    pub fn markdown(dir: &Path, lengths: &Lengths, most: Option<u64>) -> io::Result<Self> {
        Self::open(dir, lengths, most, Self::MARKDOWN, |texts| &texts.markdown)
    }

    fn open(
        dir: &Path,
        lengths: &Lengths,
        most: Option<u64>,
        name: &str,
        line: fn(&Texts) -> &[u8],
    ) -> io::Result<Self> {
        let length = lengths.get(name).copied().unwrap_or(0);
        Ok(Self { file: SeriesWriter::open(dir, name, length, most)?, line })
    }
}

impl Sink for TextJsonl {
    fn page(&mut self, page: &PageOut<'_>) -> io::Result<u64> {
        let offset = self.file.length();
        let line = page.texts.map(self.line).unwrap_or_default();
        let says_the_same = matches!(page.judgement.verdict, Verdict::Unchanged { .. });
        if line.is_empty() || says_the_same {
            return Ok(offset);
        }
        let twin = page.twin.filter(|_| page.judgement.verdict.duplicate_of().is_some());
        let twin = serde_json::to_string(&twin)?;
        let tail = format!(",\"verdict\":\"{}\",\"duplicate_of\":{twin}}}\n", page.judgement.verdict.name());
        self.file.append(&[line, tail.as_bytes()])?;
        Ok(offset)
    }

    fn sync(&mut self, lengths: &mut Lengths) -> io::Result<()> {
        lengths.insert(self.file.name().into(), self.file.sync()?);
        Ok(())
    }

    fn committed(&mut self, period_ended: bool) -> io::Result<()> {
        self.file.committed(period_ended)
    }
}
