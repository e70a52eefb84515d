//! The records of the links and media of pages with too little text for a fingerprint. (Those of other pages are with
//! [`super::entry::Entry`].)

use serde::{Deserialize, Serialize};

use super::followed::{self, Followed};
use super::links::LinkSet;
use crate::spaces;
use crate::store::{Result, Session, codec};
use crate::url::PageId;

impl LinkSet {
    /// The stored set of a page with too little text for a fingerprint. `None` also for a page without links and media:
    /// nothing is stored about it.
    pub(super) fn read(page: PageId, session: &Session) -> Result<Option<Self>> {
        let followed = Followed::of(session)?.links(page, session)?;
        if followed.is_some() {
            return Ok(followed.filter(|set| set.links.count > 0 || set.media.count > 0));
        }
        let value = session.get(spaces::LINKS, &key(page))?;
        let stored: Option<Stored> = value.map(|value| codec::decode(&value, "the links of a page")).transpose()?;
        Ok(stored.map(|stored| stored.set))
    }

    /// Stores the set of a page that is accepted at `order`.
    pub(super) fn write(self, page: PageId, order: u64, session: &mut Session) -> Result<()> {
        followed::part_links(page, session)?;
        self.put(page, order, session);
        Ok(())
    }

    /// Stores the set of a page that has none.
    pub(super) fn put(self, page: PageId, order: u64, session: &mut Session) {
        if !self.is_empty() {
            session.put(spaces::LINKS, key(page), codec::encode(&Stored { order, set: self }));
        }
    }

    /// Replaces the set of an accepted page.
    pub(super) fn rewrite(self, page: PageId, order: u64, session: &mut Session) -> Result<()> {
        followed::part_links(page, session)?;
        let value = (!self.is_empty()).then(|| codec::encode(&Stored { order, set: self }));
        session.overwrite(spaces::LINKS, key(page), value)
    }

    /// Removes the set of a page.
    pub(super) fn remove(page: PageId, session: &mut Session) -> Result<()> {
        followed::part_links(page, session)?;
        session.overwrite(spaces::LINKS, key(page), None)
    }
}

/// The stored form of a set.
#[derive(Serialize, Deserialize)]
struct Stored {
    order: u64,
    set: LinkSet,
}

fn key(page: PageId) -> Vec<u8> {
    [&page.url.to_bytes()[..], &page.visit.to_be_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::links::MinWiseSample;

    #[test]
    fn a_page_with_21_links_takes_little() {
        let mut random = fastrand::Rng::with_seed(1);
        let links = MinWiseSample::new((0..21).map(|_| random.u32(..)));
        let stored = Stored { order: 1 << 30, set: LinkSet { links, ..LinkSet::default() } };
        let bytes = codec::encode(&stored).len() + key(PageId::default()).len();
        assert!(bytes <= 135, "{bytes} bytes");
    }
}
