//! Pages that a host shows in place of what was asked for until the crawl has given its consent ("we use cookies"): the
//! *notice*. The link of the notice sets a cookie and leads back (`bounce`). One page of the host is requested once
//! more because of it. If that page shows something else then, the consent works. All pages of the host that showed the
//! same notice are requested once more, too: they were asked for before the cookie was there.
//!
//! A page that still shows the notice after that is counted ([`Stats::notices`](crate::engine::Stats)): the cookie may
//! be valid for some requests only. What the page has to say is not known then, so the crawl is not complete.

use std::ops::ControlFlow;

use dedup_stage::judge::Shown;
use dedup_stage::signature::OddSketch;
use dedup_stage::store::cut::KeyRange;
use dedup_stage::store::{Result as StoreResult, Session, codec};
use dedup_stage::url::{PageId, SiteId, UrlId};
use frontier::{FoundLink, Job, Merits, Via};
use serde::{Deserialize, Serialize};
use url::Url;

use crate::engine::error::Result;
use crate::engine::state::EngineState;
use crate::record::PageRecord;
use crate::spaces;

/// At most this many pages of a host are requested once more at one time, because they are queued in one step. The
/// others count as pages that show the notice.
const MOST: usize = 10_000;

/// The record of a host that has asked for consent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Consent {
    /// The page that is requested once more: the hash of its URL.
    page: u64,
    /// The notice: the hash of its words, and its odd sketch.
    text: u64,
    odd: Option<OddSketch>,
    /// Whether that page has shown something else then.
    works: bool,
}

impl Consent {
    /// The record of the host that asked for consent at this page.
    pub(super) fn of(page: UrlId, notice: Option<&Shown>) -> Self {
        let (text, odd) = notice.map_or((0, None), |shown| (shown.text, shown.odd));
        Self { page: page.url, text, odd, works: false }
    }

    /// Whether there is a record of this host.
    pub(super) fn is_known(host: SiteId, session: &Session) -> StoreResult<bool> {
        Ok(session.get(spaces::HOPS, &host.to_bytes())?.is_some())
    }

    pub(super) fn put(&self, host: SiteId, session: &mut Session) {
        session.put(spaces::HOPS, host.to_bytes(), codec::encode(self));
    }

    fn get(host: SiteId, session: &Session) -> StoreResult<Option<Self>> {
        let bytes = session.get(spaces::HOPS, &host.to_bytes())?;
        // Earlier versions wrote an empty record.
        bytes.filter(|bytes| !bytes.is_empty()).map(|bytes| codec::decode(&bytes, "a consent")).transpose()
    }

    /// Whether a page has shown the notice. The words that tell one notice from another (the URL to which it leads
    /// back, for example) do not count.
    fn is_notice(&self, shown: &Shown) -> bool {
        let is_alike = self.odd.zip(shown.odd).is_some_and(|(notice, odd)| notice.is_same(&odd));
        self.text != 0 && shown.text == self.text || is_alike
    }
}

impl EngineState<'_> {
    /// A page was answered, and shows this. If it is the page for which consent was given, all pages with the notice
    /// are requested once more. Returns true if this page must be, too, once its record is written.
    pub(super) fn note_consent(&mut self, job: &Job, shown: Option<&Shown>) -> Result<bool> {
        let host = job.page.url.site;
        let (Some(shown), Some(mut consent)) = (shown, Consent::get(host, &self.ledger.session)?) else {
            return Ok(false);
        };
        let (is_notice, is_first) = (consent.is_notice(shown), job.page.url.url == consent.page);
        if is_first && !consent.works && job.page.visit > 1 && !is_notice {
            consent.works = true;
            consent.put(host, &mut self.ledger.session);
            for (count, page) in self.pages_with(&consent, host)?.into_iter().enumerate() {
                if count < MOST {
                    self.request_again(page)?;
                } else {
                    self.count_notice(page.url, true)?;
                }
            }
        }
        let is_notice = consent.works && is_notice;
        self.count_notice(job.page.url, is_notice && job.page.visit > 1)?;
        Ok(is_notice && job.page.visit == 1)
    }

    /// The pages of a host that were visited once, and have shown the notice.
    fn pages_with(&self, consent: &Consent, host: SiteId) -> Result<Vec<PageId>> {
        let KeyRange { from, to, .. } = KeyRange::of_prefix(spaces::PAGES, &host.to_bytes());
        let (mut pages, mut failure) = (Vec::new(), None);
        self.ledger.session.scan(spaces::PAGES, &from, &to, &mut |key, value| {
            let Some(page) = PageRecord::page_of(key) else { return ControlFlow::Continue(()) };
            if page.visit > 1 {
                // This URL was visited again, so what its first visit has shown does not count.
                pages.pop_if(|last: &mut PageId| last.url == page.url);
                return ControlFlow::Continue(());
            }
            match PageRecord::decode(value) {
                Ok(record) if record.shown.as_ref().is_some_and(|shown| consent.is_notice(shown)) => pages.push(page),
                Ok(_) => {}
                Err(error) => failure = Some(error),
            }
            if failure.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        failure.map_or(Ok(pages), |error| Err(error.into()))
    }

    /// Requests a page once more whose record is written.
    pub(super) fn request_again(&mut self, page: PageId) -> Result<()> {
        let Some(record) = PageRecord::get(page, &self.ledger.session)? else { return Ok(()) };
        let Ok(url) = Url::parse(&record.url) else { return Ok(()) };
        let via = Via::Redirect { hops: 0, again: true };
        let (depth, source) = (record.depth, record.source);
        let found = FoundLink { url: &url, id: page.url, depth, priority: 1.0, merits: Merits::default(), source, via };
        self.frontier.add(&found, &mut self.ledger.session)?;
        Ok(())
    }

    /// Counts a page that shows the notice although consent was given, until it shows something else.
    fn count_notice(&mut self, url: UrlId, is_notice: bool) -> Result<()> {
        let key = [&url.to_bytes()[..], b"notice"].concat();
        let was_notice = self.ledger.session.get(spaces::HOPS, &key)?.is_some();
        if is_notice && !was_notice {
            self.ledger.session.put(spaces::HOPS, key, []);
            self.ledger.stats.notices += 1;
        } else if was_notice && !is_notice {
            self.ledger.session.delete(spaces::HOPS, key);
            self.ledger.stats.notices = self.ledger.stats.notices.saturating_sub(1);
        }
        Ok(())
    }
}
