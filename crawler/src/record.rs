//! The record of each visit to a URL in the state. It has what is needed to name a twin, to answer `why`, to compare
//! the next visit with, and to make a conditional request.

use dedup_stage::corpus::CorpusMatch;
use dedup_stage::judge::{self, Evidence, Shown, Verdict};
use dedup_stage::store::{Result, Session, codec};
use dedup_stage::url::{PageId, UrlId};
use frontier::rules::Content;
use frontier::{Job, Millis, Via};
use serde::{Deserialize, Serialize};

use crate::fetch::Validators;
use crate::spaces;

/// The record of one visit. Its key is the identity of the page: the URL, and the number of the visit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageRecord {
    /// The verdict, without the twin.
    pub verdict: VerdictKind,
    /// The HTTP status; 0 if the fetch failed.
    pub status: u16,
    /// The number of links from a seed.
    pub depth: u32,
    /// The place where its line begins in `pages.jsonl`; [`PageRecord::ELSEWHERE`] if another directory has the line.
    pub offset: u64,
    /// The place in `links.graph` where the record of its links begins. This is the record of the last answer that had
    /// links. `None` if there is none in this directory.
    pub graph: Option<u64>,
    /// The page that has the link; `None` for seeds.
    pub source: Option<PageId>,
    /// The way in which the URL came to be queued.
    pub via: Via,
    /// The time at which the answer was complete.
    pub fetched_at: Millis,
    /// The URL, as it was fetched.
    pub url: String,
    /// The validators, for a conditional request.
    pub validators: Validators,
    /// The SHA-256 of the payload as received, if there is an archive.
    pub payload: Option<[u8; 32]>,
    /// The content of the page, for learned rules; `None` for pages that were not judged.
    pub content: Option<Content>,
    /// The last content that the URL showed. The next visit is compared with it.
    pub shown: Option<Shown>,
}

/// A verdict without its twin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum VerdictKind {
    /// The page says something new.
    Unique,
    /// The page has the same bytes as an earlier page.
    Exact,
    /// The page is a near-duplicate of an earlier page.
    Near,
    /// The page was not compared.
    Unjudged,
    /// The page says what the same URL said at its last visit.
    Unchanged,
}

impl From<Verdict> for VerdictKind {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Unique => VerdictKind::Unique,
            Verdict::Exact { .. } | Verdict::Known { document: CorpusMatch { exact: true, .. }, .. } => {
                VerdictKind::Exact
            }
            Verdict::Near { .. } | Verdict::Known { .. } => VerdictKind::Near,
            Verdict::Unchanged { .. } => VerdictKind::Unchanged,
            Verdict::Unjudged => VerdictKind::Unjudged,
        }
    }
}

impl PageRecord {
    /// The value of `offset` if the line of this page is in the outputs of another directory, because its host came
    /// from there.
    pub const ELSEWHERE: u64 = u64::MAX;

    /// The record of a visit for `job`. Only the status of the answer and its time are known yet.
    pub fn of(job: &Job, at: Millis, status: u16) -> Self {
        Self {
            verdict: VerdictKind::Unjudged,
            status,
            depth: job.depth,
            offset: 0,
            graph: None,
            source: job.source,
            via: job.via,
            fetched_at: at,
            url: job.url.as_str().to_owned(),
            validators: Validators::default(),
            payload: None,
            content: None,
            shown: None,
        }
    }

    /// Whether this visit, answered with 2xx or 304, showed another content than the visit before it. `None` if nothing
    /// could be compared (because the body was cut, say). `visit` is the number of this visit.
    pub fn has_changed(&self, visit: u32) -> Option<bool> {
        match self.verdict {
            VerdictKind::Unique | VerdictKind::Exact | VerdictKind::Near => Some(true),
            VerdictKind::Unchanged => Some(false),
            // For example, a file in place of a page.
            VerdictKind::Unjudged => self.shown.as_ref().is_some_and(|shown| shown.visit == visit).then_some(true),
        }
    }

    /// The key of a page. It begins with the host, as all keys of the state do.
    pub fn key(page: PageId) -> [u8; UrlId::BYTES + 4] {
        let mut key = [0; UrlId::BYTES + 4];
        key[..UrlId::BYTES].copy_from_slice(&page.url.to_bytes());
        key[UrlId::BYTES..].copy_from_slice(&page.visit.to_be_bytes());
        key
    }

