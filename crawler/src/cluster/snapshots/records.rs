//! Reads the records of a snapshot into a state.

use std::io::{self, Read};

use dedup_stage::store::{self, Batch, Change, Space, Store};

use super::super::{ClusterError, Result};
use super::BATCH;
use crate::spaces;

/// Commits the records of a snapshot in batches. `keep` gives the space and the value with which a record is stored, or
/// leaves the record out. The record for which `is_place` is true holds the place that the snapshot has reached. It is
/// committed last. So a state that was read only in part has no place.
pub fn commit_records(
    from: &mut dyn Read,
    disk: &mut impl Store,
    is_place: impl Fn(Space, &[u8]) -> bool,
    keep: impl Fn(Space, Vec<u8>) -> Result<Option<(Space, Vec<u8>)>>,
) -> Result<()> {
    let all = spaces::of_crawl();
    let (mut batch, mut bytes, mut place) = (Batch::new(), 0, None);
    while let Some((number, key, value)) = read_record(from)? {
        let space = all.iter().find(|space| space.number() == usize::from(number));
        let space = space.ok_or_else(|| ClusterError::Damaged("a snapshot".into()))?;
        if is_place(space, &key) {
            place = Some(Change { space, key, value: Some(value) });
            continue;
        }
        let Some((space, value)) = keep(space, value)? else { continue };
        bytes += key.len() + value.len();
        batch.push(Change { space, key, value: Some(value) });
        if bytes >= BATCH {
            disk.commit(&std::mem::take(&mut batch)).map_err(failed)?;
            bytes = 0;
        }
    }
    batch.extend(place);
    disk.commit(&batch).map_err(failed)
}

/// A record: the number of the space, the key, the value.
type Record = (u8, Vec<u8>, Vec<u8>);

/// The next record; `None` at the end.
fn read_record(from: &mut dyn Read) -> io::Result<Option<Record>> {
    let mut number = [0; 1];
    if from.read(&mut number)? == 0 {
        return Ok(None);
    }
    let (mut key, mut value) = ([0; 4], [0; 4]);
    from.read_exact(&mut key)?;
    from.read_exact(&mut value)?;
    let mut key = vec![0; u32::from_le_bytes(key) as usize];
    let mut value = vec![0; u32::from_le_bytes(value) as usize];
    from.read_exact(&mut key)?;
    from.read_exact(&mut value)?;
    Ok(Some((number[0], key, value)))
}

/// Makes an error of the cluster from an error of the state.
pub fn failed(error: store::Error) -> ClusterError {
    ClusterError::Io(io::Error::other(error))
}
