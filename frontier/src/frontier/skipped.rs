//! The URLs that are not fetched, and the reasons. `skipped.jsonl` is written from this.

use std::ops::ControlFlow;

use config::Robots;
use dedup_stage::store::{Result, Session};
use dedup_stage::url::{PageId, UrlId};

use super::Frontier;
use crate::host::entry::Packed;
use crate::host::lane::{Lane, Seq};
use crate::host::{Host, Hosts};
use crate::numbers::HostId;
use crate::numbers::RuleId;
use crate::reason::{Detail, SkipReason};
use crate::spaces;
use crate::url::{HoldCause, KeptLink, Note, Standing, State, Urls};

/// A URL that is not fetched, for a line of `skipped.jsonl`.
#[derive(Clone, Debug, PartialEq)]
pub struct Skipped {
    /// The URL as it would be fetched.
    pub url: Box<str>,
    /// Its identity.
    pub id: UrlId,
    /// Why.
    pub reason: SkipReason,
    /// More about the reason.
    pub detail: Detail,
    /// The rules that stopped it, in the order in which they were applied.
    pub rules: Vec<RuleId>,
    /// The corpus that has the page that linked to it first.
    pub known: Option<String>,
    /// The page that linked to it.
    pub source: Option<PageId>,
    /// Whether it is held as news: no page was fetched in its place.
    pub is_news: bool,
    /// Whether it was fetched before: it waits for another visit, and its host cannot be asked.
    pub was_fetched: bool,
}

/// The position of a walk over skipped URLs.
#[derive(Clone, Debug)]
pub struct Walk {
    /// The record from which to go on; `None` when all were seen.
    record: Option<Vec<u8>>,
    /// Whether the walk also visits URLs that stay queued because their host cannot be asked.
    withheld: bool,
    /// The host in memory from which to go on; `None` if all were seen.
    awake: Option<(HostId, Place)>,
    /// The sleeping host from which to go on; `None` if all were seen.
    asleep: Option<(Vec<u8>, Place)>,
}

/// A place in the queue of a host: the lane, and the place in it.
type Place = (usize, Seq);

impl Walk {
    /// Begins a walk over all URLs that are not fetched. With `withheld`, it also visits URLs that stay queued because
    /// their host cannot be asked.
    pub fn new(withheld: bool) -> Self {
        let begin = (0, 0);
        Self { record: Some(Vec::new()), withheld, awake: Some((0, begin)), asleep: Some((Vec::new(), begin)) }
    }
}

impl Frontier {
    /// Up to `most` further URLs that are not fetched, and why; none at the end of the walk. Between two calls nothing
    /// else may be called.
    ///
    /// # Complexity
    ///
    /// O(records + hosts + URLs withheld) for the whole walk. Other queued URLs are not read. Sleeping hosts are read
    /// one at a time.
    pub fn skipped(&self, walk: &mut Walk, most: usize, session: &Session) -> Result<Vec<Skipped>> {
        let mut found = Vec::new();
        if let Some(from) = walk.record.take() {
            walk.record = self.skipped_records(&from, most, &mut found, session)?;
            if !found.is_empty() {
                return Ok(found);
            }
        }
        if walk.withheld {
            self.withheld(walk, most, &mut found, session)?;
        }
        Ok(found)
    }

