//! How links enter the frontier: queued, or refused.

use std::sync::Arc;

use dedup_stage::store::{Result, Session};
use dedup_stage::url::{PageId, SiteId, UrlId};
use url::Url;

use super::Frontier;
use crate::host::entry::Entry;
use crate::host::lane::band;
use crate::job::{Admission, FoundLink, Hold, Via};
use crate::reason::{Detail, SkipReason};
use crate::trial::Trial;
use crate::url::{End, EndedAs, KeptLink, Standing, State};

impl Frontier {
    /// Most redirect hops.
    pub const MOST_HOPS: u8 = 10;
    /// At most this many queued targets of redirects are remembered in `Jobs::chained`, which tells whether a direct
    /// link leads there, too.
    const CHAINED: usize = 65_536;

    /// Announces URLs (`id.url`) that will be asked about or added next, such as the links of a page. This makes it
    /// faster to look them up.
    pub fn expect(&self, urls: impl IntoIterator<Item = u64>) {
        self.urls.expect(urls);
    }

    /// Whether a URL (`id.url`) was ever met, and so is in some state. Answered from memory.
    pub fn met(&self, url: u64) -> bool {
        self.urls.get(url).is_some()
    }

    /// Whether a URL (`id.url`) was missing at its last two visits. Answered from memory.
    pub fn is_gone(&self, url: u64) -> bool {
        self.urls.get(url) == Some(Standing::Gone)
    }

    /// Whether a URL (`id.url`) was answered with an error or not at all at its last visit. Answered from memory.
    pub fn has_no_page(&self, url: u64) -> bool {
        matches!(self.urls.get(url), Some(Standing::Gone | Standing::Done(EndedAs::Error | EndedAs::Failed)))
    }

    /// The record of a URL; `None` if it was never met.
    pub fn state(&self, id: UrlId, session: &Session) -> Result<Option<State>> {
        self.urls.state(id, session)
    }

    /// Takes a link of a page that is no duplicate, or a seed, sitemap, feed or redirect. The URL is queued if it was
    /// never met, if it was held, or if it was refused for a reason that comes from the link, so that another link may
    /// lift it. If it is queued with a lower priority, it may be queued again with the better one (in `demote`, in
    /// focused crawls, and if it is to be visited again); it counts as seen all the same.
    pub fn add(&mut self, found: &FoundLink<'_>, session: &mut Session) -> Result<Admission> {
        if self.is_elsewhere(found.id.site) {
            return Ok(Admission::Elsewhere);
        }
        let again = matches!(found.via, Via::Again | Via::Redirect { again: true, .. });
        match self.urls.get(found.id.url) {
            None | Some(Standing::HeldFor | Standing::HeldAs { .. }) => self.admit(found, None, session),
            Some(Standing::Refused(reason)) if is_of_link(reason) => self.admit(found, None, session),
            Some(Standing::Done(_) | Standing::Gone) if again => self.admit(found, None, session),
            Some(Standing::Queued { band: known, .. }) => {
                self.met_directly(found);
                let lifts = known >= self.conduct.lifts_from || found.via == Via::Again;
                let better = band(found.priority) < known && lifts;
                if better {
                    self.enqueue(found.url, entry(found, None), false, None, session)?;
                }
                Ok(Admission::Seen)
            }
            Some(Standing::Done(EndedAs::Redirected)) => {
                self.restart_chain(found, session)?;
                Ok(Admission::Seen)
            }
            Some(_) => Ok(Admission::Seen),
        }
    }

    /// Refuses a link: outside the scope, too deep, `nofollow` and so on. The refusal is recorded, unless the URL was
    /// met before.
    pub fn refuse(&mut self, found: &FoundLink<'_>, reason: SkipReason, session: &mut Session) -> Result<Admission> {
        if self.is_elsewhere(found.id.site) {
            return Ok(Admission::Elsewhere);
        }
        if self.met(found.id.url) {
            return Ok(Admission::Seen);
        }
        self.refused(found, reason, Detail::None, session)
    }

