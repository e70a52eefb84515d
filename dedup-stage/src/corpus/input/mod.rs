//! Reading documents from files of many kinds.
//!
//! A file is read in [`Piece`]s by one thread, and each piece is taken apart on a worker ([`Piece::documents`]), so
//! that parsing uses all cores. What cannot be read is a [`Bad`] record: it is named and counted, and the rest is read.

#[cfg(feature = "arrow")]
pub mod arrow;
mod date;
mod files;
#[cfg(feature = "arrow")]
mod ipc;
mod json;
mod lines;
#[cfg(feature = "arrow")]
mod parquet;
mod warc;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use super::sign::Document;
use crate::pipeline::Weigh;
use crate::warc::frames;
use crate::warc::read::Record;

pub use date::Date;
pub use files::{Expanded, expand};

/// The format of an input file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Format {
    /// JSON Lines, a document each; gzip or zstd is recognised
    Jsonl,
    /// One document of plain text
    Text,
    /// One HTML page
    Html,
    /// Web archive: the responses and resources in it; gzip or zstd is recognised
    Warc,
    /// Web archive of extracted text: the conversions in it; gzip or zstd is recognised
    Wet,
    /// Parquet, a document a row
    Parquet,
    /// Arrow IPC file or stream, a document a row
    Arrow,
    /// Signature files, to be merged
    Signatures,
}

impl Format {
    /// The format of a file by the ending of its name; `None` if the ending is not known.
    pub fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
        let name = [".gz", ".zst"].iter().fold(name.as_str(), |name, ending| name.strip_suffix(ending).unwrap_or(name));
        Some(match name.rsplit('.').next()? {
            "jsonl" | "json" | "ndjson" => Format::Jsonl,
            "txt" | "text" | "md" => Format::Text,
            "html" | "htm" | "xhtml" => Format::Html,
            "warc" => Format::Warc,
            "wet" => Format::Wet,
            "parquet" => Format::Parquet,
            "arrow" | "feather" | "ipc" | "arrows" => Format::Arrow,
            "sig" => Format::Signatures,
            _ => return None,
        })
    }

    /// The name of the format on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Format::Jsonl => "jsonl",
            Format::Text => "text",
            Format::Html => "html",
            Format::Warc => "warc",
            Format::Wet => "wet",
            Format::Parquet => "parquet",
            Format::Arrow => "arrow",
            Format::Signatures => "signatures",
        }
    }

    /// Whether one file is one document, so that many files make one split.
    pub fn is_single(self) -> bool {
        matches!(self, Format::Text | Format::Html)
    }
}

/// The names of the fields, or columns, of a document. A dot leads into an object or a struct: `metadata.url`.
#[derive(Clone, Debug, PartialEq, Eq, clap::Args)]
pub struct Fields {
    /// Field or column with the document's id. A document without one gets its place as its id: FILE#NUMBER
    #[arg(long = "id-field", value_name = "NAME", default_value = "id")]
    pub id: String,
    /// Field or column with the text
    #[arg(long = "text-field", value_name = "NAME", default_value = "text")]
    pub text: String,
    /// Field or column with the page, HTML or text. It is read if there is no text
    #[arg(long = "body-field", value_name = "NAME", default_value = "body")]
    pub body: String,
    /// Field or column with the URL
    #[arg(long = "url-field", value_name = "NAME", default_value = "url")]
    pub url: String,
    /// Field or column with the date (RFC 3339 or its beginning, RFC 2822, or seconds since 1970)
    #[arg(long = "date-field", value_name = "NAME", default_value = "date")]
    pub date: String,
}

impl Default for Fields {
    fn default() -> Self {
        let [id, text, body, url, date] = ["id", "text", "body", "url", "date"].map(str::to_owned);
        Self { id, text, body, url, date }
    }
}

/// A record that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Bad {
    /// The place of the record, such as `line 7`, `record at 4711` or `byte 4711`.
    pub place: String,
    /// The reason why it could not be read.
    pub what: String,
}

/// A part of a file. A worker reads the documents in it.
#[derive(Debug)]
pub enum Piece {
    /// Whole lines of JSON, of which the first has this number, counted from 1.
    Lines(u64, Vec<u8>),
    /// A record of a WARC file, with its number.
    Record(u64, Box<Record>),
    /// A record of a WARC file of a kind that has no documents.
    PassedOver,
    /// A file that is one document, with its number among those of the split.
    File(u64, PathBuf, Format),
    /// Rows of a table, of which the first has this number.
    #[cfg(feature = "arrow")]
    Batch(u64, arrow_array::RecordBatch),
    /// A record, or the rest of the file, that cannot be read.
    Bad(Bad),
}

impl Weigh for Piece {
    fn weight(&self) -> usize {
        match self {
            Piece::Lines(_, bytes) => bytes.len(),
            Piece::Record(_, record) => record.block.len(),
            #[cfg(feature = "arrow")]
            Piece::Batch(_, batch) => batch.get_array_memory_size(),
            Piece::File(..) | Piece::PassedOver | Piece::Bad(_) => 0,
        }
    }
}

