//! The record of an accepted page, for the second look.

use serde::{Deserialize, Serialize};

use crate::signature::Sketch;
use crate::store::{Result, codec};
use crate::url::PageId;

/// An accepted page.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// Its place in the order of judging. (The order is the first field of every record of the judge, see
    /// [`crate::stage`].)
    pub(super) order: u64,
    /// Its URL and visit.
    pub(super) id: PageId,
    /// The sketch for the second look.
    pub(super) sketch: Sketch,
}

impl Entry {
    pub(super) fn read(bytes: &[u8]) -> Result<Self> {
        codec::decode(bytes, "an accepted page")
    }
}
