//! The record of the page that had a body, or made a statement, first.

use serde::Serialize;

use crate::store::{Result, codec};
use crate::url::PageId;

/// The page that had a body first.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Owner {
    pub(super) order: u64,
    pub(super) id: PageId,
    /// The fingerprint under which the page is accepted, if these bytes have another one. (The page had other bytes
    /// when it was accepted.) Records of the formats `crawl-5` and `stage-4` end before this field.
    pub(super) accepted_as: Option<u64>,
}

impl Owner {
    pub(super) fn read(record: &[u8]) -> Result<Self> {
        let ((order, id), rest) = codec::decode_part(record, WHAT)?;
        let accepted_as = if rest.is_empty() { None } else { codec::decode(rest, WHAT)? };
        Ok(Self { order, id, accepted_as })
    }
}

/// What the record is called in errors.
const WHAT: &str = "the owner of a digest";

/// The beginning of a digest.
pub(super) fn prefix(digest: &[u8]) -> u64 {
    digest.first_chunk().map_or(0, |word| u64::from_be_bytes(*word))
}
