//! Weighs a topic's terms, and computes the relevance of pages and links, 0..1. The engine owns the weights, and gives
//! them pages in the order of judging.
//!
//! - The *IDF* of a term is that of the crawl so far: `ln(1 + (N − n + ½) / (n + ½))`, where `n` of `N` pages have the
//!   term.
//! - The *relevance of a page* is BM25 (Robertson, Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond",
//!   2009, section 3), divided by the greatest value that any page could have: `Σ w·idf·tf / (tf + K) / Σ w·idf`, where
//!   `K = 1.2 · (¼ + ¾ · words / average words)`. If a topic is long, only its 24 heaviest terms count, and terms that
//!   no second page has do not count.
//! - The *relevance of a link* follows Shark-search (Hersovici and others, "The shark-search algorithm", WWW7, 1998).
//!   It is made of the worth of the link's page (its own or inherited), and of the terms in the link's anchor, around
//!   it and in its URL: `0.3 · page + 0.7 · (1 − (1 − 0.9 a)(1 − 0.4 c)(1 − 0.6 u))`, where `a`, `c`, `u` are `x / (x +
//!   mean)` of the weights `w·idf` of the terms found.
//! - *Tunnelling*: the worth of a page is what it says, `r / (r + threshold)`, or half of the relevance of the link
//!   that led to it, whichever is more. So an irrelevant page passes on half, the one behind it a quarter, and after a
//!   few hops nothing is left.

use std::sync::Arc;

use dedup_stage::store::{Result, Session, Space};
use serde::{Deserialize, Serialize};

use super::finder::Terms;
use super::{LinkHits, PageHits, Topic};

/// The counts of the topic's terms in the crawl so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// The number of pages.
    pub pages: u64,
    /// The number of words of these pages.
    pub words: u64,
    /// For each term, the number of pages that have it.
    pub with: Vec<u32>,
}

/// Weighs terms.
#[derive(Debug)]
pub struct Focus {
    topic: Arc<Topic>,
    tally: Tally,
    threshold: f32,
    /// The weight times the IDF of each term, as of `weighed` pages.
    weights: Vec<f32>,
    weighed: u64,
    /// The mean and the sum of the heaviest weights.
    mean: f32,
    sum: f32,
}

impl Focus {
    /// The part of the relevance of the link to a page that the page passes on.
    const INHERITED: f32 = 0.5;
    /// The number of terms that a page must have to be fully relevant.
    const HEAVIEST: usize = 24;
    /// IDFs are computed again when the number of pages has grown by one part in this many.
    const STALE: u64 = 16;
    /// The key of the counts in [`Space::META`].
    pub const RECORD: &[u8] = b"focus";

    /// Makes the weights of a topic, with the counts that `session` has. Pages are relevant from `threshold` on.
    pub fn open(topic: Arc<Topic>, threshold: f32, session: &Session) -> Result<Self> {
        let stored = session.get(Space::META, Self::RECORD)?;
        let tally = stored.and_then(|bytes| serde_json::from_slice::<Tally>(&bytes).ok());
        let tally = tally.filter(|tally| tally.with.len() == topic.len()).unwrap_or_default();
        let mut focus = Self { tally, threshold, weights: Vec::new(), weighed: 0, mean: 1.0, sum: 1.0, topic };
        focus.tally.with.resize(focus.topic.len(), 0);
        focus.weigh();
        Ok(focus)
    }

    /// Writes the counts. Call this before a commit.
    pub fn save(&self, session: &mut Session) -> Result<()> {
        let record = serde_json::to_vec(&self.tally).map_err(std::io::Error::from)?;
        session.put(Space::META, Self::RECORD, record);
        Ok(())
    }

    /// Counts one more page, and returns its relevance.
    pub fn page(&mut self, hits: &PageHits) -> f32 {
        self.tally.pages += 1;
        self.tally.words += u64::from(hits.words);
        for (term, _) in &hits.terms {
            self.tally.with[usize::from(*term)] += 1;
        }
        if self.tally.pages >= self.weighed + (self.weighed / Self::STALE).max(1) {
            self.weigh();
        }
        let average = (self.tally.words as f32 / self.tally.pages as f32).max(1.0);
        let k = 1.2 * (0.25 + 0.75 * hits.words as f32 / average);
        let found =
            hits.terms.iter().map(|(term, n)| self.weights[usize::from(*term)] * f32::from(*n) / (f32::from(*n) + k));
        (found.sum::<f32>() / self.sum).min(1.0)
    }

