//! Synthetic webs: pages on hosts, copies on mirrors, contents that change, copies that diverge. The web logs all
//! changes, and freshness is measured with this log.

use fastrand::Rng;

use super::changes::{Pattern, exponential, normal};

/// The parameters of a synthetic web.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WebSpec {
    /// The number of URLs, copies included.
    pub pages: usize,
    /// The number of hosts. Their sizes follow Zipf's law.
    pub hosts: usize,
    /// The share of the pages that are copies.
    pub copies: f64,
    /// The share of the copies that diverge, each at a time of its own.
    pub lying: f64,
    /// The distribution of changes over time.
    pub pattern: Pattern,
    /// The standard deviation of the logarithm of the change rates. Their median is one change a day.
    pub deviation: f64,
    /// The seed of all random decisions.
    pub seed: u64,
}

/// The length of a simulation, in days.
pub const DAYS: f64 = 100.0;

/// A version of a page: its content, and the number of changes of that content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Shown {
    /// The number of the content.
    pub source: u32,
    /// The number of its changes so far.
    pub version: u32,
}

/// A page.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// The host.
    pub host: u32,
    /// The page of which this is a copy, if it is one.
    pub original: Option<u32>,
    /// The content that it shows at first.
    pub source: u32,
    /// If it is a copy that diverges: the time, and the content that it shows from then on.
    pub diverges: Option<(f64, u32)>,
}

/// A web and the log of its changes.
#[derive(Clone, Debug)]
pub struct Web {
    /// The parameters with which it was made.
    pub spec: WebSpec,
    /// All pages, originals first.
    pub pages: Vec<Page>,
    /// The number of changes a day, by content.
    pub rates: Vec<f64>,
    /// The times of changes, by content.
    log: Vec<Vec<f32>>,
    /// The number of pages of the largest host.
    largest: usize,
}

impl Web {
    /// Makes a web.
    pub fn new(spec: WebSpec) -> Self {
        let mut random = Rng::with_seed(spec.seed);
        let mut hosts = Zipf::new(spec.hosts, &mut random);
        let originals = spec.pages - (spec.copies * spec.pages as f64).round() as usize;
        let mut pages: Vec<Page> = (0..originals)
            .map(|n| Page { host: hosts.draw(&mut random), original: None, source: n as u32, diverges: None })
            .collect();
        // Each host has one or two mirrors.
        let mirrors: Vec<[u32; 2]> = (0..spec.hosts as u32)
            .map(|host| [0, 1].map(|_| (host + random.u32(1..spec.hosts as u32)) % spec.hosts as u32))
            .collect();
        for _ in originals..spec.pages {
            let original = random.u32(0..originals as u32);
            let Page { host, source, .. } = pages[original as usize];
            let host = mirrors[host as usize][random.usize(0..2)];
            pages.push(Page { host, original: Some(original), source, diverges: None });
        }
        let mut web = Self { spec, pages, rates: Vec::new(), log: Vec::new(), largest: 0 };
        let mut sizes = vec![0; spec.hosts];
        web.pages.iter().for_each(|page| sizes[page.host as usize] += 1);
        web.largest = sizes.into_iter().max().unwrap_or(1).max(1);
        let zones: Vec<f64> = (0..spec.hosts).map(|_| random.f64()).collect();
        for n in 0..originals {
            web.add_source(zones[web.pages[n].host as usize], &mut random);
        }
        for page in web.liars(&mut random) {
            let source = web.add_source(zones[web.pages[page].host as usize], &mut random);
            web.pages[page].diverges = Some((random.f64() * DAYS, source));
        }
        web
    }

    /// The copies that diverge. Most of them belong to a tenth of the pairs of hosts.
    fn liars(&self, random: &mut Rng) -> Vec<usize> {
        let bad_pairs = random.u64(..);
        let is_bad = |page: &Page| {
            let pair = u64::from(self.pages[page.original.unwrap_or(0) as usize].host) << 32 | u64::from(page.host);
            Rng::with_seed(bad_pairs ^ pair).f64() < 0.1
        };
        let copies = self.pages.iter().enumerate().filter(|(_, page)| page.original.is_some());
        // They are drawn without replacement, and those of bad pairs are forty times as likely.
        let mut drawn: Vec<(u64, usize)> = copies
            .map(|(n, page)| ((exponential(random) * 1e15 / if is_bad(page) { 40.0 } else { 1.0 }) as u64, n))
            .collect();
        drawn.sort_unstable();
        let liars = (self.spec.lying * drawn.len() as f64).round() as usize;
        drawn.into_iter().take(liars).map(|(_, n)| n).collect()
    }

    fn add_source(&mut self, zone: f64, random: &mut Rng) -> u32 {
        let rate = (self.spec.deviation * normal(random)).exp();
        self.rates.push(rate);
        self.log.push(self.spec.pattern.moments(rate, zone, DAYS, random));
        (self.log.len() - 1) as u32
    }

    /// The version of a page at a time.
    pub fn shows(&self, page: u32, now: f64) -> Shown {
        let source = self.source(page, now);
        Shown { source, version: self.log[source as usize].partition_point(|at| f64::from(*at) <= now) as u32 }
    }

    /// The content of a page at a time.
    pub fn source(&self, page: u32, now: f64) -> u32 {
        let page = &self.pages[page as usize];
        page.diverges.filter(|(at, _)| *at <= now).map_or(page.source, |(_, source)| source)
    }

    /// The time until which a page shows this version.
    pub fn shows_until(&self, page: u32, shown: Shown) -> f64 {
        let page = &self.pages[page as usize];
        let change =
            self.log[shown.source as usize].get(shown.version as usize).map_or(f64::INFINITY, |at| f64::from(*at));
        page.diverges.filter(|_| shown.source == page.source).map_or(change, |(at, _)| at.min(change))
    }

    /// The change rate of the content that a page shows.
    pub fn rate(&self, page: u32, now: f64) -> f64 {
        self.rates[self.source(page, now) as usize]
    }

    /// The number of the pair of hosts of a copy and its original.
    pub fn pair(&self, page: u32) -> u32 {
        self.pair_of(self.pages[page as usize].original.unwrap_or(page), page)
    }

    /// The number of the pair of hosts of two pages.
    pub fn pair_of(&self, original: u32, copy: u32) -> u32 {
        self.pages[original as usize].host * self.spec.hosts as u32 + self.pages[copy as usize].host
    }

    /// The days between two requests to a host, the same for all hosts. The largest host then allows requests for a
    /// quarter of its pages a day, which limits the visits to large hosts.
    pub fn delay(&self) -> f64 {
        4.0 / self.largest as f64
    }
}

/// A distribution of hosts, with probabilities in proportion to 1, 1/2, 1/3 and so on.
struct Zipf(Vec<f64>);

impl Zipf {
    fn new(hosts: usize, random: &mut Rng) -> Self {
        let mut weights: Vec<f64> = (1..=hosts).map(|rank| 1.0 / rank as f64).collect();
        random.shuffle(&mut weights);
        let mut sum = 0.0;
        weights.iter_mut().for_each(|weight| {
            sum += *weight;
            *weight = sum;
        });
        Self(weights)
    }

    fn draw(&mut self, random: &mut Rng) -> u32 {
        let at = random.f64() * self.0.last().copied().unwrap_or(1.0);
        self.0.partition_point(|sum| *sum < at).min(self.0.len() - 1) as u32
    }
}
