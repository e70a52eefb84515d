//! The scheduler of this project. At the start it knows only which pages showed the same in the first crawl.
//!
//! This module does what an engine does around the scheduler: it keeps the records, fetches pages that are due,
//! compares them, and decides which pages show the same. It judges by fetched contents alone, never by the log of the
//! web.

use std::collections::HashMap;

use frontier::refresh::cluster::CopyCluster;
use frontier::refresh::copies::{Care, Cared, Copy, Pair, PairId};
use frontier::refresh::prior::PriorKey;
use frontier::refresh::scheduler::{Refresh, VisitDecision, VisitFinding};
use frontier::refresh::settings::Settings;
use frontier::refresh::signals::Source;
use frontier::refresh::time::Seconds;
use frontier::refresh::turns::HostNumber;

use super::baselines::{rested, seconds};
use super::run::{Archive, Policy};
use super::web::{Shown, Web};

/// The policy of this project's scheduler.
#[derive(Debug)]
pub struct Ours<'a> {
    web: &'a Web,
    refresh: Refresh,
    records: Vec<Record>,
    /// The pages of each host, for reviews.
    by_host: Vec<Vec<u32>>,
    /// The copies of each representative.
    copies: Vec<Vec<u32>>,
    /// By representative: the copies that differed from it, until it has been fetched once more.
    suspects: HashMap<u32, Vec<(u32, Shown)>>,
    pairs: HashMap<PairId, Pair>,
    /// By content: the page that was last seen to show it.
    showing: HashMap<u32, u32>,
    /// The counts of the run.
    pub tally: Tally,
}

/// The record of a page.
#[derive(Clone, Copy, Debug)]
enum Record {
    /// A page that is visited.
    Cluster(CopyCluster),
    /// A page that is trusted to show the same as page `of`.
    Copy { of: u32, copy: Copy },
}

/// The counts of a run.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// The number of fetches.
    pub fetches: u64,
    /// The number of fetches that checked copies, or repeated representatives because of such a check.
    pub checks: u64,
    /// The pages of copies that left a cluster, with the time.
    pub left: Vec<(u32, f64)>,
    /// The pages that became copies of another page again, with the time.
    pub joined: Vec<(u32, f64)>,
    /// The pairs of hosts of which three copies have diverged, with the time since when.
    pub watched: HashMap<PairId, f64>,
}

impl<'a> Ours<'a> {
    /// A policy for a web whose pages have all just been fetched.
    pub fn new(web: &'a Web, settings: Settings) -> Self {
        let mut refresh = Refresh::new(settings, Default::default(), Default::default());
        (0..web.spec.hosts).for_each(|_| _ = refresh.add_host((web.delay() * 86_400.0) as f32, Default::default()));
        let start = seconds(0.0);
        let mut copies = vec![Vec::new(); web.pages.len()];
        let mut by_host = vec![Vec::new(); web.spec.hosts];
        for (n, page) in web.pages.iter().enumerate() {
            by_host[page.host as usize].push(n as u32);
            if let Some(original) = page.original {
                copies[original as usize].push(n as u32);
            }
        }
        let record = |n: usize| match web.pages[n].original {
            None => Record::Cluster(CopyCluster::new(start, 1.0 + copies[n].len() as f32, PriorKey::new(0, 0))),
            Some(of) => Record::Copy {
                of,
                copy: Copy { checked: start, pair: web.pair(n as u32), priority: 1.0, pending: false },
            },
        };
        let records: Vec<Record> = (0..web.pages.len()).map(record).collect();
        let mut showing = HashMap::new();
        for (n, record) in records.iter().enumerate() {
            if let Record::Cluster(cluster) = record {
                refresh.add(web.pages[n].host, n as u64, cluster);
                showing.insert(web.shows(n as u32, 0.0).source, n as u32);
            }
        }
        let (suspects, pairs, tally) = Default::default();
        let mut ours = Self { web, refresh, records, by_host, copies, suspects, pairs, showing, tally };
        // The first round computes the demand, the second the due times.
        for _ in 0..2 {
            (0..web.spec.hosts as HostNumber).for_each(|host| ours.review(host, start));
        }
        ours
    }

