//! Visits that cannot be made: robots.txt forbids a page, or a host cannot be asked. Copies take the places of
//! representatives that cannot be had. In a round, checks that cannot be made are given to other copies.

use std::collections::HashMap;

use dedup_stage::store::{Result, Session};
use dedup_stage::url::{PageId, SiteId, UrlId};
use frontier::refresh::time::{DAY, Seconds, seconds};
use frontier::refresh::turns::HostNumber;
use frontier::{Frontier, Millis, SkipReason};
use url::Url;

use super::member::{Member, Reach};
use super::share::Balance;
use super::{Continuous, Round, Visits};
use crate::record::PageRecord;
use crate::unvisited::{Refused, Unreachable};

/// A URL that could not be fetched is tried again after this many seconds.
pub(super) const AGAIN: Seconds = DAY as Seconds;

/// A host of a continuous crawl.
#[derive(Debug, Default)]
pub(super) struct Site {
    /// Places of its URLs.
    pub places: Vec<usize>,
    /// How its last fetches were divided between new URLs and visits.
    pub balance: Balance,
    /// The visit of this host that waits in the frontier's queue behind new URLs.
    pub behind: Option<u64>,
    /// Since when a visit of this host waits in the frontier's queue.
    pub waits: Option<Seconds>,
    /// The places of its URLs that cannot be visited because the host cannot be asked.
    pub gave_way: Vec<usize>,
}

impl Visits {
    /// The number of pages that are gone.
    pub fn gone(&self, frontier: &Frontier) -> u64 {
        self.roster.gone(frontier)
    }

    /// Copies that could not be asked in an earlier round are asked for besides the planned checks, as far as the bound
    /// on all checks allows.
    pub(super) fn try_again(&mut self, tries: Vec<usize>, round: &mut Round) {
        for copy in tries {
            if self.may_check(round) {
                self.check(copy, round);
            }
        }
    }

    /// A visit was refused before its fetch.
    pub(super) fn refused(
        &mut self,
        url: UrlId,
        reason: SkipReason,
        now: Millis,
        round: &mut Round,
        session: &mut Session,
    ) -> Result<()> {
        self.close(url);
        let Some(place) = self.roster.place(url) else { return Ok(()) };
        let before = bar(&mut self.roster.members[place], reason, now, round, session)?;
        if self.roster.members[place].of.is_some() {
            round.trusted += 1;
            self.ordered = self.ordered.saturating_sub(1);
            if before == Reach::Open {
                self.check_another(round, &|_| true);
            }
        } else if !self.replace(place, round) {
            self.due_checks(place).into_iter().for_each(|copy| self.check(copy, round));
        }
        Ok(())
    }

    /// Once nothing is left to visit but pages of hosts that cannot be asked, makes the planned checks that wait for
    /// visits to these hosts. Other copies are checked in place of those that are on these hosts.
    pub(super) fn check_out_of_reach(&mut self, now: Millis, round: &mut Round, frontier: &Frontier) {
        if self.turns.peek(0).is_some() || self.open.is_empty() {
            return;
        }
        let is_away = |place: usize| frontier.is_out_of_reach(self.roster.members[place].id.site, now);
        if !self.open.keys().all(|url| self.roster.at(*url).is_some_and(is_away)) {
            return;
        }
        let places: Vec<usize> = self.open.keys().filter_map(|url| self.roster.at(*url)).collect();
        let mut stuck = 0;
        for place in places {
            let member = &mut self.roster.members[place];
            if member.of.is_some() && member.reach == Reach::Open {
                member.reach = Reach::Doubtful;
                stuck += 1;
            }
        }
        let mut planned = std::mem::take(&mut self.planned);
        planned.retain(|copy| self.checks.contains(copy));
        for copy in planned {
            match frontier.is_out_of_reach(self.roster.members[copy].id.site, now) {
                false => self.check(copy, round),
                true => {
                    self.checks.remove(&copy);
                    round.trusted += 1;
                    stuck += 1;
                }
            }
        }
        for _ in 0..stuck {
            self.check_another(round, &|site| !frontier.is_out_of_reach(site, now));
        }
    }

    /// Checks the next copy of the reserve whose host can be asked, as far as the bound on all checks allows.
    fn check_another(&mut self, round: &mut Round, can_be_asked: &dyn Fn(SiteId) -> bool) {
        while self.may_check(round)
            && let Some(copy) = self.reserve.pop_front()
        {
            let member = &self.roster.members[copy];
            if member.of.is_some() && !self.was_seen(copy, round) && can_be_asked(member.id.site) {
                return self.check(copy, round);
            }
        }
    }

    /// The run ends. Records the hosts that could not be asked, with the number of their pages that were not visited.
    /// `waited`: the run ended because no host could be asked any more.
    pub fn note_out_of_reach(
        &self,
        waited: bool,
        now: Millis,
        frontier: &Frontier,
        session: &mut Session,
    ) -> Result<()> {
        let mut hosts: HashMap<SiteId, (usize, u64)> = HashMap::new();
        for place in self.left.iter().chain(self.open.keys()).filter_map(|url| self.roster.at(*url)) {
            hosts.entry(self.roster.members[place].id.site).or_insert((place, 0)).1 += 1;
        }
        for (site, (place, pages)) in hosts {
            if waited || frontier.is_out_of_reach(site, now) {
                note(&self.roster.members[place], pages, now, session)?;
            }
        }
        Ok(())
    }
}

