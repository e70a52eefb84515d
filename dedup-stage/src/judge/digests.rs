//! Finds the page that had a body first.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use crate::spaces;
use crate::store::{Result, Session, codec};
use crate::url::{KeySet, PageId, UrlId};

/// The page that had a body first.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Owner {
    pub(super) order: u64,
    pub(super) id: PageId,
}

/// Maps the SHA-256 of a body to the page that had the body first. The store has all digests. Memory has a part of each
/// digest. So a body that no page had needs no read of the store.
#[derive(Debug)]
pub(super) struct Digests {
    /// The first eight bytes of each digest. Removed digests are included.
    known: KeySet,
}

impl Digests {
    pub(super) fn open(session: &Session) -> Result<Self> {
        let mut known = KeySet::default();
        session.scan(spaces::DIGESTS, &[], &[], &mut |digest, _| {
            known.insert(prefix(digest));
            ControlFlow::Continue(())
        })?;
        Ok(Self { known })
    }

    /// The page that had this body first.
    pub(super) fn owner(&self, digest: &[u8; 32], session: &Session) -> Result<Option<Owner>> {
        if !self.known.contains(prefix(digest)) {
            return Ok(None);
        }
        let value = session.get(spaces::DIGESTS, digest)?;
        value.map(|value| codec::decode(&value, "the owner of a digest")).transpose()
    }

    /// Notes that a page had this body. If an earlier page had it, that page stays the owner.
    pub(super) fn claim(&mut self, digest: &[u8; 32], by: Owner, session: &mut Session) -> Result<()> {
        if self.known.insert(prefix(digest)) {
            session.put(spaces::DIGESTS, *digest, codec::encode(&by));
            return Ok(());
        }
        match self.owner(digest, session)? {
            Some(owner) if owner.order <= by.order => Ok(()),
            _ => session.overwrite(spaces::DIGESTS, *digest, Some(codec::encode(&by))),
        }
    }

    /// Forgets a digest if a page of this URL is the owner.
    pub(super) fn release(&mut self, digest: &[u8; 32], url: UrlId, session: &mut Session) -> Result<()> {
        match self.owner(digest, session)? {
            Some(owner) if owner.id.url == url => session.overwrite(spaces::DIGESTS, *digest, None),
            _ => Ok(()),
        }
    }
}

fn prefix(digest: &[u8]) -> u64 {
    digest.first_chunk().map_or(0, |word| u64::from_be_bytes(*word))
}
