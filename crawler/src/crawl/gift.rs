//! Moves hosts from one worker of a crawl on many machines to another. (Both have other hosts, too.) What the state
//! knows of the hosts is copied into messages (see [`crate::cluster`]), and from these into the other state.
//!
//! A directory notes what it is about to give away. From then on, it cannot be crawled before the gift is done. The
//! records of the judge do not move: they are the same in all directories.

use dedup_stage::store::cut::part;
use dedup_stage::store::{self, Batch, Session, Space};
use dedup_stage::url::Sites;
use serde::{Deserialize, Serialize};

use super::cut::{CutError, SHARE, copy_known, delete_known, get, put};
use super::{CrawlDir, OpenError};
use crate::record::PageRecord;
use crate::spaces;

/// The key in [`Space::META`] of the gift that is being given away.
const GIFT: &[u8] = b"gift";
/// The key of the names of gifts that were taken. A name is kept as long as the cluster names the gift.
const TAKEN: &[u8] = b"taken";
/// The key of the order of judging, up to the last page.
const ORDER: &[u8] = b"order";

/// Hosts on their way to another worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gift {
    /// The name of the gift. No two gifts have the same name.
    pub name: String,
    /// The partitions, as ranges of their numbers.
    pub partitions: Vec<(u32, u32)>,
    /// The hosts of these partitions.
    pub sites: Sites,
}

/// The parts of a gift that a state takes only at the end.
#[derive(Debug, Default)]
pub struct LateParts {
    own: Vec<(Vec<u8>, Vec<u8>)>,
    order: u64,
}

impl CrawlDir {
    /// The gift that is being given away, if there is one.
    pub fn gift(&self) -> store::Result<Option<Gift>> {
        get(GIFT, &self.session)
    }

    /// Notes what will be given away.
    pub fn begin_gift(&mut self, gift: &Gift) -> Result<(), CutError> {
        frontier::cut::prepare(&gift.sites, &mut self.session)?;
        put(GIFT, gift, &mut self.session);
        Ok(self.session.commit()?)
    }

    /// Copies what is given away. Returns the number of entries.
    pub fn copy_gift(&mut self, gift: &Gift, to: &mut Session) -> Result<u64, CutError> {
        let keys = self.keys()?;
        if let Some(order) = self.session.get(Space::META, ORDER)? {
            to.put(Space::META, ORDER, order);
        }
        Ok(copy_known(&gift.sites, &keys, &self.session, to)?)
    }

    /// Ends a gift that belongs to the other worker now: deletes what was copied.
    pub fn end_gift(&mut self, gift: &Gift) -> Result<(), CutError> {
        let (keys, kept) = (self.keys()?, self.sites()?.without(&gift.sites));
        forget_pages(&gift.sites, &mut self.session)?;
        delete_known(&gift.sites, &kept, &keys, &mut self.session)?;
        put(SHARE, &kept, &mut self.session);
        self.session.delete(Space::META, GIFT);
        // The last run ended with other URLs than there are now.
        self.session.delete(Space::META, *b"stop-reason");
        self.count()?;
        Ok(self.session.commit()?)
    }

    /// Ends a gift that no other directory takes: its hosts stay here.
    pub fn keep_gift(&mut self) -> Result<(), CutError> {
        self.session.delete(Space::META, GIFT);
        Ok(self.session.commit()?)
    }

    /// Whether a gift was taken.
    pub fn has_taken(&self, name: &str) -> store::Result<bool> {
        Ok(self.taken_gifts()?.iter().any(|taken| taken == name))
    }

    fn taken_gifts(&self) -> store::Result<Vec<String>> {
        Ok(get(TAKEN, &self.session)?.unwrap_or_default())
    }

    /// Takes a part of a gift, and leaves some of it to `rest`. A part that is taken twice changes nothing.
    pub fn take_part(&mut self, part: Batch, rest: &mut LateParts) -> Result<(), CutError> {
        for change in part {
            let Some(value) = change.value else { continue };
            if change.space == frontier::spaces::FRONTIER_OWN {
                rest.own.push((change.key, value));
            } else if change.space == Space::META {
                let order = value.try_into().map_or(0, u64::from_be_bytes);
                rest.order = rest.order.max(order);
            } else {
                self.session.put(change.space, change.key, value);
            }
        }
        Ok(self.session.commit()?)
    }

    /// Ends a gift whose parts were all taken: its hosts belong to this directory now. `is_named`: whether the cluster
    /// still names a gift.
    pub fn end_taking(
        &mut self,
        name: &str,
        sites: &Sites,
        rest: &LateParts,
        is_named: impl Fn(&str) -> bool,
    ) -> Result<(), CutError> {
        frontier::cut::merge(&rest.own, &mut self.session)?;
        let order = self.session.get(Space::META, ORDER)?;
        let order = order.and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_be_bytes);
        self.session.put(Space::META, ORDER, order.max(rest.order).to_be_bytes());
        let mut taken = self.taken_gifts()?;
        taken.retain(|taken| is_named(taken));
        taken.push(name.to_owned());
        put(TAKEN, &taken, &mut self.session);
        let all = self.sites()?.or(sites);
        put(SHARE, &all, &mut self.session);
        self.session.delete(Space::META, *b"stop-reason");
        self.count()?;
        Ok(self.session.commit()?)
    }

    /// Closes a directory that has no hosts any more: `skipped.jsonl` becomes empty, and the counters of waiting URLs
    /// become 0.
    pub fn close_empty(&mut self) -> Result<(), OpenError> {
        let (mut stats, _) = self.stats()?;
        (stats.uncovered, stats.open_ends, stats.behind_ends) = (0, 0, 0);
        stats.withheld.clear();
        stats.unread.clear();
        stats.complete = stats.standing().has_all();
        let skipped = self.path.join(crate::sink::SkippedJsonl::NAME);
        std::fs::write(skipped, b"").map_err(|error| OpenError::Output { dir: self.path.clone(), error })?;
        let closed = stats.put(&mut self.session).and_then(|()| self.session.commit());
        closed.map_err(|error| self.store_error(error))
    }
}

/// Deletes the records of pages of these hosts. For pages that said something new, a record as of a page of another
/// worker stays. It is needed to name them as twins.
fn forget_pages(sites: &Sites, session: &mut Session) -> store::Result<()> {
    for mut rest in sites.keys(spaces::PAGES, &[]) {
        while let Some(entries) = part(session, &mut rest)? {
            for (key, value) in entries {
                if let Some(seen) = PageRecord::decode(&value)?.seen_from_elsewhere() {
                    session.put(spaces::ELSEWHERE, key.as_slice(), seen);
                }
                session.delete(spaces::PAGES, key);
            }
            session.commit()?;
        }
    }
    Ok(())
}
