//! Clusters of pages: the pages that repeat one page, directly or through a twin that repeats it.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use xxhash_rust::xxh3::xxh3_64;

use super::line::{PageLine, Word};

/// One cluster.
#[derive(Clone, Debug, Default)]
pub struct ClusterTotals {
    /// The offset of the line of the page that all others repeat, if the line was read.
    pub root: Option<u64>,
    /// Number of near-duplicates of it.
    pub near: u64,
    /// Number of exact duplicates of it.
    pub exact: u64,
    /// Bytes that its duplicates cost.
    pub bytes: u64,
    /// Links that did not go to the frontier because their pages are duplicates.
    pub links_dropped: u64,
    /// The largest Hamming distance to a twin.
    pub widest: u32,
    /// The offsets of the lines of some duplicates. Near ones come first, because exact ones differ only in their URLs.
    pub members: Vec<u64>,
}

impl ClusterTotals {
    /// At most this many members are kept.
    const MEMBERS: usize = 5;

    /// Number of its pages, including the repeated one.
    pub fn pages(&self) -> u64 {
        1 + self.near + self.exact
    }
}

/// Groups duplicates while their lines are read. The map from URLs to lines takes about 40 bytes a page.
#[derive(Clone, Debug, Default)]
pub struct Clusters {
    /// The offset of the line of a URL, by the hash of the URL.
    lines: Map<u64>,
    /// For a near-duplicate, which other pages may name as their twin: the root of its cluster.
    roots: Map<u64>,
    clusters: Map<ClusterTotals>,
}

impl Clusters {
    /// Reads the line at `offset`.
    pub fn push(&mut self, page: &PageLine<'_>, offset: u64) {
        let url = hash(&page.url);
        self.lines.entry(url).or_insert(offset);
        let (Word::Near | Word::Exact, Some(twin)) = (page.verdict, &page.duplicate_of) else { return };
        let twin = hash(twin);
        let root = self.roots.get(&twin).copied().unwrap_or(twin);
        if page.verdict == Word::Near && url != root {
            self.roots.insert(url, root);
        }
        let cluster = self.clusters.entry(root).or_default();
        cluster.root = cluster.root.or_else(|| self.lines.get(&root).copied());
        cluster.bytes += page.bytes;
        cluster.links_dropped += page.links_dropped;
        cluster.widest = cluster.widest.max(page.distance.unwrap_or(0));
        let nears = usize::try_from(cluster.near).unwrap_or(usize::MAX);
        if page.verdict == Word::Near {
            cluster.near += 1;
            if nears < ClusterTotals::MEMBERS {
                cluster.members.truncate(ClusterTotals::MEMBERS - 1);
                cluster.members.insert(nears.min(cluster.members.len()), offset);
            }
        } else {
            cluster.exact += 1;
            if cluster.members.len() < ClusterTotals::MEMBERS {
                cluster.members.push(offset);
            }
        }
    }

    /// Number of clusters.
    pub fn count(&self) -> usize {
        self.clusters.len()
    }

    /// The largest clusters, the largest first.
    pub fn largest(&self, most: usize) -> Vec<&ClusterTotals> {
        let mut all: Vec<_> = self.clusters.values().collect();
        let by_size = |cluster: &&ClusterTotals| (std::cmp::Reverse(cluster.pages()), cluster.root);
        if all.len() > most {
            all.select_nth_unstable_by_key(most, by_size);
            all.truncate(most);
        }
        all.sort_unstable_by_key(by_size);
        all
    }

    /// Sizes of all clusters, in no order.
    pub fn sizes(&self) -> impl Iterator<Item = u64> {
        self.clusters.values().map(ClusterTotals::pages)
    }

    /// The offset of the line of a URL.
    pub fn line_of(&self, url: &str) -> Option<u64> {
        self.lines.get(&hash(url)).copied()
    }
}

fn hash(url: &str) -> u64 {
    xxh3_64(url.as_bytes())
}

type Map<V> = HashMap<u64, V, BuildHasherDefault<Hashed>>;

/// A hasher for keys that are hashes already.
#[derive(Clone, Copy, Debug, Default)]
struct Hashed(u64);

impl Hasher for Hashed {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = xxh3_64(bytes);
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(url: &str, verdict: Word, of: Option<&str>) -> Vec<u8> {
        let line =
            serde_json::json!({"url": url, "verdict": verdict.name(), "duplicate_of": of, "distance": 2, "bytes": 10});
        line.to_string().into_bytes()
    }

    #[test]
    fn a_duplicate_of_a_duplicate_is_in_the_cluster_of_the_first() {
        let mut clusters = Clusters::default();
        let lines = [
            page("a", Word::Unique, None),
            page("b", Word::Near, Some("a")),
            page("c", Word::Exact, Some("b")),
            page("d", Word::Unique, None),
            page("e", Word::Exact, Some("d")),
            page("f", Word::Exact, Some("a")),
            page("g", Word::Near, Some("a")),
        ];
        for (offset, line) in lines.iter().enumerate() {
            clusters.push(&PageLine::parse(line).unwrap(), offset as u64);
        }
        assert_eq!(clusters.count(), 2);
        let largest = clusters.largest(1);
        assert_eq!((largest[0].pages(), largest[0].near, largest[0].exact), (5, 2, 2));
        assert_eq!((largest[0].root, largest[0].bytes, largest[0].widest), (Some(0), 40, 2));
        assert_eq!(largest[0].members, [1, 6, 2, 5]);
        assert_eq!((clusters.line_of("d"), clusters.line_of("z")), (Some(3), None));
    }

    #[test]
    fn of_many_members_some_are_named_near_ones_first() {
        let mut clusters = Clusters::default();
        for n in 0..50 {
            let verdict = if n % 7 == 6 { Word::Near } else { Word::Exact };
            let line = page(&format!("m{n}"), verdict, Some("a"));
            clusters.push(&PageLine::parse(&line).unwrap(), n);
        }
        let cluster = clusters.largest(9)[0];
        assert_eq!((cluster.pages(), cluster.root), (51, None));
        assert_eq!(cluster.members, [6, 13, 20, 27, 34]);
    }
}
