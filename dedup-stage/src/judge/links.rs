//! The links and media of a page, as they are compared between two pages.

use std::collections::HashMap;

use ::url::Url;
use serde::{Deserialize, Serialize};

use super::Case;
use super::opaque;
use crate::url::{Keys, SiteId, UrlId};

/// A link of a page.
#[derive(Clone, Debug, PartialEq)]
pub struct OutLink {
    /// The URL of the link, resolved, without fragment.
    pub url: Url,
    /// Its identity.
    pub id: UrlId,
    /// Its reference: 32 bits of the hash of its path and query. A mirror on another host has links with the same
    /// references.
    pub reference: u32,
    /// Whether it stands in the content of the page, and not in its navigation.
    pub content: bool,
    /// Whether the caller had met its URL before the last visit to the page. This counts only at a later visit: links
    /// to URLs that are known do not change what the page says. `false` if the caller does not know.
    pub met: bool,
}

impl OutLink {
    /// A link to `url`.
    pub fn new(url: Url, content: bool, keys: &Keys) -> Self {
        let (id, reference) = keys.identify(&url);
        Self { url, id, reference, content, met: false }
    }
}

/// The 32 bits that stand for a link in the [`LinkSet`] of a page on the host `site`. For a link to this host, they are
/// its reference. For a link to another host, they are half of its identity.
pub(super) fn name_on(site: SiteId, id: UrlId, reference: u32) -> u32 {
    if id.site == site { reference } else { id.url as u32 }
}

/// The links and media of an accepted page, as 32-bit hashes. The links of later pages are compared with them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkSet {
    /// The URL of the page. `None` if it has too little text for a fingerprint, and was judged here.
    pub url: Option<String>,
    /// The links, navigation included. A link to the page's own host is stored by its path and query, any other link by
    /// its identity.
    pub links: MinWiseSample,
    /// Parameters that most links with parameters have, with the same value: sessions, languages and the like. Each is
    /// written as `name=value`.
    pub constants: Vec<String>,
    /// The media, and the running texts in chrome.
    pub media: MinWiseSample,
    /// The links that have opaque words, as hashes without these words.
    pub opaque: MinWiseSample,
}

impl LinkSet {
    /// The links and media of a page under judgement.
    pub(super) fn of(case: &Case<'_>) -> Self {
        let site = case.id.url.site;
        let names = case.links.iter().map(|link| name_on(site, link.id, link.reference));
        Self {
            url: None,
            links: MinWiseSample::new(names),
            constants: constants(case.links),
            media: MinWiseSample::new(media_of(case).chain(case.page.asides.iter().flat_map(|aside| aside.hashes))),
            opaque: MinWiseSample::new(opaque::names(site, case.links).into_iter()),
        }
    }

    /// The same with the URL of the page.
    pub(super) fn with_url(case: &Case<'_>) -> Self {
        Self { url: Some(case.url.as_str().to_owned()), ..Self::of(case) }
    }

    /// Whether there is nothing to store.
    pub(super) fn is_empty(&self) -> bool {
        self.url.is_none() && self.links.count == 0 && self.media.count == 0
    }
}

/// The media of a page.
pub(super) fn media_of<'a>(case: &Case<'a>) -> impl Iterator<Item = u32> + use<'a> {
    case.page.media.iter().map(|medium| *medium as u32)
}

/// A set of 32-bit hashes. Of a large set, only the smallest hashes are kept: a min-wise sample (Broder, CPM 2000,
/// section 2).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MinWiseSample {
    /// Size of the whole set.
    pub count: u32,
    /// The smallest members, sorted. Each but the first is stored as the difference to its predecessor, which takes
    /// fewer bytes.
    steps: Vec<u32>,
}

impl MinWiseSample {
    /// At most this many members are kept.
    pub const MOST: usize = 1024;

    /// The sample of a set; members may come several times.
    pub fn new(members: impl Iterator<Item = u32>) -> Self {
        let mut members: Vec<u32> = members.collect();
        members.sort_unstable();
        members.dedup();
        let count = members.len() as u32;
        members.truncate(Self::MOST);
        let mut before = 0;
        let steps = members.into_iter().map(|member| member - std::mem::replace(&mut before, member)).collect();
        Self { count, steps }
    }

    /// The members that are kept, sorted.
    pub fn members(&self) -> Vec<u32> {
        let sum = |before: &mut u32, step: &u32| {
            *before = before.wrapping_add(*step);
            Some(*before)
        };
        self.steps.iter().scan(0, sum).collect()
    }

    /// Whether all members are kept.
    pub fn is_whole(&self) -> bool {
        self.count as usize <= self.steps.len()
    }
}

/// The parameters that more than half of the links with parameters have, with the same value.
pub(super) fn constants(links: &[OutLink]) -> Vec<String> {
    /// A parameter with more bytes than `LONG` is not kept. At most `MOST` parameters are kept.
    const LONG: usize = 64;
    const MOST: usize = 8;
    let (mut with_parameters, mut pairs) = (0, HashMap::<&str, usize>::new());
    for query in links.iter().filter_map(|link| link.url.query()) {
        with_parameters += 1;
        for pair in query.split('&').filter(|pair| !pair.is_empty() && pair.len() <= LONG) {
            *pairs.entry(pair).or_default() += 1;
        }
    }
    let constant = |links: usize| with_parameters >= 2 && links * 2 > with_parameters;
    let mut constants: Vec<String> =
        pairs.into_iter().filter(|(_, links)| constant(*links)).map(|(pair, _)| pair.to_owned()).collect();
    constants.sort_unstable();
    constants.truncate(MOST);
    constants
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::codec;

    #[test]
    fn a_sample_has_the_smallest_members() {
        let mut random = fastrand::Rng::with_seed(1);
        for size in [0, 1, 21, 1024, 1025, 5000] {
            let members: Vec<u32> = (0..size).map(|_| random.u32(..)).collect();
            let sample = MinWiseSample::new(members.iter().copied().chain(members.iter().copied()));
            let mut sorted = members;
            sorted.sort_unstable();
            assert_eq!(sample.members(), sorted[..size.min(1024)]);
            assert_eq!((sample.count, sample.is_whole()), (size as u32, size <= 1024));
            let bytes = codec::encode(&sample);
            assert!(bytes.len() <= 8 + 5 * size.min(1024));
            assert_eq!(codec::decode::<MinWiseSample>(&bytes, "test").unwrap(), sample);
        }
    }

    #[test]
    fn constants_are_what_most_links_have() {
        let keys = crate::testing::keys();
        let link = |text: &str| OutLink::new(Url::parse("http://a.test/").unwrap().join(text).unwrap(), true, &keys);
        let links = |texts: &[&str]| -> Vec<OutLink> { texts.iter().map(|text| link(text)).collect() };
        let of = |texts: &[&str]| constants(&links(texts));
        assert_eq!(of(&["/a?s=1&id=1", "/b?id=2&s=1", "/c?id=3", "/d", "/e"]), ["s=1"]);
        assert_eq!(of(&["/a?s=1", "/b?s=2"]), [""; 0]);
        assert_eq!(of(&["/a?s=1", "/b", "/c"]), [""; 0], "one link has no constants");
        assert_eq!(of(&["/a?s=1&l=de", "/b?s=1&l=de"]), ["l=de", "s=1"]);
    }
}
