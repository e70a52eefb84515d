//! The visits of a continuous crawl. Each cluster of copies is visited again when the visit is worth the price of a
//! fetch. New URLs are fetched at the same time. (`super` explains the words.)
//!
//! The scheduler (`frontier::refresh`) says which visits are due. Each host has at most one visit in the frontier's
//! queue. There, visits and new URLs are compared by one number: the freshness that the fetch buys, in weighted days,
//! divided by the freshness that the first fetch of the best page buys. While a host has both, `--refresh-share` bounds
//! the visits (`share`).
//!
//! Everything is read from the records of pages (`roster`) and lists at the start, and updated with each new record.
//! Nothing else is stored, so a run that was killed goes on as before.

use std::collections::{HashMap, HashSet};

use dedup_stage::store::{Result, Session};
use dedup_stage::url::{PageId, SiteId, UrlId};
use frontier::refresh::scheduler::{Refresh, VisitDecision};
use frontier::refresh::settings::Settings;
use frontier::refresh::signals::Source;
use frontier::refresh::time::{DAY, Seconds, days, seconds};
use frontier::refresh::turns::{HostNumber, VisitTurn};
use frontier::{Frontier, Millis};

use super::freshness::{Pages, Survey};
use super::heard;
use super::listed::Listed;
use super::lists::{List, Lists};
use super::member::{LONGEST_REST, Life, Member};
use super::reach::{AGAIN, Site};
use super::roster::Roster;
use super::{MOST_OPEN, PRIORITY, Round, queue};
use crate::record::PageRecord;

/// The visits of a continuous crawl.
#[derive(Debug)]
pub(in crate::engine) struct Continuous {
    pub(super) settings: Settings,
    shares: config::Shares,
    /// Whether copies are trusted.
    pub(super) trusts: bool,
    pub(super) roster: Roster,
    pub(super) refresh: Refresh,
    pub(super) hosts: HashMap<SiteId, HostNumber>,
    /// Hosts, by their numbers in `refresh`.
    pub(super) sites: Vec<Site>,
    /// Representatives that could not be had, each with the copy that took its place, and the time.
    pub(super) heirs: HashMap<usize, (usize, Seconds)>,
    /// Sitemaps and feeds.
    pub(super) lists: Lists,
    /// For each place: whether the scheduler counts it as a cluster.
    clusters: Vec<bool>,
    /// Copies that are to be checked as soon as possible.
    pub(super) pending: HashSet<usize>,
    /// Visits in the queue of the frontier, by the hashes of their URLs, with their hosts.
    open: HashMap<u64, HostNumber>,
    /// Queued visits that must now be moved before new URLs.
    late: Vec<u64>,
    /// Seconds from one request to a host to the next.
    delay: f32,
    pub(super) survey: Survey,
}

/// While new URLs come first, the next visit is considered again after this many seconds.
pub(super) const DEFER: Seconds = 1;
/// Visits a day over all hosts. The number is so high that it never limits anything: the delays of the hosts and
/// `--min-gain` limit the visits.
const BUDGET: f32 = 1e9;

impl Continuous {
    /// Reads the records of all visits. The arguments are those of [`Roster::read`].
    pub fn open(
        settings: &config::Settings,
        trusts: bool,
        priority: &dyn Fn(u32) -> f32,
        now: Millis,
        session: &Session,
    ) -> Result<Self> {
        let settings_delay = settings.politeness.delay.0 as f32 / 1_000.0;
        let config::Refresh { share, min_age, max_age, min_gain, .. } = &settings.refresh;
        let settings = Settings {
            budget: BUDGET,
            min_age: seconds(min_age.0),
            max_age: if max_age.0 == 0 { Seconds::MAX } else { seconds(max_age.0).max(1) },
            least_price: min_gain.0 as f32 / (1_000.0 * DAY),
            lessons: true,
        };
        let mut visits = Self {
            settings,
            shares: *share,
            trusts,
            roster: Roster::read(session, trusts, priority)?,
            refresh: Refresh::new(settings, Default::default(), Default::default()),
            hosts: HashMap::new(),
            sites: Vec::new(),
            heirs: HashMap::new(),
            lists: Lists::default(),
            clusters: Vec::new(),
            pending: HashSet::new(),
            open: HashMap::new(),
            late: Vec::new(),
            delay: settings_delay,
            survey: Survey::default(),
        };
        List::all(session)?.into_iter().for_each(|(id, list)| visits.list_read(id, list));
        (0..visits.roster.members.len()).for_each(|at| visits.enter(at));
        // The first review finds how hosts differ. The second one finds how the pages of a host differ.
        for _ in 0..2 {
            (0..visits.sites.len() as HostNumber).for_each(|host| visits.review(host, seconds(now)));
        }
        Ok(visits)
    }

