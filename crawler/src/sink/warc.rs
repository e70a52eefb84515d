//! `warc/`: the exchanges of the crawl, as WARC 1.1 (one gzip member for each record; files are cut at 1 GiB by
//! default), and a CDXJ index.
//!
//! An exact duplicate whose payload is byte for byte that of its twin becomes a revisit record, and so does a 304. A
//! near-duplicate is stored whole, with a metadata record that names its twin.

use std::io;
use std::path::{Path, PathBuf};

use dedup_stage::judge::Verdict;
use dedup_stage::warc::cdxj::{self, Capture};
use dedup_stage::warc::write::{
    MetadataRecord, RevisitRecord, Revisited, metadata_member, revisit_member, warcinfo_member,
};
use dedup_stage::warc::{Digest, RecordId, Rotation};

use super::sort::sort_lines;
use super::{Lengths, PageOut, Sink};
use crate::archive::Exchange;
use crate::series::AppendFile;

/// Writes the archive.
#[derive(Debug)]
pub struct Warc {
    dir: PathBuf,
    rotation: Rotation,
    file: AppendFile,
    /// The lengths of the earlier files.
    closed: Lengths,
    /// Whether the next record begins a new file, whatever the size of the open one.
    is_due: bool,
    index: AppendFile,
    user_agent: String,
}

/// The folder of the archive in the crawl directory.
const FOLDER: &str = "warc";
/// The index. It is in the order of fetching while a run lasts (and after a crash), and is sorted at the end of the
/// run. Sorting keeps its length, so a later run can be cut back to that length.
const INDEX: &str = "warc/index.cdxj";

impl Warc {
    /// Opens the archive, with its files cut back to their lengths in `lengths`. Files are cut at `most` bytes; `None`:
    /// at [`Rotation::LIMIT`].
    pub fn open(dir: &Path, lengths: &Lengths, most: Option<u64>, user_agent: &str) -> io::Result<Self> {
        std::fs::create_dir_all(dir.join(FOLDER))?;
        let last = lengths.keys().filter_map(|name| number(name)).max().unwrap_or(0);
        // A file that the state does not know was begun after the last commit.
        for next in last + 1.. {
            match std::fs::remove_file(dir.join(name(next))) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => break,
                Err(error) => return Err(error),
            }
        }
        let length = |name: &str| lengths.get(name).copied().unwrap_or(0);
        let size = length(&name(last));
        let closed = lengths.iter().filter(|(name, _)| number(name).is_some_and(|number| number < last));
        Ok(Self {
            dir: dir.to_owned(),
            rotation: Rotation::new(most.unwrap_or(Rotation::LIMIT), last, size),
            file: AppendFile::open(&dir.join(name(last)), size)?,
            closed: closed.map(|(name, length)| (name.clone(), *length)).collect(),
            is_due: false,
            index: AppendFile::open(&dir.join(INDEX), length(INDEX))?,
            user_agent: user_agent.to_owned(),
        })
    }

    /// Appends members that belong together, and adds the first to the index with `mime` and `payload`.
    fn append(&mut self, exchange: &Exchange, mime: &str, payload: Digest, members: &[&[u8]]) -> io::Result<()> {
        let bytes = members.iter().map(|member| member.len() as u64).sum();
        if std::mem::take(&mut self.is_due) || self.rotation.is_due(bytes) {
            self.cut(exchange.date)?;
        }
        let place = self.rotation.place(members[0].len() as u64);
        for member in &members[1..] {
            self.rotation.place(member.len() as u64);
        }
        self.file.append(members)?;
        let name = name(place.file);
        let line = cdxj::line(&Capture {
            url: &exchange.url,
            date: exchange.date,
            mime,
            status: exchange.status,
            digest: payload,
            length: members[0].len() as u64,
            offset: place.offset,
            file_name: name.trim_start_matches("warc/"),
        });
        self.index.append(&[line.as_bytes()])
    }

    /// Closes the open file, unless it is empty, and begins the next file with its warcinfo record.
    fn cut(&mut self, date: u64) -> io::Result<()> {
        if self.rotation.position().1 > 0 {
            self.closed.insert(name(self.rotation.position().0), self.file.sync()?);
            self.rotation.cut();
            self.file = AppendFile::open(&self.dir.join(name(self.rotation.position().0)), 0)?;
        }
        let name = name(self.rotation.position().0);
        let info = warcinfo_member(
            RecordId::random()?,
            date,
            name.trim_start_matches("warc/"),
            &[
                ("software", concat!("crawler/", env!("CARGO_PKG_VERSION"))),
                ("format", "WARC File Format 1.1"),
                ("http-header-user-agent", &self.user_agent),
                ("description", "header blocks re-serialised, transfer-codings removed, content-encodings as received"),
            ],
        );
        self.rotation.place(info.len() as u64);
        self.file.append(&[&info])
    }
}

