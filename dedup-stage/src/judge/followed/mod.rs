//! Pages that other processes judged, as they came from there.
//!
//! If several processes crawl one web, most pages that a judge remembers are pages of the others. Hardly any of them is
//! ever looked at again. So the judge does not write them as it writes its own pages, with a record for each digest,
//! fingerprint and set of links. A record of [`spaces::FOLLOWED`] has many pages, as the bytes that came. Memory knows
//! which of them has a digest, a fingerprint or an identity ([`Followed`]). A page is decoded only if it may be a twin.
//!
//! A page is kept in this way only if its digests and its identity are new here. So what is known about a page is in
//! one place. If the judge must change what it knows about such a page, it *parts* the page from the others first: it
//! writes the records that it writes for its own pages. Of a parted page, the common record only tells the URL.
//!
//! Memory is made again from the records when a state is opened. It lies with the session
//! ([`Session::derived`](crate::store::Session)), because everybody who reads the state needs it.

mod evidence;
mod recent;
mod record;

use std::cell::RefCell;
use std::ops::ControlFlow;

use super::entry::Entry;
use super::links::LinkSet;
use super::owner::{Owner, prefix};
use crate::spaces;
use crate::store::{Error, Result, Session, codec};
use crate::url::{KeyMap, PageId};

pub use evidence::Evidence;
pub(super) use evidence::Head;
use recent::RecentRecords;
pub(super) use record::Knowledge;
use record::{Kept, Record};

/// A record is written when it has so many bytes: a page that is looked at is read with the others of its record.
const FULL: usize = 8 << 10;

/// Where the pages that were judged elsewhere are.
///
/// # Complexity
///
/// Three hash-table entries for each page, each of at most 22 bytes, and 16 bytes for each record.
#[derive(Debug, Default)]
pub(super) struct Followed {
    /// The beginning of the digest of a body, or of a statement → the number of its page.
    contents: KeyMap<u32>,
    /// A fingerprint, mixed → the number of its page.
    fingerprints: KeyMap<u32>,
    /// The identity of a page, mixed → its number.
    ids: KeyMap<u32>,
    /// The number of the first page of each record, and the key of the record.
    records: Vec<(u32, u64)>,
    /// The number of pages.
    count: u32,
    /// The last pages. They are in no record yet.
    open: Vec<Open>,
    /// The bytes of these pages.
    bytes: usize,
    /// Records that were written or read lately. Often, copies of a page come soon after it.
    recent: RefCell<RecentRecords>,
}

/// A page that is in no record yet.
#[derive(Debug)]
struct Open {
    order: u64,
    known: Knowledge,
    evidence: Vec<u8>,
}

/// A page as it is found.
struct FoundPage<'a> {
    order: u64,
    known: Knowledge,
    evidence: &'a [u8],
}

impl Followed {
    /// The pages of a state.
    pub(super) fn of(session: &Session) -> Result<&Self> {
        session.derived(Self::open)
    }

    fn of_mut(session: &mut Session) -> Result<&mut Self> {
        session.derived_mut(Self::open)
    }

    fn open(session: &Session) -> Result<Self> {
        let mut this = Self::default();
        each_record(session, &mut |key, record| {
            this.records.push((this.count, key));
            for page in &record.pages {
                let head = Head::read(page.evidence)?;
                this.index(&head, page.known);
            }
            Ok(())
        })?;
        Ok(this)
    }

    /// Adds the next page to the maps.
    fn index(&mut self, head: &Head, known: Knowledge) {
        let number = self.count;
        self.count += 1;
        self.ids.set(mixed(head.id), number);
        if known == Knowledge::Parted {
            return;
        }
        self.contents.set(prefix(&head.sha256), number);
        if known == Knowledge::All {
            if let Some(statement) = &head.statement {
                self.contents.set(prefix(statement), number);
            }
            if let Some(signature) = &head.signature {
                self.fingerprints.set(spread(signature.simhash), number);
            }
        }
    }

    /// Whether a page with this digest, or with a similar one, was ever here.
    pub(super) fn may_have(&self, digest: &[u8; 32]) -> bool {
        self.contents.contains(prefix(digest))
    }

