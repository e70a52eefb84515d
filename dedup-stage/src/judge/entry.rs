//! The record of an accepted page: its sketch for the second look, and its links and media. Both are read together,
//! because each page that is alike at the second look is compared by its links, too.

use serde::{Deserialize, Serialize};

use super::links::LinkSet;
use crate::signature::Sketch;
use crate::store::{Result, codec};
use crate::url::PageId;

/// The first part of the record of an accepted page. A [`LinkSet`] follows. (It is missing in states of the formats
/// `crawl-5` and `stage-4`. There, the space of links has the set, even if the page has a fingerprint.)
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
    pub(super) fn read(record: &[u8]) -> Result<Self> {
        Ok(Self::split(record)?.0)
    }

    /// The entry of a record, and the stored form of the links (empty in old states).
    pub(super) fn split(record: &[u8]) -> Result<(Self, &[u8])> {
        codec::decode_part(record, "an accepted page")
    }

    /// The record of the page.
    pub(super) fn with(&self, links: &LinkSet) -> Vec<u8> {
        codec::encode(&(self, links))
    }
}