/// A unit of input: one file with many documents, or many files with one document each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// The files. There are several only if each is a single document. `-` is stdin.
    pub paths: Vec<PathBuf>,
    /// The format of the files.
    pub format: Format,
}

impl Split {
    /// The name of the split in messages.
    pub fn name(&self) -> String {
        let first = self.paths.first().map(|path| path.display().to_string()).unwrap_or_default();
        if self.paths.len() > 1 { format!("{first} and {} more", self.paths.len() - 1) } else { first }
    }

    /// The pieces, in order. Errors if the file cannot be opened, or this program cannot read the format.
    pub fn pieces(&self, fields: &Fields) -> io::Result<Box<dyn Iterator<Item = Piece> + Send>> {
        if self.format.is_single() {
            let format = self.format;
            let files = (0..).zip(self.paths.clone());
            return Ok(Box::new(files.map(move |(number, path)| Piece::File(number, path, format))));
        }
        let path = self.paths.first().expect("a split has a file");
        match self.format {
            Format::Parquet | Format::Arrow => tables(path, self.format, fields),
            Format::Jsonl => Ok(Box::new(lines::lines(unpacked(open(path)?, path)?))),
            _ => Ok(Box::new(warc::records(frames::unpacked(open(path)?)?, self.format))),
        }
    }
}

/// The first bytes of a zstd frame.
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Opens a file; `-` is stdin.
fn open(path: &Path) -> io::Result<Box<dyn BufRead + Send>> {
    const BUFFER: usize = 1 << 18;
    if path.as_os_str() == "-" {
        return Ok(Box::new(BufReader::with_capacity(BUFFER, io::stdin())));
    }
    Ok(Box::new(BufReader::with_capacity(BUFFER, File::open(path)?)))
}

/// Unpacks the input if its first bytes say that it is gzip or zstd.
fn unpacked(mut input: Box<dyn BufRead + Send>, path: &Path) -> io::Result<Box<dyn Read + Send>> {
    let start = input.fill_buf()?;
    let is_packed = path.extension().is_some_and(|ending| ending == "gz" || ending == "zst");
    if start.is_empty() && is_packed {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file is empty"));
    }
    Ok(if start.starts_with(&[0x1f, 0x8b]) {
        Box::new(flate2::bufread::MultiGzDecoder::new(input))
    } else if start.starts_with(&ZSTD) {
        Box::new(zstd::stream::read::Decoder::with_buffer(input)?)
    } else {
        Box::new(input)
    })
}

#[cfg(feature = "arrow")]
fn tables(path: &Path, format: Format, fields: &Fields) -> io::Result<Box<dyn Iterator<Item = Piece> + Send>> {
    match format {
        Format::Parquet => parquet::batches(path, fields),
        _ => ipc::batches(path, fields),
    }
}

#[cfg(not(feature = "arrow"))]
fn tables(_: &Path, format: Format, _: &Fields) -> io::Result<Box<dyn Iterator<Item = Piece> + Send>> {
    Err(without_arrow(format.name()))
}

/// The error of a program that was built without the cargo feature `arrow`.
#[cfg(not(feature = "arrow"))]
pub fn without_arrow(format: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::Unsupported,
        format!(
            "this dedup-stage was built without {format}; released programs and wheels have it, \
             and in a checkout `cargo install --path dedup-stage --features arrow` builds it"
        ),
    )
}

impl Piece {
    /// Calls `visit` with each document, or with the record that cannot be read. `file` is the name of the split for
    /// ids.
    pub fn documents(&self, file: &str, fields: &Fields, visit: &mut dyn FnMut(Result<Document<'_>, Bad>)) {
        match self {
            Piece::Lines(first, bytes) => json::documents(*first, bytes, file, fields, visit),
            Piece::Record(number, record) => warc::document(*number, record, file, visit),
            Piece::PassedOver => {}
            Piece::File(number, path, format) => files::document(*number, path, *format, visit),
            #[cfg(feature = "arrow")]
            Piece::Batch(first, batch) => arrow::documents(*first, batch, file, fields, visit),
            Piece::Bad(bad) => visit(Err(bad.clone())),
        }
    }

    /// Whether the documents of the piece have fields or columns whose names a user may give ([`Fields`]).
    pub fn has_fields(&self) -> bool {
        match self {
            Piece::Lines(..) => true,
            #[cfg(feature = "arrow")]
            Piece::Batch(..) => true,
            _ => false,
        }
    }

    /// The place of the piece in its file.
    pub fn place(&self) -> String {
        match self {
            Piece::Lines(first, _) => format!("lines from {first}"),
            Piece::Record(number, _) => format!("record {number}"),
            Piece::PassedOver => "a record".to_owned(),
            Piece::File(number, ..) => format!("file {number}"),
            #[cfg(feature = "arrow")]
            Piece::Batch(first, _) => format!("rows from {first}"),
            Piece::Bad(bad) => bad.place.clone(),
        }
    }
}

/// A string as JSON.
fn quoted(text: &str) -> Box<str> {
    serde_json::Value::from(text).to_string().into()
}

/// The id of a document that has none of its own.
pub fn numbered(file: &str, number: u64) -> Box<str> {
    quoted(&format!("{file}#{number}"))
}
