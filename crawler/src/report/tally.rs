//! Sums over the lines of a crawl, from one pass. Their size depends on the number of hosts and URLs, and not on the
//! length of lines. Details are read again from the file when they are shown.

use std::collections::{BTreeMap, HashMap};

use super::clusters::Clusters;
use super::curve::{Curve, Point};
use super::line::{PageLine, SkipLine, Word, host};
use super::sample::Reservoir;

/// Numbers of pages by verdict, and of failures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdicts {
    /// Pages that say something new.
    pub unique: u64,
    /// Pages that say what an earlier page said.
    pub near: u64,
    /// Pages with the same bytes as an earlier page.
    pub exact: u64,
    /// Pages that say what the same URL said at its last visit.
    pub unchanged: u64,
    /// Pages that were answered, but not compared.
    pub unjudged: u64,
    /// URLs without an answer.
    pub failed: u64,
}

impl Verdicts {
    fn add(&mut self, page: &PageLine<'_>) {
        *match page.verdict {
            _ if page.status.is_none() => &mut self.failed,
            Word::Unique => &mut self.unique,
            Word::Near => &mut self.near,
            Word::Exact => &mut self.exact,
            Word::Unchanged => &mut self.unchanged,
            Word::Unjudged => &mut self.unjudged,
        } += 1;
    }

    /// Number of pages that were answered.
    pub fn pages(&self) -> u64 {
        self.judged() + self.unchanged + self.unjudged
    }

    /// Number of pages that were compared with others.
    pub fn judged(&self) -> u64 {
        self.unique + self.duplicates()
    }

    /// Number of exact and near duplicates.
    pub fn duplicates(&self) -> u64 {
        self.near + self.exact
    }
}

/// Sums for one host.
#[derive(Clone, Copy, Debug, Default)]
pub struct Host {
    /// The pages of the host, by verdict.
    pub verdicts: Verdicts,
    /// Bytes of decoded bodies.
    pub bytes: u64,
    /// Links of its duplicates that did not go to the frontier.
    pub links_dropped: u64,
}

/// Errors of one kind.
#[derive(Clone, Debug, Default)]
pub struct Errors {
    /// The number of errors of this kind.
    pub count: u64,
    /// One URL, and what its line says about the error.
    pub example: (String, String),
}

/// URLs not fetched for one reason.
#[derive(Clone, Debug)]
pub struct Skips {
    /// The number of these URLs.
    pub count: u64,
    /// Counts by host, for at most [`Tally::MOST_NAMES`] hosts.
    pub hosts: HashMap<String, u64>,
    /// Counts by rule, or by several rules that were applied one after the other, as the lines name them.
    pub rules: HashMap<String, u64>,
    /// The offsets of some lines.
    pub sample: Reservoir,
}

impl Skips {
    /// The kind of names that tell these URLs apart (`rule` if rules stopped them, otherwise `host`), and the names
    /// with their counts, the largest count first.
    pub fn names(&self) -> (&'static str, Vec<(&str, u64)>) {
        let names: Vec<(&str, u64)> = match self.rules.is_empty() {
            true => self.hosts.iter().map(|(name, count)| (&**name, *count)).collect(),
            false => self.rules.iter().map(|(name, count)| (&**name, *count)).collect(),
        };
        (if self.rules.is_empty() { "host" } else { "rule" }, by_count(names, |count| *count))
    }
}

