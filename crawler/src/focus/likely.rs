//! Expects the score of a page that has not been fetched. This is learned from the scores of the pages that link to a
//! page.
//!
//! Each link from a scored page is evidence for its target and against it: the better that page is, the more the link
//! speaks for its target, and the less it speaks against it. The best pages of a crawl have the worth 1, and the worst
//! have 0, whatever part of 0..1 the scores of a program use. The average page is no measure: a crawl fetches good
//! pages first, so its average rises.
//!
//! How much the evidence counts is learned: each page that is scored shows what the links to it were worth. The model
//! is a logistic regression, fitted by stochastic gradient descent, on two sums: the evidence for the target, and the
//! evidence against it. Each sum has a weight of its own, because a link from a good page may say more than one from a
//! bad page. If links say nothing about quality, the weights go to zero, and pages come in the order in which they are
//! found.

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
    /// The score of a bad page, and that of a good page.
    low: f32,
    high: f32,
    /// The log odds of a page about which there is no evidence.
    bias: f32,
    /// The log odds for each unit of evidence for a page, and for each unit against it.
    weights: [f32; 2],
}

impl Model {
    /// Scores that differ by less than this are equal.
    const EQUAL: f32 = 0.01;
    /// For this many pages, a bad page is the worst one, and a good page is the best one.
    const FIRST: u64 = 100;
    /// After that, `low` goes this share of the way to a lower score, and this share of the way to a higher one. So it
    /// becomes an expectile of the scores (Newey, Powell, "Asymmetric Least Squares Estimation and Testing",
    /// Econometrica 55, 1987). The same holds for `high`, the other way round.
    const OUT: f32 = 0.1;
    const IN: f32 = 0.0005;

    /// A page has this score.
    fn scored(&mut self, score: f32) {
        if self.pages == 0 {
            (self.low, self.high) = (score, score);
        }
        self.pages += 1;
        let out = if self.pages <= Self::FIRST { 1.0 } else { Self::OUT };
        let share = |is_out| if is_out { out } else { Self::IN };
        self.low += share(score < self.low) * (score - self.low);
        self.high += share(score > self.high) * (score - self.high);
    }

    /// The worth of a page with this score, 0..1. While all pages have equal scores, it is 1/2.
    fn worth(&self, score: f32) -> f32 {
        let range = self.high - self.low;
        if range < Self::EQUAL { 0.5 } else { ((score - self.low) / range).clamp(0.0, 1.0) }
    }
}

impl Likely {
    /// The number of sums in a row; a power of two.
    const SUMS: usize = 1 << 19;
    /// The number of steps in a unit of evidence.
    const STEPS: f32 = 64.0;
    /// The most units of evidence for a page that count. The same bound holds for the evidence against it.
    const MOST: f32 = 16.0;
    /// The key of the model in [`Space::META`].
    const RECORD: &[u8] = b"scores";

    /// Opens the model that `session` has, or makes a new one.
    pub fn open(session: &Session) -> Result<Self> {
        let stored = session.get(Space::META, Self::RECORD)?;
        let model = stored.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        // At first, a link from a good page is expected to lead to a good page, and one from a bad page to a bad page.
        let model = model.unwrap_or(Model { pages: 0, low: 0.0, high: 0.0, bias: 0.0, weights: [1.0, -1.0] });
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
        self.model.scored(score);
        let error = self.model.worth(score) - self.expected(evidence);
        let model = &mut self.model;
        let rate = 0.02 + 1.0 / (2.0 + model.pages as f32 / 8.0);
        model.bias = (model.bias + rate * error).clamp(-6.0, 6.0);
        for (weight, sum) in model.weights.iter_mut().zip(evidence) {
            *weight = (*weight + rate * error * sum).clamp(-8.0, 8.0);
        }
    }

    /// Records that a page with this score links to the URL with this hash. Returns the worth that is expected there.
    pub fn link(&mut self, url: u64, score: f32) -> f32 {
        let worth = self.model.worth(score);
        let most = (Self::MOST * Self::STEPS) as u16;
        for (row, place) in self.rows.iter_mut().zip(places(url)) {
            for (sum, part) in row[place].iter_mut().zip([worth, 1.0 - worth]) {
                *sum = (*sum + (part * Self::STEPS) as u16).min(most);
            }
        }
        self.expected(self.evidence(url))
    }

    /// The score of a page of this worth.
    pub fn score(&self, worth: f32) -> f32 {
        self.model.low + worth * (self.model.high - self.model.low)
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
    fn scores_may_use_any_part_of_their_range() {
        let session = Session::new(Box::new(Memory::default()));
        let (mut likely, mut rng) = (Likely::open(&session).unwrap(), Rng::with_seed(7));
        for n in 0..2_000 {
            // Later, nearly all pages are good, as in a crawl that finds good pages first.
            let is_good = rng.f32() < if n < 500 { 0.3 } else { 0.95 };
            likely.page(rng.u64(..), if is_good { 0.55 } else { 0.45 } + 0.01 * rng.f32());
        }
        let [bad, middle, good] = [0.45, 0.505, 0.56].map(|score| likely.model.worth(score));
        assert!(bad < 0.15 && (0.3..0.7).contains(&middle) && good > 0.85, "{bad} {middle} {good}");
        assert!((likely.score(likely.model.worth(0.5)) - 0.5).abs() < 0.001);
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