    /// Reports that a sitemap lists a page. `told` is the time at which the sitemap was read, if it says that the page
    /// has changed since its last visit.
    pub fn listed(&mut self, page: u32, told: Option<Seconds>) {
        let host = self.host(page);
        if let Record::Cluster(cluster) = &mut self.records[page as usize] {
            self.refresh.listed(host, u64::from(page), cluster, Source::Sitemap, told);
        }
    }

    fn review(&mut self, host: HostNumber, now: Seconds) {
        self.refresh.review(host, now);
        for &page in &self.by_host[host as usize] {
            match &self.records[page as usize] {
                Record::Cluster(cluster) => self.refresh.pass(u64::from(page), cluster),
                Record::Copy { copy, .. } if copy.pending => self.refresh.pass_fixed(u64::from(page), 0),
                Record::Copy { .. } => {}
            }
        }
        self.refresh.reviewed();
    }

    fn host(&self, page: u32) -> HostNumber {
        self.web.pages[page as usize].host
    }

    /// Reports that a representative was fetched.
    fn visited(&mut self, page: u32, mut cluster: CopyCluster, shown: Shown, now: f64, archive: &mut Archive) {
        let host = self.host(page);
        let seen = VisitFinding { changed: archive.before() != shown, modified: None };
        self.refresh.visited(host, u64::from(page), &mut cluster, seconds(now), seen);
        self.records[page as usize] = Record::Cluster(cluster);
        for (suspect, showed) in self.suspects.remove(&page).unwrap_or_default() {
            if showed == shown { self.held(suspect, now) } else { self.diverged(suspect, now) }
        }
        for &copy in &self.copies[page as usize] {
            archive.store(copy, shown, now);
        }
        self.care(page, now);
        if let Some(other) = self.showing.insert(shown.source, page)
            && other != page
            && archive.stored(other) == shown
        {
            self.join(page, other, now);
        }
    }

    /// Decides for each copy of a page that was just visited whether it stays trusted.
    fn care(&mut self, page: u32, now: f64) {
        let Record::Cluster(cluster) = self.records[page as usize] else { return };
        if self.copies[page as usize].is_empty() {
            return;
        }
        let belief = self.refresh.belief(self.host(page), &cluster);
        let interval = self.refresh.interval(self.host(page), u64::from(page), &cluster);
        for copy in self.copies[page as usize].clone() {
            self.care_for(copy, Cared { belief: &belief, interval }, now);
        }
    }

    fn care_for(&mut self, page: u32, cared: Cared, now: f64) {
        let host = self.host(page);
        let Record::Copy { copy, .. } = &mut self.records[page as usize] else { return };
        let pair = self.pairs.entry(copy.pair).or_default();
        match self.refresh.care(cared, copy, pair, host, seconds(now)) {
            Care::Trust => {}
            Care::Check => {
                copy.pending = true;
                self.refresh.queue_fixed(host, u64::from(page), 0);
            }
            Care::Leave => self.leave(page, now, None),
        }
    }

    /// Reports that a copy was fetched for a check.
    fn checked(&mut self, page: u32, of: u32, shown: Shown, now: f64, archive: &Archive) {
        self.spent();
        if archive.stored(of) == shown {
            return self.held(page, now);
        }
        // Both may have changed since the representative was fetched.
        self.suspects.entry(of).or_default().push((page, shown));
        let host = self.host(of);
        if let Record::Cluster(cluster) = &mut self.records[of as usize]
            && !cluster.flags.urgent
        {
            cluster.flags.urgent = true;
            self.refresh.queue(host, u64::from(of), cluster);
            self.spent();
        }
    }

    fn spent(&mut self) {
        self.tally.checks += 1;
        self.refresh.pairs.spent();
    }

    fn held(&mut self, page: u32, now: f64) {
        if let Record::Copy { copy, .. } = &mut self.records[page as usize] {
            let pair = self.pairs.entry(copy.pair).or_default();
            self.refresh.pairs.agreed(copy, pair, seconds(now));
        }
    }

