//! Groups of URLs whose pages are expected to be alike. The URLs of a group have the same origin, first path segment
//! and set of query parameters.
//!
//! What is learned about a group is a factor that is applied when the group is chosen. So it acts on all queued URLs of
//! the group at once, and no queue entry is changed.

use config::Priority;
use dedup_stage::store::{Error, Result, Session, codec};
use dedup_stage::url::SiteId;
use url::Url;
use xxhash_rust::xxh3;

use super::budget::Budget;
use super::key;
use super::new_share::{Expected, NewShare};
use super::small;
use crate::spaces;
use crate::taught::Brought;

/// One group of a host.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The number of its origin within the host.
    pub origin: u8,
    /// The factor for the scores of its URLs.
    pub expected: f32,
    /// How much of its pages was new.
    share: NewShare,
    /// The hash of its origin and path prefix, and the number of the first group that has the same. The next field has
    /// the same for its origin and query pattern.
    path: (u64, u8),
    query: (u64, u8),
    /// How many pages its duplicates have spent.
    pub budget: Budget,
    /// First path segment and names of the parameters, such as `/calendar/?day&month`. `*` for the shared group, if a
    /// host has too many groups.
    pub label: Box<str>,
    /// Hash of origin and label.
    id: u64,
}

/// The groups of one host, found by URL.
#[derive(Debug, Default)]
pub struct Groups {
    groups: Vec<Group>,
}

/// The label of the group of a URL.
pub fn label(url: &Url) -> String {
    let mut label = String::from("/");
    if let Some((segment, _)) = url.path()[1.min(url.path().len())..].split_once('/') {
        label.push_str(segment);
        label.push('/');
    }
    if let Some(query) = url.query() {
        let mut names: Vec<_> = query.split(['&', ';']).map(|pair| pair.split('=').next().unwrap_or("")).collect();
        names.sort_unstable();
        names.dedup();
        label.push('?');
        label.push_str(&names.join("&"));
    }
    if label.len() > Groups::LABEL {
        // A hash at the end tells long labels apart.
        let mut end = Groups::LABEL - 17;
        while !label.is_char_boundary(end) {
            end -= 1;
        }
        let hash = xxh3::xxh3_64(label.as_bytes());
        label.truncate(end);
        label.push_str(&format!("~{hash:016x}"));
    }
    label
}

impl Groups {
    /// Kind of the records of groups in [`spaces::HOSTS`].
    pub const TAG: u8 = b'g';
    /// A host has at most this many groups. URLs of further groups belong to the group `*` of their origin.
    const MOST: usize = config::bounds::GROUPS;
    /// The most bytes of a label.
    const LABEL: usize = 80;
    /// The share of new pages is put on record in steps of this many pages.
    const STEP: u16 = 16;
    /// The label of the shared group.
    const REST: &str = "*";

    /// The group of a URL of this origin. It is made if the host does not have it.
    pub fn of(&mut self, url: &Url, origin: u8, site: SiteId, session: &mut Session) -> u8 {
        let label = label(url);
        if let Some(at) = self.find(origin, &label) {
            return at;
        }
        if self.groups.len() < Self::MOST {
            return self.make(origin, label.into(), site, session);
        }
        self.find(origin, Self::REST).unwrap_or_else(|| self.make(origin, Self::REST.into(), site, session))
    }

    /// The group with this number.
    pub fn get(&self, group: u8) -> Option<&Group> {
        self.groups.get(usize::from(group))
    }

    /// All groups, by number.
    pub fn iter(&self) -> impl Iterator<Item = &Group> {
        self.groups.iter()
    }

    /// Number of groups.
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// A page of the group of `url` was judged. `brought` tells what it brought, if that is known, and
    /// `novelty` how much of it is new. `weights` are the weights of the parts; `None` if verdicts do not count.
    pub fn judged(
        &mut self,
        url: &Url,
        origin: u8,
        (brought, novelty): (Option<Brought>, f32),
        weights: Option<&Priority>,
        site: SiteId,
        session: &mut Session,
    ) {
        let group = self.find(origin, &label(url)).or_else(|| self.find(origin, Self::REST));
        let Some(number) = group else { return };
        let it = &mut self.groups[usize::from(number)];
        let mut changed = brought.is_some_and(|brought| it.budget.page(brought));
        if let Some(weights) = weights {
            let before = it.share.rounded();
            it.share.page(novelty);
            changed |= before.0 / Self::STEP != it.share.rounded().0 / Self::STEP;
            self.expect(weights);
        }
        if changed {
            self.record(number, site, session);
        }
    }

    /// Computes the factor of each group again.
    pub fn expect(&mut self, weights: &Priority) {
        let sums = Sums::of(&self.groups);
        for group in &mut self.groups {
            group.expected = sums.parts(group).factor(weights);
        }
    }

