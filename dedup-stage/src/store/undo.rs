//! The values that were overwritten since a mark. They are needed to undo the changes after the mark.
//!
//! A change may reach the disk before it counts. Then the values that it overwrites or deletes must be kept, until it
//! counts or is undone. A session that keeps an undo log ([`Session::keep_undo`]) writes the old value of each entry
//! that [`Session::overwrite`] changes into a space of its own, in the same batch as the change. Log entries have the
//! *epoch* of the session. When the owner lets the changes count, it moves on to the next epoch, and the log entries of
//! earlier epochs are not needed any more.
//!
//! Entries written with [`Session::put`] are not logged. Their owner must be able to tell which of them are new.

use std::ops::ControlFlow;

use super::{Result, Session, Space, codec};

/// The undo log of a session.
#[derive(Clone, Copy, Debug)]
pub(super) struct Log {
    pub(super) space: Space,
    pub(super) epoch: u64,
}

impl Log {
    /// The key of the log entry with the old value of an entry.
    fn key(&self, space: Space, key: &[u8]) -> Vec<u8> {
        [&self.epoch.to_be_bytes()[..], &[space.number() as u8], key].concat()
    }
}

impl Session {
    /// From now on the old values of overwritten entries are logged in `space`, with this epoch.
    pub fn keep_undo(&mut self, space: Space, epoch: u64) {
        self.log = Some(Log { space, epoch });
    }

    /// Sets (`Some`) or deletes (`None`) an entry that may be there already. Logs the old value if this session keeps
    /// an undo log, and has not logged this entry in this epoch yet.
    pub fn overwrite(&mut self, space: Space, key: impl Into<Vec<u8>>, value: Option<Vec<u8>>) -> Result<()> {
        let key = key.into();
        if let Some(log) = self.log {
            let logged = log.key(space, &key);
            if self.get(log.space, &logged)?.is_none() {
                let old = self.store.get(space, &key)?;
                self.put(log.space, logged, codec::encode(&old));
            }
        }
        self.change(space, key, value);
        Ok(())
    }

    /// Puts back the values that were overwritten in this epoch, in the entries of `spaces`. Entries that were written
    /// since with [`Session::put`] remain.
    pub fn undo(&mut self, spaces: &[Space]) -> Result<()> {
        let Some(log) = self.log else { return Ok(()) };
        let mut from = log.epoch.to_be_bytes().to_vec();
        loop {
            let mut found = Vec::new();
            self.scan(log.space, &from, &(log.epoch + 1).to_be_bytes(), &mut |key, value| {
                found.push((key.to_vec(), value.to_vec()));
                if found.len() == Self::AT_ONCE { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })?;
            let Some((last, _)) = found.last() else { return Ok(()) };
            from = [last.as_slice(), &[0]].concat();
            for (key, value) in found {
                let space = key.get(8).and_then(|number| spaces.iter().find(|s| s.number() == usize::from(*number)));
                if let Some(space) = space {
                    self.change(*space, key[9..].to_vec(), codec::decode(&value, "an overwritten value")?);
                }
            }
            self.commit()?;
        }
    }

    /// Moves on to the next epoch: overwritten entries keep their new values. Pending entries of the log are dropped.
    pub fn forget_undo(&mut self) {
        if let Some(log) = &mut self.log {
            log.epoch += 1;
            let space = log.space;
            self.discard(space);
        }
    }

    /// Deletes some log entries of earlier epochs. False if there were none.
    pub fn sweep_undo(&mut self) -> Result<bool> {
        let Some(log) = self.log else { return Ok(false) };
        let mut old = Vec::new();
        self.scan(log.space, &[], &log.epoch.to_be_bytes(), &mut |key, _| {
            old.push(key.to_vec());
            if old.len() == Self::AT_ONCE { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        let any = !old.is_empty();
        old.into_iter().for_each(|key| self.delete(log.space, key));
        Ok(any)
    }

    /// The most log entries that are handled in one step.
    const AT_ONCE: usize = 1 << 12;
}