/// Sums over `pages.jsonl` and `skipped.jsonl`.
#[derive(Clone, Debug)]
pub struct Tally {
    /// All pages.
    pub verdicts: Verdicts,
    /// Bytes of decoded bodies.
    pub bytes: u64,
    /// Bytes of decoded bodies of duplicates.
    pub duplicate_bytes: u64,
    /// Links found on pages.
    pub links: u64,
    /// Links that did not go to the frontier because their pages are duplicates.
    pub links_dropped: u64,
    /// Times of the first and the last page.
    pub times: Option<(String, String)>,
    /// The curve of distinct contents.
    pub curve: Curve,
    /// The verdicts by the number of links from a seed. Pages deeper than [`Tally::DEEPEST`] count at that depth.
    pub depths: Vec<Verdicts>,
    /// The sums by host and port, for at most [`Tally::MOST_NAMES`] hosts. Later hosts are in `other_hosts`.
    pub hosts: HashMap<Box<str>, Host>,
    /// The sum over all hosts that are not in `hosts`.
    pub other_hosts: Host,
    /// The numbers of pages by HTTP status.
    pub statuses: BTreeMap<u16, u64>,
    /// The numbers of pages by media type, without parameters.
    pub types: HashMap<String, u64>,
    /// The numbers of pages by language.
    pub languages: HashMap<String, u64>,
    /// The errors by their kind, which is the text before the colon.
    pub errors: HashMap<String, Errors>,
    /// The numbers of near-duplicates by Hamming distance.
    pub distances: [u64; 65],
    /// The numbers of near-duplicates by resemblance in twentieths.
    pub resemblances: [u64; 20],
    /// Pages by relevance in twentieths; all zero in a crawl without a topic.
    pub relevances: [u64; 20],
    /// The sum of the relevance of all pages.
    pub relevance: f64,
    /// The fingerprints, if they are kept.
    pub fingerprints: Option<Vec<u64>>,
    /// Clusters of duplicates.
    pub clusters: Clusters,
    /// The offsets of the lines of some pages.
    pub sample: Reservoir,
    /// URLs that were not fetched, by reason.
    pub skips: HashMap<String, Skips>,
}

impl Tally {
    /// At most this many names of hosts, types and the like are counted apart.
    pub const MOST_NAMES: usize = 200_000;
    /// At most this many depths are counted apart.
    pub const DEEPEST: usize = 40;
    /// At most this many pages are shown by name.
    const SAMPLE: usize = 1_000;
    /// At most this many skipped URLs of each reason are shown by name.
    const SKIP_SAMPLE: usize = 20;

    /// An empty tally. `fingerprints` says whether it keeps fingerprints; only [`super::health`] needs them.
    pub fn new(fingerprints: bool) -> Self {
        Self {
            verdicts: Verdicts::default(),
            bytes: 0,
            duplicate_bytes: 0,
            links: 0,
            links_dropped: 0,
            times: None,
            curve: Curve::default(),
            depths: Vec::new(),
            hosts: HashMap::new(),
            other_hosts: Host::default(),
            statuses: BTreeMap::new(),
            types: HashMap::new(),
            languages: HashMap::new(),
            errors: HashMap::new(),
            distances: [0; 65],
            resemblances: [0; 20],
            relevances: [0; 20],
            relevance: 0.0,
            fingerprints: fingerprints.then(Vec::new),
            clusters: Clusters::default(),
            sample: Reservoir::new(Self::SAMPLE),
            skips: HashMap::new(),
        }
    }

