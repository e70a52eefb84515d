//! What the links of a page are worth: the parts of their priorities that are known when they are queued.

use std::sync::Arc;

use config::{OnDuplicate, Settings};
use dedup_stage::store::{Result, Session};
use frontier::{Job, Merits};

use super::message::LinkNote;
use crate::focus::{Focus, LinkHits, PageHits, Topic};
use crate::priority::{InLinks, OfLink, OfPage, Scoring};

/// Works out the priorities of links.
pub(super) struct Scores {
    scoring: Scoring,
    /// In a focused crawl.
    focus: Option<Focus>,
    /// How many links lead to each URL, where that is counted.
    in_links: Option<InLinks>,
}

/// What the links of one page have in common.
#[derive(Clone, Copy)]
pub(super) struct PageScore {
    of_page: OfPage,
    /// In a focused crawl: what the page can hand on.
    worth: Option<f32>,
}

impl Scores {
    /// For a crawl with these settings; goes on from what `session` has counted of the topic's words.
    pub fn open(settings: &Settings, topic: Option<&Arc<Topic>>, session: &Session) -> Result<Self> {
        let focus = topic.map(|topic| Focus::open(Arc::clone(topic), settings.focus.relevant_from, session));
        // Links are counted where they bear on more than the order of arrival.
        let scored = settings.dedup.on_duplicate == OnDuplicate::Demote || settings.focus.is_on();
        let counted = scored && settings.priority.in_links_weight > 0.0;
        Ok(Self {
            scoring: Scoring::new(&settings.priority),
            focus: focus.transpose()?,
            in_links: counted.then(InLinks::default),
        })
    }

    /// The relevance of a page to the topic, in a focused crawl.
    pub fn relevance(&mut self, hits: Option<&PageHits>) -> Option<f32> {
        Some(self.focus.as_mut()?.page(hits?))
    }

    /// What the links of a page have in common. So much of the page is new, 0..1; they lead to this depth.
    pub fn page(&self, job: &Job, novelty: f32, depth: u32, relevance: Option<f32>) -> PageScore {
        let worth = self.focus.as_ref().map(|focus| focus.worth(relevance, f32::from(job.merits.relevance) / 255.0));
        PageScore { of_page: self.scoring.page(novelty, depth), worth }
    }

    /// The priority of a link, and what it was made of.
    pub fn link(&mut self, page: PageScore, url: u64, note: &LinkNote) -> (f32, Merits) {
        let in_links = self.in_links.as_mut().map_or(0, |counts| counts.count(url));
        let relevance = match (&self.focus, page.worth) {
            (Some(focus), Some(worth)) => Some(focus.link(worth, note.hits.as_deref().unwrap_or(&LinkHits::default()))),
            _ => None,
        };
        self.scoring.link(page.of_page, OfLink { in_links, relevance, hint: false })
    }

    /// What a page so deep weighs, 0..1, when it is to be visited again.
    pub fn of_depth(&self, depth: u32) -> f32 {
        self.scoring.link(self.scoring.page(1.0, depth), OfLink::default()).0
    }

    /// The priority of a page that a sitemap names.
    pub fn named(&self) -> (f32, Merits) {
        self.scoring.link(self.scoring.page(1.0, 1), OfLink { hint: true, ..OfLink::default() })
    }

    /// Writes down what was counted of the topic's words.
    pub fn save(&self, session: &mut Session) -> Result<()> {
        self.focus.as_ref().map_or(Ok(()), |focus| focus.save(session))
    }
}
