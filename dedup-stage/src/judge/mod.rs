//! The judge: compares each page with all pages accepted before it.
//!
//! The steps, in this order:
//!
//! 1. Guards. A page that was cut short, an error page and a file that is no text are not judged.
//! 2. The same URL. A page that shows what its URL showed at the last visit is *unchanged*. Otherwise what the URL showed
//!    then is withdrawn, and condemns no page any more.
//! 3. Exact. Another URL showed the same bytes (SHA-256).
//! 4. Near. Another accepted page has a fingerprint within the Hamming distance (found with exact recall by
//!    [`crate::hamming`]), and its text is alike at the second look ([`crate::signature::Sketch`]).
//! 5. Links and media. A page with the text of an earlier one is still unique if its links, or beside little text its
//!    media, are not those of the earlier page.
//!
//! The twin of a duplicate is the nearest accepted page, and of several at one distance the earliest. Earlier means a
//! smaller *order* ([`Case::order`]). A page never is the twin of its own URL.
//!
//! The judge keeps nothing by URL. Whoever keeps the records of the pages stores what each URL showed last ([`Shown`]) and
//! passes it in again at the next visit.

mod candidate;
mod links;
mod shown;
mod verdict;

use ::url::Url;

use crate::page::Page;
use crate::store::{Result, Session};
use crate::url::{Keys, PageId, UrlId};

pub use candidate::Candidate;
pub use links::OutLink;
pub use shown::Shown;
pub use verdict::{Judgement, Verdict};

/// A page before the judge.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// Its place in the order of judging. Orders never repeat, and grow.
    pub order: u64,
    /// Its URL and visit.
    pub id: PageId,
    /// Where it was fetched from.
    pub url: &'a Url,
    /// What this URL showed at the last visit; `None` at the first.
    pub before: Option<&'a Shown>,
    /// Whether it may be judged at all: a complete body with a 2xx status.
    pub judgeable: bool,
    /// What was read from it. The judge does not look at [`Page::links`].
    pub page: &'a Page,
    /// Its links, one per URL identity, in the order of the page. Links that may not be followed are among them: they
    /// say what the page shows.
    pub links: &'a [OutLink],
}

/// Tells the URL of a page that was judged earlier; `None` if nobody knows it.
pub type UrlOf<'a> = &'a dyn Fn(PageId, &Session) -> Result<Option<Url>>;

/// Compares pages with all pages before them. One owner, pages in order.
#[derive(Debug)]
pub struct Judge {}

impl Judge {
    /// Resemblance from which two texts are as good as equal.
    pub const SAME_TEXT: f32 = 0.9;

    /// A judge that remembers what `session` has accepted. Fails where the state was made by another recipe.
    pub fn open(distance: u32, keys: Keys, session: &mut Session) -> Result<Self> {
        let _ = (distance, keys, session);
        todo!()
    }

    /// Number of distinct fingerprints in the index. Those of withdrawn pages count until the state is opened again.
    pub fn fingerprints(&self) -> usize {
        todo!()
    }

    /// Judges one page, and remembers it if it says something new.
    pub fn judge(&mut self, case: &Case<'_>, url_of: UrlOf<'_>, session: &mut Session) -> Result<Judgement> {
        let _ = (case, url_of, session);
        todo!()
    }

    /// Remembers a page that was judged elsewhere.
    pub fn accept(&mut self, candidate: &Candidate, session: &mut Session) -> Result<()> {
        let _ = (candidate, session);
        todo!()
    }

    /// Forgets what a URL showed before, and remembers what it shows now.
    pub fn replace(&mut self, before: &Shown, candidate: &Candidate, session: &mut Session) -> Result<()> {
        self.forget(before, candidate.id.url, session)?;
        self.accept(candidate, session)
    }

    /// Forgets what a URL showed: it condemns no page any more. (For a URL that is gone, for example.)
    pub fn forget(&mut self, shown: &Shown, url: UrlId, session: &mut Session) -> Result<()> {
        let _ = (shown, url, session);
        todo!()
    }
}
