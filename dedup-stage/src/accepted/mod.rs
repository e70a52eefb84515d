//! The accepted pages by fingerprint: what a page is looked at a second time against.
//!
//! The store holds them all. Fingerprints of pages crowd, so that the second look is asked for often, and mostly in vain; so the
//! pages that were accepted or looked at last are in memory too.

mod recent;

use std::collections::HashSet;
use std::ops::ControlFlow;

use recent::Recent;

use crate::old_judge::Row;
use crate::signature::Sketch;
use crate::spaces;
use crate::store::{Error, Result, Session};

/// An accepted page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// Its number.
    pub row: Row,
    /// Hash of its URL key.
    pub key: u64,
    /// Its sketch.
    pub sketch: Sketch,
}

impl Entry {
    fn to_bytes(self) -> Vec<u8> {
        [&self.row.to_be_bytes()[..], &self.key.to_be_bytes(), &self.sketch.to_bytes()].concat()
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let parts = bytes.split_first_chunk().and_then(|(row, rest)| Some((row, rest.split_first_chunk()?)));
        let Some((row, (key, sketch))) = parts else { return Err(damaged()) };
        let sketch = Sketch::from_bytes(sketch.try_into().map_err(|_| damaged())?);
        Ok(Self { row: u64::from_be_bytes(*row), key: u64::from_be_bytes(*key), sketch })
    }
}

fn damaged() -> Error {
    Error::Damaged("an accepted page has the wrong length".into())
}

/// All accepted pages: in the store under their fingerprint, and where several have it, all but the first under fingerprint and row.
#[derive(Debug)]
pub struct Accepted {
    /// Fingerprints that several have.
    several: HashSet<u64>,
    /// Of the first pages with their fingerprints.
    recent: Recent,
}

impl Accepted {
    /// At most this many pages with one and the same fingerprint are visited.
    const SAME_FINGERPRINT: usize = 64;
    /// At most so many are in memory, 3 MB.
    const RECENT: usize = 1 << 15;

    /// What `session` has; calls `each` with every distinct fingerprint.
    pub fn open(session: &Session, each: &mut impl FnMut(u64)) -> Result<Self> {
        Self::open_with(session, Self::RECENT, each)
    }

    fn open_with(session: &Session, most: usize, each: &mut impl FnMut(u64)) -> Result<Self> {
        let mut several = HashSet::new();
        session.scan(spaces::ACCEPTED, &[], &[], &mut |key, _| {
            // The first of a fingerprint comes first: its key is the shortest.
            if let Some((fingerprint, row)) = key.split_first_chunk() {
                let fingerprint = u64::from_be_bytes(*fingerprint);
                if row.is_empty() {
                    each(fingerprint);
                } else {
                    several.insert(fingerprint);
                }
            }
            ControlFlow::Continue(())
        })?;
        Ok(Self { several, recent: Recent::new(most) })
    }

    /// Adds a page, the first one with this fingerprint or another one.
    pub fn insert(&mut self, fingerprint: u64, is_first: bool, entry: Entry, session: &mut Session) {
        let mut key = fingerprint.to_be_bytes().to_vec();
        if is_first {
            self.recent.put(fingerprint, entry);
        } else {
            self.several.insert(fingerprint);
            key.extend(entry.row.to_be_bytes());
        }
        session.put(spaces::ACCEPTED, key, entry.to_bytes());
    }

    /// Visits the pages with a fingerprint in the order of their rows. Nearly always there is one.
    pub fn visit(
        &mut self,
        fingerprint: u64,
        session: &Session,
        visit: &mut impl FnMut(&Entry) -> ControlFlow<()>,
    ) -> Result<()> {
        let Some(first) = self.first(fingerprint, session)? else { return Ok(()) };
        if visit(&first).is_break() || !self.several.contains(&fingerprint) {
            return Ok(());
        }
        let (key, mut visited, mut result) = (fingerprint.to_be_bytes(), 1, Ok(()));
        let (from, to) = ([key, [0; 8]].concat(), [key, [0xff; 8]].concat());
        session.scan(spaces::ACCEPTED, &from, &to, &mut |_, value| {
            visited += 1;
            let flow = match Entry::from_bytes(value) {
                Ok(entry) => visit(&entry),
                Err(error) => {
                    result = Err(error);
                    ControlFlow::Break(())
                }
            };
            if visited < Self::SAME_FINGERPRINT { flow } else { ControlFlow::Break(()) }
        })?;
        result
    }

    fn first(&mut self, fingerprint: u64, session: &Session) -> Result<Option<Entry>> {
        if let Some(entry) = self.recent.get(fingerprint) {
            return Ok(Some(entry));
        }
        let Some(value) = session.get(spaces::ACCEPTED, &fingerprint.to_be_bytes())? else { return Ok(None) };
        let entry = Entry::from_bytes(&value)?;
        self.recent.put(fingerprint, entry);
        Ok(Some(entry))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Memory;

    /// What is known of a fingerprint, the rows of up to `most` pages.
    fn rows(accepted: &mut Accepted, fingerprint: u64, most: usize, session: &Session) -> Vec<Row> {
        let mut rows = Vec::new();
        let mut visit = |entry: &Entry| {
            assert_eq!(*entry, page(entry.row));
            rows.push(entry.row);
            if rows.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        accepted.visit(fingerprint, session, &mut visit).unwrap();
        rows
    }

    fn page(row: Row) -> Entry {
        Entry { row, key: row * 7, sketch: Sketch::from_bytes([row as u8; Sketch::BYTES]) }
    }

    #[test]
    fn what_memory_has_no_room_for_is_found_in_the_store() {
        let mut session = Session::new(Box::new(Memory::default()));
        let mut accepted = Accepted::open_with(&session, 4, &mut |_| unreachable!()).unwrap();
        // Every fifth fingerprint is that of three pages, one of a hundred.
        let times = |fingerprint: u64| [3, 1, 1, 1, 1][fingerprint as usize % 5] + 97 * u64::from(fingerprint == 20);
        let mut expected = vec![Vec::new(); 30];
        let mut row = 0;
        for time in 0..100 {
            for fingerprint in (0..30).filter(|f| time < times(*f)) {
                accepted.insert(fingerprint, time == 0, page(row), &mut session);
                expected[fingerprint as usize].push(row);
                row += 1;
            }
        }
        let mut fingerprints = Vec::new();
        let mut opened = Accepted::open_with(&session, 4, &mut |fingerprint| fingerprints.push(fingerprint)).unwrap();
        assert_eq!(fingerprints, (0..30).collect::<Vec<_>>());
        for accepted in [&mut accepted, &mut opened] {
            for fingerprint in (0..30).chain((0..30).rev()) {
                let all = &expected[fingerprint as usize];
                assert_eq!(rows(accepted, fingerprint, usize::MAX, &session), all[..all.len().min(64)]);
                assert_eq!(rows(accepted, fingerprint, 1, &session), all[..1]);
                assert!(accepted.recent.slots() <= 4);
            }
            assert!(rows(accepted, 99, usize::MAX, &session).is_empty());
        }
    }
}
