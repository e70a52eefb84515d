//! All URLs ever met: their records on disk, a byte for each in memory, and the counters. Whoever wants to change where a URL
//! stands asks [`Urls::change`], which knows the table of transitions and keeps all of these together.

use std::ops::ControlFlow;

use dedup_stage::store::{Error, Result, Session};
use dedup_stage::url::{KeyMap, UrlId};

use super::counters::Counters;
use super::standing::{Note, Standing};
use super::stored;
use super::table::Kind;
use super::{Cause, State, Visit};
use crate::spaces;

/// All URLs ever met.
#[derive(Debug, Default)]
pub struct Urls {
    /// [`Standing`]s as bytes, by `id.url`.
    marks: KeyMap<u8>,
    counters: Counters,
}

impl Urls {
    /// A URL stands in the queue of the store that is being opened; of several entries, the one in the best band counts. To
    /// be called for all of them before [`Urls::open`].
    pub fn found_queued(&mut self, url: u64, band: u8) {
        let better = match self.get(url) {
            Some(Standing::Queued { band: known, .. }) => band < known,
            _ => true,
        };
        if better {
            self.mark(url, Standing::Queued { band, note: Note::None });
        }
    }

    /// Reads all records of `session`, after all queue entries were seen.
    pub fn open(&mut self, session: &Session) -> Result<()> {
        let mut damage = None;
        session.scan(spaces::URLS, &[], &[], &mut |key, value| {
            match Self::read(key, value) {
                Ok((id, state)) => match state {
                    State::Queued { .. } => self.note(id.url, Note::Again),
                    state => self.mark(id.url, Standing::of(&state)),
                },
                Err(error) => damage = Some(error),
            }
            if damage.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        if let Some(error) = damage {
            return Err(error);
        }
        session.scan(spaces::HELD_FOR, &[], &[], &mut |key, _| {
            if let Some(anchor) = UrlId::read(key) {
                self.note(anchor.url, Note::Awaited);
            }
            ControlFlow::Continue(())
        })
    }

    /// A record as it stands in the store.
    pub fn read(key: &[u8], value: &[u8]) -> Result<(UrlId, State)> {
        let id = UrlId::read(key).filter(|_| key.len() == UrlId::BYTES);
        let id = id.ok_or_else(|| Error::Damaged("the key of a URL cannot be read".into()))?;
        Ok((id, stored::decode(value, id.site)?))
    }

    /// Where a URL stands, as far as memory knows; `None` if it was never met.
    pub fn get(&self, url: u64) -> Option<Standing> {
        self.marks.get(url).map(Standing::from_byte)
    }

    /// Says which URLs will be asked about next.
    pub fn expect(&self, urls: impl IntoIterator<Item = u64>) {
        self.marks.expect(urls);
    }

    /// How many URLs stand where.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The record of a URL; `None` if it was never met.
    pub fn state(&self, id: UrlId, session: &Session) -> Result<Option<State>> {
        match self.get(id.url) {
            None => Ok(None),
            Some(Standing::Queued { note, .. } | Standing::Open { note }) if note != Note::Again => {
                Ok(Some(State::Queued { before: None }))
            }
            Some(standing) => match session.get(spaces::URLS, &id.to_bytes())? {
                Some(bytes) => Ok(Some(stored::decode(&bytes, id.site)?)),
                None => Err(Error::Damaged(format!("a URL is {standing:?} and has no record"))),
            },
        }
    }

    /// The last visit of a URL that is queued or open.
    pub fn before(&self, id: UrlId, session: &Session) -> Result<Option<Visit>> {
        match self.state(id, session)? {
            Some(State::Queued { before }) => Ok(before),
            _ => Ok(None),
        }
    }

    /// A URL comes into another state. This, and [`Urls::queue`], is the only way.
    ///
    /// # Errors
    ///
    /// [`Error::Engine`] where the table has no such transition, naming both states.
    pub fn change(&mut self, id: UrlId, to: &State, session: &mut Session) -> Result<()> {
        self.move_to(id, to, Standing::of(to), session)
    }

    /// A URL is queued in a band of priority; `before` is its last visit, if it was visited. As [`Urls::change`].
    pub fn queue(&mut self, id: UrlId, before: Option<Visit>, band: u8, session: &mut Session) -> Result<()> {
        let note = if before.is_some() { Note::Again } else { Note::None };
        self.move_to(id, &State::Queued { before }, Standing::Queued { band, note }, session)
    }

    fn move_to(&mut self, id: UrlId, to: &State, mut now: Standing, session: &mut Session) -> Result<()> {
        let standing = self.get(id.url);
        let (from, kind) = (standing.map_or(Kind::Unmet, Kind::from), Kind::from(now));
        if !from.may_become(kind) {
            let (from, to) = (from.name(), to.name());
            return Err(Error::Engine(format!("internal: a URL that is {from} cannot become {to}")));
        }
        // Only what is held or stopped is waited for, and has something to forget.
        let waits = matches!(from, Kind::HeldFor | Kind::HeldAs | Kind::Stopped);
        if waits
            && let Some(before) = self.state(id, session)?
            && let Some(anchor) = before.anchor(id)
        {
            session.delete(spaces::HELD_FOR, pair(anchor, id));
        }
        if let Some(anchor) = to.anchor(id) {
            session.put(spaces::HELD_FOR, pair(anchor, id), []);
        }
        match to {
            State::Queued { before: None } if from == Kind::Unmet => {}
            State::Queued { before: None } => session.delete(spaces::URLS, id.to_bytes()),
            to => session.put(spaces::URLS, id.to_bytes(), stored::encode(to, id.site)),
        }
        if let Standing::Queued { note: note @ Note::None, .. } = &mut now
            && from != Kind::Unmet
        {
            // Something may be held for it: nobody looked.
            *note = Note::Awaited;
        }
        self.mark(id.url, now);
        Ok(())
    }

    /// The record of a held URL gets a further counterpart; what it waits for stays.
    pub fn rewrite(&mut self, id: UrlId, state: &State, session: &mut Session) {
        debug_assert_eq!(self.get(id.url), Some(Standing::of(state)));
        session.put(spaces::URLS, id.to_bytes(), stored::encode(state, id.site));
    }

    /// The band of a queued URL is this one now.
    pub fn place(&mut self, url: u64, band: u8) {
        if let Some(Standing::Queued { note, .. } | Standing::Open { note }) = self.get(url) {
            self.mark(url, Standing::Queued { band, note });
        }
    }

    /// A queued URL was handed out.
    pub fn open_job(&mut self, url: u64) {
        if let Some(Standing::Queued { note, .. }) = self.get(url) {
            self.mark(url, Standing::Open { note });
        }
    }

    /// Something is held for a URL of which some may have to be tried when it was fetched.
    pub fn await_end(&mut self, url: u64) {
        self.note(url, Note::Awaited);
    }

    fn note(&mut self, url: u64, wanted: Note) {
        match self.get(url) {
            Some(Standing::Queued { band, note }) if note != Note::Again => {
                self.mark(url, Standing::Queued { band, note: wanted });
            }
            Some(Standing::Open { note }) if note != Note::Again => self.mark(url, Standing::Open { note: wanted }),
            _ => {}
        }
    }

    fn mark(&mut self, url: u64, standing: Standing) {
        let before = self.marks.set(url, standing.to_byte()).map(Standing::from_byte);
        if let Some(before) = before {
            *self.counters.of(before) -= 1;
        }
        *self.counters.of(standing) += 1;
    }
}

impl State {
    /// What this URL waits for: its counterpart, its representative, or the template of its link.
    pub fn anchor(&self, id: UrlId) -> Option<UrlId> {
        match self {
            State::HeldFor { counterparts, .. } => counterparts.first().copied(),
            State::HeldAs { cause: Cause::News { template }, .. } => Some(UrlId { site: id.site, url: *template }),
            State::Stopped { representative, .. } => *representative,
            _ => None,
        }
    }
}

/// The key that says that something is held for an anchor.
pub fn pair(anchor: UrlId, held: UrlId) -> Vec<u8> {
    [anchor.to_bytes(), held.to_bytes()].concat()
}

/// The keys of everything that is held for an anchor: from, to.
pub fn held_for(anchor: UrlId) -> (Vec<u8>, Vec<u8>) {
    let from = anchor.to_bytes().to_vec();
    let to = [&from[..], &[0xff; UrlId::BYTES + 1]].concat();
    (from, to)
}
