//! The units of input, and how worker threads prepare them.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ::url::Url;

use crate::pipeline::Weigh;
use crate::stage::{Prepared, Preparer, Source};
use crate::warc::frames;
use crate::warc::http;
use crate::warc::read::{self, Piece, Reader, Record};
use crate::warc::sha256;

/// The most bytes of a decoded body. A page with a longer one is not judged.
const BODY: usize = 64 << 20;

/// A unit of input: a part of a file.
#[derive(Debug)]
pub enum Unit {
    /// The beginning of a file, with its name.
    File(String),
    /// A piece of the file.
    Piece(Piece),
    /// A record, bytes between records, or the rest of the file, that cannot be read.
    Broken(read::Error),
}

impl Weigh for Unit {
    fn weight(&self) -> usize {
        match self {
            Unit::Piece(Piece::Record(record)) => record.block.len() + record.member.as_ref().map_or(0, Vec::len),
            Unit::Piece(Piece::More(bytes)) => bytes.len(),
            _ => 0,
        }
    }
}

/// The units of one file, which may be packed with zstd. The first has its name. If the file is damaged, a unit says so
/// at each such place.
pub fn units<'a>(name: String, input: impl io::BufRead + Send + 'a) -> impl Iterator<Item = Unit> + Send + 'a {
    let (mut reader, failure) = match frames::unpacked(input) {
        Ok(input) => (Some(Reader::new(input, Reader::<&[u8]>::LIMIT)), None),
        Err(error) => (None, Some(Unit::Broken(error.into()))),
    };
    let pieces = std::iter::from_fn(move || match reader.as_mut()?.piece() {
        Ok(piece) => piece.map(Unit::Piece),
        Err(error) => {
            if matches!(error, read::Error::Io(_)) {
                reader = None;
            }
            Some(Unit::Broken(error))
        }
    });
    std::iter::once(Unit::File(name)).chain(failure).chain(pieces)
}

/// A unit, with the page in it prepared for the judge.
#[derive(Debug)]
pub struct Judgeable {
    pub(super) unit: Unit,
    pub(super) page: Option<Box<Prepared>>,
    /// The length of the HTTP head in the block.
    pub(super) head: usize,
    /// The digest of the stored payload.
    pub(super) payload: Option<String>,
    /// Whether the page in it made the program panic. It is not judged, then.
    pub(super) panicked: bool,
}

/// Prepares a unit for the judge, on any thread.
pub fn prepare(unit: Unit, preparer: &mut Preparer) -> Judgeable {
    let mut judgeable = Judgeable { unit, page: None, head: 0, payload: None, panicked: false };
    if let Unit::Piece(Piece::Record(record)) = &judgeable.unit {
        match catch_unwind(AssertUnwindSafe(|| page_of(record, preparer))) {
            Ok(Some((page, head, payload))) => {
                (judgeable.page, judgeable.head, judgeable.payload) = (Some(Box::new(page)), head, Some(payload));
            }
            Ok(None) => {}
            Err(_) => {
                preparer.renew();
                judgeable.panicked = true;
            }
        }
    }
    judgeable
}

/// The page in a record, the length of its HTTP head, and the digest of its stored payload.
fn page_of(record: &Record, preparer: &mut Preparer) -> Option<(Prepared, usize, String)> {
    let url = Url::parse(record.url()?).ok()?;
    let whole = record.fields.get("WARC-Truncated").is_none();
    match record.kind() {
        "response" => {
            let response = http::parse_response(&record.block)?;
            let body = response.body(BODY);
            let source = Source {
                url: &url,
                status: response.status,
                content_type: response.fields.text("Content-Type"),
                body: body.as_deref().unwrap_or_default(),
                whole: whole && body.is_ok(),
                links: Some(&[]),
            };
            Some((preparer.prepare(&source), response.head.len(), sha256(response.payload).to_string()))
        }
        "resource" => {
            let content_type = record.fields.text("Content-Type");
            let source = Source { url: &url, status: 200, content_type, body: &record.block, whole, links: Some(&[]) };
            Some((preparer.prepare(&source), 0, sha256(&record.block).to_string()))
        }
        _ => None,
    }
}
