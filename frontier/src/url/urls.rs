//! All URLs ever met: their records on disk, one byte for each in memory, and the counters. [`Urls::change`] and
//! [`Urls::queue`] change the state of a URL. They check the table of changes, and write the record, the byte, the
//! counters and the index of held URLs together.
//!
//! The frontier owns the records (`Frontier::urls`). The engine owns the frontier and the store session, and lends the
//! session at each call.

use std::collections::HashSet;
use std::ops::ControlFlow;

use dedup_stage::store::{Error, Result, Session};
use dedup_stage::url::{KeyMap, SiteId, UrlId};

use super::counters::Counters;
use super::forbidden::Forbidden;
use super::standing::{Note, Standing};
use super::stored;
use super::table::Kind;
use super::{HoldCause, State, Visit, WaitPlace, waiting_urls};
use crate::spaces;

/// All URLs ever met.
#[derive(Debug, Default)]
pub struct Urls {
    /// [`Standing`]s as bytes, by `id.url`.
    marks: KeyMap<u8>,
    counters: Counters,
    forbidden: Forbidden,
    /// Hosts that could not be asked for long, by the hash of their names.
    away: HashSet<u64>,
    /// URLs that were held or stopped before their last change, or are so now, since [`Urls::watch`]. `None` if the
    /// list is not asked for, or if there were too many.
    changes: Option<Vec<UrlId>>,
}

impl Urls {
    /// Records that a queue entry for this URL was found while the store is opened. If there are several entries, the
    /// one in the best band counts. Call this for all queue entries before [`Urls::open`].
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
                    state => {
                        self.forbidden.changes(id.site, None, Standing::of(&state));
                        self.mark(id.url, Standing::of(&state));
                    }
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

    /// Bytes of memory of the seen-set.
    pub fn seen_set_bytes(&self) -> usize {
        self.marks.bytes()
    }

    /// Reads a record of the store.
    pub fn read(key: &[u8], value: &[u8]) -> Result<(UrlId, State)> {
        let id = UrlId::read(key).filter(|_| key.len() == UrlId::BYTES);
        let id = id.ok_or_else(|| Error::Damaged("the key of a URL cannot be read".into()))?;
        Ok((id, stored::decode(value, id.site)?))
    }

    /// The state of a URL, as far as memory knows it; `None` if the URL was never met.
    pub fn get(&self, url: u64) -> Option<Standing> {
        self.marks.get(url).map(Standing::from_byte)
    }

    /// Announces URLs that will be asked about next.
    pub fn expect(&self, urls: impl IntoIterator<Item = u64>) {
        self.marks.expect(urls);
    }

    /// The number of URLs in each state.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The hosts with URLs that robots.txt forbade.
    pub fn forbidden(&self) -> &Forbidden {
        &self.forbidden
    }

    /// Whether a host could not be asked for long. Then none of its pages explains why another URL is not fetched.
    pub fn is_away(&self, site: SiteId) -> bool {
        self.away.contains(&site.host)
    }

    /// A host could not be asked for long, or has answered. True if that is new.
    pub fn set_away(&mut self, site: SiteId, is_away: bool) -> bool {
        if is_away { self.away.insert(site.host) } else { self.away.remove(&site.host) }
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

    /// Changes the state of a URL. Only this and [`Urls::queue`] do so.
    ///
    /// # Errors
    ///
    /// [`Error::Engine`] if the table does not have this change. The error names both states.
    pub fn change(&mut self, id: UrlId, to: &State, session: &mut Session) -> Result<()> {
        self.move_to(id, to, Standing::of(to), session)
    }

    /// Changes the state of a URL to `Queued`, in a band of priority. `before` is its last visit, if it was visited.
    /// Errors as for [`Urls::change`].
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
        // A URL that is held or stopped waits for something, and has an entry in the index to delete.
        let before = if from.is_held_back() { self.state(id, session)? } else { None };
        if let Some(anchor) = before.as_ref().and_then(|before| before.anchor(id)) {
            session.delete(spaces::HELD_FOR, pair(anchor, id));
        }
        if let Some(anchor) = to.anchor(id) {
            session.put(spaces::HELD_FOR, pair(anchor, id), []);
        }
        waiting_urls::count(id.site, before.and_then(|before| before.waits()), to.waits(), session)?;
        if from.is_held_back() || kind.is_held_back() {
            self.note_change(id);
        }
        match to {
            State::Queued { before: None } if from == Kind::Unmet => {}
            State::Queued { before: None } => session.delete(spaces::URLS, id.to_bytes()),
            to => session.put(spaces::URLS, id.to_bytes(), stored::encode(to, id.site)),
        }
        if let Standing::Queued { note: note @ Note::None, .. } = &mut now
            && from != Kind::Unmet
        {
            // Other URLs may be held for this one. This is not looked up now, but after this one was fetched.
            *note = Note::Awaited;
        }
        self.forbidden.changes(id.site, standing, now);
        self.mark(id.url, now);
        Ok(())
    }

    /// Writes the record of a held URL with a further counterpart. The URL stays in its state and waits for the same
    /// URL.
    pub fn rewrite(&mut self, id: UrlId, state: &State, session: &mut Session) {
        debug_assert_eq!(self.get(id.url), Some(Standing::of(state)));
        self.note_change(id);
        session.put(spaces::URLS, id.to_bytes(), stored::encode(state, id.site));
    }

    /// From now on, lists the URLs that are held or stopped before or after a change.
    pub fn watch(&mut self) {
        self.changes = Some(Vec::new());
    }

