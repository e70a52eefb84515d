//! Attempts at pages that failed while their URLs stay queued, because the URLs are tried again later.
//!
//! The record of an attempt is kept until its URL is answered or given up. So `why` can tell the result of the last
//! attempt, and a host that answers at first and fails later is reported everywhere.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use dedup_stage::store::{self, Session, codec};
use dedup_stage::url::{SiteId, UrlId};
use frontier::{Job, JobKind, Millis, State};
use serde::{Deserialize, Serialize};
use url::Url;

use crate::engine::error::Result;
use crate::engine::state::EngineState;
use crate::spaces;

/// The last attempt at a page. It failed, and its URL is queued again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// The result: a status, the word for a failure, `empty`, or `cut_` with the reason why the body was cut.
    pub kind: String,
    /// The time at which it ended.
    pub at: Millis,
    /// Its number, from 1.
    pub number: u32,
    /// The URL of the request.
    pub url: String,
}

impl Attempt {
    /// The word for a page without bytes.
    pub const EMPTY: &str = "empty";

    /// The last attempt at a URL, if the URL is to be tried again.
    pub fn get(id: UrlId, session: &Session) -> store::Result<Option<Self>> {
        let bytes = session.get(spaces::ATTEMPTS, &id.to_bytes())?;
        bytes.map(|bytes| Self::decode(&bytes)).transpose()
    }

    /// The last attempt at a URL of a host, if such a URL is to be tried again.
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

impl EngineState<'_> {
    /// Records that an attempt at a page failed, and that its URL is queued again.
    pub(in crate::engine) fn failed_for_now(&mut self, job: &Job, kind: String, at: Millis) -> Result<()> {
        if job.kind != JobKind::Page || job.is_requisite() {
            return Ok(());
        }
        self.no_more_attempts(job)?;
        *self.ledger.stats.retrying.entry(kind.clone()).or_default() += 1;
        let attempt = Attempt { kind, at, number: job.attempts + 1, url: job.url.to_string() };
        self.ledger.session.put(spaces::ATTEMPTS, job.page.url.to_bytes(), codec::encode(&attempt));
        Ok(())
    }

    /// Removes the record of the last attempt: the URL of the job was answered or given up, or another attempt takes
    /// its place.
    pub(in crate::engine) fn no_more_attempts(&mut self, job: &Job) -> Result<()> {
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

    /// At the end of a run, counts again the URLs that are to be tried again, by the result of the last attempt, and
    /// adds them to the troubles of their hosts. Records of URLs that are not queued any more (because a rule has
    /// stopped them, say) are removed.
    pub(in crate::engine) fn count_attempts(&mut self) -> Result<()> {
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
