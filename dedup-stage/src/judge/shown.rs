//! The record of a URL's content at its last visit. The next visit is compared with it.

use serde::{Deserialize, Serialize};

use super::{Case, Judgement, Verdict, template};
use crate::signature::{OddSketch, Sketch};
use crate::url::PageId;

/// The content of a URL at its last visit. The owner of the page records stores it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shown {
    /// The visit at which this content was first shown.
    pub visit: u32,
    /// The order of that visit. The judge stores the content under this order.
    pub order: u64,
    /// SHA-256 of the body shown last.
    pub sha256: [u8; 32],
    /// Fingerprint of the content as it was first shown; `None` if there is too little text.
    pub simhash: Option<u64>,
    /// Hash of all words shown last.
    pub text: u64,
    /// Odd sketch of the content as it was first shown. It tells how much the content changes. `None` if there is no
    /// content.
    pub odd: Option<OddSketch>,
    /// The statement ([`crate::page::Page::statement`]) at the last visit, if there is too little text for a
    /// fingerprint.
    pub statement: Option<[u8; 32]>,
    /// Sketch of a page that was not accepted. The judge keeps the sketches of accepted pages.
    pub sketch: Option<Sketch>,
    /// Whether the judge accepted the content. If so, later pages can be duplicates of it.
    pub accepted: bool,
    /// The twin, if the content was a duplicate of a page of another URL.
    pub of: Option<PageId>,
}

impl Shown {
    /// The record to store after a page was judged. A visit that shows nothing (an error, say) leaves the earlier
    /// record. `None` if there is no record yet.
    pub fn after(case: &Case<'_>, judgement: &Judgement) -> Option<Self> {
        let Case { order, id, before, page, .. } = *case;
        let (sha256, text) = (page.sha256, page.text);
        if !case.is_compared() {
            let is_same = !case.judgeable || before.is_some_and(|before| before.sha256 == sha256);
            return if is_same { before.cloned() } else { Some(Self::file(case)) };
        }
        let known = judgement.verdict.known().is_some();
        if let (Verdict::Unchanged { of, .. }, Some(before)) = (judgement.verdict, before)
            && (!before.is_duplicate() || of.is_some() || known)
        {
            // The sketches of short pages must be equal, so no small changes add up.
            let odd = if page.statement.is_some() { page.odd } else { template::kept(before.odd, page.odd) };
            let statement = before.statement.map(|then| page.statement.unwrap_or(then));
            return Some(Self { sha256, text, odd, statement, of, ..before.clone() });
        }
        // The page says something else than before, or it was a duplicate and is none any more.
        let signature = page.signature.as_ref();
        let of = judgement.verdict.twin();
        let accepted = (signature.is_some() || page.statement.is_some()) && of.is_none() && !known;
        let sketch = signature.filter(|_| !accepted).map(|signature| signature.sketch);
        let simhash = signature.map(|signature| signature.simhash);
        let (odd, statement) = (page.odd, page.statement);
        Some(Self { visit: id.visit, order, sha256, simhash, text, odd, statement, sketch, accepted, of })
    }

    /// The record of a file, which says nothing that is compared with other URLs.
    fn file(case: &Case<'_>) -> Self {
        let Case { order, id, page, .. } = *case;
        let (simhash, odd, statement, sketch, of) = (None, None, None, None, None);
        let (sha256, text, accepted) = (page.sha256, 0, false);
        Self { visit: id.visit, order, sha256, simhash, text, odd, statement, sketch, accepted, of }
    }

    /// Whether it says nothing: a file, or a page without words and media.
    pub(super) fn says_nothing(&self) -> bool {
        self.text == 0 && self.odd.is_none() && self.statement.is_none() && self.simhash.is_none()
    }

    /// Whether the content was a duplicate of a page of another URL or of a known document. (A page with a fingerprint
    /// that was not accepted is a duplicate.)
    pub(super) fn is_duplicate(&self) -> bool {
        self.of.is_some() || self.simhash.is_some() && !self.accepted
    }
}
