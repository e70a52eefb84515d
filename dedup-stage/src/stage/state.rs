//! The state as a whole: its format, its secret and its counts. It also goes back to the last flush here.

use std::ops::ControlFlow;

use super::Counts;
use crate::spaces;
use crate::store::{Error, Result, Session, Space, codec};
use crate::url::KeyHasher;

const FORMAT: &str = "stage-5";
/// A format that this program reads, too. There, the links of accepted pages are in records of their own.
const EARLIER: &str = "stage-4";
const KEY_FORMAT: &[u8] = b"format";
const KEY_SECRET: &[u8] = b"secret";
/// The counts at the last flush. Pages whose order is `pages` or more do not count.
const KEY_COUNTS: &[u8] = b"counts";
/// The epoch of the undo log, which is the number of flushes.
const KEY_EPOCH: &[u8] = b"epoch";
/// This key is there while pages that do not count may be in the store.
const KEY_SPILLED: &[u8] = b"spilled";

/// The spaces whose values begin with the order of the page that wrote them.
const ORDERED: [Space; 5] = [spaces::DIGESTS, spaces::ACCEPTED, spaces::LINKS, spaces::TEMPLATES, spaces::STAGE_PAGES];

/// Checks that this program wrote the state, and undoes all changes after the last flush. Returns the counts of that
/// flush.
pub(super) fn open(session: &mut Session) -> Result<Counts> {
    match session.get(Space::META, KEY_FORMAT)? {
        None => session.put(Space::META, KEY_FORMAT, FORMAT),
        Some(format) if format == FORMAT.as_bytes() => {}
        Some(format) if format == EARLIER.as_bytes() => session.put(Space::META, KEY_FORMAT, FORMAT),
        Some(format) => return Err(foreign(&String::from_utf8_lossy(&format))),
    }
    let counts: Counts = record(session, KEY_COUNTS)?.unwrap_or_default();
    session.keep_undo(spaces::STAGE_UNDO, record(session, KEY_EPOCH)?.unwrap_or(0));
    if session.get(Space::META, KEY_SPILLED)?.is_some() {
        session.undo(&ORDERED)?;
        for space in ORDERED {
            take_back(session, space, counts.pages, &|_, value| codec::decode_first(value, "an order"))?;
        }
        take_back(session, spaces::STAGE_URLS, counts.pages, &|key, _| {
            let order = key.first_chunk().map(|order| u64::from_be_bytes(*order));
            order.ok_or_else(|| Error::Damaged("the key of the URLs met on a page is too short".into()))
        })?;
        put_counts(session, &counts)?;
        session.commit()?;
    }
    while session.sweep_undo()? {
        session.commit()?;
    }
    Ok(counts)
}

fn foreign(format: &str) -> Error {
    let what = if format.starts_with("stage-") { "by another version" } else { "by another program" };
    Error::Foreign(format!(
        "it was written {what}, in the format {format:?}, and this program writes {FORMAT:?}; start with an empty \
         directory, and send the pages again"
    ))
}

fn record<T: serde::de::DeserializeOwned>(session: &Session, key: &[u8]) -> Result<Option<T>> {
    session.get(Space::META, key)?.map(|value| codec::decode(&value, "the counts of the state")).transpose()
}

/// Finds the order of the page that wrote an entry, from the key and the value of the entry.
type OrderOf<'a> = &'a dyn Fn(&[u8], &[u8]) -> Result<u64>;

/// Removes the entries of all pages with the order `from_order` or a later one.
fn take_back(session: &mut Session, space: Space, from_order: u64, order_of: OrderOf<'_>) -> Result<()> {
    const AT_ONCE: usize = 1 << 16;
    let mut from = Vec::new();
    loop {
        let (mut last, mut doomed, mut result) = (Vec::new(), Vec::new(), Ok(()));
        session.scan(space, &from, &[], &mut |key, value| {
            match order_of(key, value) {
                Ok(order) if order >= from_order => doomed.push(key.to_vec()),
                Ok(_) => {}
                Err(error) => result = Err(error),
            }
            last = key.to_vec();
            let more = result.is_ok() && doomed.len() < AT_ONCE;
            if more { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        result?;
        let more = doomed.len() == AT_ONCE;
        doomed.into_iter().for_each(|key| session.delete(space, key));
        session.commit()?;
        if !more {
            return Ok(());
        }
        from = last;
    }
}

/// The secret with which URL keys are hashed. It is made once for each state.
pub(super) fn secret(session: &mut Session) -> Result<[u8; KeyHasher::SECRET]> {
    if let Some(secret) = session.get(Space::META, KEY_SECRET)? {
        return secret.try_into().map_err(|_| Error::Damaged("its secret has the wrong length".into()));
    }
    let mut secret = [0; KeyHasher::SECRET];
    getrandom::fill(&mut secret).map_err(|error| Error::Io(std::io::Error::other(error)))?;
    session.put(Space::META, KEY_SECRET, secret);
    Ok(secret)
}

/// Lets all pages judged so far count, from the next commit on.
pub(super) fn put_counts(session: &mut Session, counts: &Counts) -> Result<()> {
    let epoch: u64 = record(session, KEY_EPOCH)?.unwrap_or(0);
    session.put(Space::META, KEY_EPOCH, codec::encode(&(epoch + 1)));
    session.put(Space::META, KEY_COUNTS, codec::encode(counts));
    session.delete(Space::META, KEY_SPILLED);
    session.forget_undo();
    Ok(())
}

pub(super) fn mark_spilled(session: &mut Session) {
    session.put(Space::META, KEY_SPILLED, []);
}