    /// Adds the page whose line begins at `offset`.
    pub fn page(&mut self, page: &PageLine<'_>, offset: u64) {
        self.verdicts.add(page);
        self.bytes += page.bytes;
        self.links += page.links;
        self.links_dropped += page.links_dropped;
        match &mut self.times {
            Some((_, last)) => (*page.fetched_at).clone_into(last),
            None => self.times = Some((page.fetched_at.to_string(), page.fetched_at.to_string())),
        }
        self.sample.push(offset);
        let depth = (page.depth as usize).min(Self::DEEPEST);
        if self.depths.len() <= depth {
            self.depths.resize_with(depth + 1, Verdicts::default);
        }
        self.depths[depth].add(page);
        self.host(page);
        self.clusters.push(page, offset);
        if let Some(error) = page.error.as_deref() {
            let kind = error.split(':').next().unwrap_or_default();
            let entry = named(&mut self.errors, kind, 100);
            entry.count += 1;
            if entry.count == 1 {
                entry.example = (page.url.to_string(), error.to_owned());
            }
        }
        let Some(status) = page.status else { return };
        *self.statuses.entry(status).or_default() += 1;
        if let Some(media) = page.content_type.as_deref() {
            let media = media.split(';').next().unwrap_or_default().trim();
            *named(&mut self.types, media, 100) += 1;
        }
        if let Some(language) = page.language.as_deref() {
            *named(&mut self.languages, language, 100) += 1;
        }
        if let (Some(all), Some(fingerprint)) = (&mut self.fingerprints, page.fingerprint()) {
            all.push(fingerprint);
        }
        if let Some(relevance) = page.relevance {
            self.relevances[twentieth(relevance)] += 1;
            self.relevance += relevance;
        }
        if page.verdict == Word::Near {
            self.distances[page.distance.map_or(0, |distance| distance.min(64)) as usize] += 1;
            if let Some(resemblance) = page.resemblance {
                self.resemblances[twentieth(resemblance)] += 1;
            }
        }
        if matches!(page.verdict, Word::Near | Word::Exact) {
            self.duplicate_bytes += page.bytes;
        }
        let Verdicts { unique, near, exact, .. } = self.verdicts;
        self.curve.push(Point { pages: self.verdicts.pages(), unique, near, exact });
    }

    /// Mean relevance of the pages of a focused crawl.
    ///
    /// # References
    /// Chakrabarti, van den Berg, Dom, "Focused crawling" (WWW 1999), section 3.2: the harvest rate.
    pub fn harvest(&self) -> Option<f64> {
        let pages = self.relevances.iter().sum::<u64>();
        (pages > 0).then(|| self.relevance / pages as f64)
    }

    fn host(&mut self, page: &PageLine<'_>) {
        let name = host(&page.url);
        let host = if let Some(host) = self.hosts.get_mut(name) {
            host
        } else if self.hosts.len() < Self::MOST_NAMES {
            self.hosts.entry(name.into()).or_default()
        } else {
            &mut self.other_hosts
        };
        host.verdicts.add(page);
        host.bytes += page.bytes;
        host.links_dropped += page.links_dropped;
    }

    /// Adds the skipped URL whose line begins at `offset`.
    pub fn skip(&mut self, skip: &SkipLine<'_>, offset: u64) {
        let skips = match self.skips.get_mut(&*skip.reason) {
            Some(skips) => skips,
            None => self.skips.entry(skip.reason.to_string()).or_insert_with(|| Skips {
                count: 0,
                hosts: HashMap::new(),
                rules: HashMap::new(),
                sample: Reservoir::new(Self::SKIP_SAMPLE),
            }),
        };
        skips.count += 1;
        skips.sample.push(offset);
        *named(&mut skips.hosts, host(&skip.url), Self::MOST_NAMES) += 1;
        if let Some(rule) = skip.rule.as_deref() {
            *named(&mut skips.rules, rule, 10_000) += 1;
        }
    }
}

/// The value of a name. All names beyond the first `most` share one value.
fn named<'a, V: Default>(map: &'a mut HashMap<String, V>, name: &str, most: usize) -> &'a mut V {
    let name = if map.len() < most || map.contains_key(name) { name } else { "others" };
    if !map.contains_key(name) {
        map.insert(name.to_owned(), V::default());
    }
    map.get_mut(name).expect("inserted above")
}

/// The number of the twentieth of 0..1 to which a value belongs.
fn twentieth(value: f64) -> usize {
    ((value * 20.0) as usize).min(19)
}

/// Entries by falling count. Entries with equal counts are sorted by name.
pub fn by_count<K: Ord + Clone, V>(map: impl IntoIterator<Item = (K, V)>, count: impl Fn(&V) -> u64) -> Vec<(K, V)> {
    let mut all: Vec<_> = map.into_iter().collect();
    all.sort_by(|(a, x), (b, y)| count(y).cmp(&count(x)).then_with(|| a.cmp(b)));
    all
}
