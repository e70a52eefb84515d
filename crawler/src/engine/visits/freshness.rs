//! How fresh the stored pages are, as far as can be told: a survey of all URLs, some at a time.

use std::collections::HashMap;

use dedup_stage::store::{Result, Session};
use dedup_stage::url::{PageId, SiteId, UrlId};
use frontier::Millis;
use frontier::refresh::scheduler::Refresh;
use frontier::refresh::time::DAY;
use frontier::refresh::turns::HostId;
use serde::{Deserialize, Serialize};
use url::Url;

use super::member::Life;
use super::roster::Roster;
use crate::record::PageRecord;

/// Upper ends of the classes of ages, milliseconds; the last class has no end.
pub const AGES: [Millis; 5] = [3_600_000, 86_400_000, 7 * 86_400_000, 30 * 86_400_000, 90 * 86_400_000];
/// Hosts that are told of.
const HOSTS: usize = 10;
/// URLs that are looked at in one step.
const STEP: usize = 256;

/// What a survey has found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Freshness {
    /// When it ended, in milliseconds since 1970.
    pub at: Millis,
    /// Pages that answered when they were asked last, trusted copies included.
    pub pages: u64,
    /// Estimated share of these that are on the web as they were seen last, 0..1.
    pub fresh: f64,
    /// Pages by the time since they, or the pages that they are copies of, were seen: up to an hour, a day, a week, 30
    /// days, 90 days, and more.
    pub ages: [u64; AGES.len() + 1],
    /// The hosts with most pages.
    pub hosts: Vec<HostRate>,
}

/// How often the pages of a host change.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HostRate {
    /// Its name.
    pub host: String,
    /// Its pages that are visited: trusted copies are left out.
    pub pages: u64,
    /// Changes of a page in a day, as estimated: the geometric mean over the pages.
    pub changes_a_day: f64,
}

/// A survey under way.
#[derive(Debug, Default)]
pub(super) struct Survey {
    next: usize,
    found: Freshness,
    hosts: HashMap<SiteId, Found>,
    last: Option<Freshness>,
}

/// What is looked at.
#[derive(Clone, Copy)]
pub(super) struct Pages<'a> {
    pub roster: &'a Roster,
    pub refresh: &'a Refresh,
    pub hosts: &'a HashMap<SiteId, HostId>,
    pub now: Millis,
}

/// What was found on a host.
#[derive(Debug, Default)]
struct Found {
    /// One of its pages.
    any: Option<UrlId>,
    pages: u64,
    log_rates: f64,
}

impl Survey {
    /// What the last one found that came to its end.
    pub fn last(&self) -> Option<&Freshness> {
        self.last.as_ref()
    }

    /// Looks at some more URLs.
    pub fn go_on(&mut self, pages: Pages<'_>, session: &Session) -> Result<()> {
        let end = pages.roster.members.len().min(self.next + STEP);
        (self.next..end).for_each(|place| self.look(place, pages));
        self.next = end;
        if end == pages.roster.members.len() { self.end(pages.now, session) } else { Ok(()) }
    }

    /// Looks at all URLs, beginning anew.
    pub fn take(&mut self, pages: Pages<'_>, session: &Session) -> Result<()> {
        *self = Self { last: self.last.take(), ..Self::default() };
        (0..pages.roster.members.len()).for_each(|place| self.look(place, pages));
        self.end(pages.now, session)
    }

    fn look(&mut self, place: usize, Pages { roster, refresh, hosts, now }: Pages<'_>) {
        let member = &roster.members[place];
        let (Life::Alive, None, Some(seen)) = (member.life, member.of, member.seen) else { return };
        let Some(&host) = hosts.get(&member.id.site) else { return };
        let (belief, age) = (refresh.belief(host, &member.cluster), now.saturating_sub(seen));
        let pages = 1 + roster.copies(place).len() as u64;
        self.found.pages += pages;
        self.found.fresh += pages as f64 * f64::from(belief.unchanged(age as f32 / (1_000.0 * DAY)));
        self.found.ages[AGES.partition_point(|end| *end < age)] += pages;
        let found = self.hosts.entry(member.id.site).or_default();
        found.any.get_or_insert(member.id);
        found.pages += 1;
        found.log_rates += f64::from(belief.log_rate());
    }

    fn end(&mut self, now: Millis, session: &Session) -> Result<()> {
        let mut found = std::mem::take(&mut self.found);
        found.at = now;
        found.fresh = if found.pages == 0 { 1.0 } else { found.fresh / found.pages as f64 };
        let mut hosts: Vec<Found> = std::mem::take(&mut self.hosts).into_values().collect();
        hosts.sort_by_key(|host| (std::cmp::Reverse(host.pages), host.any));
        for Found { any, pages, log_rates } in hosts.into_iter().take(HOSTS) {
            let url = any.map(|url| PageRecord::get(PageId { url, visit: 1 }, session)).transpose()?.flatten();
            let url = url.and_then(|record| Url::parse(&record.url).ok());
            let host = url.as_ref().and_then(Url::host_str).unwrap_or_default().to_owned();
            found.hosts.push(HostRate { host, pages, changes_a_day: (log_rates / pages as f64).exp() });
        }
        (self.next, self.last) = (0, Some(found));
        Ok(())
    }
}