    fn diverged(&mut self, page: u32, now: f64) {
        let Record::Copy { copy, .. } = self.records[page as usize] else { return };
        let pair = self.pairs.entry(copy.pair).or_default();
        self.refresh.pairs.diverged(&copy, pair, seconds(now));
        let is_watched = pair.is_watched();
        self.leave(page, now, Some(now));
        if is_watched {
            self.tally.watched.entry(copy.pair).or_insert(now);
            let of_pair =
                |record: &Record| matches!(record, Record::Copy { copy: other, .. } if other.pair == copy.pair);
            let others: Vec<usize> = (0..self.records.len()).filter(|n| of_pair(&self.records[*n])).collect();
            for other in others {
                if let Record::Copy { of, .. } = self.records[other]
                    && let Record::Cluster(cluster) = self.records[of as usize]
                {
                    let belief = self.refresh.belief(self.host(of), &cluster);
                    let interval = self.refresh.interval(self.host(of), u64::from(of), &cluster);
                    self.care_for(other as u32, Cared { belief: &belief, interval }, now);
                }
            }
        }
    }

    /// Makes a copy a page of its own. `fetched` is the time of its fetch, if it was fetched.
    fn leave(&mut self, page: u32, now: f64, fetched: Option<f64>) {
        let Record::Copy { of, copy } = self.records[page as usize] else { return };
        let Record::Cluster(cluster) = &mut self.records[of as usize] else { return };
        cluster.reweigh(-copy.priority);
        let visited = fetched.map_or(cluster.visited, seconds);
        let own =
            CopyCluster { history: cluster.history, ..CopyCluster::new(visited, copy.priority, cluster.prior_key) };
        self.copies[of as usize].retain(|other| *other != page);
        self.records[page as usize] = Record::Cluster(own);
        self.refresh.add(self.host(page), u64::from(page), &own);
        self.tally.left.push((page, now));
    }

    /// Makes a page a copy of the page that is known to show the same, if that pair of hosts may be trusted.
    fn join(&mut self, page: u32, other: u32, now: f64) {
        let of = match self.records[other as usize] {
            Record::Cluster(_) => other,
            Record::Copy { of, .. } => of,
        };
        let (Record::Cluster(joins), Record::Cluster(cluster)) =
            (self.records[page as usize], self.records[of as usize])
        else {
            return;
        };
        if of == page || !self.copies[page as usize].is_empty() {
            return;
        }
        let copy =
            Copy { checked: seconds(now), pair: self.web.pair_of(of, page), priority: joins.weight, pending: false };
        let pair = self.pairs.entry(copy.pair).or_default();
        let belief = self.refresh.belief(self.web.pages[of as usize].host, &cluster);
        let interval = self.refresh.interval(self.web.pages[of as usize].host, u64::from(of), &cluster);
        let host = self.web.pages[page as usize].host;
        if self.refresh.care(Cared { belief: &belief, interval }, &copy, pair, host, seconds(now)) == Care::Leave {
            return;
        }
        self.records[page as usize] = Record::Copy { of, copy };
        self.copies[of as usize].push(page);
        self.tally.joined.push((page, now));
        self.refresh.remove(host);
        if let Record::Cluster(cluster) = &mut self.records[of as usize] {
            cluster.reweigh(copy.priority);
        }
        self.showing.insert(joins_source(self.web, page, now), of);
    }
}

/// The number of the content that the page shows.
fn joins_source(web: &Web, page: u32, now: f64) -> u32 {
    web.shows(page, now).source
}

impl Policy for Ours<'_> {
    fn next(&mut self, now: f64) -> Option<u32> {
        let at = seconds(now);
        while let Some(host) = self.refresh.wants_review(at) {
            self.review(host, at);
        }
        loop {
            let turn = self.refresh.next(at)?;
            let decision = match &self.records[turn.page as usize] {
                Record::Cluster(cluster) => self.refresh.judge(turn, cluster, at),
                Record::Copy { copy, .. } if copy.pending => VisitDecision::Visit,
                Record::Copy { .. } => VisitDecision::Stale,
            };
            match decision {
                VisitDecision::Visit => {
                    self.refresh.take(turn);
                    return Some(turn.page as u32);
                }
                VisitDecision::Stale => self.refresh.drop(turn),
                VisitDecision::Wait(until) => self.refresh.defer(turn, until),
            }
        }
    }

    fn fetched(&mut self, page: u32, shown: Shown, now: f64, archive: &mut Archive) {
        self.tally.fetches += 1;
        self.refresh.rest(self.host(page), rested(self.web, now));
        match self.records[page as usize] {
            Record::Cluster(cluster) => self.visited(page, cluster, shown, now, archive),
            Record::Copy { of, .. } => self.checked(page, of, shown, now, archive),
        }
    }
}
