//! A crawl directory that has a share of the hosts of a crawl on many machines.

use dedup_stage::store::Space;
use dedup_stage::url::Sites;
use serde::{Deserialize, Serialize};

use super::cut::{SHARE, get, put};
use super::{CrawlDir, OpenError};

/// Key in [`Space::META`]: whose directory it is.
const MEMBER: &[u8] = b"member";

/// Whose directory it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Member {
    /// The crawl, by a random name.
    pub crawl: String,
    /// The directory, by a random name.
    pub worker: String,
}

impl CrawlDir {
    /// Whose directory it is; `None` where it belongs to no crawl on many machines.
    pub fn member(&self) -> Result<Option<Member>, OpenError> {
        get(MEMBER, &self.session).map_err(|error| self.store_error(error))
    }

    /// Makes the directory one of such a crawl. False if a crawl began here before: then nothing changes.
    pub fn enter(&mut self, member: &Member) -> Result<bool, OpenError> {
        let mut enter = || {
            if !self.is_unused()? {
                return Ok(false);
            }
            put(MEMBER, member, &mut self.session);
            self.session.commit()?;
            Ok(true)
        };
        let entered = enter();
        entered.map_err(|error| self.store_error(error))
    }

    /// Gives the directory its hosts, and the secret that the hashes of their URLs are made with.
    pub fn settle(&mut self, secret: &[u8], sites: &Sites) -> Result<(), OpenError> {
        self.session.put(Space::META, *b"secret", secret);
        put(SHARE, sites, &mut self.session);
        let committed = self.session.commit();
        committed.map_err(|error| self.store_error(error))
    }
}