    /// Whether the URL is a representative that has copies.
    pub fn has_copies(&self, url: UrlId) -> bool {
        self.roster.has_copies(url)
    }

    /// The number of trusted copies.
    pub fn trusted(&self) -> u64 {
        self.roster.trusted
    }

    /// The time of the next due visit, in milliseconds. A report may make it earlier. `None` if none is known.
    pub fn due(&mut self, now: Millis) -> Option<Millis> {
        let due = self.refresh.next_due(seconds(now)).filter(|_| self.open.len() < MOST_OPEN)?;
        Some((u64::from(due) * 1_000).max(now + 1))
    }

    /// Queues the due visit of each host that has none in the frontier's queue. True if there may be more to do.
    pub fn feed(
        &mut self,
        now: Millis,
        round: &mut Round,
        frontier: &mut Frontier,
        session: &mut Session,
    ) -> Result<bool> {
        let at = seconds(now);
        for (url, reason) in frontier.take_withdrawn() {
            self.close(url.url, at);
            self.refused(url, reason, now, round, session)?;
        }
        let mut any = self.hasten(frontier, session)?;
        if let Some(host) = self.refresh.wants_review(at) {
            self.give_way(host, now, round, frontier, session)?;
            self.review(host, at);
            any = true;
        }
        while self.open.len() < MOST_OPEN
            && let Some(turn) = self.refresh.next(at).filter(|turn| turn.due <= at)
        {
            any |= self.turn(turn, now, round, frontier, session)?;
        }
        let pages = Pages { roster: &self.roster, refresh: &self.refresh, hosts: &self.hosts, now };
        self.survey.go_on(pages, session)?;
        Ok(any)
    }

    /// The turn of a URL has come: queues the visit, or gives the URL a later turn. True if a visit was queued.
    fn turn(
        &mut self,
        turn: VisitTurn,
        now: Millis,
        round: &mut Round,
        frontier: &mut Frontier,
        session: &mut Session,
    ) -> Result<bool> {
        let at = seconds(now);
        if let Some(queued) = self.turn_of_sitemap(turn, at, frontier, session)? {
            return Ok(queued);
        }
        let Some(place) = self.roster.at(turn.page) else {
            self.refresh.drop(turn);
            return Ok(false);
        };
        let is_due = match self.fixed(place) {
            Some(due) => due <= at,
            None if self.clusters[place] => {
                self.refresh.judge(turn, &self.roster.members[place].cluster, at) == VisitDecision::Visit
            }
            None => false,
        };
        if !is_due {
            self.refresh.drop(turn);
            let due = match self.fixed(place) {
                None if self.clusters[place] => {
                    Some(self.refresh.due(turn.host, turn.page, &self.roster.members[place].cluster))
                }
                fixed => fixed,
            };
            // The next turn is at a later second. At the same second, it would come again and again.
            due.into_iter().for_each(|due| self.refresh.queue_fixed(turn.host, turn.page, due.max(at + 1)));
            return Ok(false);
        }
        let waits = frontier.queued_of(self.roster.members[place].id.site) > 0;
        let Some(priority) = self.priority(turn.host, place, waits, at) else {
            self.refresh.defer(turn, at + DEFER);
            return Ok(false);
        };
        self.refresh.take(turn);
        if queue(&self.roster.members[place], priority, frontier, session)? {
            self.open.insert(turn.page, turn.host);
            let site = &mut self.sites[turn.host as usize];
            (site.behind, site.waits) = ((priority < PRIORITY).then_some(turn.page), Some(at));
            return Ok(true);
        }
        self.refresh.rest(turn.host, at);
        self.put_off(place, now, round);
        Ok(false)
    }

