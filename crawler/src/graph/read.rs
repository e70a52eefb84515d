//! Reading the link graph: of each page the links of its last answer that had any.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use dedup_stage::url::{PageId, UrlId};

use super::{Edge, LinksGraph, decode};

/// The links of the page whose record begins at this place in the graph of the crawl in `dir`; `None` where no record of `url`
/// is there (yet).
pub fn edges_at(dir: &Path, at: u64, url: UrlId) -> io::Result<Option<Vec<Edge>>> {
    let mut file = match File::open(dir.join(LinksGraph::NAME)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    file.seek(SeekFrom::Start(at))?;
    let mut length = [0; 4];
    if let Err(error) = file.read_exact(&mut length) {
        // What was written a moment ago may still be in memory.
        return if error.kind() == io::ErrorKind::UnexpectedEof { Ok(None) } else { Err(error) };
    }
    let mut record = Vec::new();
    file.take(u64::from(u32::from_be_bytes(length))).read_to_end(&mut record)?;
    Ok(decode(&record).filter(|(page, _)| page.url == url).map(|(_, edges)| edges))
}

/// The file, as far as the state vouches for it.
#[derive(Debug)]
pub struct Graph {
    path: PathBuf,
    length: u64,
    /// By hash of the page's URL: where its last record begins.
    last: HashMap<u64, u64>,
}

/// Called with the place of a record, its page and its links.
type Visit<'a> = &'a mut dyn FnMut(u64, PageId, &[Edge]) -> io::Result<()>;

impl Graph {
    /// Opens the graph of the crawl in `dir`, of which the state vouches for so many bytes.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is damaged (`InvalidData`).
    pub fn open(dir: &Path, length: u64) -> io::Result<Self> {
        let mut graph = Self { path: dir.join(LinksGraph::NAME), length, last: HashMap::new() };
        let mut last = HashMap::new();
        graph.each_record(&mut |at, page, _| {
            last.insert(page.url.url, at);
            Ok(())
        })?;
        graph.last = last;
        Ok(graph)
    }

    /// Calls `visit` with each page that links anywhere, in the order of fetching.
    pub fn each(&self, visit: &mut dyn FnMut(PageId, &[Edge]) -> io::Result<()>) -> io::Result<()> {
        self.each_record(&mut |at, page, edges| match self.last.get(&page.url.url) {
            Some(last) if *last == at => visit(page, edges),
            _ => Ok(()),
        })
    }

    fn each_record(&self, visit: Visit<'_>) -> io::Result<()> {
        if self.length == 0 {
            return Ok(());
        }
        let damaged = || {
            let what = format!("{} is damaged", self.path.display());
            io::Error::new(io::ErrorKind::InvalidData, what)
        };
        let mut file = BufReader::new(File::open(&self.path)?.take(self.length));
        let (mut at, mut record) = (0, Vec::new());
        while at < self.length {
            let mut length = [0; 4];
            file.read_exact(&mut length).map_err(|_| damaged())?;
            let length = u64::from(u32::from_be_bytes(length));
            record.clear();
            if file.by_ref().take(length).read_to_end(&mut record)? as u64 != length {
                return Err(damaged());
            }
            let (page, edges) = decode(&record).ok_or_else(damaged)?;
            visit(at, page, &edges)?;
            at += 4 + length;
        }
        Ok(())
    }
}
