//! A store for tests: it outlives its sessions, and fails when told to.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Batch, Error, Memory, Result, Space, Store, Visitor};

/// A [`Memory`] that is shared by its clones, as a directory is shared by processes that open it one after the other.
/// Dropping a session is like a crash: changes that were committed are there afterwards, pending ones are not.
///
/// # Examples
///
/// ```
/// use dedup_stage::store::{Double, Fault, Session, Space};
///
/// let disk = Double::default();
/// let mut session = Session::new(Box::new(disk.clone()));
/// session.put(Space::META, *b"kept", *b"1");
/// session.commit().unwrap();
/// session.put(Space::META, *b"lost", *b"1");
/// drop(session);
///
/// let mut session = Session::new(Box::new(disk.clone()));
/// assert!(session.get(Space::META, b"kept").unwrap().is_some());
/// assert!(session.get(Space::META, b"lost").unwrap().is_none());
///
/// session.put(Space::META, *b"more", *b"1");
/// disk.fail(Fault::Refuse);
/// assert!(session.commit().is_err());
/// assert_eq!(session.pending(), 1);
/// session.commit().unwrap();
/// ```
#[derive(Clone, Debug, Default)]
pub struct Double {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Debug, Default)]
struct Inner {
    memory: Memory,
    /// The fault that is armed, and the number of commits that succeed before it.
    fault: Option<(u64, Fault)>,
    commits: u64,
    changes: u64,
}

/// A fault that makes one operation fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The next commit fails, and leaves no trace.
    Refuse,
    /// The next commit fails, though the whole batch reached the disk.
    Forget,
    /// The next read fails.
    Unreadable,
}

impl Double {
    /// Arms a fault.
    pub fn fail(&self, fault: Fault) {
        self.fail_behind(0, fault);
    }

    /// Arms a fault that comes after this many more commits have succeeded.
    pub fn fail_behind(&self, commits: u64, fault: Fault) {
        self.lock().fault = Some((commits, fault));
    }

    /// Disarms a fault that has not come.
    pub fn heal(&self) {
        self.lock().fault = None;
    }

    /// The number of commits that succeeded, and the number of changes in them.
    pub fn commits(&self) -> (u64, u64) {
        let inner = self.lock();
        (inner.commits, inner.changes)
    }

    /// Replaces a value without a commit, as damage to the disk would.
    pub fn damage(&self, space: Space, key: &[u8], value: &[u8]) {
        let change = super::Change { space, key: key.to_vec(), value: Some(value.to_vec()) };
        // Memory never fails.
        let _ = self.lock().memory.commit(&vec![change]);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn strikes(&mut self, fault: Fault) -> bool {
        let strikes = self.fault == Some((0, fault));
        if strikes {
            self.fault = None;
        }
        strikes
    }
}

fn broken() -> Error {
    Error::Io(std::io::Error::other("fault injected"))
}

impl Store for Double {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let mut inner = self.lock();
        if inner.strikes(Fault::Unreadable) { Err(broken()) } else { inner.memory.get(space, key) }
    }

    fn scan(&self, space: Space, from: &[u8], to: &[u8], visit: &mut Visitor<'_>) -> Result<()> {
        let mut inner = self.lock();
        if inner.strikes(Fault::Unreadable) { Err(broken()) } else { inner.memory.scan(space, from, to, visit) }
    }

    fn commit(&mut self, batch: &Batch) -> Result<()> {
        let mut inner = self.lock();
        if inner.strikes(Fault::Refuse) {
            return Err(broken());
        }
        inner.memory.commit(batch)?;
        if inner.strikes(Fault::Forget) {
            return Err(broken());
        }
        if let Some((left @ 1.., _)) = &mut inner.fault {
            *left -= 1;
        }
        inner.commits += 1;
        inner.changes += batch.len() as u64;
        Ok(())
    }
}