    /// The parts of the factor for a page at `url`.
    pub fn expected(&self, url: &Url, origin: u8) -> Option<Expected> {
        let group = self.find(origin, &label(url)).or_else(|| self.find(origin, Self::REST))?;
        Some(Sums::of(&self.groups).parts(self.get(group)?))
    }

    /// Takes back a group from its record in the store. Groups must come in the order of their numbers.
    pub fn restore(&mut self, number: u8, record: &[u8]) -> Result<()> {
        if usize::from(number) != self.groups.len() {
            return Err(Error::Damaged("a group of URLs is missing".into()));
        }
        self.push(Group::decode(record)?);
        Ok(())
    }

    fn push(&mut self, mut group: Group) {
        let at = self.groups.len() as u8;
        let first = |of: fn(&Group) -> (u64, u8)| {
            let known = self.groups.iter().map(of).find(|known| known.0 == of(&group).0);
            known.unwrap_or((of(&group).0, at))
        };
        (group.path, group.query) = (first(|group| group.path), first(|group| group.query));
        small::push(&mut self.groups, group);
    }

    fn find(&self, origin: u8, label: &str) -> Option<u8> {
        let id = id(origin, label);
        self.groups.iter().position(|group| group.id == id).map(|at| at as u8)
    }

    fn make(&mut self, origin: u8, label: Box<str>, site: SiteId, session: &mut Session) -> u8 {
        let at = self.groups.len() as u8;
        self.push(Group::new(origin, label));
        self.record(at, site, session);
        at
    }

    fn record(&self, number: u8, site: SiteId, session: &mut Session) {
        let mut key = key(site, Self::TAG);
        key.push(number);
        session.put(spaces::HOSTS, key, self.groups[usize::from(number)].encode());
    }
}

/// The share of new pages in all groups of a host together. Also that of the groups with one path prefix or one query
/// pattern, stored under the number of the first of them.
struct Sums {
    host: NewShare,
    paths: Vec<NewShare>,
    queries: Vec<NewShare>,
}

impl Sums {
    fn of(groups: &[Group]) -> Self {
        let nothing = vec![NewShare::default(); groups.len()];
        let mut sums = Self { host: NewShare::default(), paths: nothing.clone(), queries: nothing };
        for group in groups {
            let path = &mut sums.paths[usize::from(group.path.1)];
            *path = path.with(group.share);
            let query = &mut sums.queries[usize::from(group.query.1)];
            *query = query.with(group.share);
            sums.host = sums.host.with(group.share);
        }
        sums
    }

    /// The parts of the factor of a group.
    fn parts(&self, group: &Group) -> Expected {
        Expected::of(self.host, self.paths[usize::from(group.path.1)], self.queries[usize::from(group.query.1)])
    }
}

/// The record of a group: origin, budget spent, pages judged, how many of them were new, label.
type Record = (u8, u32, u16, u16, Box<str>);

impl Group {
    fn new(origin: u8, label: Box<str>) -> Self {
        let (path, query) = label.split_once('?').unwrap_or((&label, ""));
        Self {
            origin,
            expected: 1.0,
            share: NewShare::default(),
            path: (id(origin, path), 0),
            query: (id(origin, query), 0),
            budget: Budget::default(),
            id: id(origin, &label),
            label,
        }
    }

    fn encode(&self) -> Vec<u8> {
        let (pages, new) = self.share.rounded();
        let record: Record = (self.origin, self.budget.spent(), pages, new, self.label.clone());
        codec::encode(&record)
    }

    fn decode(bytes: &[u8]) -> Result<Self> {
        let (origin, spent, pages, new, label): Record = codec::decode(bytes, "a group of URLs")?;
        let (budget, share) = (Budget::new(spent), NewShare::new(pages, new));
        Ok(Self { budget, share, ..Self::new(origin, label) })
    }
}

fn id(origin: u8, label: &str) -> u64 {
    xxh3::xxh3_64_with_seed(label.as_bytes(), u64::from(origin))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_the_first_segment_and_the_parameter_names() {
        for (url, expected) in [
            ("http://a/", "/"),
            ("http://a/x.html", "/"),
            ("http://a/docs/x.html", "/docs/"),
            ("http://a/docs/deep/x", "/docs/"),
            ("http://a/docs/?b=1&a=2&b=3", "/docs/?a&b"),
            ("http://a/?", "/?"),
        ] {
            assert_eq!(label(&Url::parse(url).unwrap()), expected, "{url}");
        }
        let long = label(&Url::parse(&format!("http://a/{}/", "é".repeat(300))).unwrap());
        assert!(long.len() <= Groups::LABEL, "{long}");
    }
}
