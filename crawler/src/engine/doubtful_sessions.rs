//! Finds links that may be lost because a parameter only looks like a session id. A value such as
//! `sid=9e107d9d372bb6826bd81d3542a419d6` counts as a session id because of its form, so URLs that differ in nothing
//! else have one key. But an answer belongs to one session. If its links have several such values, these are more
//! likely the ids of things that the site shows.

use std::collections::{HashMap, HashSet};

use dedup_stage::url::Canonicalizer;
use url::Url;
use xxhash_rust::xxh3::xxh3_64;

/// An answer with fewer values of one parameter may only mix the links of an old session with those of a new one.
const LEAST: usize = 3;

/// The links of one answer that have the key of an earlier link.
#[derive(Debug)]
pub(super) struct SameKey<'a> {
    canonicalizer: &'a Canonicalizer,
    /// By the number of the first link with the key: the values of its parameter, and the hashes of the URLs.
    links: HashMap<usize, (HashSet<u64>, Vec<u64>)>,
}

impl<'a> SameKey<'a> {
    /// No link yet. The links have the keys of this canonicalizer.
    pub fn new(canonicalizer: &'a Canonicalizer) -> Self {
        Self { canonicalizer, links: HashMap::new() }
    }

    /// Adds a link with the key of the link `first`, which has this number.
    pub fn add(&mut self, number: usize, first: &Url, url: &Url) {
        let Some(value) = self.canonicalizer.doubtful_session(url) else { return };
        let (values, urls) = self.links.entry(number).or_default();
        if values.is_empty() {
            values.extend(self.canonicalizer.doubtful_session(first).map(hash));
        }
        if values.insert(hash(value)) {
            urls.push(hash(url.as_str()));
        }
    }

    /// The hashes of the URLs that are probably pages of their own.
    pub fn probably_pages(self) -> Vec<u64> {
        let several = self.links.into_values().filter(|(values, _)| values.len() >= LEAST);
        several.flat_map(|(_, urls)| urls).collect()
    }
}

fn hash(text: &str) -> u64 {
    xxh3_64(text.as_bytes())
}

/// The URLs of all answers that are probably pages of their own. They are in memory only: a run that goes on with a
/// crawl may count a URL once more.
#[derive(Debug, Default)]
pub(super) struct DoubtfulSessions {
    urls: HashSet<u64>,
}

impl DoubtfulSessions {
    /// At most this many are told apart.
    const MOST: usize = config::bounds::DOUBTFUL_SESSIONS;

    /// Adds the URLs of one answer. Returns the number of those that no answer had before.
    pub fn add(&mut self, urls: &[u64]) -> u64 {
        let before = self.urls.len();
        for url in urls {
            if self.urls.len() < Self::MOST {
                self.urls.insert(*url);
            }
        }
        (self.urls.len() - before) as u64
    }
}

#[cfg(test)]
mod tests {
    use config::Settings;

    use super::*;

    fn url(value: &str) -> Url {
        Url::parse(&format!("http://a.example/item?sid={value}")).unwrap()
    }

    #[test]
    fn three_values_on_one_page_are_no_session() {
        let ids =
            ["9e107d9d372bb6826bd81d3542a419d6", "e4d909c290d0fb1ca068ffaddf22cbd0", "0cc175b9c0f1b6a831c399e26977"];
        let canonicalizer = Canonicalizer::default();
        let found = |values: &[&str]| {
            let mut same_key = SameKey::new(&canonicalizer);
            values[1..].iter().for_each(|value| same_key.add(0, &url(values[0]), &url(value)));
            same_key.probably_pages()
        };
        assert_eq!(found(&ids[..2]).len(), 0, "an old session and a new one");
        assert_eq!(found(&[ids[0], ids[0], ids[1], ids[1]]).len(), 0);
        assert_eq!(found(&[ids[0], ids[1], ids[2], ids[1]]).len(), 2);
        let mut all = DoubtfulSessions::default();
        assert_eq!((all.add(&found(&ids)), all.add(&found(&ids)), all.add(&[7, 8, 8])), (2, 0, 2));
    }

    #[test]
    fn other_parameters_are_no_matter_of_doubt() {
        let found = |name: &str, drop_params: &[&str]| {
            let drop_params = drop_params.iter().map(ToString::to_string).collect();
            let canonicalizer = Canonicalizer::new(&config::Urls { drop_params, ..Settings::default().urls });
            let url = |value: u32| Url::parse(&format!("http://a.example/?{name}=9e107d9d372bb682{value}")).unwrap();
            let mut same_key = SameKey::new(&canonicalizer);
            (1..9).for_each(|value| same_key.add(0, &url(0), &url(value)));
            same_key.probably_pages().len()
        };
        assert_eq!(found("sid", &[]), 8);
        assert_eq!(found("sid", &["sid"]), 0, "the user says that it makes no difference");
        assert_eq!(found("PHPSESSID", &[]), 0, "it is always a session id");
    }
}