    /// Writes the record of `page`.
    pub fn put(&self, page: PageId, session: &mut Session) {
        session.put(spaces::PAGES, Self::key(page), codec::encode(self));
    }

    /// The record of a page that another process fetched. It has only what must be known of such a page.
    pub fn elsewhere(page: &Evidence) -> Self {
        let shows = page.id().url.url;
        Self {
            verdict: VerdictKind::Unique,
            status: 200,
            depth: 0,
            offset: Self::ELSEWHERE,
            graph: None,
            source: None,
            via: Via::Link,
            fetched_at: page.fetched_at,
            url: page.url.clone(),
            validators: Validators::default(),
            payload: None,
            content: (page.text != 0).then_some(Content { text: page.text, shows }),
            shown: None,
        }
    }

    /// The part of this record that another directory needs; `None` if the page says nothing new, because no page names
    /// such a page as its twin.
    pub fn seen_from_elsewhere(self) -> Option<Vec<u8>> {
        let seen = Self { offset: Self::ELSEWHERE, graph: None, shown: None, ..self };
        (seen.verdict == VerdictKind::Unique).then(|| codec::encode(&seen))
    }

    /// Writes the record of a page that another process fetched.
    pub fn put_elsewhere(&self, page: PageId, session: &mut Session) {
        session.put(spaces::ELSEWHERE, Self::key(page), codec::encode(self));
    }

    /// The record of `page`, whether it was fetched here or by another process.
    pub fn get(page: PageId, session: &Session) -> Result<Option<Self>> {
        if let Some(bytes) = session.get(spaces::PAGES, &Self::key(page))? {
            return Self::decode(&bytes).map(Some);
        }
        // The judge keeps most pages of other processes.
        if let Some(page) = judge::followed(page, session)? {
            return Ok(Some(Self::elsewhere(&page)));
        }
        let bytes = session.get(spaces::ELSEWHERE, &Self::key(page))?;
        bytes.map(|bytes| Self::decode(&bytes)).transpose()
    }

    /// Decodes the stored form of a record.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        codec::decode(bytes, "a page")
    }

    /// The page that a key names; `None` if this is no such key.
    pub fn page_of(key: &[u8]) -> Option<PageId> {
        let visit = key.get(UrlId::BYTES..)?.try_into().ok()?;
        Some(PageId { url: UrlId::read(key)?, visit: u32::from_be_bytes(visit) })
    }
}

#[cfg(test)]
mod tests {
    use dedup_stage::store::{Error, Memory};
    use dedup_stage::url::SiteId;

    use super::*;

    #[test]
    fn a_record_comes_back_as_it_went_in_and_a_cut_one_is_damage() {
        let url = UrlId { site: SiteId { domain: 1, host: 2 }, url: 3 };
        let page = PageId { url, visit: 2 };
        let record = PageRecord {
            verdict: VerdictKind::Near,
            status: 200,
            depth: 7,
            offset: 1 << 40,
            graph: Some(1 << 30),
            source: Some(PageId { url, visit: 1 }),
            via: Via::Redirect { hops: 2, again: false },
            fetched_at: 3,
            url: "http://a.test/ä".into(),
            validators: Validators { etag: Some("\"x\"".into()), last_modified: None },
            payload: Some([7; 32]),
            content: Some(Content { text: 8, shows: 9 }),
            shown: None,
        };
        let mut session = Session::new(Box::new(Memory::default()));
        record.put(page, &mut session);
        assert_eq!(PageRecord::get(page, &session).unwrap(), Some(record));
        assert_eq!(PageRecord::get(PageId { visit: 1, ..page }, &session).unwrap(), None);
        assert_eq!(PageRecord::page_of(&PageRecord::key(page)), Some(page));
        let bytes = session.get(spaces::PAGES, &PageRecord::key(page)).unwrap().unwrap();
        for cut in 0..bytes.len() {
            assert!(matches!(PageRecord::decode(&bytes[..cut]), Err(Error::Damaged(_))), "cut at {cut}");
        }
    }
}