    /// The URLs that were held or stopped before or after a change since [`Urls::watch`], and ends the list. `None` if
    /// the list was not asked for, or if it became too long.
    pub fn take_changes(&mut self) -> Option<Vec<UrlId>> {
        self.changes.take()
    }

    fn note_change(&mut self, id: UrlId) {
        /// A longer list takes more time to read than all records would.
        const MOST: usize = 1 << 16;
        if let Some(changes) = &mut self.changes {
            changes.push(id);
            if changes.len() > MOST {
                self.changes = None;
            }
        }
    }

    /// Notes that a queued URL is in this band now.
    pub fn place(&mut self, url: u64, band: u8) {
        if let Some(Standing::Queued { note, .. } | Standing::Open { note }) = self.get(url) {
            self.mark(url, Standing::Queued { band, note });
        }
    }

    /// Notes that a queued URL was handed out.
    pub fn open_job(&mut self, url: u64) {
        if let Some(Standing::Queued { note, .. }) = self.get(url) {
            self.mark(url, Standing::Open { note });
        }
    }

    /// Notes that other URLs are held or stopped for this queued URL. When it was fetched, some of them may have to be
    /// tried.
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
    /// The place at which a stopped URL counts as waiting for its representative.
    fn waits(&self) -> Option<WaitPlace> {
        if let State::Stopped { waits, .. } = self { *waits } else { None }
    }

    /// The URL that this one waits for: its first counterpart or its representative. For news there is no such
    /// URL: the anchor has the host of the link, and the hash of its template in place of that of a URL.
    pub fn anchor(&self, id: UrlId) -> Option<UrlId> {
        match self {
            State::HeldFor { counterparts, .. } => counterparts.first().copied(),
            State::HeldAs { cause: HoldCause::News { template }, .. } => Some(UrlId { site: id.site, url: *template }),
            State::Stopped { representative, .. } => *representative,
            _ => None,
        }
    }
}

/// The key of the index entry for a URL that is held or stopped for an anchor.
pub fn pair(anchor: UrlId, held: UrlId) -> Vec<u8> {
    [anchor.to_bytes(), held.to_bytes()].concat()
}

/// The range of the index entries of all URLs that are held or stopped for an anchor: from, to.
pub fn held_for(anchor: UrlId) -> (Vec<u8>, Vec<u8>) {
    let from = anchor.to_bytes().to_vec();
    let to = [&from[..], &[0xff; UrlId::BYTES + 1]].concat();
    (from, to)
}

#[cfg(test)]
mod tests {
    use dedup_stage::store::Double;

    use super::*;
    use crate::reason::SkipReason;
    use crate::url::{End, KeptLink};

    #[test]
    fn a_change_that_the_table_does_not_have_is_refused_and_changes_nothing() {
        let (mut urls, mut session) = (Urls::default(), Session::new(Box::new(Double::default())));
        let id = UrlId { url: 7, ..UrlId::default() };
        let done = State::Done(Visit { number: 1, end: End::Answered { status: 200 } });
        let error = urls.change(id, &done, &mut session).unwrap_err().to_string();
        assert!(error.contains("cannot become"), "{error}");
        assert_eq!((urls.get(id.url), urls.state(id, &session).unwrap()), (None, None));
        urls.queue(id, None, 0, &mut session).unwrap();
        urls.change(id, &done, &mut session).unwrap();
        assert_eq!(urls.state(id, &session).unwrap(), Some(done));
    }

    /// Catches a count that is changed by URLs which were never counted, and one that keeps URLs which wait no longer.
    #[test]
    fn the_urls_whose_records_say_that_they_wait_are_counted() {
        const RULES: std::ops::Range<u64> = 0..3;
        let (mut urls, mut session) = (Urls::default(), Session::new(Box::new(Double::default())));
        let mut random = fastrand::Rng::with_seed(1);
        let mut waits = std::collections::BTreeMap::<u64, Option<WaitPlace>>::new();
        for _ in 0..5_000 {
            let id = UrlId { url: random.u64(1..40), ..UrlId::default() };
            let now = Some(WaitPlace { rule: random.u64(RULES), folder: 8 });
            let (stopped, now) = if random.bool() { (true, now) } else { (random.bool(), None) };
            if stopped {
                let link = KeptLink { url: "http://a.test/f/1".into(), ..KeptLink::default() };
                let representative = Some(UrlId { url: random.u64(100..110), ..UrlId::default() });
                let (rules, reason) = (vec![7], SkipReason::Rule);
                let state = State::Stopped { rules, reason, representative, waits: now, link };
                urls.change(id, &state, &mut session).unwrap();
            } else if !matches!(urls.get(id.url), Some(Standing::Queued { .. })) {
                urls.queue(id, None, 0, &mut session).unwrap();
            }
            waits.insert(id.url, now);
            for rule in RULES {
                let place = WaitPlace { rule, folder: 8 };
                let counted = waiting_urls::waiting(id.site, place, &session).unwrap();
                assert_eq!(counted as usize, waits.values().filter(|waits| **waits == Some(place)).count());
            }
        }
    }

    #[test]
    fn of_several_queue_entries_of_one_url_the_best_counts() {
        for bands in [[3, 1, 2], [1, 2, 3], [2, 3, 1]] {
            let mut urls = Urls::default();
            bands.into_iter().for_each(|band| urls.found_queued(7, band));
            assert_eq!(urls.get(7), Some(Standing::Queued { band: 1, note: Note::None }));
        }
    }
}