    /// Whether a URL (`id.url`) was refused because of its links: they are `nofollow` or too deep, for example. Answered
    /// from memory.
    pub fn is_refused_for_links(&self, url: u64) -> bool {
        matches!(self.urls.get(url), Some(Standing::Refused(reason)) if is_of_link(reason))
    }

    /// A URL was refused because of its links. Now a path of `depth` links was found that may be followed. `source` is
    /// the page before the URL. The URL is queued, or held as news if `is_held` is set. False if it stays refused.
    pub fn found_nearer(
        &mut self,
        id: UrlId,
        (depth, source): (u32, PageId),
        is_held: bool,
        session: &mut Session,
    ) -> Result<bool> {
        let Some(State::Refused { reason, detail: Detail::None, link }) = self.urls.state(id, session)? else {
            return Ok(false);
        };
        if !is_of_link(reason) {
            return Ok(false);
        }
        let link = KeptLink { depth, source: Some(source), ..link };
        let Ok(url) = Url::parse(&link.url) else { return Ok(false) };
        if self.bounds.scope.as_ref().is_some_and(|scope| scope.admits(&url, depth).is_err()) {
            return Ok(false);
        }
        let found = again(&url, id, &link, Via::Link);
        let admission =
            if is_held { self.hold(&found, Hold::News, session) } else { self.admit(&found, None, session) }?;
        Ok(matches!(admission, Admission::Queued | Admission::Held))
    }

    /// Whether a host belongs to another frontier.
    pub fn is_elsewhere(&self, site: SiteId) -> bool {
        self.bounds.owns.as_ref().is_some_and(|sites| !sites.has(site))
    }

    /// Queues a URL, or refuses it. Its state must be one that may become `Queued`.
    pub(super) fn admit(
        &mut self,
        found: &FoundLink<'_>,
        trial: Option<Arc<Trial>>,
        session: &mut Session,
    ) -> Result<Admission> {
        let before = match self.urls.get(found.id.url) {
            Some(Standing::Done(_) | Standing::Gone) => match self.urls.state(found.id, session)? {
                Some(State::Done(visit) | State::Gone(visit)) => Some(visit),
                _ => None,
            },
            _ => None,
        };
        let refusal = if !matches!(found.url.scheme(), "http" | "https") {
            Some((SkipReason::Scheme, Detail::None))
        } else if found.url.as_str().len() > self.conduct.max_length {
            Some((SkipReason::TooLong, Detail::None))
        } else if hops(found.via) > Self::MOST_HOPS {
            Some((SkipReason::Trap, Detail::Redirects))
        } else if found.via != Via::Seed
            && !self.hosts.may_come(found.id.site, found.source.map(|page| page.url.site.domain))
        {
            if !self.met(found.id.url) {
                return Ok(Admission::LeftOut);
            }
            Some((SkipReason::Trap, Detail::Hosts))
        } else {
            None
        };
        let refusal = match refusal {
            None => {
                let fixed = found.via == Via::Seed;
                if self.enqueue(found.url, entry(found, trial), fixed, Some(before), session)? {
                    if hops(found.via) > 0 && self.jobs.chained.len() < Self::CHAINED {
                        self.jobs.chained.insert(found.id.url, false);
                    }
                    return Ok(Admission::Queued);
                }
                (SkipReason::Trap, Detail::Origins)
            }
            Some(refusal) => refusal,
        };
        match self.urls.get(found.id.url) {
            None => self.refused(found, refusal.0, refusal.1, session),
            // The URL must not stay held: each time the queue is empty, it would be released and refused again. But the
            // target of too many redirects stays held: only this way to it is too long, and redirects do not count when
            // it is released.
            Some(Standing::HeldFor | Standing::HeldAs { .. } | Standing::Stopped { .. })
                if refusal.1 != Detail::Redirects =>
            {
                self.refused(found, refusal.0, refusal.1, session)
            }
            // The URL has a record already, and the record stays.
            Some(_) => Ok(Admission::Refused(refusal.0)),
        }
    }

