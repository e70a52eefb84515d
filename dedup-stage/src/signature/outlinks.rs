//! Out-links, hashed in such a way that mirrors and sessions make no difference.

use ::url::Url;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// A value with at least this many characters may be a session id.
const SESSION: usize = 16;

/// Hashes the out-links of one page. Of a link, the end of its path and its query count: a mirror has other hosts and
/// first folders, but the same ends. Session ids do not count. These are path parameters, values that look drawn at
/// random, and parameters that have the same value on most links with parameters.
#[derive(Debug, Default)]
pub struct OutLinks {
    /// For each link, the hashes of its last one, two and three path segments.
    ends: Vec<[u64; OutLinks::DEPTH]>,
    /// For each query parameter: its link and its hash. The link is `None` if it is not compared.
    parameters: Vec<(Option<u32>, u64)>,
    /// The number of links with parameters.
    with_parameters: usize,
    sorted: Vec<u64>,
}

impl OutLinks {
    const DEPTH: usize = 3;

    /// Forgets all links.
    pub fn clear(&mut self) {
        self.ends.clear();
        self.parameters.clear();
        self.with_parameters = 0;
    }

    /// Adds a link. If `compared` is false, the link only helps to find constant parameters.
    pub fn add(&mut self, url: &Url, compared: bool) {
        let link = compared.then_some(self.ends.len() as u32);
        if compared {
            self.ends.push(ends(url.path()));
        }
        if let Some(query) = url.query() {
            self.with_parameters += 1;
            for pair in query.split('&').filter(|pair| !pair.is_empty()) {
                let value = pair.split_once('=').map_or("", |(_, value)| value);
                if !is_random(value) {
                    self.parameters.push((link, xxh3_64(pair.as_bytes())));
                }
            }
        }
    }

    /// Calls `each` with the hash of every link.
    pub fn finish(&mut self, mut each: impl FnMut(u64)) {
        let links = self.ends.len();
        let mut queries = vec![0u64; links];
        self.drop_constant_parameters();
        for &(link, hash) in &self.parameters {
            if let Some(link) = link {
                // The order of parameters does not count.
                queries[link as usize] = queries[link as usize].wrapping_add(hash);
            }
        }
        // Take as few segments as tell most links of this page apart.
        let mut depth = 0;
        let all = self.distinct(Self::DEPTH - 1, &queries);
        while self.distinct(depth, &queries) * 4 < all * 3 {
            depth += 1;
        }
        for (ends, query) in self.ends.iter().zip(&queries) {
            each(xxh3_64_with_seed(&ends[depth].to_le_bytes(), *query));
        }
    }

    /// The number of links that differ in the last `depth` + 1 segments or in the query.
    fn distinct(&mut self, depth: usize, queries: &[u64]) -> usize {
        self.sorted.clear();
        self.sorted.extend(self.ends.iter().zip(queries).map(|(ends, query)| ends[depth] ^ query));
        self.sorted.sort_unstable();
        self.sorted.dedup();
        self.sorted.len()
    }

    /// Drops the parameters that have one value on more than half of the links with parameters.
    fn drop_constant_parameters(&mut self) {
        let with_parameters = self.with_parameters;
        if with_parameters < 2 {
            return;
        }
        self.sorted.clear();
        self.sorted.extend(self.parameters.iter().map(|(_, hash)| *hash));
        self.sorted.sort_unstable();
        let runs = self.sorted.chunk_by(|a, b| a == b);
        let constant: Vec<u64> = runs.filter(|run| run.len() * 2 > with_parameters).map(|run| run[0]).collect();
        self.parameters.retain(|(_, hash)| !constant.contains(hash));
    }
}

/// The hashes of the last one, two and three segments of a path, without their parameters.
fn ends(path: &str) -> [u64; OutLinks::DEPTH] {
    let mut ends = [0; OutLinks::DEPTH];
    let mut hash = 0;
    let mut segments = path.rsplit('/').filter(|segment| !segment.is_empty());
    for end in &mut ends {
        if let Some(segment) = segments.next() {
            let segment = segment.split(';').next().unwrap_or_default();
            hash = xxh3_64_with_seed(if is_random(segment) { b"*" } else { segment.as_bytes() }, hash ^ 1);
        }
        *end = hash;
    }
    ends
}

/// Whether a value looks drawn at random: it is long, and mixes letters and digits often.
fn is_random(value: &str) -> bool {
    let value = value.as_bytes();
    if value.len() < SESSION || !value.iter().all(|b| b.is_ascii_alphanumeric()) {
        return false;
    }
    let digits = value.iter().filter(|b| b.is_ascii_digit()).count();
    let changes = value.windows(2).filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit()).count();
    digits > 0 && digits < value.len() && changes * 5 >= value.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hashes(links: &[&str]) -> Vec<u64> {
        let mut out = OutLinks::default();
        links.iter().for_each(|link| out.add(&Url::parse("http://a.example/dir/").unwrap().join(link).unwrap(), true));
        let mut hashes = Vec::new();
        out.finish(|hash| hashes.push(hash));
        hashes
    }

    #[test]
    fn mirrors_and_sessions_have_the_same_links() {
        let here = hashes(&["a.html", "b.html?x=1&y=2", "/c/", "d"]);
        assert_eq!(here, hashes(&["http://m.example/copy/dir/a.html", "/o/b.html?y=2&x=1", "/copy/c", "/x/d"]));
        assert_eq!(here, hashes(&["a.html;jsessionid=1A2B?sid=q1", "b.html?x=1&sid=q1&y=2", "/c/?sid=q1", "d?sid=q1"]));
        assert_eq!(hashes(&["a?s=0a1b2c3d4e5f6a7b8c"]), hashes(&["a?s=ffe1029384756a6b5c4d"]));
    }

    #[test]
    fn pages_of_a_list_have_other_links() {
        let page = |number: u32| {
            let links: Vec<String> = (0..10).map(|i| format!("/item/{}/view", number * 10 + i)).collect();
            hashes(&links.iter().map(String::as_str).collect::<Vec<_>>())
        };
        assert!(page(1).iter().all(|hash| !page(2).contains(hash)));
        assert_ne!(hashes(&["list?page=2"]), hashes(&["list?page=3"]));
    }

    #[test]
    fn words_are_not_random() {
        for (value, random) in [
            ("0a1b2c3d4e5f6a7b", true),
            ("9e107d9d372bb6826bd81d3542a419d6", true),
            ("frequently-asked-questions", false),
            ("internationalization", false),
            ("20260101120000000", false),
            ("chapter10section2part", false),
            ("a1", false),
        ] {
            assert_eq!(is_random(value), random, "{value}");
        }
    }
}