/// A metadata record: facts about a page that are not part of the exchange.
fn metadata(exchange: &Exchange, facts: &[(&str, String)]) -> io::Result<Vec<u8>> {
    let facts: Vec<(&str, &str)> = facts.iter().map(|(name, value)| (*name, value.as_str())).collect();
    Ok(metadata_member(&MetadataRecord {
        id: RecordId::random()?,
        url: exchange.url.as_str(),
        date: exchange.date,
        concurrent_to: &exchange.id.to_string(),
        facts: &facts,
    }))
}

/// The name of the file with a number, relative to the crawl directory.
fn name(number: u32) -> String {
    format!("{FOLDER}/crawl-{number:05}.warc.gz")
}

/// The number of the file with a name.
fn number(name: &str) -> Option<u32> {
    name.strip_prefix("warc/crawl-")?.strip_suffix(".warc.gz")?.parse().ok()
}

impl Sink for Warc {
    fn page(&mut self, page: &PageOut<'_>) -> io::Result<u64> {
        let Some(exchange) = page.exchange else { return Ok(0) };
        if let Some(earlier) = page.revisits() {
            let (etag, last_modified) =
                (exchange.validators.etag.as_deref(), exchange.validators.last_modified.as_deref());
            let revisited = match exchange.status {
                304 => Revisited::NotModified { etag, last_modified },
                _ => Revisited::IdenticalPayload(exchange.payload),
            };
            // The index names the payload that replay should show. A 304 has no payload of its own.
            let payload = earlier.payload.map_or(exchange.payload, Digest);
            let revisit = revisit_member(&RevisitRecord {
                id: exchange.id,
                url: exchange.url.as_str(),
                date: exchange.date,
                address: exchange.address,
                head: &exchange.head,
                revisited,
                refers_to_url: &earlier.url,
                refers_to_date: earlier.fetched_at,
                refers_to: None,
            });
            self.append(exchange, "warc/revisit", payload, &[&revisit, &exchange.request])?;
            return Ok(0);
        }
        let mut facts = Vec::new();
        if let (Verdict::Near { distance, resemblance, .. }, Some(twin)) = (page.judgement.verdict, page.twin) {
            facts.push(("near-duplicate-of", twin.to_owned()));
            facts.push(("hamming-distance", distance.to_string()));
            facts.push(("resemblance", format!("{resemblance:.3}")));
        }
        facts.extend(exchange.permissions.clone().map(|permissions| ("permissions", permissions)));
        let mut members = vec![exchange.response.as_slice(), &exchange.request];
        let metadata = if facts.is_empty() { Vec::new() } else { metadata(exchange, &facts)? };
        members.extend((!metadata.is_empty()).then_some(metadata.as_slice()));
        self.append(exchange, &exchange.mime, exchange.payload, &members)?;
        Ok(0)
    }

    fn sync(&mut self, lengths: &mut Lengths) -> io::Result<()> {
        // Code that copies outputs also needs the end of a file that was closed since the last commit.
        lengths.extend(self.closed.iter().map(|(name, length)| (name.clone(), *length)));
        lengths.insert(name(self.rotation.position().0), self.file.sync()?);
        lengths.insert(INDEX.into(), self.index.sync()?);
        Ok(())
    }

    fn committed(&mut self, period_ended: bool) -> io::Result<()> {
        self.is_due |= period_ended;
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        sort_lines(&self.dir.join(INDEX))
    }
}
