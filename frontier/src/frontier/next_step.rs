//! The next step of a host whose turn it is: find its address, ask for a robots.txt, fetch a URL, or wait. The bounds,
//! the budgets and the learned rules are asked here. So this is the place where a rule stops a URL or lets it be tried.

use config::{OnDuplicate, Robots};
use dedup_stage::store::{Error, Result, Session};
use dedup_stage::url::UrlId;
use url::Url;

use super::Frontier;
use super::ladder_keys::stop_key;
use super::overtake::Overtaken;
use crate::hold::StandIn;
use crate::hold::ladder::{Ladder, LadderKey, Step, Strictness};
use crate::host::addresses::HostAddresses;
use crate::host::entry::Entry;
use crate::host::errands::{Asker, Errand};
use crate::host::lane::LaneKey;
use crate::host::origins::{Origin, Permission, robots_url};
use crate::job::{Release, Via};
use crate::numbers::{AddressId, HostId, Millis};
use crate::reason::{Detail, SkipReason};
use crate::trial::{Stop, Trial, UrlSet};
use crate::url::{KeptLink, Standing, State, waiting};

/// The next step of a ready host.
pub(super) enum HostAction {
    /// Find the address of the host. Any URL of the host is given.
    Resolve(Url),
    /// Ask for a robots.txt of the host.
    Robots(Errand),
    /// Ask the host for a robots.txt that another host needs.
    Errand,
    /// Give up the first errand: the host has no address that may be asked.
    Forsake,
    /// Fetch the first entry of this lane. If there is a key of a ladder, the fetch is a trial of rules or of a pair of
    /// hosts.
    Fetch(usize, Box<Entry>, Url, Option<LadderKey>),
    /// Refuse or stop the first entry of this lane.
    Refuse(usize, Box<Entry>, Refusal),
    /// Wait until this time.
    Wait(Millis),
    /// Wait in the line of an address.
    Park(AddressId),
    /// There is nothing to do.
    Nothing,
}

/// Why an entry is not fetched.
pub(super) enum Refusal {
    /// The URL is refused for this reason.
    Reason(SkipReason, Detail),
    /// Learned rules stop the URL: their decision, their ladder, and whether the URL waits for its representative.
    Stop(Stop, LadderKey, bool),
    /// A budget is spent. The URL is stopped for it; the rescue may try it.
    Spent,
    /// Another URL was queued in its place, so it is held for that one. The step is to be counted on this ladder.
    Overtaken(UrlId, Option<LadderKey>),
}

impl Refusal {
    /// The reason as in `skipped.jsonl`.
    pub fn reason(&self) -> SkipReason {
        match self {
            Refusal::Reason(reason, _) => *reason,
            Refusal::Stop(stop, ..) => stop.reason,
            Refusal::Spent => SkipReason::Budget,
            Refusal::Overtaken(..) => SkipReason::DuplicateSource,
        }
    }
}

/// The decision of bounds, budgets and rules about a URL.
enum Pass {
    Fetch,
    /// Rules or a spent budget would stop it, but one of its sets has fallen.
    Follow(UrlSet),
    Try(Trial, LadderKey),
    Refuse(Refusal),
}

impl Frontier {
    /// So many bytes of robots rules are read from the store in a microsecond.
    const READ_IN_A_MICRO: u64 = 250;

