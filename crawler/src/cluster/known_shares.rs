//! The list of shares as one process knows it. The list may be old: a worker that gets a link for a host that it has
//! given away sends the link on.

use std::sync::{Arc, PoisonError, RwLock};

use super::Result;
use super::board::Board;
use super::record::keys;
use super::shares::Assignment;

/// The list of shares, as it was read from the board last.
#[derive(Clone, Debug, Default)]
pub struct KnownShares(Arc<RwLock<Arc<Assignment>>>);

impl KnownShares {
    /// The list as it was read last.
    pub fn get(&self) -> Arc<Assignment> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reads the list from the board. Returns what this call has read, even if another thread has read a newer list in
    /// the meantime.
    pub async fn refresh(&self, board: &Board) -> Result<Arc<Assignment>> {
        let read = board.need::<Assignment>(keys::ASSIGNMENT).await?.record;
        let known = self.get();
        if *known == read {
            return Ok(known);
        }
        let read = Arc::new(read);
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&read);
        Ok(read)
    }
}
