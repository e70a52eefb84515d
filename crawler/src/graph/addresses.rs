//! The URLs of the identities in the link graph, and their states.

use std::collections::HashMap;
use std::ops::ControlFlow;

use dedup_stage::store::{self, Session};
use dedup_stage::url::{PageId, UrlId};
use frontier::{End, Failure, Frontier, State, Via, Walk};

use crate::record::PageRecord;
use crate::spaces;

/// A URL, and its state.
#[derive(Clone, Debug, PartialEq)]
pub struct Address {
    /// The URL, as it was fetched or would be fetched.
    pub url: String,
    /// The state in one word: `fetched`, `failed`, `queued`, `held`, or the reason for which it is skipped.
    pub state: &'static str,
    /// The HTTP status of its last answer.
    pub status: Option<u16>,
    /// The word for the reason why there was no answer, or why its host does not answer.
    pub failure: Option<&'static str>,
    /// The target, if it redirects.
    pub redirect: Option<UrlId>,
}

/// The URLs of a crawl by the hash of their identity. All of them are in memory.
#[derive(Debug, Default)]
pub struct Addresses {
    by_hash: HashMap<u64, Address>,
    /// The URLs that were fetched, in the order of their keys.
    fetched: Vec<UrlId>,
}

impl Addresses {
    /// The most redirects in a row that are followed.
    const MOST_HOPS: usize = 10;

    /// Reads all URLs from the state.
    pub fn read(frontier: &Frontier, session: &Session) -> store::Result<Self> {
        let mut all = HashMap::new();
        let mut visits: Vec<(PageId, PageRecord)> = Vec::new();
        session.scan(spaces::PAGES, &[], &[], &mut |key, value| {
            if let (Some(page), Ok(record)) = (PageRecord::page_of(key), PageRecord::decode(value)) {
                // The visits of one URL follow each other. The last one counts.
                visits.pop_if(|(last, _)| last.url == page.url);
                visits.push((page, record));
            }
            ControlFlow::Continue(())
        })?;
        let is_page = |record: &PageRecord| !matches!(record.via, Via::Requisite { .. });
        let fetched = visits.iter().filter(|(_, record)| is_page(record)).map(|(page, _)| page.url).collect();
        for (page, record) in visits {
            let end = match frontier.state(page.url, session)? {
                Some(State::Done(visit) | State::Gone(visit) | State::Queued { before: Some(visit) }) => {
                    Some(visit.end)
                }
                _ => None,
            };
            let address = Address {
                url: record.url,
                state: if record.status > 0 { "fetched" } else { "failed" },
                status: (record.status > 0).then_some(record.status),
                failure: match end {
                    Some(End::Failed { failure }) => Some(failure.name()),
                    _ => None,
                },
                redirect: match end {
                    Some(End::Redirected { target, .. }) => Some(target),
                    _ => None,
                },
            };
            all.insert(page.url.url, address);
        }
        let mut plain = |id: UrlId, url: &str, state| {
            let url = url.to_owned();
            all.entry(id.url).or_insert(Address { url, state, status: None, failure: None, redirect: None });
        };
        let mut walk = Walk::new(false);
        loop {
            let part = frontier.skipped(&mut walk, 1_024, session)?;
            if part.is_empty() {
                break;
            }
            for skipped in part {
                let state = match skipped.reason {
                    frontier::SkipReason::DuplicateSource => "held",
                    reason => reason.name(),
                };
                plain(skipped.id, &skipped.url, state);
            }
        }
        frontier.each_queued(session, &mut |id, url| plain(id, url, "queued"))?;
        Ok(Self { by_hash: all, fetched })
    }

    /// Hosts that did not answer when the last run ended: the URLs that stay queued for this reason, with the failures.
    pub fn withheld(&mut self, failures: &HashMap<String, Failure>) {
        for address in self.by_hash.values_mut().filter(|address| address.state == "queued") {
            address.failure = failures.get(&address.url).map(|failure| failure.name());
        }
    }

    /// The URL with this identity.
    pub fn get(&self, id: UrlId) -> Option<&Address> {
        self.by_hash.get(&id.url)
    }

    /// The URLs that were fetched or given up.
    pub fn fetched(&self) -> Vec<UrlId> {
        self.fetched.clone()
    }

    /// The URL of a page that was fetched.
    pub fn url_of(&self, page: PageId) -> Option<&str> {
        Some(self.get(page.url)?.url.as_str())
    }

    /// The URL whose answer is an error, after redirects, if a link to this URL is broken.
    pub fn broken(&self, id: UrlId) -> Option<&Address> {
        let mut at = self.get(id)?;
        for _ in 0..Self::MOST_HOPS {
            match at.redirect.and_then(|target| self.get(target)) {
                Some(next) => at = next,
                None => break,
            }
        }
        let endless = at.redirect.is_some_and(|target| self.get(target).is_some());
        let is_silent = at.status.is_none() && at.failure.is_some();
        (endless || is_silent || at.state == "failed" || at.status.is_some_and(|status| status >= 400)).then_some(at)
    }
}
