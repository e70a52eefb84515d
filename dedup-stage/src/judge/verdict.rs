//! What the judge says of a page.

use super::Shown;
use crate::corpus::Twin;
use crate::url::PageId;

/// What a page is to the pages before it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// Says something new.
    Unique,
    /// Has the same bytes as an earlier page of another URL.
    Exact {
        /// That page.
        of: PageId,
    },
    /// Says what an earlier page of another URL said.
    Near {
        /// That page.
        of: PageId,
        /// Hamming distance of the fingerprints.
        distance: u32,
        /// Estimated resemblance of the texts, 0..1.
        resemblance: f32,
    },
    /// Says what a document of a known corpus says, and no earlier page.
    Known {
        /// The corpus, by its place among those that the judge knows.
        corpus: u32,
        /// The document.
        twin: Twin,
    },
    /// Says what the same URL said at its last visit.
    Unchanged {
        /// Whether the bytes are others.
        bytes: bool,
        /// The page of another URL that it repeats, if it was a duplicate at the last visit and is one now.
        of: Option<PageId>,
        /// The known corpus that has it, if one had it at the last visit and one has it now.
        known: Option<u32>,
    },
    /// Not compared.
    Unjudged,
}

impl Verdict {
    /// The word used in outputs.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Unique => "unique",
            Verdict::Exact { .. } | Verdict::Known { twin: Twin { exact: true, .. }, .. } => "exact",
            Verdict::Near { .. } | Verdict::Known { .. } => "near",
            Verdict::Unchanged { .. } => "unchanged",
            Verdict::Unjudged => "unjudged",
        }
    }

    /// Hamming distance and resemblance of a duplicate to its twin, as outputs write them: to three decimals, which is
    /// more than an estimate can promise. `None` unless exact or near.
    pub fn nearness(&self) -> Option<(u32, f32)> {
        match *self {
            Verdict::Exact { .. } => Some((0, 1.0)),
            Verdict::Near { distance, resemblance, .. }
            | Verdict::Known { twin: Twin { distance, resemblance, .. }, .. } => {
                Some((distance, (resemblance * 1000.0).round() / 1000.0))
            }
            Verdict::Unique | Verdict::Unchanged { .. } | Verdict::Unjudged => None,
        }
    }

    /// Whether it is exact or near.
    pub fn is_duplicate(&self) -> bool {
        self.nearness().is_some()
    }

    /// The known corpus that has the page, unchanged ones included; its links are held as known.
    pub fn known(&self) -> Option<u32> {
        match *self {
            Verdict::Known { corpus, .. } => Some(corpus),
            Verdict::Unchanged { known, .. } => known,
            Verdict::Unique | Verdict::Exact { .. } | Verdict::Near { .. } | Verdict::Unjudged => None,
        }
    }

    /// The earlier page that outputs name; `None` unless it is exact or near, and always where a known corpus has it.
    pub fn duplicate_of(&self) -> Option<PageId> {
        match *self {
            Verdict::Exact { of } | Verdict::Near { of, .. } => Some(of),
            Verdict::Unique | Verdict::Known { .. } | Verdict::Unchanged { .. } | Verdict::Unjudged => None,
        }
    }

    /// The page of another URL whose links lead where this page's links lead: that of a duplicate, unchanged ones
    /// included.
    pub fn twin(&self) -> Option<PageId> {
        match *self {
            Verdict::Unchanged { of, .. } => of,
            _ => self.duplicate_of(),
        }
    }
}

/// A verdict and what follows from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// How much of the page is new, 0..1. It is 1 for a unique page and 0 for an exact or unchanged one. For a near duplicate
    /// it is `1 - resemblance * (1 + links) / 2`, where `links` is the share of the page's content links that its twin has
    /// too. Of the links of a known document nothing is known: there it is `1 - resemblance`.
    pub novelty: f32,
    /// What a unique page has beside the text of an earlier one that the earlier one has not: a page of a list. `None` where
    /// its text is new.
    pub acquitted: Option<Acquitted>,
}

/// What makes a page with the text of an earlier one unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acquitted {
    /// Other links. A trap has other links on each page, too: only where the links lead tells what they are worth.
    ByLinks,
    /// Other media.
    ByMedia,
}

impl Judgement {
    /// Of a page that is not judged.
    pub const UNJUDGED: Self = Self { verdict: Verdict::Unjudged, novelty: 0.5, acquitted: None };

    /// What changed since the last visit of this URL, at which it showed `before`: `no`, `bytes` (the same content in other
    /// bytes) or `content`. `None` at the first visit, and where nothing can be compared.
    pub fn changed(&self, before: Option<&Shown>) -> Option<&'static str> {
        match (self.verdict, before) {
            (Verdict::Unchanged { bytes: false, .. }, _) => Some("no"),
            (Verdict::Unchanged { bytes: true, .. }, _) => Some("bytes"),
            (Verdict::Unjudged, _) | (_, None) => None,
            (Verdict::Unique | Verdict::Exact { .. } | Verdict::Near { .. } | Verdict::Known { .. }, Some(_)) => {
                Some("content")
            }
        }
    }

    /// Of an answer that says by itself that nothing changed (304), where the URL showed `before` at its last visit.
    pub fn not_modified(before: &Shown) -> Self {
        Self { verdict: Verdict::Unchanged { bytes: false, of: before.of, known: None }, novelty: 0.0, acquitted: None }
    }
}
