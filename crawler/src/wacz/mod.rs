//! WACZ 1.1.1: an archive as one file, which replay tools can open directly. It is a ZIP with the WARC files, their
//! index, a list of pages and, in `datapackage.json`, the digest of each of these.
//!
//! `crawler export --what wacz` calls [`write()`] with the WARC files of a crawl directory, its *sorted* CDXJ index,
//! and the pages of `pages.jsonl` that have a capture. Nothing else of the crawl is needed. Only one block of the index
//! and one page are in memory at a time.
//!
//! The members are stored, and not compressed again: WARC files and the index are gzip already, and readers fetch
//! single records by their offset in the ZIP.

mod index;
mod pages;
mod parts;

#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{self, BufRead, Seek, Write};
use std::path::PathBuf;

pub use pages::Page;
use parts::Parts;

/// The content for the file.
#[derive(Debug)]
pub struct Input<L, P> {
    /// The WARC files, with one gzip member for each record. The index names them by their file names.
    pub warcs: Vec<PathBuf>,
    /// The lines of the CDXJ index, sorted bytewise.
    pub index: L,
    /// The pages that readers list, in any order. Those without a capture in the index would not open.
    pub pages: P,
    /// The title of the archive, for people.
    pub title: String,
    /// The time of writing, in milliseconds since the Unix epoch.
    pub created: u64,
}

/// The numbers of files, captures and pages in a WACZ that was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// The number of WARC files.
    pub warcs: usize,
    /// The number of lines of the index.
    pub captures: u64,
    /// The number of pages listed.
    pub pages: u64,
}

/// Writes a WACZ. It is an error of kind `InvalidData` if the index is not sorted. Reading and writing may also fail.
/// After an error, the bytes written so far are no WACZ.
pub fn write<L, P>(out: impl Write + Seek, input: Input<L, P>) -> io::Result<Written>
where
    L: BufRead,
    P: IntoIterator<Item = io::Result<Page>>,
{
    let mut parts = Parts::new(out);
    let mut written = Written::default();
    for path in &input.warcs {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let mut file = File::open(path).map_err(|error| named(&error, path))?;
        parts.add(&format!("archive/{name}"), |out| io::copy(&mut file, out).map(drop))?;
        written.warcs += 1;
    }
    let mut blocks = Vec::new();
    parts.add("indexes/index.cdx.gz", |out| {
        written.captures = index::compress(input.index, out, &mut blocks)?;
        Ok(())
    })?;
    parts.add("indexes/index.idx", |out| out.write_all(&blocks))?;
    parts.add("pages/pages.jsonl", |out| {
        written.pages = pages::list(input.pages, out)?;
        Ok(())
    })?;
    parts.finish(&input.title, input.created)?;
    Ok(written)
}

fn named(error: &io::Error, path: &std::path::Path) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