    /// The worth of a page, which it passes on to its links. It comes from the page's own relevance, or from that of
    /// the link that led to it.
    pub fn worth(&self, relevance: Option<f32>, inherited: f32) -> f32 {
        let own = relevance.map_or(0.0, |r| r / (r + self.threshold));
        own.max(Self::INHERITED * inherited)
    }

    /// The relevance of a link from a page with this worth.
    pub fn link(&self, worth: f32, hits: &LinkHits) -> f32 {
        let [anchor, around, url] = [hits.anchor, hits.around, hits.url].map(|terms| self.share(terms));
        let said = 1.0 - (1.0 - 0.9 * anchor) * (1.0 - 0.4 * around) * (1.0 - 0.6 * url);
        0.3 * worth + 0.7 * said
    }

    fn share(&self, terms: Terms) -> f32 {
        let mut found = 0.0;
        for (word, set) in terms.into_iter().enumerate() {
            let mut set = set;
            while set != 0 {
                found += self.weights[64 * word + set.trailing_zeros() as usize];
                set &= set - 1;
            }
        }
        found / (found + self.mean)
    }

    fn weigh(&mut self) {
        let pages = self.tally.pages as f32;
        let with = self.tally.with.iter().map(|with| *with as f32);
        let idf = with.map(|with| (1.0 + (pages - with + 0.5).max(0.5) / (with + 0.5)).ln());
        self.weights = idf.enumerate().map(|(term, idf)| self.topic.weight(term) * idf).collect();
        let shared = |with: &u32| *with >= 2;
        if self.weights.len() > Self::HEAVIEST && self.tally.with.iter().any(shared) {
            let terms = self.weights.iter_mut().zip(&self.tally.with);
            terms.filter(|(_, with)| !shared(with)).for_each(|(weight, _)| *weight = 0.0);
        }
        self.weighed = self.tally.pages;
        let mut heaviest = self.weights.clone();
        heaviest.sort_by(|a, b| b.total_cmp(a));
        heaviest.truncate(Self::HEAVIEST);
        self.sum = heaviest.iter().sum::<f32>().max(f32::MIN_POSITIVE);
        self.mean = self.sum / heaviest.len().max(1) as f32;
    }
}

#[cfg(test)]
mod tests {
    use dedup_stage::store::Memory;

    use super::*;

    fn focus(session: &mut Session) -> Focus {
        let settings = config::Focus { topic: vec!["apple pear the".into()], ..config::Settings::default().focus };
        let topic = Topic::open(&settings, session, &mut |_| panic!("nothing to fetch")).unwrap().unwrap();
        Focus::open(Arc::new(topic), 0.3, session).unwrap()
    }

    fn hits(terms: &[(u16, u16)]) -> PageHits {
        PageHits { terms: terms.to_vec(), words: 100 }
    }

    #[test]
    fn a_word_that_every_page_has_says_little_and_a_restart_forgets_nothing() {
        let mut session = Session::new(Box::new(Memory::default()));
        let mut one = focus(&mut session);
        // Terms are in the order of their stems: apple, pear, the.
        for n in 0..50 {
            one.page(&hits(if n % 10 == 0 { &[(0, 3), (2, 9)] } else { &[(2, 9)] }));
        }
        let (rare, common) = (one.page(&hits(&[(0, 3)])), one.page(&hits(&[(2, 9)])));
        assert!(rare > 5.0 * common, "{rare} {common}");
        let all = one.page(&hits(&[(0, 90), (1, 90), (2, 90)]));
        assert!((0.9..=1.0).contains(&all), "{all}");
        one.save(&mut session).unwrap();
        let mut two = focus(&mut session);
        assert_eq!(two.tally, one.tally);
        two.page(&hits(&[]));
        one.page(&hits(&[]));
        let (a, b) = (one.page(&hits(&[(1, 2)])), two.page(&hits(&[(1, 2)])));
        assert!((a - b).abs() < 0.02, "{a} {b}");
    }

    #[test]
    fn relevance_tunnels_through_a_few_pages_and_no_more() {
        let mut session = Session::new(Box::new(Memory::default()));
        let focus = focus(&mut session);
        let mut link = focus.link(focus.worth(Some(0.9), 0.0), &LinkHits::default());
        assert!(link > 0.2);
        let mut hops = 0;
        while link > 0.01 {
            let next = focus.link(focus.worth(Some(0.0), link), &LinkHits::default());
            assert!(next < link);
            (link, hops) = (next, hops + 1);
        }
        assert!((2..6).contains(&hops), "{hops}");
        let said = LinkHits { anchor: [1, 0, 0, 0], ..LinkHits::default() };
        assert!(focus.link(0.0, &said) > focus.link(0.5, &LinkHits::default()));
    }
}
