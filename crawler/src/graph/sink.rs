//! The file of the link graph, as an output of the crawl.

use std::io;
use std::path::Path;

use crate::sink::{AppendFile, Lengths, PageOut, Sink};

/// Appends the records of pages.
#[derive(Debug)]
pub struct LinksGraph {
    file: AppendFile,
}

impl LinksGraph {
    /// Name of the file in the crawl directory.
    pub const NAME: &str = "links.graph";

    /// Opens it, cut back to the length in `lengths`.
    pub fn open(dir: &Path, lengths: &Lengths) -> io::Result<Self> {
        let length = lengths.get(Self::NAME).copied().unwrap_or(0);
        Ok(Self { file: AppendFile::open(&dir.join(Self::NAME), length)? })
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
}
