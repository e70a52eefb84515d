//! The flow judges a page and decides the fate of its links.
//!
//! The crawler and [`crate::stage::Stage`] both send their pages through a [`Flow`]. A flow writes only to the spaces
//! of the judge, and waits for nothing. Its caller keeps the records of pages and passes them in.

mod gate;
#[cfg(test)]
mod tests;

use crate::judge::{Case, Comparison, Judge, Judgement, OutLink, Shown, UniqueBy, UrlOf};
use crate::store::{Result, Session};
use crate::url::{Keys, PageId};
use gate::gate;

pub use crate::judge::Counterpart;
pub use config::OnDuplicate;

/// Judges pages and decides what becomes of their links.
#[derive(Debug)]
pub struct Flow {
    judge: Judge,
    on_duplicate: OnDuplicate,
}

/// The result for one page.
#[derive(Debug)]
pub struct FlowResult {
    /// Verdict and novelty.
    pub judgement: Judgement,
    /// The fate of its links.
    pub links: Fate,
    /// The caller stores this, and passes it in as [`Case::before`] at the next visit.
    pub shown: Option<Shown>,
}

/// The fate of the links of a page.
#[derive(Debug)]
pub enum Fate {
    /// The links go to the frontier. Their priority is multiplied by this factor in 0..1.
    Follow(f32),
    /// No link is followed. Each is held for its counterpart on the page's twin, or as news.
    Hold(Held),
    /// The page has the text of another page. It is unique only by its links, by a text in its chrome, or by a medium
    /// beside media that its host often shows. Such a page may belong to a list or to a trap. So its links are treated
    /// like those of a duplicate, and trials tell what they are worth. Only in `drop`.
    Try(Held),
    /// No link is followed. A known corpus has the page (its place among the corpora is given). A corpus has no links
    /// to compare with, so each link is held as known.
    HoldKnown(u32),
}

/// The links of a page, compared with those of the earlier page with the same text.
#[derive(Debug)]
pub struct Held(Box<Comparison>);

impl Held {
    /// The page that the duplicate repeats.
    pub fn twin(&self) -> PageId {
        self.0.twin()
    }

    /// The counterpart of a link of the duplicate. It is computed at each call, because the frontier knows most links
    /// of a duplicate already and does not ask for their counterparts.
    ///
    /// If the twin's links are not known (the twin is a near-duplicate itself), this is the link that the twin most
    /// probably has.
    pub fn counterpart(&self, link: &OutLink) -> Counterpart {
        self.0.counterpart(link)
    }
}

impl Flow {
    /// A flow that goes on from what `session` has accepted.
    pub fn open(dedup: &config::Dedup, keys: Keys, session: &mut Session) -> Result<Self> {
        Ok(Self { judge: Judge::open(dedup.distance, keys, session)?, on_duplicate: dedup.on_duplicate })
    }

    /// The judge.
    pub fn judge(&self) -> &Judge {
        &self.judge
    }

    /// The judge, for pages that other processes judged ([`Judge::accept`]) and for URLs that are gone
    /// ([`Judge::forget`]).
    pub fn judge_mut(&mut self) -> &mut Judge {
        &mut self.judge
    }

    /// Judges a page and decides the fate of its links. `url_of` tells the URL of an earlier page; it is asked only if
    /// the texts of two pages are alike.
    pub fn page(&mut self, case: &Case<'_>, url_of: UrlOf<'_>, session: &mut Session) -> Result<FlowResult> {
        let (judgement, twin) = self.judge.judge_beside_twin(case, url_of, session)?;
        let shown = Shown::after(case, &judgement);
        let is_tried = judgement.unique_by.is_some_and(UniqueBy::is_tried) && self.on_duplicate == OnDuplicate::Drop;
        let factor = gate(&judgement, self.on_duplicate);
        let twin = match twin {
            None if factor.is_none() => self.judge.beside_twin(case, &judgement, session)?,
            twin => twin,
        };
        let links = match (factor, twin, judgement.verdict.known()) {
            (Some(_), Some(twin), _) if is_tried => Fate::Try(held(case, twin, url_of, session)?),
            (Some(factor), ..) => Fate::Follow(factor),
            (None, Some(twin), _) => Fate::Hold(held(case, twin, url_of, session)?),
            (None, None, Some(corpus)) => Fate::HoldKnown(corpus),
            (None, None, None) => unreachable!("a duplicate has a twin"),
        };
        Ok(FlowResult { judgement, links, shown })
    }

    /// The links of a duplicate, compared with those of its twin, in any mode. `None` if the page has no twin. In
    /// `drop`, [`Flow::page`] has returned the same.
    pub fn held(
        &self,
        case: &Case<'_>,
        judgement: &Judgement,
        url_of: UrlOf<'_>,
        session: &Session,
    ) -> Result<Option<Held>> {
        let twin = self.judge.beside_twin(case, judgement, session)?;
        twin.map(|twin| held(case, twin, url_of, session)).transpose()
    }
}

fn held(case: &Case<'_>, mut twin: Comparison, url_of: UrlOf<'_>, session: &Session) -> Result<Held> {
    twin.learn_url(case, url_of, session)?;
    Ok(Held(Box::new(twin)))
}
