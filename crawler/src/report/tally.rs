//! What one pass over the lines of a crawl adds up to. Its size depends on how many hosts and URLs there are, not on how
//! long their lines are; details are read again from the file when they are shown.

use std::collections::{BTreeMap, HashMap};

use super::clusters::Clusters;
use super::curve::{Curve, Point};
use super::line::{PageLine, SkipLine, Word, host};
use super::sample::Sample;

/// Pages by verdict, and failures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdicts {
    /// Says something new.
    pub unique: u64,
    /// Says what an earlier page said.
    pub near: u64,
    /// Same bytes as an earlier page.
    pub exact: u64,
    /// Says what the same URL said at its last visit.
    pub unchanged: u64,
    /// Answered, but not compared.
    pub unjudged: u64,
    /// No answer.
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

    /// Pages answered.
    pub fn pages(&self) -> u64 {
        self.judged() + self.unchanged + self.unjudged
    }

    /// Pages compared with others.
    pub fn judged(&self) -> u64 {
        self.unique + self.duplicates()
    }

    /// Exact and near ones.
    pub fn duplicates(&self) -> u64 {
        self.near + self.exact
    }
}

/// One host.
#[derive(Clone, Copy, Debug, Default)]
pub struct Host {
    /// Its pages.
    pub verdicts: Verdicts,
    /// Bytes of decoded bodies.
    pub bytes: u64,
    /// Links of its duplicates kept from the frontier.
    pub links_dropped: u64,
}

/// Errors of one kind.
#[derive(Clone, Debug, Default)]
pub struct Errors {
    /// How many.
    pub count: u64,
    /// One URL, and what was said of it.
    pub example: (String, String),
}

/// URLs not fetched for one reason.
#[derive(Clone, Debug)]
pub struct Skips {
    /// How many.
    pub count: u64,
    /// By host, until there are [`Tally::MOST_NAMES`].
    pub hosts: HashMap<String, u64>,
    /// By rule, or rules applied one after the other, as the line names them.
    pub rules: HashMap<String, u64>,
    /// Where the lines of some begin.
    pub sample: Sample,
}

impl Skips {
    /// What they are told apart by, `rule` where rules stopped them and else `host`, with the counts, most first.
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
    /// Those of duplicates.
    pub duplicate_bytes: u64,
    /// Links found on pages.
    pub links: u64,
    /// Links kept from the frontier.
    pub links_dropped: u64,
    /// Times of the first and the last page.
    pub times: Option<(String, String)>,
    /// How contents were found.
    pub curve: Curve,
    /// By links from a seed; what is deeper than [`Tally::DEEPEST`] counts there.
    pub depths: Vec<Verdicts>,
    /// By host and port; of more than [`Tally::MOST_NAMES`] the later ones are in `other_hosts`.
    pub hosts: HashMap<Box<str>, Host>,
    /// See `hosts`.
    pub other_hosts: Host,
    /// By HTTP status.
    pub statuses: BTreeMap<u16, u64>,
    /// By media type, without parameters.
    pub types: HashMap<String, u64>,
    /// By language.
    pub languages: HashMap<String, u64>,
    /// By what stands before the colon.
    pub errors: HashMap<String, Errors>,
    /// Near-duplicates, by Hamming distance.
    pub distances: [u64; 65],
    /// Near-duplicates, by resemblance in twentieths.
    pub resemblances: [u64; 20],
    /// Pages by relevance in twentieths; all zero in a crawl without a topic.
    pub relevances: [u64; 20],
    /// Their sum.
    pub relevance: f64,
    /// Fingerprints, if they are kept.
    pub fingerprints: Option<Vec<u64>>,
    /// Duplicates by what they repeat.
    pub clusters: Clusters,
    /// Where the lines of some pages begin.
    pub sample: Sample,
    /// By reason.
    pub skips: HashMap<String, Skips>,
}

impl Tally {
    /// Names of hosts, types and the like that are kept apart.
    pub const MOST_NAMES: usize = 200_000;
    /// Depths that are kept apart.
    pub const DEEPEST: usize = 40;
    /// Pages that are shown by name.
    const SAMPLE: usize = 1_000;
    /// Skipped URLs shown by name, for each reason.
    const SKIP_SAMPLE: usize = 20;

    /// An empty tally; `fingerprints` are needed for [`super::health`] only.
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
            sample: Sample::new(Self::SAMPLE),
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
                sample: Sample::new(Self::SKIP_SAMPLE),
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

/// The entry of a name; all names beyond the first `most` share one.
fn named<'a, V: Default>(map: &'a mut HashMap<String, V>, name: &str, most: usize) -> &'a mut V {
    let name = if map.len() < most || map.contains_key(name) { name } else { "others" };
    if !map.contains_key(name) {
        map.insert(name.to_owned(), V::default());
    }
    map.get_mut(name).expect("inserted above")
}

/// Which twentieth of 0..1.
fn twentieth(value: f64) -> usize {
    ((value * 20.0) as usize).min(19)
}

/// Entries by falling count, then by name.
pub fn by_count<K: Ord + Clone, V>(map: impl IntoIterator<Item = (K, V)>, count: impl Fn(&V) -> u64) -> Vec<(K, V)> {
    let mut all: Vec<_> = map.into_iter().collect();
    all.sort_by(|(a, x), (b, y)| count(y).cmp(&count(x)).then_with(|| a.cmp(b)));
    all
}