    /// Visits the records of URLs. Returns the key from which to go on; `None` if all were seen.
    fn skipped_records(
        &self,
        from: &[u8],
        most: usize,
        found: &mut Vec<Skipped>,
        session: &Session,
    ) -> Result<Option<Vec<u8>>> {
        let (mut next, mut failure) = (None, None);
        session.scan(spaces::URLS, from, &[], &mut |key, value| {
            if !State::has_link(value) {
                return ControlFlow::Continue(());
            }
            match Urls::read(key, value) {
                Ok((id, state)) => found.extend(Skipped::of(id, state)),
                Err(error) => failure = Some(error),
            }
            if found.len() == most {
                next = Some([key, &[0]].concat());
            }
            if next.is_some() || failure.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        failure.map_or(Ok(next), Err)
    }

    /// URLs that stay queued because their host cannot be asked.
    fn withheld(&self, walk: &mut Walk, most: usize, found: &mut Vec<Skipped>, session: &Session) -> Result<()> {
        if let Some((first, place)) = walk.awake.take() {
            let mut place = place;
            for (id, host) in self.hosts.iter().filter(|(id, _)| *id >= first) {
                if let Some(rest) = self.withheld_of(host, place, most, found, session)? {
                    walk.awake = Some((id, rest));
                    return Ok(());
                }
                place = (0, 0);
            }
        }
        let Some((from, mut place)) = walk.asleep.take() else { return Ok(()) };
        let mut failure = None;
        Hosts::read_from(&from, session, &mut |mut host| {
            let is_first = from == host.site.to_bytes();
            let place = if is_first { std::mem::take(&mut place) } else { (0, 0) };
            if self.hosts.find(host.site).is_some() {
                return ControlFlow::Continue(());
            }
            let site = host.site;
            let rest = host.origins.read(site, session);
            match rest.and_then(|()| self.withheld_of(&host, place, most, found, session)) {
                Ok(None) => return ControlFlow::Continue(()),
                Ok(Some(rest)) => walk.asleep = Some((site.to_bytes().to_vec(), rest)),
                Err(error) => failure = Some(error),
            }
            ControlFlow::Break(())
        })?;
        failure.map_or(Ok(()), Err)
    }

    /// URLs of one host that stay queued because it cannot be asked, from a place in its queue on. If there are `most`,
    /// returns the place from which to go on.
    fn withheld_of(
        &self,
        host: &Host,
        (mut lane, mut from): Place,
        most: usize,
        found: &mut Vec<Skipped>,
        session: &Session,
    ) -> Result<Option<Place>> {
        while let Some(at) = host.lanes.get(lane) {
            if let Some((reason, detail)) = self.withholds(host, at) {
                let mut failure = None;
                self.queues.look(at, host.site, session, &mut |seq, entry| {
                    if seq < from {
                        return true;
                    }
                    from = seq + 1;
                    let entry = Packed::new(entry);
                    let standing = self.urls.get(entry.url());
                    let live = matches!(standing, Some(Standing::Queued { band, .. }) if band == at.band);
                    if !entry.is_sitemap() && live {
                        match entry.open(host.site, &host.authority(at.group)) {
                            Ok(entry) => found.push(Skipped {
                                url: entry.url,
                                id: entry.id,
                                reason,
                                detail,
                                rules: Vec::new(),
                                known: None,
                                source: entry.source,
                                is_news: false,
                                was_fetched: matches!(standing, Some(Standing::Queued { note: Note::Again, .. })),
                            }),
                            Err(error) => failure = Some(error),
                        }
                    }
                    found.len() < most && failure.is_none()
                })?;
                if let Some(error) = failure {
                    return Err(error);
                }
                if found.len() >= most {
                    return Ok(Some((lane, from)));
                }
            }
            (lane, from) = (lane + 1, 0);
        }
        Ok(None)
    }

    /// The reason for which no URL of a lane can be handed out, if the reason is that its host cannot be asked.
    fn withholds(&self, host: &Host, lane: &Lane) -> Option<(SkipReason, Detail)> {
        if let Some(detail) = host.addresses.withholds() {
            return Some((SkipReason::Address, detail));
        }
        let origin = host.groups.get(lane.group).and_then(|group| host.origins.get(group.origin))?;
        let detail = origin.withholds().filter(|_| self.conduct.politeness.robots == Robots::Obey)?;
        Some((SkipReason::Robots, detail))
    }
}

impl Skipped {
    fn of(id: UrlId, state: State) -> Option<Self> {
        let is_news = matches!(state, State::HeldAs { cause: HoldCause::News { .. }, .. });
        let of_link = |link: KeptLink, reason, detail, rules, known| Self {
            url: link.url,
            id,
            reason,
            detail,
            rules,
            known,
            source: link.source,
            is_news,
            was_fetched: false,
        };
        let held = SkipReason::DuplicateSource;
        Some(match state {
            State::HeldFor { link, .. } | State::HeldAs { cause: HoldCause::News { .. }, link } => {
                of_link(link, held, Detail::None, Vec::new(), None)
            }
            State::HeldAs { cause: HoldCause::Known { corpus }, link } => {
                of_link(link, SkipReason::Known, Detail::None, Vec::new(), Some(corpus))
            }
            State::Stopped { rules, reason, link, .. } => of_link(link, reason, Detail::None, rules, None),
            State::Refused { reason, detail, link } => of_link(link, reason, detail, Vec::new(), None),
            State::Queued { .. } | State::Done(_) | State::Gone(_) => return None,
        })
    }
}