impl Continuous {
    /// The number of pages that are gone.
    pub fn gone(&self, frontier: &Frontier) -> u64 {
        self.roster.gone(frontier)
    }

    /// A visit was refused before its fetch.
    pub(super) fn refused(
        &mut self,
        url: UrlId,
        reason: SkipReason,
        now: Millis,
        round: &mut Round,
        session: &mut Session,
    ) -> Result<()> {
        let Some(place) = self.roster.place(url) else { return Ok(()) };
        bar(&mut self.roster.members[place], reason, now, round, session)?;
        self.put_off(place, now, round);
        Ok(())
    }

    /// The visit could not be made. The URL is tried again after [`AGAIN`].
    pub(super) fn put_off(&mut self, place: usize, now: Millis, round: &mut Round) {
        let member = &mut self.roster.members[place];
        (member.asked, member.life) = (now, member.life.troubled(seconds(now)));
        self.pending.remove(&place);
        if !self.roster.members[place].may_represent() {
            self.give_to_copy(place, seconds(now), round);
        }
        self.place(place);
    }

    /// If a visit to a host has waited for [`AGAIN`] because the host cannot be asked, records that,
    /// and copies on other hosts take the places of its representatives.
    pub(super) fn give_way(
        &mut self,
        host: HostNumber,
        now: Millis,
        round: &mut Round,
        frontier: &mut Frontier,
        session: &mut Session,
    ) -> Result<()> {
        let (site, at) = (&self.sites[host as usize], seconds(now));
        let Some(&first) = site.places.first() else { return Ok(()) };
        let waits_long = site.waits.is_some_and(|since| at.saturating_sub(since) >= AGAIN);
        if !waits_long || !frontier.is_out_of_reach(self.roster.members[first].id.site, now) {
            return Ok(());
        }
        let places = site.places.clone();
        for &place in &places {
            let before = std::mem::replace(&mut self.roster.members[place].reach, Reach::Barred);
            if before != Reach::Barred {
                self.sites[host as usize].gave_way.push(place);
            }
        }
        places.iter().for_each(|place| self.give_to_copy(*place, at, round));
        let pages = places.iter().filter(|place| self.roster.members[**place].of.is_none()).count() as u64;
        frontier.set_away(self.roster.members[first].id.site, true, session);
        note(&self.roster.members[first], pages, now, session)
    }

    /// A link has come to a URL that had no page at its last visit.
    pub fn relinked(&mut self, url: UrlId) {
        if let Some(place) = self.roster.place(url) {
            self.roster.members[place].relinked = true;
            if !self.is_queued(url) {
                self.place(place);
            }
        }
    }

    /// A host has answered, so its URLs can be visited again.
    pub(super) fn answers(&mut self, host: HostNumber) {
        for place in std::mem::take(&mut self.sites[host as usize].gave_way) {
            self.roster.members[place].reach = Reach::Open;
        }
    }

    /// A representative cannot be had. A copy takes its place until it can.
    pub(super) fn give_to_copy(&mut self, place: usize, now: Seconds, round: &mut Round) {
        if let Some(next) = self.replace(place, round) {
            self.heirs.insert(place, (next, now));
        }
    }

    /// A page that could not be had is there again. If it is as before, and so is the copy that took its place, it
    /// becomes a copy of the representative of that copy, which is returned.
    pub(super) fn heir(&mut self, place: usize, has_changed: Option<bool>) -> Option<usize> {
        let (next, since) = self.heirs.remove(&place)?;
        let root = self.roster.representative(next).unwrap_or(next);
        let is_as_before = has_changed == Some(false) && self.roster.members[root].cluster.changed <= since;
        (is_as_before && root != place && self.roster.members[root].may_represent()).then_some(root)
    }
}

/// Records that the visit to a URL was refused, and bars the URL. Returns how far it could be had before.
fn bar(
    member: &mut Member,
    reason: SkipReason,
    now: Millis,
    round: &mut Round,
    session: &mut Session,
) -> Result<Reach> {
    Refused::note(PageId { url: member.id, visit: member.visit }, reason, now, session)?;
    round.forbidden += u64::from(reason == SkipReason::Robots);
    Ok(std::mem::replace(&mut member.reach, Reach::Barred))
}

/// Records that the host of this page cannot be asked, and the number of its pages that are to be visited.
fn note(page: &Member, pages: u64, now: Millis, session: &mut Session) -> Result<()> {
    let record = PageRecord::get(PageId { url: page.id, visit: page.visit }, session)?;
    let url = record.and_then(|record| Url::parse(&record.url).ok());
    match url.as_ref().and_then(Url::host_str) {
        Some(host) => Unreachable::note(page.id.site, host, pages, now, session),
        None => Ok(()),
    }
}
