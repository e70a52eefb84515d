//! The way of a page: the judge, the gate, and the fate of its links.
//!
//! The crawler and [`crate::stage::Stage`] both send their pages through a [`Flow`]. A flow records nothing of a page
//! outside the judge's own spaces, and waits for nothing: its caller keeps the records and passes them in.

mod counterpart;
mod gate;

use crate::judge::{Case, Judge, Judgement, Shown, UrlOf};
use crate::store::{Result, Session};
use crate::url::Keys;

pub use config::OnDuplicate;
pub use counterpart::{Counterpart, Held};

/// Judges pages and decides what becomes of their links.
#[derive(Debug)]
pub struct Flow {}

/// What came of a page.
#[derive(Debug)]
pub struct Passage {
    /// Verdict and novelty.
    pub judgement: Judgement,
    /// What becomes of its links.
    pub links: Fate,
    /// What to store of the page, and to pass in as [`Case::before`] at the next visit.
    pub shown: Option<Shown>,
}

/// What becomes of the links of a page.
#[derive(Debug)]
pub enum Fate {
    /// They go to the frontier, with their priority multiplied by this factor in 0..1.
    Follow(f32),
    /// None goes to the frontier. Each is held for its counterpart on the page's twin.
    Hold(Held),
}

impl Flow {
    /// A flow that goes on from what `session` has accepted.
    pub fn open(dedup: &config::Dedup, keys: Keys, session: &mut Session) -> Result<Self> {
        let _ = (dedup, keys, session);
        todo!()
    }

    /// The judge, for what other processes judged ([`Judge::accept`]) and for URLs that are gone ([`Judge::forget`]).
    pub fn judge(&mut self) -> &mut Judge {
        todo!()
    }

    /// Judges a page and decides the fate of its links. `url_of` tells the URL of an earlier page; it is asked only where
    /// the texts of two pages are alike.
    pub fn page(&mut self, case: &Case<'_>, url_of: UrlOf<'_>, session: &mut Session) -> Result<Passage> {
        let _ = (case, url_of, session);
        todo!()
    }

    /// The links of a duplicate compared with those of its twin, whatever the mode is; `None` if it has no twin.
    /// [`Flow::page`] gives the same as [`Fate::Hold`] in `drop`.
    pub fn held(
        &self,
        case: &Case<'_>,
        judgement: &Judgement,
        url_of: UrlOf<'_>,
        session: &Session,
    ) -> Result<Option<Held>> {
        let _ = (case, judgement, url_of, session);
        todo!()
    }
}
