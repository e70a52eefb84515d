//! Documents in web archives: pages in WARC files, extracted text in WET files.

use std::io::BufRead;

use super::{Bad, Date, Format, Piece, numbered, quoted};
use crate::corpus::sign::{Document, TEXT};
use crate::warc::http;
use crate::warc::read::{self, Reader, Record};

/// The most bytes of a decoded body. A record with a longer one is bad.
const BODY: usize = 64 << 20;

/// The records of a file. A record that cannot be read, and bytes that belong to no record, are bad. So is an empty
/// file: an archive has a record at least.
pub fn records(input: impl BufRead + Send, format: Format) -> impl Iterator<Item = Piece> + Send {
    let mut reader = Some(Reader::new(input, Reader::<&[u8]>::LIMIT));
    let (mut number, mut is_empty) = (0, true);
    let wanted = move |record: &Record| match record.kind() {
        "response" | "resource" => format == Format::Warc,
        "conversion" => true,
        _ => false,
    };
    std::iter::from_fn(move || {
        loop {
            let piece = reader.as_mut()?.piece();
            let was_empty = std::mem::replace(&mut is_empty, false);
            return Some(match piece {
                Ok(Some(read::Piece::Record(record))) => {
                    number += 1;
                    if wanted(&record) { Piece::Record(number, Box::new(record)) } else { Piece::PassedOver }
                }
                Ok(Some(read::Piece::Begin(record))) => {
                    number += 1;
                    let limit = Reader::<&[u8]>::LIMIT >> 20;
                    if wanted(&record) {
                        Piece::Bad(bad(record.offset, &format!("larger than {limit} MiB")))
                    } else {
                        Piece::PassedOver
                    }
                }
                Ok(Some(read::Piece::More(_) | read::Piece::End)) => continue,
                Ok(None) if was_empty => Piece::Bad(Bad { place: "byte 0".into(), what: "there is no record".into() }),
                Ok(None) => return None,
                Err(read::Error::Damaged { offset, what }) => Piece::Bad(bad(offset, &what)),
                Err(read::Error::Gap { offset }) => {
                    Piece::Bad(Bad { place: format!("byte {offset}"), what: read::GAP.into() })
                }
                Err(read::Error::Io(error)) => {
                    let place = format!("byte {}", reader.take()?.position());
                    Piece::Bad(Bad { place, what: error.to_string() })
                }
            });
        }
    })
}

fn bad(offset: u64, what: &str) -> Bad {
    Bad { place: format!("record at {offset}"), what: what.to_owned() }
}

/// Calls `visit` with the document in a record. A response that is no page is passed over: it has another status than
/// 2xx, or was cut when it was fetched. The id is the URL, otherwise the id of the record, otherwise `file` with the
/// offset of the record.
pub fn document(number: u64, record: &Record, file: &str, visit: &mut dyn FnMut(Result<Document<'_>, Bad>)) {
    let url = record.url().unwrap_or_default();
    let id = match (url, record.id()) {
        ("", "") => numbered(file, record.offset),
        ("", id) => quoted(id),
        _ => quoted(url),
    };
    let date = record.fields.text("WARC-Date").map_or(Date::Absent, Date::of_text);
    let mut found = |content_type: Option<&str>, body: &[u8]| {
        visit(Ok(Document { index: number, id: id.clone(), url, date, content_type, body }));
    };
    match record.kind() {
        "conversion" => found(Some(TEXT), &record.block),
        "resource" => found(record.fields.text("Content-Type"), &record.block),
        _ => match http::parse_response(&record.block) {
            Some(message) if !(200..300).contains(&message.status) => {}
            Some(_) if record.fields.get("WARC-Truncated").is_some() => {}
            Some(message) => match message.body(BODY) {
                Ok(body) => found(message.fields.text("Content-Type"), &body),
                Err(error) => visit(Err(bad(record.offset, &error.to_string()))),
            },
            None => visit(Err(bad(record.offset, "no HTTP response"))),
        },
    }
}
