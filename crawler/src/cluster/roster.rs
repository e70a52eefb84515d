//! What one process knows of who has which hosts. It may be old: whoever gets a link for a host that it has given away sends the
//! link on.

use std::sync::{Arc, PoisonError, RwLock};

use super::Result;
use super::board::Board;
use super::record::keys;
use super::shares::Muster;

/// The shares, as the board said last.
#[derive(Clone, Debug, Default)]
pub struct Roster(Arc<RwLock<Arc<Muster>>>);

impl Roster {
    /// The shares.
    pub fn get(&self) -> Arc<Muster> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reads the board. What is returned is what stood there, whatever others read meanwhile.
    pub async fn refresh(&self, board: &Board) -> Result<Arc<Muster>> {
        let read = board.need::<Muster>(keys::MUSTER).await?.record;
        let known = self.get();
        if *known == read {
            return Ok(known);
        }
        let read = Arc::new(read);
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&read);
        Ok(read)
    }
}
