//! Reads the link graph: all its records, or for each page the links of its last answer that had any.

use std::collections::HashMap;
use std::io::{self, BufReader, Read};
use std::path::Path;

use dedup_stage::url::{PageId, UrlId};

use super::{Edge, LinksGraph, decode};
use crate::series::{Gone, Series};

/// The links of the page whose record begins at the place `at` in the graph of the crawl in `dir`. `None` if no record
/// of `url` is there (yet, or any more).
pub fn edges_at(dir: &Path, at: u64, url: UrlId) -> io::Result<Option<Vec<Edge>>> {
    let graph = Series::open(dir, LinksGraph::NAME)?;
    let read = || -> io::Result<Vec<u8>> {
        let mut length = [0; 4];
        graph.read_exact_at(at, &mut length)?;
        let (begin, mut record) = (at + length.len() as u64, Vec::new());
        graph.bytes(begin, begin + u64::from(u32::from_be_bytes(length))).read_to_end(&mut record)?;
        Ok(record)
    };
    match read() {
        Ok(record) => Ok(decode(&record).filter(|(page, _)| page.url == url).map(|(_, edges)| edges)),
        // A record that was made a moment ago may still be in memory, and a part may be missing.
        Err(error) if matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::NotFound) => Ok(None),
        Err(error) => Err(error),
    }
}

/// A function that gets the place of a record, its page and its links.
type Visit<'a, E> = &'a mut dyn FnMut(u64, PageId, &[Edge]) -> Result<(), E>;

/// The records of the graph, as far as the state vouches for them. A page that was visited again may have several.
#[derive(Debug)]
pub struct Records {
    series: Series,
    length: u64,
}

impl Records {
    /// Opens the records of the crawl in `dir`. The state vouches for `length` bytes of them.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or is damaged (`InvalidData`).
    pub fn open(dir: &Path, length: u64) -> io::Result<Self> {
        let series = Series::open(dir, LinksGraph::NAME)?;
        if series.end() < length { Err(damaged()) } else { Ok(Self { series, length }) }
    }

    /// Calls `visit` with the place of each record, its page and its links, in the order of fetching.
    pub fn each<E: From<io::Error>>(&self, visit: Visit<'_, E>) -> Result<(), E> {
        let mut record = Vec::new();
        for part in self.series.parts(self.length)? {
            let mut file = BufReader::new(self.series.bytes(part.start, part.end));
            let mut at = part.start;
            while at < part.end {
                let mut length = [0; 4];
                file.read_exact(&mut length).map_err(|_| damaged())?;
                let length = u64::from(u32::from_be_bytes(length));
                record.clear();
                if file.by_ref().take(length).read_to_end(&mut record)? as u64 != length {
                    return Err(damaged().into());
                }
                let (page, edges) = decode(&record).ok_or_else(damaged)?;
                visit(at, page, &edges)?;
                at += 4 + length;
            }
        }
        Ok(())
    }
}

/// The graph: the last record of each page.
#[derive(Debug)]
pub struct Graph {
    records: Records,
    /// The parts that are missing, with their links.
    gone: Vec<Gone>,
    /// The place where the last record of a page begins, by the hash of the page's URL.
    last: HashMap<u64, u64>,
}

impl Graph {
    /// Opens the graph of the crawl in `dir`. The state vouches for `length` bytes of it. Errors as for
    /// [`Records::open`].
    pub fn open(dir: &Path, length: u64) -> io::Result<Self> {
        let records = Records::open(dir, length)?;
        let mut last = HashMap::new();
        records.each(&mut |at, page, _| {
            last.insert(page.url.url, at);
            Ok::<_, io::Error>(())
        })?;
        Ok(Self { gone: records.series.gone(length)?, records, last })
    }

    /// The parts that are missing.
    pub fn gone(&self) -> &[Gone] {
        &self.gone
    }

    /// Calls `visit` with each page that links anywhere, in the order of fetching.
    pub fn each(&self, visit: &mut dyn FnMut(PageId, &[Edge]) -> io::Result<()>) -> io::Result<()> {
        self.records.each(&mut |at, page, edges| match self.last.get(&page.url.url) {
            Some(last) if *last == at => visit(page, edges),
            _ => Ok(()),
        })
    }
}

fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{} is damaged", LinksGraph::NAME))
}