    /// The priority of a visit in the frontier's queue; `None` if new URLs of its host (`waits`) come first.
    fn priority(&self, host: HostNumber, place: usize, waits: bool, now: Seconds) -> Option<f32> {
        if !waits {
            return Some(PRIORITY);
        }
        if self.has_its_share(host) {
            return None;
        }
        if self.sites[host as usize].balance.share() < self.shares.least.0 {
            return Some(PRIORITY);
        }
        let cluster = &self.roster.members[place].cluster;
        let buys = match self.clusters[place] {
            true => cluster.weight * self.refresh.gain(host, cluster, days(cluster.visited, now)),
            false => self.refresh.price(host),
        };
        Some((buys / self.refresh.worth_of_new(host, cluster.prior_key, 1.0)).clamp(0.0, PRIORITY))
    }

    /// Whether the visits of a host have reached the upper bound of `--refresh-share`.
    pub(super) fn has_its_share(&self, host: HostNumber) -> bool {
        self.sites[host as usize].balance.share() >= self.shares.most.0
    }

    /// A visit to a host was made.
    pub(super) fn count_visit(&mut self, host: HostNumber) {
        self.sites[host as usize].balance.visited();
    }

    /// Moves waiting visits before new URLs, on hosts whose visits are below the lower bound of `--refresh-share`.
    fn hasten(&mut self, frontier: &mut Frontier, session: &mut Session) -> Result<bool> {
        let late = std::mem::take(&mut self.late);
        for place in late.iter().filter(|url| self.open.contains_key(url)).filter_map(|url| self.roster.at(*url)) {
            queue(&self.roster.members[place], PRIORITY, frontier, session)?;
        }
        Ok(!late.is_empty())
    }

    /// A page was recorded, for the first time or again. `priority`: the priority of the page, 0..1.
    pub fn recorded(
        &mut self,
        page: PageId,
        record: &PageRecord,
        priority: f32,
        now: Millis,
        round: &mut Round,
        session: &mut Session,
    ) -> Result<()> {
        self.close(page.url.url, seconds(now));
        match self.roster.place(page.url) {
            Some(place) => {
                let host = self.host(page.url.site);
                self.count_visit(host);
                let dated = heard::hear(&mut self.refresh, host, &self.roster.members[place], page.visit, record);
                heard::keep(page, dated, &self.refresh.learned(host).signals, session);
                if record.status > 0 {
                    self.answers(host);
                }
                self.visited(place, page.visit, record, dated, now, round);
            }
            None => {
                let mut member = Member::new(page.url, record, priority);
                Listed::get(page.url, session)?.into_iter().for_each(|listed| _ = member.hear(listed));
                let place = self.roster.push(member, self.trusts);
                self.enter(place);
                self.fetched_new(page.url.site);
            }
        }
        round.trusted = self.roster.trusted;
        Ok(())
    }

    /// A sitemap says when a page has changed. See [`super::Visits::listed`].
    pub fn listed(&mut self, url: UrlId, listed: Listed) -> f32 {
        let Some(place) = self.roster.place(url) else { return 0.0 };
        if !self.roster.members[place].hear(listed) {
            return 0.0;
        }
        // A visit in the frontier's queue is on its way already.
        if !self.open.contains_key(&url.url) {
            self.place(place);
        }
        let host = self.host(url.site);
        let signals = &self.refresh.learned(host).signals;
        if signals.believes(Source::Sitemap) { signals.trust(Source::Sitemap) } else { 0.0 }
    }

    /// Whether a visit to a URL is in the frontier's queue.
    pub(super) fn is_queued(&self, url: UrlId) -> bool {
        self.open.contains_key(&url.url)
    }

