//! The identity of a crawl directory that has a share of the hosts of a crawl on many machines.

use dedup_stage::store::Space;
use dedup_stage::url::Sites;
use serde::{Deserialize, Serialize};

use super::cut::{SHARE, get, put};
use super::{CrawlDir, OpenError};

/// The identity of such a directory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DirIdentity {
    /// The random name of the crawl.
    pub crawl: String,
    /// The random name of the directory.
    pub worker: String,
    /// The number of the share whose state the directory has, from 0.
    pub share: Option<usize>,
}

impl DirIdentity {
    /// The key of the identity in [`Space::META`].
    pub const KEY: &[u8] = b"member";
}

impl CrawlDir {
    /// The identity of the directory; `None` if it belongs to no crawl on many machines.
    pub fn member(&self) -> Result<Option<DirIdentity>, OpenError> {
        get(DirIdentity::KEY, &self.session).map_err(|error| self.store_error(error))
    }

    /// Makes the directory part of such a crawl. If a crawl has begun here before, returns false and changes nothing.
    pub fn enter(&mut self, member: &DirIdentity) -> Result<bool, OpenError> {
        let mut enter = || {
            if !self.is_unused()? {
                return Ok(false);
            }
            put(DirIdentity::KEY, member, &mut self.session);
            self.session.commit()?;
            Ok(true)
        };
        let entered = enter();
        entered.map_err(|error| self.store_error(error))
    }

    /// Stores the secret for the hashes of URLs, and gives the directory the hosts with which its share begins, unless
    /// it has hosts already.
    pub fn settle(&mut self, member: &DirIdentity, secret: &[u8], sites: &Sites) -> Result<(), OpenError> {
        put(DirIdentity::KEY, member, &mut self.session);
        self.session.put(Space::META, *b"secret", secret);
        let settled = get::<Sites>(SHARE, &self.session).and_then(|known| {
            if known.is_none() {
                put(SHARE, sites, &mut self.session);
            }
            self.session.commit()
        });
        settled.map_err(|error| self.store_error(error))
    }
}
