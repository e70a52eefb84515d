//! Expects the score of a page that has not been fetched. This is learned from the scores of the pages that link to a
//! page.
//!
//! Each link from a scored page is evidence for its target or against it, by how much that page is better or worse than
//! the average. How much the evidence counts is learned: each page that is scored shows what the links to it were
//! worth. The model is a logistic regression, fitted by stochastic gradient descent, on two sums: the evidence for the
//! target, and the evidence against it. Each sum has a weight of its own, because a link from a good page may say more
//! than one from a bad page. If links say nothing about quality, the weights go to zero, and pages come in the order in
//! which they are found.

use dedup_stage::store::{Result, Session, Space};
use serde::{Deserialize, Serialize};

/// The model, and the evidence about the URLs that were met in this run of the program.
#[derive(Debug)]
pub struct Likely {
    model: Model,
    /// Two rows of sums of evidence, as in a count-min sketch (see [`crate::priority::InLinks`]). Of two URLs that
    /// share a place in one row, few share one in the other. The sum that is nearer to zero counts.
    rows: [Vec<Sums>; 2],
}

/// The sums of the evidence for a page and of the evidence against it, in steps.
type Sums = [u16; 2];

/// The learned model. It is stored, and so outlives the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Model {
    /// The number of pages scored.
    pages: u64,
    /// The mean score of these pages.
    mean: f32,
    /// The log odds of a page about which there is no evidence.
    bias: f32,
    /// The log odds for each unit of evidence for a page, and for each unit against it.
    weights: [f32; 2],
}

impl Likely {
    /// The number of sums in a row; a power of two.
    const SUMS: usize = 1 << 19;
    /// The number of steps in a unit of evidence.
    const STEPS: f32 = 64.0;
    /// The most units of evidence for a page that count. The same bound holds for the evidence against it.
    const MOST: f32 = 6.0;
    /// The key of the model in [`Space::META`].
    const RECORD: &[u8] = b"scores";

    /// Opens the model that `session` has, or makes a new one.
    pub fn open(session: &Session) -> Result<Self> {
        let stored = session.get(Space::META, Self::RECORD)?;
        let model = stored.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        // At first, a link from a good page is expected to lead to a good page, and one from a bad page to a bad page.
        let model = model.unwrap_or(Model { pages: 0, mean: 0.5, bias: 0.0, weights: [2.0, -2.0] });
        Ok(Self { model, rows: [(); 2].map(|()| vec![Sums::default(); Self::SUMS]) })
    }

    /// Writes the model. Call this before a commit.
    pub fn save(&self, session: &mut Session) -> Result<()> {
        let record = serde_json::to_vec(&self.model).map_err(std::io::Error::from)?;
        session.put(Space::META, Self::RECORD, record);
        Ok(())
    }

    /// Learns that the page at the URL with this hash has this score.
    pub fn page(&mut self, url: u64, score: f32) {
        let evidence = self.evidence(url);
        let error = score - self.expected(evidence);
        let model = &mut self.model;
        model.pages += 1;
        let rate = 0.02 + 1.0 / (2.0 + model.pages as f32 / 8.0);
        model.mean += (score - model.mean) * (1.0 / model.pages.min(500) as f32);
        model.bias = (model.bias + rate * error).clamp(-6.0, 6.0);
        for (weight, sum) in model.weights.iter_mut().zip(evidence) {
            *weight = (*weight + rate * error * sum).clamp(-8.0, 8.0);
        }
    }

    /// Records that a page with this score links to the URL with this hash. Returns the score that is expected there.
    pub fn link(&mut self, url: u64, score: f32) -> f32 {
        let better = score - self.model.mean;
        let (side, step) = (usize::from(better < 0.0), (better.abs() * Self::STEPS) as u16);
        let most = (Self::MOST * Self::STEPS) as u16;
        for (row, place) in self.rows.iter_mut().zip(places(url)) {
            let sum = &mut row[place][side];
            *sum = (*sum + step).min(most);
        }
        self.expected(self.evidence(url))
    }

    /// The sums of the evidence for a URL and against it, in units.
    fn evidence(&self, url: u64) -> [f32; 2] {
        let [first, second] = places(url);
        let (first, second) = (self.rows[0][first], self.rows[1][second]);
        [0, 1].map(|side| f32::from(first[side].min(second[side])) / Self::STEPS)
    }

    fn expected(&self, evidence: [f32; 2]) -> f32 {
        let Model { bias, weights, .. } = self.model;
        let log_odds = bias + weights[0] * evidence[0] + weights[1] * evidence[1];
        1.0 / (1.0 + (-log_odds).exp())
    }
}

fn places(url: u64) -> [usize; 2] {
    [url as usize, (url >> 32) as usize].map(|place| place & (Likely::SUMS - 1))
}

#[cfg(test)]
mod tests {
    use dedup_stage::store::Memory;
    use fastrand::Rng;

    use super::*;

    /// A model after some pages. A link from a good page leads to a good page with the probability `good`, and a link
    /// from a bad page with the probability `bad`.
    fn learned(good: f32, bad: f32) -> Likely {
        let session = Session::new(Box::new(Memory::default()));
        let (mut likely, mut rng) = (Likely::open(&session).unwrap(), Rng::with_seed(7));
        for _ in 0..4_000 {
            let (url, source) = (rng.u64(..), f32::from(u8::from(rng.f32() < 0.3)));
            likely.link(url, source);
            let is_good = rng.f32() < if source > 0.5 { good } else { bad };
            likely.page(url, f32::from(u8::from(is_good)));
        }
        likely
    }

    #[test]
    fn expectations_become_the_shares_of_good_pages() {
        let mut likely = learned(0.7, 0.13);
        let (good, bad) = (likely.link(1, 1.0), likely.link(2, 0.0));
        assert!((good - 0.7).abs() < 0.12 && (bad - 0.13).abs() < 0.08, "{good} {bad}");
        let more = likely.link(1, 1.0);
        assert!(more > good, "two links say more than one");
        assert!(likely.link(1, 0.0) < more);
    }

    #[test]
    fn where_links_say_nothing_none_is_better_than_another() {
        let mut likely = learned(0.3, 0.3);
        let (good, bad) = (likely.link(1, 1.0), likely.link(2, 0.0));
        assert!((good - bad).abs() < 0.12, "{good} {bad}");
    }

    #[test]
    fn what_was_learned_outlives_the_program() {
        let (likely, mut session) = (learned(0.8, 0.1), Session::new(Box::new(Memory::default())));
        likely.save(&mut session).unwrap();
        assert_eq!(Likely::open(&session).unwrap().model, likely.model);
    }
}