    fn fetched_new(&mut self, site: SiteId) {
        let host = self.host(site) as usize;
        let site = &mut self.sites[host];
        site.balance.fetched_new();
        if site.balance.share() < self.shares.least.0 {
            self.late.extend(site.behind.take());
        }
    }

    /// A URL was added to the roster.
    fn enter(&mut self, place: usize) {
        let host = self.host(self.roster.members[place].id.site);
        self.sites[host as usize].places.push(place);
        self.clusters.push(false);
        self.place(place);
    }

    /// Queues the next visit of a URL with the scheduler. A URL that is no cluster gets a fixed time, or is not queued.
    pub(super) fn place(&mut self, place: usize) {
        let Member { id, of, life, cluster, .. } = self.roster.members[place];
        let host = self.host(id.site);
        let is_cluster = of.is_none() && life == Life::Alive && !self.lists.is_feed(id.url);
        let was_cluster = std::mem::replace(&mut self.clusters[place], is_cluster);
        match (was_cluster, is_cluster) {
            (false, true) => return self.refresh.add(host, id.url, &cluster),
            (true, false) => self.refresh.remove(host),
            _ => {}
        }
        match self.fixed(place) {
            Some(due) => self.refresh.queue_fixed(host, id.url, due),
            None if is_cluster => self.refresh.queue(host, id.url, &cluster),
            None => {}
        }
    }

    /// The time of the next fetch of a URL that is no cluster. `None` if it is not to be fetched, or is a cluster.
    fn fixed(&self, place: usize) -> Option<Seconds> {
        let member = &self.roster.members[place];
        let Settings { min_age, max_age, .. } = self.settings;
        if member.of.is_some() {
            let is_bounded = max_age < Seconds::MAX;
            return if self.pending.contains(&place) {
                Some(seconds(member.asked).saturating_add(min_age))
            } else {
                is_bounded.then(|| member.checked.saturating_add(max_age))
            };
        }
        let asked = seconds(member.asked);
        let wait = match member.life {
            Life::Missing { .. } | Life::Trouble { .. } if member.relinked => List::LEAST,
            Life::Alive => return self.lists.due_of_feed(member.id.url, &self.refresh, &self.settings),
            // A missing page is asked for at growing intervals.
            Life::Missing { times: 2.., since } => (2 * asked.saturating_sub(since)).clamp(AGAIN, LONGEST_REST),
            Life::Missing { .. } | Life::Moved | Life::Trouble { .. } => AGAIN,
        };
        Some(asked.saturating_add(wait.clamp(min_age, max_age)))
    }

    /// The number of a host. Adds the host if it has none.
    pub(super) fn host(&mut self, site: SiteId) -> HostNumber {
        let (refresh, sites, delay) = (&mut self.refresh, &mut self.sites, self.delay);
        let roster = &self.roster;
        *self.hosts.entry(site).or_insert_with(|| {
            sites.push(Site::default());
            refresh.add_host(delay, roster.learned(site))
        })
    }

    fn review(&mut self, host: HostNumber, now: Seconds) {
        self.refresh.review(host, now);
        for sitemap in self.lists.sitemaps_of(host) {
            let due = self.lists.due(*sitemap, &self.refresh, &self.settings);
            due.into_iter().for_each(|due| self.refresh.pass_fixed(*sitemap, due));
        }
        for place in std::mem::take(&mut self.sites[host as usize].places) {
            let Member { id, ref cluster, .. } = self.roster.members[place];
            let is_open = self.open.contains_key(&id.url);
            match self.fixed(place) {
                Some(due) if !is_open => self.refresh.pass_fixed(id.url, due),
                None if self.clusters[place] => self.refresh.pass(id.url, cluster),
                _ => {}
            }
            self.sites[host as usize].places.push(place);
        }
        self.refresh.reviewed();
    }

    fn close(&mut self, url: u64, now: Seconds) {
        if let Some(host) = self.open.remove(&url) {
            let site = &mut self.sites[host as usize];
            (site.behind, site.waits) = (None, None);
            self.refresh.rest(host, now);
        }
    }
}
