//! A crawl directory that has a share of the hosts of a crawl on many machines.

use dedup_stage::store::Space;
use dedup_stage::url::Sites;
use serde::{Deserialize, Serialize};

use super::cut::{SHARE, get, put};
use super::{CrawlDir, OpenError};

/// Whose directory it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Member {
    /// The crawl, by a random name.
    pub crawl: String,
    /// The directory, by a random name.
    pub worker: String,
    /// Number of the share whose state it has, from 0.
    pub share: Option<usize>,
}

impl Member {
    /// Its key in [`Space::META`].
    pub const KEY: &[u8] = b"member";
}

impl CrawlDir {
    /// Whose directory it is; `None` where it belongs to no crawl on many machines.
    pub fn member(&self) -> Result<Option<Member>, OpenError> {
        get(Member::KEY, &self.session).map_err(|error| self.store_error(error))
    }

    /// Makes the directory one of such a crawl. False if a crawl began here before: then nothing changes.
    pub fn enter(&mut self, member: &Member) -> Result<bool, OpenError> {
        let mut enter = || {
            if !self.is_unused()? {
                return Ok(false);
            }
            put(Member::KEY, member, &mut self.session);
            self.session.commit()?;
            Ok(true)
        };
        let entered = enter();
        entered.map_err(|error| self.store_error(error))
    }

    /// Gives the directory the hosts that its share begins with, unless it has hosts, and the secret that the hashes of their
    /// URLs are made with.
    pub fn settle(&mut self, member: &Member, secret: &[u8], sites: &Sites) -> Result<(), OpenError> {
        put(Member::KEY, member, &mut self.session);
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
