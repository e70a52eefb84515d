//! A store that forgets when it is dropped.

use std::collections::BTreeMap;
use std::ops::{Bound, ControlFlow};

use super::{Batch, Result, Space, Store, Visitor};

/// Keeps everything in an ordered map. It is simple enough to need no other store to test it against.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    entries: BTreeMap<(Space, Vec<u8>), Vec<u8>>,
}

impl Store for Memory {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>> {
        Ok(self.entries.get(&(space, key.to_vec())).cloned())
    }

    fn scan(&self, space: Space, from: &[u8], to: &[u8], visit: &mut Visitor<'_>) -> Result<()> {
        let from = Bound::Included((space, from.to_vec()));
        for ((entry_space, key), value) in self.entries.range((from, Bound::Unbounded)) {
            if *entry_space != space || (!to.is_empty() && key.as_slice() >= to) {
                break;
            }
            if visit(key, value) == ControlFlow::Break(()) {
                break;
            }
        }
        Ok(())
    }

    fn commit(&mut self, batch: &Batch) -> Result<()> {
        for change in batch {
            let key = (change.space, change.key.clone());
            match &change.value {
                Some(value) => self.entries.insert(key, value.clone()),
                None => self.entries.remove(&key),
            };
        }
        Ok(())
    }
}
