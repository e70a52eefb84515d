//! The records of pages that other processes judged.

use serde::{Deserialize, Serialize};

use crate::store::{Result, codec};

/// Pages that follow each other in the common order. The key is the order of the first one.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Record<'a> {
    /// The order of the first page. (The order is the first field of every record of the judge, see [`crate::stage`].)
    pub(super) order: u64,
    /// The pages.
    #[serde(borrow)]
    pub(super) pages: Vec<Kept<'a>>,
}

/// A page of a record.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Kept<'a> {
    /// Its order, counted from that of the record.
    pub(super) after: u64,
    /// What the record tells of it.
    pub(super) known: Knowledge,
    /// The stored form of its [`super::Evidence`].
    #[serde(borrow, with = "serde_bytes")]
    pub(super) evidence: &'a [u8],
}

/// What a record tells of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::judge) enum Knowledge {
    /// All about an accepted page: later pages may be copies of it.
    All,
    /// That the page had its body first. It repeats another page in other bytes, or it says nothing.
    Body,
    /// Its URL. What else is known is in other records.
    Parted,
}

impl<'a> Record<'a> {
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self> {
        codec::decode(bytes, "pages of other processes")
    }
}
