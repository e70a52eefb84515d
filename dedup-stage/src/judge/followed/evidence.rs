//! What the verdicts on later pages need of a page that another process judges.

use serde::{Deserialize, Serialize};

use super::super::links::LinkSet;
use crate::signature::Signature;
use crate::store::{Result, codec};
use crate::url::PageId;

/// What the verdicts on later pages need of a page, if it says something new.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// What every process looks at. It comes first, so that it can be read alone.
    pub(in crate::judge) head: Head,
    /// The URL from which the page was fetched.
    pub url: String,
    /// The hash of all words of the page.
    pub text: u64,
    /// The time at which the page was fetched, as its caller counts time.
    pub fetched_at: u64,
    /// The links and media of the page.
    pub(in crate::judge) links: LinkSet,
}

/// The first facts of a page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::judge) struct Head {
    /// The URL and the visit.
    pub(in crate::judge) id: PageId,
    /// SHA-256 of the body.
    pub(in crate::judge) sha256: [u8; 32],
    /// Fingerprint and sketch; `None` if the page has too little text.
    pub(in crate::judge) signature: Option<Signature>,
    /// The statement of a page with too little text for a fingerprint.
    pub(in crate::judge) statement: Option<[u8; 32]>,
    /// Whether the URL has shown nothing before.
    pub(in crate::judge) is_first: bool,
}

impl Evidence {
    pub(in crate::judge) fn read(bytes: &[u8]) -> Result<Self> {
        codec::decode(bytes, "a page of another process")
    }

    /// The URL and the visit of the page.
    pub fn id(&self) -> PageId {
        self.head.id
    }
}

impl Head {
    /// Reads the first facts from the stored form of [`Evidence`].
    pub(in crate::judge) fn read(evidence: &[u8]) -> Result<Self> {
        codec::decode_first(evidence, "a page of another process")
    }
}
