//! What has to be known of a page so that it can condemn others: what one judge tells another.

use serde::{Deserialize, Serialize};

use crate::signature::Signature;
use crate::url::PageId;

/// A page that later pages are compared with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// Its place in the order of judging.
    pub order: u64,
    /// Its URL and visit.
    pub id: PageId,
    /// SHA-256 of its body.
    pub sha256: [u8; 32],
    /// What near duplicates are found by. `None` where only equal bytes make a duplicate of it: it has too little text,
    /// or is a near duplicate itself.
    pub signature: Option<Signature>,
    /// References of its links, sorted.
    pub links: Vec<u32>,
    /// Hashes of its media, sorted.
    pub media: Vec<u32>,
}
