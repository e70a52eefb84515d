//! The priorities of links: the parts that are known when a link is queued.

use std::sync::Arc;

use config::{OnDuplicate, Settings};
use dedup_stage::store::{Result, Session};
use frontier::{Job, Merits};

use super::message::LinkNote;
use crate::focus::{Focus, Likely, LinkHits, PageHits, Topic};
use crate::hints::Hints;
use crate::priority::{InLinks, OfLink, OfPage, Scoring};

/// Computes the priorities of links.
pub(super) struct Scores {
    scoring: Scoring,
    /// In a crawl with a topic.
    focus: Option<Focus>,
    /// If a program scores pages: the scores that are expected of pages not fetched yet.
    likely: Option<Likely>,
    /// The number of links to each URL, if it is counted.
    in_links: Option<InLinks>,
}

/// The parts of a priority that all links of one page share.
#[derive(Clone, Copy)]
pub(super) struct PageScore {
    of_page: OfPage,
    /// In a crawl with a topic: the relevance that the page passes on to its links.
    worth: Option<f32>,
    /// If a program scores pages: the score of the page, or the expected score.
    score: f32,
}

impl Scores {
    /// Makes the scores of a crawl with these settings, with the counts of the topic's words that `session` has.
    pub fn open(settings: &Settings, topic: Option<&Arc<Topic>>, session: &Session) -> Result<Self> {
        let focus = topic.map(|topic| Focus::open(Arc::clone(topic), settings.focus.relevant_from, session));
        // Links are counted in `demote` and in focused crawls, because the best URLs should come first there.
        let scored = settings.dedup.on_duplicate == OnDuplicate::Demote || settings.focus.is_on();
        let counted = scored && settings.priority.in_links_weight > 0.0;
        Ok(Self {
            scoring: Scoring::new(&settings.priority),
            focus: focus.transpose()?,
            likely: settings.focus.has_program().then(|| Likely::open(session)).transpose()?,
            in_links: counted.then(InLinks::default),
        })
    }

    /// The worth of a page, 0..1: its score by the user's program, or else its relevance to the topic. `None` in other
    /// crawls.
    pub fn relevance(&mut self, job: &Job, hits: Option<&PageHits>, score: Option<f32>) -> Option<f32> {
        let topical = self.focus.as_mut().and_then(|focus| Some(focus.page(hits?)));
        if let (Some(likely), Some(score)) = (&mut self.likely, score) {
            likely.page(job.page.url.url, score);
        }
        score.or(topical)
    }

    /// The parts that all links of a page share. `novelty` is the share of the page that is new, 0..1; `depth` is that
    /// of the links.
    pub fn page(&self, job: &Job, novelty: f32, depth: u32, relevance: Option<f32>) -> PageScore {
        let expected = f32::from(job.merits.relevance) / 255.0;
        let worth = self.focus.as_ref().map(|focus| focus.worth(relevance, expected));
        let likely = || self.likely.as_ref().map_or(expected, |likely| likely.score(expected));
        PageScore { of_page: self.scoring.page(novelty, depth), worth, score: relevance.unwrap_or_else(likely) }
    }

    /// The priority of a link, and its parts.
    pub fn link(&mut self, page: PageScore, url: u64, note: &LinkNote) -> (f32, Merits) {
        let in_links = self.in_links.as_mut().map_or(0, |counts| counts.count(url));
        let expected = self.likely.as_mut().map(|likely| likely.link(url, page.score));
        let relevance = match (&self.focus, expected.or(page.worth)) {
            (Some(focus), Some(worth)) => Some(focus.link(worth, note.hits.as_deref().unwrap_or(&LinkHits::default()))),
            (_, expected) => expected,
        };
        self.scoring.link(page.of_page, OfLink { in_links, relevance, hints: note.hints })
    }

    /// The weight of a page at this depth, 0..1, for the order of visits.
    pub fn of_depth(&self, depth: u32) -> f32 {
        self.scoring.link(self.scoring.page(1.0, depth), OfLink::default()).0
    }

    /// The priority of a page that a sitemap names.
    pub fn named(&self, hints: Hints) -> (f32, Merits) {
        self.scoring.link(self.scoring.page(1.0, 1), OfLink { hints, ..OfLink::default() })
    }

    /// Writes down the counts of the topic's words, and what was learned from scores.
    pub fn save(&self, session: &mut Session) -> Result<()> {
        self.likely.as_ref().map_or(Ok(()), |likely| likely.save(session))?;
        self.focus.as_ref().map_or(Ok(()), |focus| focus.save(session))
    }
}
