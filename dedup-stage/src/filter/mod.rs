//! The filter over WARC files: reads records, writes fewer or smaller ones, and gives a verdict for each page among them.
//!
//! Responses (and resources) are judged in the order of the files. Records that are kept are kept byte for byte. Two
//! kinds of records become revisit records: exact duplicates, and captures of a URL that show the bytes of its last
//! capture. They do so only if the bytes *stored* are the same. If the same body came in another coding (gzip here,
//! brotli there), the record is kept, because a reader would join the head of this record with the payload of the
//! other.

mod rewrite;
#[cfg(test)]
mod tests;
mod unit;
mod verdict;

use std::io::{self, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::value::to_raw_value;
use xxhash_rust::xxh3::xxh3_64;

use crate::corpus::CorpusMatch;
use crate::hex::hex;
use crate::judge::Verdict;
use crate::stage::{PageName, Prepared, Stage};
use crate::store;
use crate::url::KeySet;
use crate::warc::read::{Piece, Record};
use rewrite::{Origin, mark, revisit};
pub use unit::{Judgeable, Unit, prepare, units};
use verdict::VerdictLine;

/// What happens to near-duplicates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum OnNear {
    /// Kept.
    #[default]
    Keep,
    /// Kept, and followed by a metadata record that names the twin.
    Mark,
    /// Left out, with their request and metadata records.
    Drop,
}

/// Counts of what was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Number of records read.
    pub records: u64,
    /// Number of pages among the records, also of those that were not judged.
    pub pages: u64,
    /// Number of pages with the verdict `exact`.
    pub exact: u64,
    /// Number of pages with the verdict `near`.
    pub near: u64,
    /// Number of pages with the verdict `unchanged`.
    pub unchanged: u64,
    /// Number of records that became revisit records.
    pub revisits: u64,
    /// Number of records that were left out.
    pub dropped: u64,
    /// Number of bytes written.
    pub bytes: u64,
    /// Number of places where a file could not be read: records, bytes between records, rests of files. Also the number
    /// of pages that made the program panic.
    pub broken: u64,
}

impl Tally {
    fn count(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Exact { .. } | Verdict::Known { document: CorpusMatch { exact: true, .. }, .. } => self.exact += 1,
            Verdict::Near { .. } | Verdict::Known { .. } => self.near += 1,
            Verdict::Unchanged { .. } => self.unchanged += 1,
            Verdict::Unique | Verdict::Unjudged => {}
        }
    }
}

