//! The judgement on a page.

use super::Shown;
use crate::corpus::CorpusMatch;
use crate::url::PageId;

/// The relation of a page to the pages before it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// The page says something new.
    Unique,
    /// The page has the same bytes as an earlier page of another URL.
    Exact {
        /// The earlier page.
        of: PageId,
    },
    /// The page says what an earlier page of another URL said.
    Near {
        /// The earlier page.
        of: PageId,
        /// Hamming distance of the fingerprints.
        distance: u32,
        /// Estimated resemblance of the texts, 0..1.
        resemblance: f32,
    },
    /// The page says what a document of a known corpus says, and what no earlier page said.
    Known {
        /// The number of the corpus, in the order in which the judge knows them.
        corpus: u32,
        /// The document of the corpus.
        document: CorpusMatch,
    },
    /// The page says what its URL said at the last visit.
    Unchanged {
        /// Whether the bytes have changed.
        bytes: bool,
        /// The page of another URL that it repeats, if it was a duplicate at the last visit and is one now.
        of: Option<PageId>,
        /// The known corpus that has the page, if a corpus had it at the last visit and one has it now.
        known: Option<u32>,
    },
    /// The page was not compared.
    Unjudged,
}

impl Verdict {
    /// The name of the verdict in outputs.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Unique => "unique",
            Verdict::Exact { .. } | Verdict::Known { document: CorpusMatch { exact: true, .. }, .. } => "exact",
            Verdict::Near { .. } | Verdict::Known { .. } => "near",
            Verdict::Unchanged { .. } => "unchanged",
            Verdict::Unjudged => "unjudged",
        }
    }

    /// Hamming distance and resemblance of a duplicate to its twin, as outputs write them. The resemblance is rounded
    /// to three decimals; the estimate is less exact than that. `None` unless the verdict is exact or near.
    pub fn nearness(&self) -> Option<(u32, f32)> {
        match *self {
            Verdict::Exact { .. } => Some((0, 1.0)),
            Verdict::Near { distance, resemblance, .. }
            | Verdict::Known { document: CorpusMatch { distance, resemblance, .. }, .. } => {
                Some((distance, (resemblance * 1000.0).round() / 1000.0))
            }
            Verdict::Unique | Verdict::Unchanged { .. } | Verdict::Unjudged => None,
        }
    }

    /// Whether the verdict is exact or near.
    pub fn is_duplicate(&self) -> bool {
        self.nearness().is_some()
    }

    /// The known corpus that has the page, if there is one (also for an unchanged page). The links of the page are held
    /// as known.
    pub fn known(&self) -> Option<u32> {
        match *self {
            Verdict::Known { corpus, .. } => Some(corpus),
            Verdict::Unchanged { known, .. } => known,
            Verdict::Unique | Verdict::Exact { .. } | Verdict::Near { .. } | Verdict::Unjudged => None,
        }
    }

    /// The earlier page that outputs name as the twin. `None` unless the verdict is exact or near, and always `None` if
    /// a known corpus has the page.
    pub fn duplicate_of(&self) -> Option<PageId> {
        match *self {
            Verdict::Exact { of } | Verdict::Near { of, .. } => Some(of),
            Verdict::Unique | Verdict::Known { .. } | Verdict::Unchanged { .. } | Verdict::Unjudged => None,
        }
    }

    /// The twin of a duplicate; also of an unchanged page that is a duplicate. The links of the page are compared with
    /// those of the twin.
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
    /// How much of the page is new, 0..1. It is 1 for a unique page, 0 for an exact or unchanged one, and 0.5 for one
    /// that is not judged. For a near-duplicate it is `1 - resemblance * (1 + links) / 2`, where `links` is the share
    /// of the page's content links that its twin has too. For a known document it is `1 - resemblance`, because
    /// nothing is known about its links.
    pub novelty: f32,
    /// For a unique page with the text of an earlier page: what makes it unique. `None` if its text is new.
    pub unique_by: Option<UniqueBy>,
}

/// The reason why a page with the text of an earlier one is unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UniqueBy {
    /// It has other links. A trap has other links on each page, too. Only the pages to which the links lead tell
    /// whether the links are worth a fetch.
    Links,
    /// It has a few words, which an earlier page says, too, and other links. A few words do not tell a list from a
    /// trap, so its links are followed and not tried.
    LinksOfFewWords,
    /// It has a text in its chrome (in an aside, or a footer) that no other page of its host was seen to have. Only the
    /// pages to which its links lead tell whether they are worth a fetch.
    Aside,
    /// It has a medium that was never seen, beside a medium that at least two pages of its host show. It may belong to a
    /// gallery, or the medium may be an advertisement. Only the pages to which its links lead tell whether they are
    /// worth a fetch.
    MediumBesideShared,
    /// Most of its media are other ones.
    Media,
}

impl UniqueBy {
    /// Whether the links of such a page are tried before they are followed.
    pub fn is_tried(self) -> bool {
        matches!(self, UniqueBy::Links | UniqueBy::Aside | UniqueBy::MediumBesideShared)
    }
}

/// The change between two visits to a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changed {
    /// Nothing changed.
    No,
    /// The bytes changed, but not the content.
    Bytes,
    /// The content changed.
    Content,
}

impl Changed {
    /// The name of the change in outputs.
    pub fn name(self) -> &'static str {
        match self {
            Changed::No => "no",
            Changed::Bytes => "bytes",
            Changed::Content => "content",
        }
    }
}

impl Judgement {
    /// The judgement on a page that is not judged.
    pub const UNJUDGED: Self = Self { verdict: Verdict::Unjudged, novelty: 0.5, unique_by: None };

    /// The change since the last visit of this URL, at which it showed `before`; `after` is what it shows now. `None`
    /// at the first visit, and if nothing can be compared.
    pub fn changed(&self, before: Option<&Shown>, after: Option<&Shown>) -> Option<Changed> {
        let before = before?;
        match self.verdict {
            Verdict::Unchanged { bytes: false, .. } => Some(Changed::No),
            Verdict::Unchanged { bytes: true, .. } => Some(Changed::Bytes),
            Verdict::Unique | Verdict::Exact { .. } | Verdict::Near { .. } | Verdict::Known { .. } => {
                Some(Changed::Content)
            }
            // For example, a file has taken the place of a page.
            Verdict::Unjudged => after.is_some_and(|after| after.visit != before.visit).then_some(Changed::Content),
        }
    }

    /// The judgement on an answer that says by itself that nothing changed (304). The URL showed `before` at its last
    /// visit.
    pub fn not_modified(before: &Shown) -> Self {
        Self { verdict: Verdict::Unchanged { bytes: false, of: before.of, known: None }, novelty: 0.0, unique_by: None }
    }
}