    fn refused(
        &mut self,
        found: &FoundLink<'_>,
        reason: SkipReason,
        detail: Detail,
        session: &mut Session,
    ) -> Result<Admission> {
        self.urls.change(found.id, &State::Refused { reason, detail, link: kept(found) }, session)?;
        Ok(Admission::Refused(reason))
    }

    /// A direct link leads to a queued URL. If the URL was queued as the target of a redirect, its hops do not count
    /// any more.
    fn met_directly(&mut self, found: &FoundLink<'_>) {
        if hops(found.via) == 0
            && let Some(direct) = self.jobs.chained.get_mut(&found.id.url)
        {
            *direct = true;
        }
    }

    /// A direct link leads to a URL that redirects. If its chain of redirects was cut because the chain had begun at
    /// another URL, the chain goes on, and hops are counted from this link.
    fn restart_chain(&mut self, found: &FoundLink<'_>, session: &mut Session) -> Result<()> {
        let was_cut = self.urls.counters().refused_for(SkipReason::Trap) > 0;
        if !was_cut || hops(found.via) > 0 {
            return Ok(());
        }
        let mut at = found.id;
        for hops in 1..=Self::MOST_HOPS {
            match self.urls.get(at.url) {
                Some(Standing::Done(EndedAs::Redirected)) => match self.urls.state(at, session)? {
                    Some(State::Done(visit)) if let End::Redirected { target, .. } = visit.end => at = target,
                    _ => return Ok(()),
                },
                _ => return Ok(()),
            }
            if self.urls.get(at.url) == Some(Standing::Refused(SkipReason::Trap))
                && let Some(State::Refused { detail: Detail::Redirects, link, .. }) = self.urls.state(at, session)?
                && let Ok(url) = Url::parse(&link.url)
            {
                let via = Via::Redirect { hops, again: false };
                self.admit(&again(&url, at, &link, via), None, session)?;
                return Ok(());
            }
        }
        Ok(())
    }
}

/// Whether a URL was refused because of the link that was found, so that another link to the URL may be followed.
fn is_of_link(reason: SkipReason) -> bool {
    match reason {
        SkipReason::Scope
        | SkipReason::Depth
        | SkipReason::Nofollow
        | SkipReason::TooLong
        | SkipReason::Trap
        | SkipReason::Scheme => true,
        SkipReason::Robots
        | SkipReason::Address
        | SkipReason::DuplicateSource
        | SkipReason::Rule
        | SkipReason::Mirror
        | SkipReason::Budget
        | SkipReason::Known
        | SkipReason::Purpose => false,
    }
}

/// The redirect hops that led to a link.
pub(super) fn hops(via: Via) -> u8 {
    match via {
        Via::Redirect { hops, .. } => hops,
        _ => 0,
    }
}

/// The part of a link that the record of a URL keeps if the link is not queued.
pub(super) fn kept(found: &FoundLink<'_>) -> KeptLink {
    KeptLink {
        url: found.url.as_str().into(),
        depth: found.depth,
        source: found.source,
        priority: found.priority,
        merits: found.merits,
    }
}

/// Makes a link from the part that its record kept.
pub(super) fn again<'a>(url: &'a Url, id: UrlId, link: &KeptLink, via: Via) -> FoundLink<'a> {
    FoundLink { url, id, depth: link.depth, priority: link.priority, merits: link.merits, source: link.source, via }
}

fn entry(found: &FoundLink<'_>, trial: Option<Arc<Trial>>) -> Entry {
    Entry {
        id: found.id,
        url: found.url.as_str().into(),
        depth: found.depth,
        priority: found.priority,
        merits: found.merits,
        source: found.source,
        via: found.via,
        attempts: 0,
        returned: 0,
        sitemap: false,
        trial,
    }
}
