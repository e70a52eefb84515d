//! Finds a topic's terms on a page, in the anchors of its links, around them and in their URLs. A finder keeps only
//! scratch memory: the same page gives the same hits with every finder.

use std::sync::Arc;

use dedup_stage::page::{Page, Reader};
use dedup_stage::words::{WordHash, Words};
use url::{Position, Url};

use super::Topic;

/// A set of terms, one bit for each.
pub type Terms = [u64; Topic::MOST / 64];

/// The terms of the topic on one page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PageHits {
    /// The terms that occur, with their numbers of occurrences. Occurrences in the title count more.
    pub terms: Vec<(u16, u16)>,
    /// The number of words of the page.
    pub words: u32,
}

/// The terms of the topic about one link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkHits {
    /// The terms in the visible text of the link.
    pub anchor: Terms,
    /// The terms in the text around the link.
    pub around: Terms,
    /// The terms in the URL of the link.
    pub url: Terms,
}

/// Finds terms.
#[derive(Debug)]
pub struct Finder {
    topic: Arc<Topic>,
    words: Words,
    hashes: Vec<WordHash>,
}

impl Finder {
    /// The number of occurrences in the text that one occurrence in the title counts for.
    const TITLE: u16 = 4;
    /// The number of bytes before and after a link that count as the text around it. The text is also bounded by the
    /// block of the link.
    const WINDOW: usize = 160;

    /// Makes a finder for a topic.
    pub fn new(topic: Arc<Topic>) -> Self {
        Self { topic, words: Words::default(), hashes: Vec::new() }
    }

    /// Finds the terms on the page that `reader` has read last.
    pub fn page(&mut self, page: &Page, reader: &Reader) -> PageHits {
        let mut counts = vec![0u16; self.topic.len()];
        for term in reader.words().iter().filter_map(|word| self.topic.term(*word)) {
            let count = &mut counts[usize::from(term)];
            *count = count.saturating_add(1);
        }
        for term in self.terms(&page.title) {
            let count = &mut counts[usize::from(term)];
            *count = count.saturating_add(Self::TITLE);
        }
        let terms = counts.iter().enumerate().filter(|(_, n)| **n > 0).map(|(term, n)| (term as u16, *n)).collect();
        PageHits { terms, words: page.words }
    }

    /// Finds the terms about each link of the page that `reader` has read last.
    pub fn links(&mut self, page: &Page, reader: &Reader) -> Vec<LinkHits> {
        let mut hits: Vec<LinkHits> = page
            .links
            .iter()
            .map(|link| LinkHits { anchor: self.set(&link.anchor), around: [0; 4], url: self.set(path(&link.url)) })
            .collect();
        for (at, link) in reader.places() {
            if let Some(hits) = hits.get_mut(link) {
                let around = self.set(around(reader.text(), at, page.links[link].anchor.len()));
                hits.around.iter_mut().zip(around).for_each(|(all, more)| *all |= more);
            }
        }
        hits
    }

    fn terms(&mut self, text: &str) -> impl Iterator<Item = u16> + '_ {
        self.hashes.clear();
        self.words.hashes(text, &mut self.hashes);
        self.hashes.iter().filter_map(|word| self.topic.term(*word))
    }

    fn set(&mut self, text: &str) -> Terms {
        let mut set = Terms::default();
        self.terms(text).for_each(|term| set[usize::from(term / 64)] |= 1 << (term % 64));
        set
    }
}

/// The part of a URL whose words say something about its page.
fn path(url: &Url) -> &str {
    &url[Position::BeforePath..Position::AfterQuery]
}

/// The text around a link that begins at byte `at`: within its block, and within the window.
fn around(text: &str, at: usize, anchor: usize) -> &str {
    let bytes = text.as_bytes();
    let at = at.min(bytes.len());
    let (low, high) = (at.saturating_sub(Finder::WINDOW), (at + anchor + Finder::WINDOW).min(bytes.len()));
    let mut start = bytes[low..at].iter().rposition(|byte| *byte == b'\n').map_or(low, |n| low + n + 1);
    let mut end = bytes[at..high].iter().position(|byte| *byte == b'\n').map_or(high, |n| at + n);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(start..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use dedup_stage::page::Input;
    use dedup_stage::store::{Memory, Session};

    use super::*;

    #[test]
    fn terms_are_found_where_they_stand() {
        let focus = config::Focus { topic: vec!["apple pear plum fig".into()], ..config::Settings::default().focus };
        let mut session = Session::new(Box::new(Memory::default()));
        let topic = Topic::open(&focus, &mut session, &mut |_| panic!("nothing to fetch")).unwrap().unwrap();
        let mut finder = Finder::new(Arc::new(topic));
        let html = "<title>Plums</title><p>An apple tree of <a href='/fig/x'>pears</a> in the garden</p>\
                    <p>Elsewhere <a href='/y'>something</a> else. Ä</p>";
        let url = Url::parse("http://a.test/").unwrap();
        let mut reader = Reader::default();
        let page =
            reader.read(&Input { url: &url, status: 200, content_type: Some("text/html"), body: html.as_bytes() });
        let hits = finder.page(&page, &reader);
        let mut counts: Vec<u16> = hits.terms.iter().map(|(_, n)| *n).collect();
        counts.sort_unstable();
        assert_eq!(counts, [1, 1, 4], "apple, pear, and plum in the title");
        let links = finder.links(&page, &reader);
        let bits = |terms: Terms| terms.iter().map(|word| word.count_ones()).sum::<u32>();
        let of = |hits: LinkHits| [bits(hits.anchor), bits(hits.around), bits(hits.url)];
        assert_eq!(of(links[0]), [1, 2, 1], "pear; apple and pear; fig");
        assert_eq!(of(links[1]), [0, 0, 0]);
    }
}
