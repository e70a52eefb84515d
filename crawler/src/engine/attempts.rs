//! Attempts at pages that failed while their URLs stay queued, because the URLs are tried again later.
//!
//! The record of an attempt is kept until its URL is answered or given up. So `why` can tell what came of the last attempt,
//! and a host that starts well and then fails is told of in all places.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use dedup_stage::store::{self, Session, codec};
use dedup_stage::url::{SiteId, UrlId};
use frontier::{Job, JobKind, Millis, State};
use serde::{Deserialize, Serialize};
use url::Url;

use super::desk::Desk;
use super::error::Result;
use crate::spaces;

/// The last attempt at a page. It failed, and its URL is queued again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// What came of it: a status, the word for a failure, `empty`, or `cut_` and why the body was cut.
    pub kind: String,
    /// When it ended.
    pub at: Millis,
    /// Its number, from 1.
    pub number: u32,
    /// The URL, as it was asked for.
    pub url: String,
}

impl Attempt {
    /// The word for a page of no bytes.
    pub const EMPTY: &str = "empty";

    /// The last attempt at a URL, if the URL is to be tried again.
    pub fn get(id: UrlId, session: &Session) -> store::Result<Option<Self>> {
        let bytes = session.get(spaces::ATTEMPTS, &id.to_bytes())?;
        bytes.map(|bytes| Self::decode(&bytes)).transpose()
    }

    /// The last of these attempts at a host.
    pub fn last_of(site: SiteId, session: &Session) -> store::Result<Option<Self>> {
        let mut last: Option<Self> = None;
        each(&site.to_bytes(), session, &mut |_, attempt| {
            if last.as_ref().is_none_or(|last| last.at <= attempt.at) {
                last = Some(attempt);
            }
            Ok(())
        })?;
        Ok(last)
    }

    fn decode(bytes: &[u8]) -> store::Result<Self> {
        codec::decode(bytes, "an attempt at a page")
    }
}

/// Calls `visit` with each record whose key begins with `prefix`.
fn each(
    prefix: &[u8],
    session: &Session,
    visit: &mut dyn FnMut(UrlId, Attempt) -> store::Result<()>,
) -> store::Result<()> {
    let mut failure = None;
    session.scan(spaces::ATTEMPTS, prefix, &[], &mut |key, value| {
        if !key.starts_with(prefix) {
            return ControlFlow::Break(());
        }
        let Some(id) = UrlId::read(key) else { return ControlFlow::Continue(()) };
        match Attempt::decode(value).and_then(|attempt| visit(id, attempt)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failure = Some(error);
                ControlFlow::Break(())
            }
        }
    })?;
    failure.map_or(Ok(()), Err)
}

impl Desk<'_> {
    /// An attempt at a page failed, and its URL is queued again.
    pub(super) fn failed_for_now(&mut self, job: &Job, kind: String, at: Millis) -> Result<()> {
        if job.kind != JobKind::Page || job.is_requisite() {
            return Ok(());
        }
        self.no_more_attempts(job)?;
        *self.ledger.stats.retrying.entry(kind.clone()).or_default() += 1;
        let attempt = Attempt { kind, at, number: job.attempts + 1, url: job.url.to_string() };
        self.ledger.session.put(spaces::ATTEMPTS, job.page.url.to_bytes(), codec::encode(&attempt));
        Ok(())
    }

    /// The URL of a job was answered or given up, or another attempt takes the place of the last one.
    pub(super) fn no_more_attempts(&mut self, job: &Job) -> Result<()> {
        let id = job.page.url;
        if job.attempts > 0
            && let Some(last) = Attempt::get(id, &self.ledger.session)?
        {
            self.ledger.session.delete(spaces::ATTEMPTS, id.to_bytes());
            let retrying = &mut self.ledger.stats.retrying;
            let count = retrying.remove(&last.kind).unwrap_or_default();
            if count > 1 {
                retrying.insert(last.kind, count - 1);
            }
        }
        Ok(())
    }

    /// At the end of a run: counts anew the URLs that are to be tried again, by what came of the last attempt, and charges them to
    /// their hosts. URLs that are not queued any more (a rule has stopped them, say) are forgotten.
    pub(super) fn count_attempts(&mut self) -> Result<()> {
        let (mut counts, mut stale) = (BTreeMap::<String, u64>::new(), Vec::new());
        let (session, hosts, frontier) = (&self.ledger.session, &mut self.hosts, &self.frontier);
        each(&[], session, &mut |id, attempt| {
            if !matches!(frontier.state(id, session)?, Some(State::Queued { .. })) {
                stale.push(id);
                return Ok(());
            }
            if let Ok(url) = Url::parse(&attempt.url) {
                hosts.note_queued(&url, &attempt.kind);
            }
            *counts.entry(attempt.kind).or_default() += 1;
            Ok(())
        })?;
        stale.iter().for_each(|id| self.ledger.session.delete(spaces::ATTEMPTS, id.to_bytes()));
        self.ledger.stats.retrying = counts;
        Ok(())
    }
}
