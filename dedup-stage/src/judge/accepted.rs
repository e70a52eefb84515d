//! The accepted pages by fingerprint, with their sketches and links. The *second look* compares the sketches of two
//! pages whose fingerprints are near each other: only then is it known whether the texts are alike.
//!
//! The store has all sketches. Many pages with other texts have near fingerprints (the fingerprints *crowd*). So the
//! second look is needed often, and mostly finds no duplicate. To save reads of the store, memory has a part of each
//! sketch ([`Glances`]), and the pages that were accepted or looked at last.

use std::collections::HashSet;
use std::ops::ControlFlow;

use super::entry::Entry;
use super::followed::{self, Followed, Head};
use super::glances::Glances;
use super::links::LinkSet;
use super::recent::Recent;
use crate::signature::Sketch;
use crate::spaces;
use crate::store::cut::{KeyRange, each_part};
use crate::store::{Result, Session, codec};
use crate::url::PageId;

/// All accepted pages. The key of a page in the store is its fingerprint, or its fingerprint and its order. The
/// earliest page with a fingerprint has the short key. All other pages with this fingerprint have the long one. If the
/// earliest page was judged by another process, it may be in [`Followed`] and have no key here.
#[derive(Debug)]
pub(super) struct Accepted {
    /// Fingerprints that more than one page has or had.
    several: HashSet<u64>,
    /// A part of each sketch.
    glances: Glances,
    /// Pages in memory. Each is the earliest page with its fingerprint.
    recent: Recent,
}

impl Accepted {
    /// At most this many pages with one and the same fingerprint are visited.
    const SAME_FINGERPRINT: usize = 64;
    /// At most this many pages are in memory (1 MB).
    const RECENT: usize = 1 << 13;

    /// Reads the accepted pages of `session`. Calls `each` with every distinct fingerprint.
    pub(super) fn open(session: &Session, each: &mut impl FnMut(u64)) -> Result<Self> {
        Self::open_with(session, Self::RECENT, each)
    }

    fn open_with(session: &Session, most: usize, each: &mut impl FnMut(u64)) -> Result<Self> {
        let (mut several, mut glances, mut damage) = (HashSet::new(), Glances::default(), None);
        session.scan(spaces::ACCEPTED, &[], &[], &mut |key, value| {
            // The earliest page comes first: its key is the shortest.
            let Some((fingerprint, order)) = key.split_first_chunk() else { return ControlFlow::Continue(()) };
            let (fingerprint, is_first) = (u64::from_be_bytes(*fingerprint), order.is_empty());
            match Entry::read(value) {
                Ok(entry) => glances.insert(fingerprint, is_first, &entry.sketch),
                Err(error) => {
                    damage = Some(error);
                    return ControlFlow::Break(());
                }
            }
            if is_first {
                each(fingerprint);
            } else {
                several.insert(fingerprint);
            }
            ControlFlow::Continue(())
        })?;
        if let Some(damage) = damage {
            return Err(damage);
        }
        followed::each_accepted(session, &mut |Head { signature, .. }| {
            if let Some(signature) = signature {
                glances.insert(signature.simhash, true, &signature.sketch);
                each(signature.simhash);
            }
        })?;
        Ok(Self { several, glances, recent: Recent::new(most) })
    }

    /// Bytes of memory that grow with the number of pages.
    pub(super) fn bytes(&self) -> usize {
        self.glances.bytes()
    }

    /// Adds a page. `is_new` says that no page ever had this fingerprint.
    pub(super) fn insert(
        &mut self,
        fingerprint: u64,
        is_new: bool,
        entry: Entry,
        links: &LinkSet,
        session: &mut Session,
    ) -> Result<()> {
        self.glances.insert(fingerprint, is_new, &entry.sketch);
        let record = entry.with(links);
        if is_new {
            self.recent.put(fingerprint, entry);
            session.put(spaces::ACCEPTED, fingerprint.to_be_bytes(), record);
            return Ok(());
        }
        let Some(first) = self.first(fingerprint, session)? else {
            return self.put_first(fingerprint, entry, record, session);
        };
        if first.order < entry.order {
            self.several.insert(fingerprint);
            session.put(spaces::ACCEPTED, key_of_another(fingerprint, entry.order), record);
            return Ok(());
        }
        followed::part(first.id, session)?;
        if first.order > entry.order {
            self.several.insert(fingerprint);
            let moved = session.get(spaces::ACCEPTED, &fingerprint.to_be_bytes())?;
            session.overwrite(spaces::ACCEPTED, key_of_another(fingerprint, first.order), moved)?;
        }
        self.put_first(fingerprint, entry, record, session)
    }

