//! The file of the link graph, as an output of the crawl.

use std::io;
use std::path::Path;

use crate::series::SeriesWriter;
use crate::sink::{Lengths, PageOut, Sink};

/// Appends the records of pages.
#[derive(Debug)]
pub struct LinksGraph {
    file: SeriesWriter,
}

impl LinksGraph {
    /// The name of the newest part in the crawl directory.
    pub const NAME: &str = "links.graph";

    /// Opens the series, cut back to its length in `lengths`. Its parts are closed when they have `most` bytes.
    pub fn open(dir: &Path, lengths: &Lengths, most: Option<u64>) -> io::Result<Self> {
        let length = lengths.get(Self::NAME).copied().unwrap_or(0);
        Ok(Self { file: SeriesWriter::open(dir, Self::NAME, length, most)? })
    }
}

impl Sink for LinksGraph {
    fn page(&mut self, page: &PageOut<'_>) -> io::Result<u64> {
        let offset = self.file.length();
        self.file.append(&[page.graph])?;
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