/// The reason why the filter cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The output cannot be written.
    #[error("output")]
    Output(#[from] io::Error),
    /// The state of the stage failed.
    #[error(transparent)]
    State(#[from] store::Error),
}

/// An earlier page, and the facts about its record.
struct Original {
    url: String,
    origin: Origin,
}

impl Original {
    /// The page with this name. `None` if another program judged the page, because it names pages in another way.
    fn of(name: Option<PageName>) -> Option<Self> {
        let PageName { url, id } = name?;
        let origin = serde_json::from_str(id?.get()).ok()?;
        Some(Self { url, origin })
    }

    /// Whether the same bytes are stored in both records.
    fn has(&self, other: &Origin) -> bool {
        self.origin.payload == other.payload
    }
}

/// Judges pages and writes records. It has one owner, which gives it the units in order.
pub struct Filter<W, V> {
    stage: Stage,
    near: OnNear,
    output: W,
    verdicts: Option<V>,
    tally: Tally,
    file: String,
    /// A request that is held back because its response may be left out.
    held: Option<Record>,
    /// Hashes of the ids of records that were left out.
    dropped: KeySet,
    /// Compresses a record that comes in pieces.
    large: Option<GzEncoder<Vec<u8>>>,
}

impl<W: Write, V: Write> Filter<W, V> {
    /// A filter that writes records to `output`, beginning with `warcinfo`, and a JSON line for each page to
    /// `verdicts`.
    pub fn new(stage: Stage, near: OnNear, output: W, verdicts: Option<V>, warcinfo: &[u8]) -> Result<Self, Error> {
        let mut filter = Self {
            stage,
            near,
            output,
            verdicts,
            tally: Tally::default(),
            file: String::new(),
            held: None,
            dropped: KeySet::default(),
            large: None,
        };
        filter.write(warcinfo)?;
        Ok(filter)
    }

    /// Takes the next unit. `complain` gets a message if the file is damaged there.
    pub fn take(&mut self, judgeable: Judgeable, complain: impl FnOnce(&str)) -> Result<(), Error> {
        let Judgeable { unit, page, head, payload, panicked } = judgeable;
        match unit {
            Unit::File(name) => {
                self.release()?;
                self.file = name;
            }
            Unit::Broken(error) => {
                self.tally.broken += 1;
                // A large record ends where its bytes end.
                let is_written = self.large.is_some();
                self.end_large(b"")?;
                let and = if is_written { "; the output has as much of the record as could be read" } else { "" };
                complain(&format!("{}: {error}{and}", self.file));
            }
            Unit::Piece(Piece::Record(record)) => {
                self.tally.records += 1;
                if panicked {
                    self.tally.broken += 1;
                    let url = record.url().unwrap_or_default();
                    complain(&format!("{}: the page of {url} made the program panic; it is kept", self.file));
                }
                match page {
                    Some(page) => self.page(&record, *page, head, payload.unwrap_or_default())?,
                    None => self.other(record)?,
                }
            }
            Unit::Piece(Piece::Begin(record)) => {
                self.tally.records += 1;
                self.release()?;
                let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
                encoder.write_all(&record.head)?;
                self.large = Some(encoder);
            }
            Unit::Piece(Piece::More(bytes)) => {
                if let Some(mut encoder) = self.large.take() {
                    encoder.write_all(&bytes)?;
                    let ready = std::mem::take(encoder.get_mut());
                    self.write(&ready)?;
                    self.large = Some(encoder);
                }
            }
            Unit::Piece(Piece::End) => self.end_large(b"\r\n\r\n")?,
        }
        Ok(())
    }

    /// Ends the record that comes in pieces, if there is one, with these bytes.
    fn end_large(&mut self, end: &[u8]) -> Result<(), Error> {
        let Some(mut encoder) = self.large.take() else { return Ok(()) };
        encoder.write_all(end)?;
        let rest = encoder.finish()?;
        self.write(&rest)
    }

    /// Ends the output, and lets the state count. Returns the counts of what was done.
    pub fn finish(mut self) -> Result<Tally, Error> {
        self.release()?;
        self.output.flush()?;
        if let Some(verdicts) = &mut self.verdicts {
            verdicts.flush()?;
        }
        self.stage.flush()?;
        Ok(self.tally)
    }

    fn page(&mut self, record: &Record, page: Prepared, head: usize, payload: String) -> Result<(), Error> {
        self.tally.pages += 1;
        let origin = Origin {
            id: record.id().into(),
            date: record.fields.text("WARC-Date").unwrap_or_default().into(),
            payload,
            digest: record.fields.text("WARC-Payload-Digest").map(Into::into),
        };
        let name = PageName {
            url: record.url().unwrap_or_default().into(),
            id: Some(to_raw_value(&origin).expect("strings serialise")),
        };
        let sha256 = hex(&page.page.sha256);
        let simhash = page.page.signature.as_ref().map(|signature| format!("{:016x}", signature.simhash));
        let output = self.stage.judge(page, &name, 1.0)?;
        let verdict = output.judgement.verdict;
        let (twin, earlier) = (Original::of(output.twin), Original::of(output.earlier));
        let (distance, resemblance) = verdict.nearness().unzip();
        self.tally.count(verdict);

        // With `drop`, a page that repeats another one is left out, unless it is an exact copy of it. Copies of pages
        // that were left out are left out, too. So is a page that a known corpus has: its record is in no archive, so a
        // revisit record has nothing to refer to.
        let is_near = match verdict {
            Verdict::Near { .. } | Verdict::Known { .. } | Verdict::Unchanged { known: Some(_), .. } => true,
            Verdict::Exact { .. } => output.twin_repeats,
            Verdict::Unchanged { of: Some(_), .. } => twin.as_ref().is_none_or(|twin| !twin.has(&origin)),
            Verdict::Unchanged { .. } | Verdict::Unique | Verdict::Unjudged => false,
        };
        let is_copy = matches!(verdict, Verdict::Exact { .. } | Verdict::Unchanged { bytes: false, .. });
        let same = [&twin, &earlier].into_iter().flatten().find(|original| is_copy && original.has(&origin));
        let action = if self.near == OnNear::Drop && is_near && (twin.is_some() || output.known.is_some()) {
            self.drop_with_request(record);
            "dropped"
        } else if let Some(Original { url, origin: of }) = same {
            self.release()?;
            self.tally.revisits += 1;
            self.write(&revisit(record, &record.block[..head], url, of, &origin))?;
            "revisit"
        } else {
            self.release()?;
            self.keep(record)?;
            match (verdict, &twin) {
                (Verdict::Near { distance, resemblance, .. }, Some(twin)) if self.near == OnNear::Mark => {
                    self.write(&mark(record, &twin.url, &twin.origin, distance, resemblance)?)?;
                    "marked"
                }
                _ => "kept",
            }
        };
        let twin = twin.filter(|_| verdict.duplicate_of().is_some());
        if let Some(verdicts) = &mut self.verdicts {
            let line = VerdictLine {
                url: &name.url,
                record: &origin.id,
                file: &self.file,
                offset: record.offset,
                verdict: verdict.name(),
                changed: output.changed,
                duplicate_of: twin.as_ref().map(|twin| twin.url.as_str()),
                duplicate_record: twin.as_ref().map(|twin| twin.origin.id.as_str()),
                known: output.known.as_ref().map(|known| &*known.corpus),
                known_row: output.known.as_ref().and_then(|known| known.row),
                distance,
                resemblance,
                novelty: output.judgement.novelty,
                sha256: Some(sha256),
                simhash,
                action,
            };
            line.write_to(verdicts)?;
        }
        Ok(())
    }

    /// Gives the verdict on a revisit record that an earlier filter or the crawler has written. The copy of that time
    /// is still one.
    fn revisited(&mut self, record: &Record) -> Result<(), Error> {
        let of = record.fields.text("WARC-Refers-To-Target-URI");
        let is_same_url = of.is_some() && of == record.url();
        self.tally.pages += 1;
        *(if is_same_url { &mut self.tally.unchanged } else { &mut self.tally.exact }) += 1;
        let Some(verdicts) = &mut self.verdicts else { return Ok(()) };
        let copy_of = of.filter(|_| !is_same_url);
        let line = VerdictLine {
            url: record.url().unwrap_or_default(),
            record: record.id(),
            file: &self.file,
            offset: record.offset,
            verdict: if is_same_url { "unchanged" } else { "exact" },
            changed: is_same_url.then_some("no"),
            duplicate_of: copy_of,
            duplicate_record: record.fields.text("WARC-Refers-To").filter(|_| copy_of.is_some()),
            known: None,
            known_row: None,
            distance: (!is_same_url).then_some(0),
            resemblance: (!is_same_url).then_some(1.0),
            novelty: 0.0,
            sha256: None,
            simhash: None,
            action: "kept",
        };
        Ok(line.write_to(verdicts)?)
    }

    /// Handles a record that is no page. It is kept, unless it belongs to a record that was left out.
    fn other(&mut self, record: Record) -> Result<(), Error> {
        self.release()?;
        let about = ["WARC-Concurrent-To", "WARC-Refers-To"];
        if about.iter().any(|name| record.fields.get(name).is_some_and(|id| self.dropped.contains(xxh3_64(id)))) {
            self.tally.dropped += 1;
        } else if self.near == OnNear::Drop && record.kind() == "request" {
            self.held = Some(record);
        } else {
            let profile = record.fields.text("WARC-Profile").unwrap_or_default();
            if record.kind() == "revisit" && profile.ends_with("/identical-payload-digest") {
                self.revisited(&record)?;
            }
            self.keep(&record)?;
        }
        Ok(())
    }

    fn drop_with_request(&mut self, record: &Record) {
        self.dropped.insert(xxh3_64(record.id().as_bytes()));
        self.tally.dropped += 1;
        if self.held.take_if(|request| request.url() == record.url()).is_some() {
            self.tally.dropped += 1;
        }
    }

    /// Writes the request that was held back, if there is one.
    fn release(&mut self) -> Result<(), Error> {
        match self.held.take() {
            Some(request) => self.keep(&request),
            None => Ok(()),
        }
    }

    fn keep(&mut self, record: &Record) -> Result<(), Error> {
        match &record.member {
            Some(member) => self.write(member),
            None => {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
                for part in [record.head.as_slice(), &record.block, b"\r\n\r\n"] {
                    encoder.write_all(part)?;
                }
                let member = encoder.finish()?;
                self.write(&member)
            }
        }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.tally.bytes += bytes.len() as u64;
        Ok(self.output.write_all(bytes)?)
    }
}
