//! Which hosts are believed when they answer "not modified" (304).
//!
//! A host that gives this answer for ever, or whose `ETag` never changes, would hide all changes of its pages. So a
//! small share of the visits to pages that were "not modified" at the last visit ask without validators. If such a
//! visit shows another content behind the same validators, the host is not believed any more: all its visits ask
//! without validators from then on. If the validators differ, too, this proves nothing: the page may have changed only
//! now. But such visits are few, so an honest host tells of many more changes by itself. A host that does not is not
//! believed any more, either.

use dedup_stage::judge::Changed;
use dedup_stage::store::{self, Session, codec};
use dedup_stage::url::{PageId, SiteId};
use frontier::{Job, State, Via};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::engine::error::Result;
use crate::engine::message::PageFinding;
use crate::engine::state::EngineState;
use crate::fetch::Validators;
use crate::record::PageRecord;
use crate::spaces;

/// One in so many visits to pages that were "not modified" at the last visit asks without validators.
const SAMPLE: u64 = 16;
/// A host that has hidden fewer changes behind other validators is believed, because chance may have hidden them.
const FEW: u32 = 6;
/// A host is not believed if it has hidden more than this many times the changes that chance hides of an honest host.
/// (With this and [`FEW`], chance is held against two honest hosts in a thousand, however many pages they change.)
const MANY: u64 = 6;

/// What visits have shown of a host's validators.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Honesty {
    /// Changes of content that it told of: a visit with validators was answered with a page.
    told: u32,
    /// Changes of content that only a visit without validators has shown.
    hidden: u32,
    /// Whether a page had changed, and its validators had not.
    lied: bool,
}

impl Honesty {
    /// The record of a host.
    pub fn get(site: SiteId, session: &Session) -> store::Result<Self> {
        let bytes = session.get(spaces::VALIDATORS, &site.to_bytes())?;
        Ok(bytes.map(|bytes| codec::decode(&bytes, "how honest a host is")).transpose()?.unwrap_or_default())
    }

    fn put(self, site: SiteId, session: &mut Session) {
        session.put(spaces::VALIDATORS, site.to_bytes(), codec::encode(&self));
    }

    /// Whether visits to the host may ask with validators.
    pub fn is_believed(self) -> bool {
        // Of the changes of an honest host, one in SAMPLE falls on a visit without validators.
        let is_chance = u64::from(self.hidden) * (SAMPLE - 1) <= MANY * u64::from(self.told);
        !self.lied && (self.hidden < FEW || is_chance)
    }
}

/// Whether a visit asks without validators to see whether its host is honest. `before` is the visit before it. The keys
/// of URLs depend on a secret of the crawl, so no host can tell which visits these are.
fn is_sample(page: PageId, before: &PageRecord) -> bool {
    before.status == 304 && xxh3_64(&PageRecord::key(page)).is_multiple_of(SAMPLE)
}

/// Whether two answers have the same validators: the same `ETag`, weak or not; without one, the same `Last-Modified`.
fn are_same(one: &Validators, other: &Validators) -> bool {
    let tag = |validators: &Validators| {
        validators.etag.as_deref().map(|tag| tag.strip_prefix("W/").unwrap_or(tag).to_owned())
    };
    match (tag(one), tag(other)) {
        (None, None) => one.last_modified.is_some() && one.last_modified == other.last_modified,
        (one, other) => one == other,
    }
}

