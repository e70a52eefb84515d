//! What the state keeps of each visit to a URL: enough to name a twin, to answer `why`, to compare the next visit with, and to
//! ask again conditionally.

use dedup_stage::corpus::CorpusMatch;
use dedup_stage::judge::Proposal;
use dedup_stage::judge::{Shown, Verdict};
use dedup_stage::store::{Result, Session, codec};
use dedup_stage::url::{PageId, UrlId};
use frontier::rules::Content;
use frontier::{Job, Millis, Via};
use serde::{Deserialize, Serialize};

use crate::fetch::Validators;
use crate::spaces;

/// One visit in the state, under the identity of its page: the URL, and the number of the visit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageRecord {
    /// The verdict, without the twin.
    pub verdict: VerdictKind,
    /// HTTP status; 0 where the fetch failed.
    pub status: u16,
    /// Links from a seed.
    pub depth: u32,
    /// Where its line begins in `pages.jsonl`; [`PageRecord::ELSEWHERE`] where another directory has the line.
    pub offset: u64,
    /// Where the record of its links begins in `links.graph`: that of the last answer that had any. `None` where there is none
    /// in this directory.
    pub graph: Option<u64>,
    /// The page that carried the link; `None` for seeds.
    pub source: Option<PageId>,
    /// How the URL came to be queued.
    pub via: Via,
    /// When the answer was complete.
    pub fetched_at: Millis,
    /// As fetched.
    pub url: String,
    /// For a conditional request.
    pub validators: Validators,
    /// SHA-256 of the payload as received, where an archive is kept.
    pub payload: Option<[u8; 32]>,
    /// What the page shows, as far as learned rules are concerned; `None` for pages that were not judged.
    pub content: Option<Content>,
    /// What the URL showed last, which the next visit is compared with.
    pub shown: Option<Shown>,
}

/// A verdict without its twin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum VerdictKind {
    /// Says something new.
    Unique,
    /// Same bytes as an earlier page.
    Exact,
    /// Near-duplicate of an earlier page.
    Near,
    /// Not compared.
    Unjudged,
    /// Says what the same URL said at its last visit.
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
    /// The line of this page is in the outputs of another directory: its host came from there.
    pub const ELSEWHERE: u64 = u64::MAX;

    /// The record of a visit for `job`, of which nothing is known yet but that it was answered with `status` at this time.
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

    /// Whether this visit to a page, answered with 2xx or 304, showed another content than the visit before it. `None` if nothing
    /// could be compared (a body that was cut, say). `visit`: its number.
    pub fn has_changed(&self, visit: u32) -> Option<bool> {
        match self.verdict {
            VerdictKind::Unique | VerdictKind::Exact | VerdictKind::Near => Some(true),
            VerdictKind::Unchanged => Some(false),
            // A file in place of a page, say.
            VerdictKind::Unjudged => self.shown.as_ref().is_some_and(|shown| shown.visit == visit).then_some(true),
        }
    }

    /// The key of a page: host first, as all keys of the state are.
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

    /// What has to be known of a page that another process fetched.
    pub fn elsewhere(page: &Proposal, fetched_at: Millis) -> Self {
        let shows = page.candidate.id.url.url;
        Self {
            verdict: VerdictKind::Unique,
            status: 200,
            depth: 0,
            offset: Self::ELSEWHERE,
            graph: None,
            source: None,
            via: Via::Link,
            fetched_at,
            url: page.url.clone(),
            validators: Validators::default(),
            payload: None,
            content: (page.text != 0).then_some(Content { text: page.text, shows }),
            shown: None,
        }
    }

    /// What another directory has to know of this page; `None` where it says nothing new: then nobody names it.
    pub fn seen_from_elsewhere(self) -> Option<Vec<u8>> {
        let seen = Self { offset: Self::ELSEWHERE, graph: None, shown: None, ..self };
        (seen.verdict == VerdictKind::Unique).then(|| codec::encode(&seen))
    }

    /// Writes the record of a page that another process fetched.
    pub fn put_elsewhere(&self, page: PageId, session: &mut Session) {
        session.put(spaces::ELSEWHERE, Self::key(page), codec::encode(self));
    }

    /// Reads the record of `page`, whoever fetched it.
    pub fn get(page: PageId, session: &Session) -> Result<Option<Self>> {
        let bytes = match session.get(spaces::PAGES, &Self::key(page))? {
            None => session.get(spaces::ELSEWHERE, &Self::key(page))?,
            here => here,
        };
        bytes.map(|bytes| Self::decode(&bytes)).transpose()
    }

    /// From its stored form.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        codec::decode(bytes, "a page")
    }

    /// The page that a key names; `None` where it is none.
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
