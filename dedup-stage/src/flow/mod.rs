//! The flow judges a page and decides the fate of its links.
//!
//! The crawler and [`crate::stage::Stage`] both send their pages through a [`Flow`]. A flow writes only to the spaces
//! of the judge, and waits for nothing. Its caller keeps the records of pages and passes them in.

mod gate;
#[cfg(test)]
mod tests;

use crate::judge::{BesideTwin, Case, Comparison, Judge, Judgement, OutLink, Shown, UniqueBy, UrlOf};
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
    pub fate: Fate,
    /// The caller stores this, and passes it in as [`Case::before`] at the next visit.
    pub shown: Option<Shown>,
    /// The twin of a duplicate. `None` if [`FlowResult::fate`] has it, because the links are held.
    pub twin: Option<Twin>,
}

impl FlowResult {
    /// A result without a verdict on the page: its links are followed.
    pub fn follow(judgement: Judgement, shown: Option<Shown>) -> Self {
        Self { judgement, fate: Fate::Follow(1.0), shown, twin: None }
    }

    /// The URL of the twin, if the judgement has read it.
    pub fn url_of_twin(&self) -> Option<&str> {
        match (&self.fate, &self.twin) {
            (Fate::Hold(Held(comparison)), _) | (_, Some(Twin(BesideTwin::Compared(comparison)))) => {
                comparison.url_of_twin()
            }
            _ => None,
        }
    }
}

/// The twin of a duplicate whose links pass. [`Flow::held`] compares the links of both.
#[derive(Debug)]
pub struct Twin(BesideTwin);

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
        let (judgement, beside) = self.judge.judge_beside_twin(case, url_of, session)?;
        let shown = Shown::after(case, &judgement);
        let is_tried = judgement.unique_by.is_some_and(UniqueBy::is_tried) && self.on_duplicate == OnDuplicate::Drop;
        let fate = match (gate(&judgement, self.on_duplicate), beside, judgement.verdict.known()) {
            (Some(_), Some(beside), _) if is_tried => Fate::Try(self.held(case, Twin(beside), url_of, session)?),
            (Some(factor), beside, _) => {
                let twin = beside.filter(|_| judgement.verdict.twin().is_some()).map(Twin);
                return Ok(FlowResult { judgement, fate: Fate::Follow(factor), shown, twin });
            }
            (None, Some(beside), _) => Fate::Hold(self.held(case, Twin(beside), url_of, session)?),
            (None, None, Some(corpus)) => Fate::HoldKnown(corpus),
            (None, None, None) => unreachable!("a duplicate has a twin"),
        };
        Ok(FlowResult { judgement, fate, shown, twin: None })
    }

    /// The links of a duplicate, compared with those of its twin. In `drop`, [`Flow::page`] has done this.
    pub fn held(&self, case: &Case<'_>, twin: Twin, url_of: UrlOf<'_>, session: &Session) -> Result<Held> {
        let mut comparison = self.judge.comparison(case, twin.0, session)?;
        comparison.learn_url(case, url_of, session)?;
        Ok(Held(comparison))
    }
}
