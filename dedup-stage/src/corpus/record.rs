//! The row of a document: in memory before it is written, and as a view of a file.

use std::cmp::Ordering;

use super::format::DIGEST;
use crate::signature::Sketch;

/// Marks a document without a date in the `dates` column.
pub const NO_DATE: i64 = i64::MIN;

/// A row that owns its data.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The fingerprint, and the sketch in its stored form; `None` if the document has too little text, or too much.
    pub signature: Option<(u64, [u8; Sketch::BYTES])>,
    /// SHA-256 of the document's bytes.
    pub digest: [u8; DIGEST],
    /// Number of words.
    pub words: u32,
    /// The place of the document in the input; see [`super::format::SPLIT_SHIFT`].
    pub place: u64,
    /// Milliseconds since 1970; [`NO_DATE`] = none.
    pub date: i64,
    /// The document's id, as JSON.
    pub id: Box<str>,
    /// The URL of the document; empty if it has none, or if its id is the URL.
    pub url: Box<str>,
    /// Whether all of its text was read. This is counted, and not written.
    pub is_whole: bool,
}

/// A row, borrowed from a [`Record`] or a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row<'a> {
    /// See [`Record::signature`].
    pub signature: Option<(u64, &'a [u8; Sketch::BYTES])>,
    /// See [`Record::digest`].
    pub digest: &'a [u8; DIGEST],
    /// See [`Record::words`].
    pub words: u32,
    /// See [`Record::place`].
    pub place: u64,
    /// See [`Record::date`].
    pub date: i64,
    /// See [`Record::id`].
    pub id: &'a str,
    /// See [`Record::url`].
    pub url: &'a str,
}

impl Row<'_> {
    /// The order of a file: rows with a fingerprint by fingerprint, then the others by digest; equals by place.
    pub fn order(&self, other: &Row<'_>) -> Ordering {
        match (&self.signature, &other.signature) {
            (Some((a, _)), Some((b, _))) => a.cmp(b),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => self.digest.cmp(other.digest),
        }
        .then(self.place.cmp(&other.place))
    }
}

impl Record {
    /// Bytes of memory that the record takes, about.
    pub fn weight(&self) -> usize {
        size_of::<Self>() + self.id.len() + self.url.len()
    }

    /// This record as a row.
    pub fn row(&self) -> Row<'_> {
        Row {
            signature: self.signature.as_ref().map(|(fingerprint, sketch)| (*fingerprint, sketch)),
            digest: &self.digest,
            words: self.words,
            place: self.place,
            date: self.date,
            id: &self.id,
            url: &self.url,
        }
    }
}
