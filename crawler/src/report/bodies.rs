//! Bodies of fetched pages, where the crawl keeps them: in its WARC files, found by their CDXJ lines.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use dedup_stage::page::{Input, Reader};
use dedup_stage::warc::http::parse_response;
use dedup_stage::warc::read::{Piece, Reader as WarcReader, Record};
use frontier::Millis;
use memchr::memmem::Finder;
use serde::Deserialize;
use url::Url;

use crate::clock;

/// Where the responses of some URLs stand.
#[derive(Clone, Debug, Default)]
pub struct Bodies {
    /// In the order in which they were fetched.
    places: HashMap<String, Vec<Place>>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    file: PathBuf,
    offset: u64,
}

/// What stands in a CDXJ line after the key and the date.
#[derive(Deserialize)]
struct Entry {
    url: String,
    mime: String,
    offset: String,
    filename: String,
}

impl Bodies {
    /// Folder of WARC and CDXJ files in a crawl directory.
    pub const FOLDER: &str = "warc";
    /// Largest body looked at.
    const LARGEST: usize = 16 << 20;

    /// Looks for `urls` in the archive of the crawl in `dir`. No archive is no failure.
    pub fn find(dir: &Path, urls: &HashSet<&str>) -> io::Result<Self> {
        let mut bodies = Self::default();
        let folder = dir.join(Self::FOLDER);
        let files = match folder.read_dir() {
            Ok(files) => files,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(bodies),
            Err(error) => return Err(error),
        };
        let wanted: Vec<_> = urls.iter().map(serde_json::to_string).collect::<Result<_, _>>()?;
        let wanted: Vec<_> = wanted.iter().map(Finder::new).collect();
        for file in files {
            let path = file?.path();
            if urls.is_empty() || path.extension().is_none_or(|extension| extension != "cdxj") {
                continue;
            }
            let mut file = BufReader::with_capacity(1 << 18, File::open(path)?);
            let mut line = Vec::new();
            while file.read_until(b'\n', &mut line)? > 0 {
                // Nearly every line is of another page, and to find that out is cheaper than to read it.
                if wanted.iter().any(|url| url.find(&line).is_some()) {
                    bodies.take(&line, &folder, urls);
                }
                line.clear();
            }
        }
        // Files are numbered in the order of fetching, and appended to.
        bodies.places.values_mut().for_each(|places| places.sort_unstable());
        Ok(bodies)
    }

    fn take(&mut self, line: &[u8], folder: &Path, urls: &HashSet<&str>) {
        let Some(json) = line.splitn(3, |byte| *byte == b' ').nth(2) else { return };
        let Ok(entry) = serde_json::from_slice::<Entry>(json) else { return };
        let inside = !entry.filename.contains(['/', '\\']);
        if let Ok(offset) = entry.offset.parse()
            && inside
            && entry.mime != "warc/revisit"
            && urls.contains(entry.url.as_str())
        {
            self.places.entry(entry.url).or_default().push(Place { file: folder.join(entry.filename), offset });
        }
    }

    /// The visible text of a page as it was fetched last; `None` where its body is not kept or cannot be read.
    pub fn text(&self, url: &str) -> Option<String> {
        text_of(&record_at(self.places.get(url)?.last()?)?, url)
    }

    /// When the body was fetched that a page had at this time, and its visible text.
    pub fn text_as_of(&self, url: &str, at: Millis) -> Option<(Millis, String)> {
        for place in self.places.get(url)?.iter().rev() {
            let record = record_at(place)?;
            let date = clock::parse(record.fields.text("WARC-Date")?)?;
            if date <= at {
                return Some((date, text_of(&record, url)?));
            }
        }
        None
    }
}

fn record_at(place: &Place) -> Option<Record> {
    let mut file = BufReader::new(File::open(&place.file).ok()?);
    file.seek(SeekFrom::Start(place.offset)).ok()?;
    match WarcReader::new(file, Bodies::LARGEST as u64).piece() {
        Ok(Some(Piece::Record(record))) => Some(record),
        _ => None,
    }
}

fn text_of(record: &Record, url: &str) -> Option<String> {
    let message = parse_response(&record.block)?;
    let body = message.body(Bodies::LARGEST).ok()?;
    let content_type = message.fields.text("Content-Type");
    let mut reader = Reader::default();
    reader.read(&Input { url: &Url::parse(url).ok()?, status: message.status, content_type, body: &body });
    Some(reader.text().to_owned())
}