impl EngineState<'_> {
    /// The validators for a conditional request. `None` if the visit is to see whether the host is honest, or if the
    /// host is not believed.
    pub(in crate::engine) fn validators(&self, job: &Job) -> Result<Option<Validators>> {
        let Some(known) = self.known_validators(job)? else { return Ok(None) };
        let is_sample = self.before(job)?.is_some_and(|before| is_sample(job.page, &before));
        let is_believed = !is_sample && Honesty::get(job.page.url.site, &self.ledger.session)?.is_believed();
        Ok(Some(known).filter(|_| is_believed))
    }

    /// The validators of the last answer, if a conditional request makes sense. A copy gets a conditional request only
    /// if its original still shows what the copy was a copy of. Otherwise it gets a full request, because "not
    /// modified" compares the copy with its own past, and not with the original.
    fn known_validators(&self, job: &Job) -> Result<Option<Validators>> {
        if matches!(job.via, Via::Redirect { .. }) {
            // It is requested again because another answer is expected.
            return Ok(None);
        }
        let Some(before) = self.before(job)? else { return Ok(None) };
        if let Some(of) = before.shown.as_ref().and_then(|shown| shown.of) {
            let Some(State::Done(visit)) = self.frontier.state(of.url, &self.ledger.session)? else { return Ok(None) };
            let latest = self.ledger.page(PageId { visit: visit.number, ..of })?;
            let shows = latest.and_then(|latest| latest.shown).map(|shown| shown.visit);
            if shows != Some(of.visit) {
                return Ok(None);
            }
        }
        Ok(Some(before.validators).filter(|known| !known.is_empty()))
    }

    /// A page was visited again: learns whether its host is honest about changes.
    pub(super) fn learn_honesty(
        &mut self,
        job: &Job,
        before: Option<&PageRecord>,
        finding: &PageFinding,
        changed: Option<Changed>,
    ) -> Result<()> {
        let Some(before) = before.filter(|before| !before.validators.is_empty()) else { return Ok(()) };
        if changed != Some(Changed::Content) || !finding.shows() || matches!(job.via, Via::Redirect { .. }) {
            return Ok(());
        }
        let site = job.page.url.site;
        let known = Honesty::get(site, &self.ledger.session)?;
        if !known.is_believed() {
            return Ok(());
        }
        let mut now = known;
        if is_sample(job.page, before) {
            now.hidden = now.hidden.saturating_add(1);
            now.lied = are_same(&before.validators, &finding.validators);
        } else {
            now.told = now.told.saturating_add(1);
        }
        if !now.is_believed() {
            let host = job.url.host_str().unwrap_or_default();
            tracing::warn!(
                "{host} says of changed pages that they have not changed; from now on they are fetched whole"
            );
        }
        now.put(site, &mut self.ledger.session);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_believed_until_it_lied_or_hides_more_than_chance_does() {
        let believed = |told, hidden, lied| Honesty { told, hidden, lied }.is_believed();
        assert!(believed(0, 0, false) && believed(0, FEW - 1, false));
        assert!(!believed(0, FEW, false) && !believed(9, 9, false) && !believed(99, 1, true));
        let mut random = fastrand::Rng::with_seed(1);
        let distrusted = |random: &mut fastrand::Rng, hiding: u64| {
            let mut seen = Honesty::default();
            (0..2_000).any(|_| {
                let is_sample = random.u64(..SAMPLE) == 0;
                // Pages that hide their changes show them only to samples.
                if is_sample {
                    seen.hidden += 1;
                } else if random.u64(..100) >= hiding {
                    seen.told += 1;
                }
                !seen.is_believed()
            })
        };
        let share = |random: &mut fastrand::Rng, hiding| (0..200).filter(|_| distrusted(random, hiding)).count();
        assert!(share(&mut random, 0) <= 20, "honest hosts");
        assert_eq!(share(&mut random, 95), 200, "few of the changes are told");
    }

    #[test]
    fn validators_are_the_same_if_the_tags_are_or_without_tags_the_dates() {
        let of = |etag: Option<&str>, date: Option<&str>| Validators {
            etag: etag.map(str::to_owned),
            last_modified: date.map(str::to_owned),
        };
        assert!(are_same(&of(Some("\"a\""), None), &of(Some("W/\"a\""), Some("x"))));
        assert!(are_same(&of(None, Some("x")), &of(None, Some("x"))));
        assert!(!are_same(&of(Some("\"a\""), Some("x")), &of(Some("\"b\""), Some("x"))));
        assert!(!are_same(&of(Some("\"a\""), Some("x")), &of(None, Some("x"))));
        assert!(!are_same(&of(None, None), &of(None, None)));
    }
}