    /// Notes a page that is kept elsewhere ([`Followed`]). No page ever had its fingerprint.
    pub(super) fn note(&mut self, fingerprint: u64, entry: Entry) {
        self.glances.insert(fingerprint, true, &entry.sketch);
        self.recent.put(fingerprint, entry);
    }

    fn put_first(&mut self, fingerprint: u64, entry: Entry, record: Vec<u8>, session: &mut Session) -> Result<()> {
        self.recent.put(fingerprint, entry);
        session.overwrite(spaces::ACCEPTED, fingerprint.to_be_bytes(), Some(record))
    }

    /// Removes the page with this fingerprint and order. The next page with the fingerprint takes its place.
    pub(super) fn remove(&mut self, fingerprint: u64, order: u64, session: &mut Session) -> Result<()> {
        let Some(first) = self.first(fingerprint, session)? else { return Ok(()) };
        if first.order != order {
            return session.overwrite(spaces::ACCEPTED, key_of_another(fingerprint, order), None);
        }
        followed::part(first.id, session)?;
        self.recent.forget(fingerprint);
        session.overwrite(spaces::ACCEPTED, fingerprint.to_be_bytes(), None)?;
        let mut next = None;
        if self.several.contains(&fingerprint) {
            self.others(fingerprint, session, &mut |entry, record| {
                next = Some((*entry, record.to_vec()));
                ControlFlow::Break(())
            })?;
        }
        let Some((next, record)) = next else { return Ok(()) };
        session.overwrite(spaces::ACCEPTED, key_of_another(fingerprint, next.order), None)?;
        self.put_first(fingerprint, next, record, session)
    }

    /// The page with this fingerprint and order.
    pub(super) fn get(&mut self, fingerprint: u64, order: u64, session: &Session) -> Result<Option<Entry>> {
        match self.first(fingerprint, session)? {
            Some(first) if first.order == order => Ok(Some(first)),
            None => Ok(None),
            Some(_) => {
                let record = session.get(spaces::ACCEPTED, &key_of_another(fingerprint, order))?;
                record.map(|record| Entry::read(&record)).transpose()
            }
        }
    }

    /// The links and media of an accepted page. `None` if there is no such page, or if it has neither. (They are found
    /// without the right order, too, if no earlier page has the fingerprint.)
    pub(super) fn links(fingerprint: u64, order: u64, page: PageId, session: &Session) -> Result<Option<LinkSet>> {
        let followed = Followed::of(session)?.links(page, session)?;
        if followed.is_some() {
            return Ok(followed);
        }
        match find(fingerprint, order, page, session)? {
            Some((_, record)) => links_of(&record, page, session),
            None => Ok(None),
        }
    }

    /// Replaces the links and media of an accepted page.
    pub(super) fn replace_links(
        fingerprint: u64,
        order: u64,
        page: PageId,
        links: &LinkSet,
        session: &mut Session,
    ) -> Result<()> {
        followed::part(page, session)?;
        let Some((key, record)) = find(fingerprint, order, page, session)? else { return Ok(()) };
        session.overwrite(spaces::ACCEPTED, key, Some(Entry::read(&record)?.with(links)))
    }

    /// Keeps those fingerprints whose pages may have the text of `sketch`. This needs no read of the store.
    pub(super) fn retain_alike<T>(&self, near: &mut Vec<(u64, T)>, sketch: &Sketch) {
        self.glances.retain(near, sketch);
    }