    /// Says that these pages will be asked for, and added, next.
    pub(super) fn expect<'a>(&self, heads: impl Iterator<Item = &'a Head> + Clone) {
        self.contents.expect(heads.clone().map(|head| prefix(&head.sha256)));
        self.ids.expect(heads.clone().map(|head| mixed(head.id)));
        self.fingerprints.expect(heads.filter_map(|head| Some(spread(head.signature.as_ref()?.simhash))));
    }

    /// Whether a page can be added. `known` says what later verdicts need of it.
    pub(super) fn takes(&self, head: &Head, known: Knowledge) -> bool {
        let statement = head.statement.as_ref().filter(|_| known == Knowledge::All);
        self.count < u32::MAX
            && !self.ids.contains(mixed(head.id))
            && !self.may_have(&head.sha256)
            && statement.is_none_or(|statement| !self.may_have(statement))
    }

    /// Adds a page that [`Followed::takes`]. If `known` is [`Knowledge::All`], the caller must know that no page ever
    /// had its fingerprint.
    pub(super) fn add(
        order: u64,
        head: &Head,
        known: Knowledge,
        evidence: Vec<u8>,
        session: &mut Session,
    ) -> Result<()> {
        let this = Self::of_mut(session)?;
        this.index(head, known);
        this.bytes += evidence.len();
        this.open.push(Open { order, known, evidence });
        if this.bytes >= FULL { Self::close(session) } else { Ok(()) }
    }

    /// Writes the last pages. To be called before the session is committed.
    pub(super) fn close(session: &mut Session) -> Result<()> {
        let this = Self::of_mut(session)?;
        let Some(first) = this.open.first() else { return Ok(()) };
        let key = first.order;
        let pages = this.open.iter().map(|Open { order, known, evidence }| Kept {
            after: order - key,
            known: *known,
            evidence,
        });
        let record = codec::encode(&Record { order: key, pages: pages.collect() });
        this.records.push((this.count - this.open.len() as u32, key));
        this.open.clear();
        this.bytes = 0;
        this.recent.get_mut().put(key, record.clone());
        session.put(spaces::FOLLOWED, key.to_be_bytes(), record);
        Ok(())
    }

    /// The key of the record that has a page, and the place of the page there. The key is `None` if the page is in no
    /// record yet.
    fn place(&self, number: u32) -> (Option<u64>, usize) {
        let open = self.count - self.open.len() as u32;
        if number >= open {
            return (None, (number - open) as usize);
        }
        let after = self.records.partition_point(|(first, _)| *first <= number);
        let (first, key) = self.records[after - 1];
        (Some(key), (number - first) as usize)
    }

    /// Calls `see` with the page of this number.
    fn with<T>(&self, number: u32, session: &Session, see: impl FnOnce(&FoundPage<'_>) -> Result<T>) -> Result<T> {
        let (key, at) = self.place(number);
        let Some(key) = key else {
            let Open { order, known, evidence } = &self.open[at];
            return see(&FoundPage { order: *order, known: *known, evidence });
        };
        let mut recent = self.recent.borrow_mut();
        if recent.get(key).is_none() {
            let record = session.get(spaces::FOLLOWED, &key.to_be_bytes())?.ok_or_else(missing)?;
            recent.put(key, record);
        }
        let record = Record::read(recent.get(key).ok_or_else(missing)?)?;
        let Kept { after, known, evidence } = record.pages.get(at).ok_or_else(missing)?;
        see(&FoundPage { order: record.order + after, known: *known, evidence })
    }

    /// The page that owns a digest.
    pub(super) fn owner(&self, digest: &[u8; 32], session: &Session) -> Result<Option<Owner>> {
        let Some(number) = self.contents.get(prefix(digest)) else { return Ok(None) };
        self.with(number, session, |found| {
            let head = Head::read(found.evidence)?;
            let owns = match found.known {
                Knowledge::All => head.sha256 == *digest || head.statement == Some(*digest),
                Knowledge::Body => head.sha256 == *digest,
                Knowledge::Parted => false,
            };
            Ok(owns.then_some(Owner { order: found.order, id: head.id, accepted_as: None }))
        })
    }

    /// The accepted page with a fingerprint. It is the earliest with this fingerprint.
    pub(super) fn entry(&self, fingerprint: u64, session: &Session) -> Result<Option<Entry>> {
        let Some(number) = self.fingerprints.get(spread(fingerprint)) else { return Ok(None) };
        self.with(number, session, |found| {
            let head = Head::read(found.evidence)?;
            let signature = head.signature.filter(|own| own.simhash == fingerprint && found.known == Knowledge::All);
            Ok(signature.map(|signature| Entry { order: found.order, id: head.id, sketch: signature.sketch }))
        })
    }

    /// The links of an accepted page, with its URL.
    pub(super) fn links(&self, page: PageId, session: &Session) -> Result<Option<LinkSet>> {
        let found = self.find(page, session)?.filter(|(_, known, _)| *known == Knowledge::All);
        Ok(found.map(|(.., Evidence { url, links, .. })| LinkSet { url: Some(url), ..links }))
    }

    /// The order of a page, what is known of it here, and the page.
    fn find(&self, page: PageId, session: &Session) -> Result<Option<(u64, Knowledge, Evidence)>> {
        let Some(number) = self.ids.get(mixed(page)) else { return Ok(None) };
        self.with(number, session, |found| {
            let evidence = Evidence::read(found.evidence)?;
            Ok((evidence.head.id == page).then_some((found.order, found.known, evidence)))
        })
    }

    /// Records that a page is parted.
    pub(super) fn note_parted(page: PageId, session: &mut Session) -> Result<()> {
        let this = Self::of_mut(session)?;
        let Some(number) = this.ids.get(mixed(page)) else { return Ok(()) };
        let (key, at) = this.place(number);
        let Some(key) = key else {
            this.open[at].known = Knowledge::Parted;
            return Ok(());
        };
        this.recent.get_mut().forget(key);
        let bytes = session.get(spaces::FOLLOWED, &key.to_be_bytes())?.ok_or_else(missing)?;
        let mut record = Record::read(&bytes)?;
        record.pages.get_mut(at).ok_or_else(missing)?.known = Knowledge::Parted;
        session.put(spaces::FOLLOWED, key.to_be_bytes(), codec::encode(&record));
        Ok(())
    }
}

