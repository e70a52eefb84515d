//! The bodies of fetched pages, if the crawl has an archive: in WARC files, found by their CDXJ lines. If the archive
//! has a body already from another URL, it has a revisit record, and the body is found by its digest.

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

/// The places of the responses of some URLs.
#[derive(Clone, Debug, Default)]
pub struct Bodies {
    /// For each URL its responses, in the order in which they were fetched.
    places: HashMap<String, Vec<Kept>>,
}

/// One response of a URL.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Kept {
    /// The place of its record.
    record: Place,
    /// For a revisit record: the digest of the body. Another record has the body.
    digest: Option<String>,
    /// The place of the record that has the body.
    body: Option<Place>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    file: PathBuf,
    offset: u64,
}

/// A CDXJ line without key and date.
#[derive(Deserialize)]
struct Entry {
    url: String,
    mime: String,
    #[serde(default)]
    status: String,
    #[serde(default)]
    digest: String,
    offset: String,
    filename: String,
}

impl Entry {
    fn is_revisit(&self) -> bool {
        self.mime == "warc/revisit"
    }

    /// The place of the record; `None` if the line names a file elsewhere.
    fn place(&self, folder: &Path) -> Option<Place> {
        if self.filename.contains(['/', '\\']) {
            return None;
        }
        Some(Place { file: folder.join(&self.filename), offset: self.offset.parse().ok()? })
    }
}

impl Bodies {
    /// The folder with WARC and CDXJ files in a crawl directory.
    pub const FOLDER: &str = "warc";
    /// Larger bodies are not read.
    const LARGEST: usize = 16 << 20;

    /// Looks for `urls` in the archive of the crawl in `dir`. It is no error if there is no archive.
    pub fn find(dir: &Path, urls: &HashSet<&str>) -> io::Result<Self> {
        let mut bodies = Self::default();
        if urls.is_empty() {
            return Ok(bodies);
        }
        let folder = dir.join(Self::FOLDER);
        let quoted: Vec<_> = urls.iter().map(serde_json::to_string).collect::<Result<_, _>>()?;
        each_entry(&folder, &quoted, &mut |entry| {
            if urls.contains(entry.url.as_str()) {
                bodies.take(entry, &folder);
            }
        })?;
        let kept = bodies.places.values().flatten();
        let wanted: HashSet<String> = kept.filter_map(|kept| kept.digest.clone()).collect();
        let digests: Vec<_> = wanted.iter().cloned().collect();
        let mut by_digest = HashMap::new();
        if !digests.is_empty() {
            each_entry(&folder, &digests, &mut |entry| {
                if !entry.is_revisit()
                    && wanted.contains(&entry.digest)
                    && let Some(place) = entry.place(&folder)
                {
                    by_digest.insert(entry.digest, place);
                }
            })?;
        }
        for places in bodies.places.values_mut() {
            for kept in places.iter_mut() {
                if let Some(digest) = &kept.digest {
                    kept.body = by_digest.get(digest).cloned();
                }
            }
            places.retain(|kept| kept.body.is_some());
            // The numbers of files grow in the order of fetching, and files are appended to.
            places.sort_unstable();
        }
        Ok(bodies)
    }

    fn take(&mut self, entry: Entry, folder: &Path) {
        // "Not modified" has no body in any record.
        if entry.is_revisit() && entry.status == "304" {
            return;
        }
        let Some(record) = entry.place(folder) else { return };
        let digest = entry.is_revisit().then_some(entry.digest);
        let body = digest.is_none().then(|| record.clone());
        self.places.entry(entry.url).or_default().push(Kept { record, digest, body });
    }

    /// The visible text of a page as it was fetched last; `None` if its body is not in the archive, or cannot be read.
    pub fn text(&self, url: &str) -> Option<String> {
        text_of(&record_at(self.places.get(url)?.last()?.body.as_ref()?)?, url)
    }

    /// The content that a page had at this time, one passage a line, and when it was fetched. What surrounds the
    /// content (navigation, advertisements, the date at the foot) is left out.
    pub fn content_as_of(&self, url: &str, at: Millis) -> Option<(Millis, String)> {
        for kept in self.places.get(url)?.iter().rev() {
            let date = clock::parse(record_at(&kept.record)?.fields.text("WARC-Date")?)?;
            if date <= at {
                let reader = read(&record_at(kept.body.as_ref()?)?, url)?;
                let passages = reader.content().map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
                return Some((date, passages.collect::<Vec<_>>().join("\n")));
            }
        }
        None
    }
}

/// Calls `act` with each CDXJ entry in a folder whose line contains one of some texts. It may also be called with other
/// entries. It is no error if there is no folder.
fn each_entry(folder: &Path, texts: &[String], act: &mut dyn FnMut(Entry)) -> io::Result<()> {
    /// If there are at most this many texts, each line is searched for them before it is parsed. Nearly all lines
    /// belong to other pages.
    const FEW: usize = 16;
    let files = match folder.read_dir() {
        Ok(files) => files,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let few = (texts.len() <= FEW).then(|| texts.iter().map(Finder::new).collect::<Vec<_>>());
    for file in files {
        let path = file?.path();
        if path.extension().is_none_or(|extension| extension != "cdxj") {
            continue;
        }
        let mut file = BufReader::with_capacity(1 << 18, File::open(path)?);
        let mut line = Vec::new();
        while file.read_until(b'\n', &mut line)? > 0 {
            let may_be = few.as_ref().is_none_or(|texts| texts.iter().any(|text| text.find(&line).is_some()));
            if may_be
                && let Some(json) = line.splitn(3, |byte| *byte == b' ').nth(2)
                && let Ok(entry) = serde_json::from_slice(json)
            {
                act(entry);
            }
            line.clear();
        }
    }
    Ok(())
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
    Some(read(record, url)?.text().to_owned())
}

/// A reader that has read the page of a record.
fn read(record: &Record, url: &str) -> Option<Reader> {
    let message = parse_response(&record.block)?;
    let body = message.body(Bodies::LARGEST).ok()?;
    let content_type = message.fields.text("Content-Type");
    let mut reader = Reader::default();
    reader.read(&Input { url: &Url::parse(url).ok()?, status: message.status, content_type, body: &body });
    Some(reader)
}