    /// The next step of a ready host at `now`.
    pub(super) fn plan(&mut self, id: HostId, now: Millis, session: &mut Session) -> Result<HostAction> {
        let host = self.hosts.get(id);
        if let Some(errand) = host.errands.any() {
            if host.addresses.is_forbidden(now) {
                return Ok(HostAction::Forsake);
            }
            if host.errands.due(host.has_pages()).is_some() {
                return Ok(self.first(id, &errand.url, now).unwrap_or(HostAction::Errand));
            }
        }
        let mut blocked: Vec<(u8, Millis)> = Vec::new();
        loop {
            let host = self.hosts.get_mut(id);
            let Some(at) = host.choose(&blocked, &mut self.queues, session)? else {
                let again = blocked.iter().map(|(_, again)| *again).min();
                let errand = host.errands.any().map(|errand| errand.url.clone());
                return Ok(match (again, errand) {
                    // The pages of the host wait for its robots.txt, so it can only do an errand.
                    (Some(_), Some(url)) => self.first(id, &url, now).unwrap_or(HostAction::Errand),
                    (again, _) => again.map_or(HostAction::Nothing, HostAction::Wait),
                });
            };
            let lane = &host.lanes[at];
            let (site, group, band) = (host.site, lane.group, lane.band);
            let Some(packed) = lane.front() else { return Ok(HostAction::Nothing) };
            let live = match self.urls.get(packed.url()) {
                Some(Standing::Queued { band: known, .. }) => known == band,
                _ => false,
            };
            if !live && !packed.is_sitemap() {
                // The URL was queued again with another priority. That other entry counts.
                self.queues.take(&mut host.lanes[at]);
                self.queues.finish(&mut host.lanes, LaneKey { site, group, band }, session);
                continue;
            }
            let mut entry = packed.open(site, &host.authority(group))?;
            let url = Url::parse(&entry.url)
                .map_err(|error| Error::Damaged(format!("{:?} is queued, and no URL: {error}", entry.url)))?;
            let number = host.groups.get(group).map_or(0, |group| group.origin);
            if host.origins.get(number).is_none_or(|origin| origin.has_left()) {
                let refusal = Refusal::Reason(SkipReason::Trap, Detail::Origins);
                return Ok(HostAction::Refuse(at, Box::new(entry), refusal));
            }
            if host.addresses.is_forbidden(now) {
                let refusal = Refusal::Reason(SkipReason::Address, Detail::ForbiddenAddress);
                return Ok(HostAction::Refuse(at, Box::new(entry), refusal));
            }
            if !entry.sitemap
                && let Some(awaited) = host.origins.get(number).and_then(Origin::awaited)
            {
                let is_first = host.bring_forward(awaited.lane, &mut self.queues, session)?;
                blocked.push((number, if is_first { Millis::MAX } else { now + Self::RETURNED }));
                continue;
            }
            let mut trial = None;
            if !entry.sitemap {
                match self.pass(id, group, &url, &entry, session)? {
                    Pass::Fetch => {}
                    Pass::Follow(set) => {
                        entry.trial.get_or_insert_with(|| Trial::Fallen(set).into());
                    }
                    Pass::Try(question, ladder_key) => {
                        entry.via = Via::Trial;
                        entry.trial = Some(question.into());
                        trial = Some(ladder_key);
                    }
                    Pass::Refuse(refusal) => return Ok(HostAction::Refuse(at, Box::new(entry), refusal)),
                }
            }
            if let Some(action) = self.first(id, &url, now) {
                return Ok(action);
            }
            let ignored = self.conduct.politeness.robots == Robots::Ignore;
            // A robots.txt that is ignored is asked for all the same if it may name sitemaps.
            if entry.sitemap || ignored && !self.conduct.sitemaps {
                return Ok(HostAction::Fetch(at, Box::new(entry), url, trial));
            }
            let host = self.hosts.get_mut(id);
            let origin = host.origins.get_mut(number);
            let origin = origin.ok_or_else(|| Error::Damaged("the origin of a queued URL is missing".into()))?;
            let permission = origin.access(&url, site, now, &mut self.rules_kept, session)?;
            self.charge_for_rules(site.domain);
            match permission {
                Permission::Forbidden | Permission::Wait(_) if ignored => {
                    return Ok(HostAction::Fetch(at, Box::new(entry), url, trial));
                }
                Permission::Allowed => return Ok(HostAction::Fetch(at, Box::new(entry), url, trial)),
                Permission::Forbidden => {
                    let refusal = Refusal::Reason(SkipReason::Robots, Detail::RobotsForbid);
                    return Ok(HostAction::Refuse(at, Box::new(entry), refusal));
                }
                Permission::Ask => {
                    let askers = vec![Asker { site, of: url.clone(), moves: 0 }];
                    return Ok(HostAction::Robots(Errand { url: robots_url(&url), askers }));
                }
                Permission::Wait(again) => blocked.push((number, again)),
            }
        }
    }

    /// A domain pays for the robots rules that were read from the store for one of its hosts.
    pub(super) fn charge_for_rules(&mut self, domain: u64) {
        let read = self.rules_kept.take_read() as u64;
        self.schedule.charge(domain, read / Self::READ_IN_A_MICRO);
    }

    /// The step that must come before a request for `url`: find the address of the host, or wait for the pace of the
    /// host or of its address. `None` if the request may be made now.
    fn first(&self, id: HostId, url: &Url, now: Millis) -> Option<HostAction> {
        self.first_of(id, url, now, self.hosts.get(id).called)
    }

    /// Like [`Frontier::first`]. `called`: whether the host need not wait for its turn at a shared address.
    pub(super) fn first_of(&self, id: HostId, url: &Url, now: Millis, called: bool) -> Option<HostAction> {
        let host = self.hosts.get(id);
        match &host.addresses {
            HostAddresses::Known { ids, until, .. } if *until > now => {
                if host.pace.not_before > now {
                    return Some(HostAction::Wait(host.pace.not_before));
                }
                let with_line = || self.addresses.with_line(ids).filter(|_| !called);
                self.addresses.blocked(ids, now).or_else(with_line).map(HostAction::Park)
            }
            _ => Some(HostAction::Resolve(url.clone())),
        }
    }