/// Parts a page: writes what the judge knows of it as the records of a page that was judged here.
pub(super) fn part(page: PageId, session: &mut Session) -> Result<()> {
    let Some((order, known, evidence)) = Followed::of(session)?.find(page, session)? else { return Ok(()) };
    if known == Knowledge::Parted {
        return Ok(());
    }
    Followed::note_parted(page, session)?;
    write_alone(order, known, evidence, session);
    Ok(())
}

/// Parts a page if its links are known here.
pub(super) fn part_links(page: PageId, session: &mut Session) -> Result<()> {
    let is_known = Followed::of(session)?.links(page, session)?.is_some();
    if is_known { part(page, session) } else { Ok(()) }
}

/// Writes the records of a page that was judged here.
pub(super) fn write_alone(order: u64, known: Knowledge, evidence: Evidence, session: &mut Session) {
    let Evidence { head: Head { id, sha256, signature, statement, .. }, url, links, .. } = evidence;
    let owner = codec::encode(&Owner { order, id, accepted_as: None });
    session.put(spaces::DIGESTS, sha256, owner.as_slice());
    if known == Knowledge::All {
        if let Some(statement) = statement {
            session.put(spaces::DIGESTS, statement, owner);
        }
        match signature {
            Some(signature) => {
                let entry = Entry { order, id, sketch: signature.sketch };
                let record = entry.with(&LinkSet { url: Some(url), ..links });
                session.put(spaces::ACCEPTED, signature.simhash.to_be_bytes(), record);
            }
            None => links.put(id, order, session),
        }
    }
}

/// A page that another process judged, with all that its verdict said. `None` if it is not known in this form.
pub fn followed(page: PageId, session: &Session) -> Result<Option<Evidence>> {
    Ok(Followed::of(session)?.find(page, session)?.map(|(.., evidence)| evidence))
}

/// Calls `see` with each page that is not parted: its order, what is known of it, and the page.
pub(super) fn each(session: &Session, see: &mut dyn FnMut(u64, Knowledge, Evidence) -> Result<()>) -> Result<()> {
    each_record(session, &mut |_, record| {
        for Kept { after, known, evidence } in record.pages.iter().filter(|page| page.known != Knowledge::Parted) {
            see(record.order + after, *known, Evidence::read(evidence)?)?;
        }
        Ok(())
    })
}

/// Calls `see` with the first facts of each accepted page.
pub(super) fn each_accepted(session: &Session, see: &mut dyn FnMut(&Head)) -> Result<()> {
    each_record(session, &mut |_, record| {
        for Kept { evidence, .. } in record.pages.iter().filter(|page| page.known == Knowledge::All) {
            see(&Head::read(evidence)?);
        }
        Ok(())
    })
}

fn each_record(session: &Session, see: &mut dyn FnMut(u64, &Record<'_>) -> Result<()>) -> Result<()> {
    let mut result = Ok(());
    session.scan(spaces::FOLLOWED, &[], &[], &mut |key, value| {
        let key = key.try_into().map(u64::from_be_bytes).map_err(|_| missing());
        result = key.and_then(|key| see(key, &Record::read(value)?));
        if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    result
}

fn missing() -> Error {
    Error::Damaged("the pages of other processes are not as they were written".into())
}

/// Fingerprints crowd, so all their bits are mixed, and those of numbers of visits, too.
fn spread(bits: u64) -> u64 {
    let mixed = (bits ^ (bits >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    (mixed ^ (mixed >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93)
}

fn mixed(page: PageId) -> u64 {
    page.url.url ^ spread(u64::from(page.visit))
}
