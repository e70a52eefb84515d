//! Estimates how fresh the stored pages are: a survey of all URLs, some URLs at a time.

use std::collections::HashMap;

use dedup_stage::store::{Result, Session};
use dedup_stage::url::{PageId, SiteId, UrlId};
use frontier::Millis;
use frontier::refresh::scheduler::Refresh;
use frontier::refresh::time::DAY;
use frontier::refresh::turns::HostNumber;
use serde::{Deserialize, Serialize};
use url::Url;

use super::Continuous;
use super::member::Life;
use super::roster::Roster;
use crate::record::PageRecord;

/// Upper ends of the classes of ages, milliseconds; the last class has no end.
pub const AGES: [Millis; 5] = [3_600_000, 86_400_000, 7 * 86_400_000, 30 * 86_400_000, 90 * 86_400_000];
/// The most hosts in the result.
const HOSTS: usize = 10;
/// URLs that one step surveys.
const STEP: usize = 256;

/// The result of a survey.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Freshness {
    /// When it ended, in milliseconds since 1970.
    pub at: Millis,
    /// Pages whose last answer was a page, trusted copies included.
    pub pages: u64,
    /// The share of these pages that have not changed on the web since their last visit, 0..1, as estimated.
    pub fresh: f64,
    /// Pages by their age: up to an hour, a day, a week, 30 days, 90 days, and more. The age of a trusted copy is that
    /// of its representative.
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
    /// Its pages without trusted copies.
    pub pages: u64,
    /// Estimated changes of a page in a day: the geometric mean over the pages.
    pub changes_a_day: f64,
}

/// A survey under way.
#[derive(Debug, Default)]
pub(super) struct Survey {
    next: usize,
    found: Freshness,
    hosts: HashMap<SiteId, HostSurvey>,
    last: Option<Freshness>,
}

/// The data that a survey reads.
#[derive(Clone, Copy)]
pub(super) struct Pages<'a> {
    pub roster: &'a Roster,
    pub refresh: &'a Refresh,
    pub hosts: &'a HashMap<SiteId, HostNumber>,
    pub now: Millis,
}

/// What the survey has found on a host so far.
#[derive(Debug, Default)]
struct HostSurvey {
    /// One of its pages.
    any: Option<UrlId>,
    pages: u64,
    log_rates: f64,
}

impl Continuous {
    /// The result of the last complete survey of freshness.
    pub fn freshness(&self) -> Option<&Freshness> {
        self.survey.last()
    }

    /// Surveys all pages now.
    pub fn survey(&mut self, now: Millis, session: &Session) -> Result<()> {
        let pages = Pages { roster: &self.roster, refresh: &self.refresh, hosts: &self.hosts, now };
        self.survey.take(pages, session)
    }
}

impl Survey {
    /// The result of the last complete survey.
    pub fn last(&self) -> Option<&Freshness> {
        self.last.as_ref()
    }

    /// Surveys some more URLs.
    pub fn go_on(&mut self, pages: Pages<'_>, session: &Session) -> Result<()> {
        let end = pages.roster.members.len().min(self.next + STEP);
        (self.next..end).for_each(|place| self.look(place, pages));
        self.next = end;
        if end == pages.roster.members.len() { self.end(pages.now, session) } else { Ok(()) }
    }

    /// Surveys all URLs, from the beginning.
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
        let mut hosts: Vec<HostSurvey> = std::mem::take(&mut self.hosts).into_values().collect();
        hosts.sort_by_key(|host| (std::cmp::Reverse(host.pages), host.any));
        for HostSurvey { any, pages, log_rates } in hosts.into_iter().take(HOSTS) {
            let url = any.map(|url| PageRecord::get(PageId { url, visit: 1 }, session)).transpose()?.flatten();
            let url = url.and_then(|record| Url::parse(&record.url).ok());
            let host = url.as_ref().and_then(Url::host_str).unwrap_or_default().to_owned();
            found.hosts.push(HostRate { host, pages, changes_a_day: (log_rates / pages as f64).exp() });
        }
        (self.next, self.last) = (0, Some(found));
        Ok(())
    }
}