    /// Asks budgets, bounds and rules about a URL.
    fn pass(&mut self, id: HostId, group: u8, url: &Url, entry: &Entry, session: &mut Session) -> Result<Pass> {
        if !entry.is_page() {
            return Ok(Pass::Fetch);
        }
        let host = self.hosts.get(id);
        let refuse = |reason, detail| Ok(Pass::Refuse(Refusal::Reason(reason, detail)));
        let is_of_rescue = entry.via == Via::Rescue || matches!(entry.trial.as_deref(), Some(Trial::Fallen(_)));
        if host.is_spent(group, self.conduct.limits) && !is_of_rescue {
            return Ok(self.spent(entry));
        }
        if self.bounds.of_host > 0 && host.pages >= self.bounds.of_host {
            return refuse(SkipReason::Budget, Detail::HostCap);
        }
        let of_domain = || self.bounds.by_domain.get(&host.site.domain).copied().unwrap_or(0);
        if self.bounds.of_domain > 0 && of_domain() >= self.bounds.of_domain {
            return refuse(SkipReason::Budget, Detail::DomainCap);
        }
        if let Some(scope) = &self.bounds.scope
            && entry.via != Via::Seed
            && let Err(reason) = scope.admits(url, entry.depth)
        {
            return refuse(reason, Detail::None);
        }
        match entry.via {
            // Trials are not stopped by rules. A URL whose representative failed may be stopped for another
            // representative.
            Via::Trial | Via::Rescue | Via::Again => Ok(Pass::Fetch),
            Via::Released { why } if why != Release::Counterpart => Ok(Pass::Fetch),
            _ => match self.overtaken(entry, url, session)? {
                Some(Overtaken::Hold(at, ladder_key)) => Ok(Pass::Refuse(Refusal::Overtaken(at, ladder_key))),
                Some(Overtaken::Try(counterpart, ladder_key)) => Ok(Pass::Try(Trial::Pair { counterpart }, ladder_key)),
                None => self.meet_rules(url, entry, session),
            },
        }
    }

    /// The budget that counts for a URL is spent. In `drop`, the rescue tries such URLs, and follows them if they bring
    /// something. In the other modes such URLs are refused, and the rescue of `demote` does not try them.
    fn spent(&self, entry: &Entry) -> Pass {
        if self.conduct.on_duplicate != OnDuplicate::Drop {
            return Pass::Refuse(Refusal::Reason(SkipReason::Budget, Detail::None));
        }
        let link = KeptLink { url: entry.url.clone(), ..KeptLink::default() };
        match self.followed_set(entry.id, &State::stopped_for_budget(link)) {
            Some(set) => Pass::Follow(set),
            None => Pass::Refuse(Refusal::Spent),
        }
    }

    /// Whether rules stop a URL, and whether it is tried all the same.
    fn meet_rules(&mut self, url: &Url, entry: &Entry, session: &mut Session) -> Result<Pass> {
        let Some(rules) = &mut self.rules else { return Ok(Pass::Fetch) };
        let Some((stop, stand_in)) = rules.meet(url, entry.id, &self.urls, session)? else { return Ok(Pass::Fetch) };
        let Some(ladder_key) = stop_key(&stop, rules, entry.id, url) else { return Ok(Pass::Fetch) };
        if !self.fallen.is_empty() {
            let Stop { rules, reason, representative } = stop.clone();
            let link = KeptLink { url: entry.url.clone(), ..KeptLink::default() };
            let stopped = State::Stopped { rules, reason, representative, waits: None, link };
            if let Some(set) = self.followed_set(entry.id, &stopped) {
                return Ok(Pass::Follow(set));
            }
        }
        // In `demote`, the URLs that rewrites stop are fetched at the end anyway, so they are not tried now.
        let is_final = self.conduct.on_duplicate != OnDuplicate::Demote || stop.representative.is_none();
        let strictness =
            stop.representative.map_or(Strictness::SameHost, |other| Strictness::between(entry.id.site, other.site));
        let ladder = Ladder::get(ladder_key, session)?;
        if is_final && matches!(stand_in, StandIn::Pending(_)) {
            let place = ladder_key.wait_place();
            let number = place.map(|place| waiting(ladder_key.site, place, session)).transpose()?;
            let may_wait = ladder.may_wait(number.unwrap_or(0));
            return Ok(if may_wait { Pass::Refuse(Refusal::Stop(stop, ladder_key, true)) } else { Pass::Fetch });
        }
        Ok(match if is_final { ladder.next(strictness) } else { Step::Stay } {
            Step::Stay => Pass::Refuse(Refusal::Stop(stop, ladder_key, false)),
            Step::Try => Pass::Try(Trial::Rules(stop), ladder_key),
            Step::Let => Pass::Fetch,
        })
    }
}
