//! Finds the page that had a body first.

use std::ops::ControlFlow;

use super::followed::{self, Followed};
use super::owner::{Owner, prefix};
use crate::spaces;
use crate::store::{Result, Session, codec};
use crate::url::{KeySet, UrlId};

/// Maps the SHA-256 of a body to the page that had the body first. The store has all digests; those of pages that
/// other processes judged may be in [`Followed`]. Memory has a part of each digest. So a body that no page had needs no
/// read of the store.
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

    /// Bytes of memory.
    pub(super) fn bytes(&self) -> usize {
        self.known.bytes()
    }

    /// Whether a page that was judged here had this digest, or one with the same beginning.
    pub(super) fn may_have(&self, digest: &[u8; 32]) -> bool {
        self.known.contains(prefix(digest))
    }

    /// Says that these digests will be asked for next ([`KeySet::expect`](crate::url::KeyMap::expect)).
    pub(super) fn expect<'a>(&self, digests: impl Iterator<Item = &'a [u8; 32]>) {
        self.known.expect(digests.map(|digest| prefix(digest)));
    }

    /// The page that had this body first.
    pub(super) fn owner(&self, digest: &[u8; 32], session: &Session) -> Result<Option<Owner>> {
        let followed = Followed::of(session)?;
        if followed.may_have(digest) {
            let owner = followed.owner(digest, session)?;
            if owner.is_some() {
                return Ok(owner);
            }
        } else if !self.may_have(digest) {
            return Ok(None);
        }
        let value = session.get(spaces::DIGESTS, digest)?;
        value.map(|value| Owner::read(&value)).transpose()
    }

    /// Notes that a page had this body. If an earlier page had it, that page stays the owner.
    pub(super) fn claim(&mut self, digest: &[u8; 32], by: Owner, session: &mut Session) -> Result<()> {
        match self.owner(digest, session)? {
            Some(owner) if owner.order <= by.order => return Ok(()),
            Some(owner) => followed::part(owner.id, session)?,
            None => {}
        }
        if self.known.insert(prefix(digest)) {
            session.put(spaces::DIGESTS, *digest, codec::encode(&by));
            return Ok(());
        }
        session.overwrite(spaces::DIGESTS, *digest, Some(codec::encode(&by)))
    }

    /// Forgets a digest if a page of this URL is the owner.
    pub(super) fn release(&mut self, digest: &[u8; 32], url: UrlId, session: &mut Session) -> Result<()> {
        match self.owner(digest, session)? {
            Some(owner) if owner.id.url == url => {
                followed::part(owner.id, session)?;
                session.overwrite(spaces::DIGESTS, *digest, None)
            }
            _ => Ok(()),
        }
    }
}