    /// Visits the pages with a fingerprint in their order, with their records (empty if the record was not read).
    /// Nearly always there is one page.
    pub(super) fn visit(
        &mut self,
        fingerprint: u64,
        session: &Session,
        visit: &mut impl FnMut(&Entry, &[u8]) -> ControlFlow<()>,
    ) -> Result<()> {
        let Some((first, record)) = self.first_with_record(fingerprint, session)? else { return Ok(()) };
        if visit(&first, &record).is_break() || !self.several.contains(&fingerprint) {
            return Ok(());
        }
        self.others(fingerprint, session, visit)
    }

    /// Visits all pages with a fingerprint except the earliest.
    fn others(
        &self,
        fingerprint: u64,
        session: &Session,
        visit: &mut impl FnMut(&Entry, &[u8]) -> ControlFlow<()>,
    ) -> Result<()> {
        let (mut visited, mut result) = (1, Ok(()));
        let (from, to) = (key_of_another(fingerprint, 0), key_of_another(fingerprint, u64::MAX));
        session.scan(spaces::ACCEPTED, &from, &to, &mut |_, record| {
            visited += 1;
            let flow = match Entry::read(record) {
                Ok(entry) => visit(&entry, record),
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
        Ok(self.first_with_record(fingerprint, session)?.map(|(entry, _)| entry))
    }

    /// The earliest page with a fingerprint, and its record, if it had to be read.
    fn first_with_record(&mut self, fingerprint: u64, session: &Session) -> Result<Option<(Entry, Vec<u8>)>> {
        if let Some(entry) = self.recent.get(fingerprint) {
            return Ok(Some((entry, Vec::new())));
        }
        let found = match Followed::of(session)?.entry(fingerprint, session)? {
            Some(entry) => (entry, Vec::new()),
            None => match session.get(spaces::ACCEPTED, &fingerprint.to_be_bytes())? {
                Some(record) => (Entry::read(&record)?, record),
                None => return Ok(None),
            },
        };
        self.recent.put(fingerprint, found.0);
        Ok(Some(found))
    }
}

/// The links and media in the record of a page. `None` if it has neither.
pub(super) fn links_of(record: &[u8], page: PageId, session: &Session) -> Result<Option<LinkSet>> {
    match Entry::split(record)?.1 {
        // A state of an old format.
        [] => LinkSet::read(page, session),
        links => codec::decode(links, "the links of a page").map(Some),
    }
}

/// The key and the record of a page that is stored here.
fn find(fingerprint: u64, order: u64, page: PageId, session: &Session) -> Result<Option<(Vec<u8>, Vec<u8>)>> {
    for key in [fingerprint.to_be_bytes().to_vec(), key_of_another(fingerprint, order)] {
        if let Some(record) = session.get(spaces::ACCEPTED, &key)?
            && Entry::read(&record)?.id == page
        {
            return Ok(Some((key, record)));
        }
    }
    Ok(None)
}

/// To be called after entries were copied or deleted key by key. Puts the earliest page with each fingerprint under the
/// short key again, and under no other key.
pub(super) fn put_earliest_first(session: &mut Session) -> Result<()> {
    let (mut first, mut doubles, mut moves) = (None, Vec::new(), Vec::new());
    each_part(session, &KeyRange::whole(spaces::ACCEPTED), &mut |entries| {
        for (key, value) in entries {
            let Some((fingerprint, place)) = key.split_first_chunk::<8>() else { continue };
            match first {
                // This page had the short key already, and was copied once more.
                Some((known, order)) if known == *fingerprint => {
                    if place == u64::to_be_bytes(order) {
                        doubles.push(key.clone());
                    }
                }
                // The earliest page of each fingerprint comes first.
                _ => {
                    first = Some((*fingerprint, Entry::read(value)?.order));
                    if !place.is_empty() {
                        moves.push((*fingerprint, key.clone(), value.clone()));
                    }
                }
            }
        }
        Ok(())
    })?;
    doubles.into_iter().for_each(|key| session.delete(spaces::ACCEPTED, key));
    for (fingerprint, key, value) in moves {
        session.delete(spaces::ACCEPTED, key);
        session.put(spaces::ACCEPTED, fingerprint, value);
    }
    session.commit()
}

fn key_of_another(fingerprint: u64, order: u64) -> Vec<u8> {
    [fingerprint.to_be_bytes(), order.to_be_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use fastrand::Rng;

    use super::*;
    use crate::judge::MinWiseSample;
    use crate::signature::Sketch;
    use crate::store::Memory;
    use crate::url::UrlId;

    fn page(order: u64) -> Entry {
        let url = UrlId { url: order * 7, ..UrlId::default() };
        Entry { order, id: PageId { url, visit: 1 }, sketch: Sketch::from_bytes([order as u8; Sketch::BYTES]) }
    }

    /// The links of the page with this order.
    fn links(order: u64) -> LinkSet {
        LinkSet { links: MinWiseSample::new([order as u32].into_iter()), ..LinkSet::default() }
    }

    /// The orders of up to `most` pages with a fingerprint.
    fn orders(accepted: &mut Accepted, fingerprint: u64, most: usize, session: &Session) -> Vec<u64> {
        let mut orders = Vec::new();
        let mut visit = |entry: &Entry, record: &[u8]| {
            assert_eq!(*entry, page(entry.order));
            assert!(record.is_empty() || record == entry.with(&links(entry.order)));
            orders.push(entry.order);
            if orders.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        accepted.visit(fingerprint, session, &mut visit).unwrap();
        orders
    }

    #[test]
    fn pages_come_and_go_as_in_plain_maps() {
        let mut session = Session::new(Box::new(Memory::default()));
        let mut accepted = Accepted::open_with(&session, 4, &mut |_| unreachable!()).unwrap();
        let mut oracle: BTreeMap<u64, BTreeMap<u64, Entry>> = BTreeMap::new();
        let mut met = HashSet::new();
        let mut random = Rng::with_seed(1);
        for step in 0..6_000 {
            // Every fifth fingerprint belongs to many pages. Pages come in any order, as from other judges.
            let fingerprint = if random.u8(..5) == 0 { 20 } else { random.u64(..30) };
            let order = random.u64(..500) * 30 + fingerprint;
            let pages = oracle.entry(fingerprint).or_default();
            if random.u8(..3) > 0 {
                if pages.insert(order, page(order)).is_none() {
                    accepted
                        .insert(fingerprint, met.insert(fingerprint), page(order), &links(order), &mut session)
                        .unwrap();
                }
            } else if let Some(victim) = random.choice(pages.keys().copied().collect::<Vec<_>>()) {
                pages.remove(&victim);
                accepted.remove(fingerprint, victim, &mut session).unwrap();
            }
            if step % 500 == 499 {
                let mut fingerprints = Vec::new();
                accepted = Accepted::open_with(&session, 4, &mut |known| fingerprints.push(known)).unwrap();
                let present = oracle.iter().filter(|(_, pages)| !pages.is_empty()).map(|(known, _)| *known);
                assert_eq!(fingerprints, present.collect::<Vec<_>>());
            }
            for asked in [fingerprint, random.u64(..31)] {
                let all: Vec<u64> = oracle.get(&asked).into_iter().flat_map(|pages| pages.keys().copied()).collect();
                assert_eq!(orders(&mut accepted, asked, usize::MAX, &session), all[..all.len().min(64)]);
                assert_eq!(orders(&mut accepted, asked, 1, &session), all[..all.len().min(1)]);
                let one = random.choice(&all).copied().unwrap_or(7);
                let got = accepted.get(asked, one, &session).unwrap();
                assert_eq!(got.map(|entry| entry.order), all.contains(&one).then_some(one));
                let stored = Accepted::links(asked, one, page(one).id, &session).unwrap();
                assert_eq!(stored, all.contains(&one).then(|| links(one)));
                assert!(accepted.recent.slots() <= 4);
            }
        }
        assert!(oracle[&20].len() > 64, "some fingerprint is that of more pages than are visited");
    }
}
