//! The two tests of a rule: the first one proves the rule, the second one watches over it afterwards.
//!
//! A rewrite says that a URL shows what its representative shows. A test pair is two fetched pages of one class: they
//! agree, or they differ. For the statistics, each pair is one Bernoulli trial.
//!
//! **Proof** is a sequential probability ratio test. It decides between two shares of agreeing pairs: at least
//! [`Proof::SHARE_IF_TRUE`], and at most [`Proof::SHARE_IF_FALSE`]. Without prior evidence, a rule with a share of at
//! most [`Proof::SHARE_IF_FALSE`] is accepted with a probability of at most α / (1 − β), and a rule with a share of at
//! least [`Proof::SHARE_IF_TRUE`] is refuted with a probability of at most β / (1 − α) (Wald's bounds; α is
//! [`Proof::ALPHA`], β is [`Proof::BETA`]). The pair that suggested the rule is not counted. If all pairs agree, 33
//! pairs prove a rule.
//!
//! The same software often runs on several hosts. So the pairs of other hosts are prior evidence for a rule of the same
//! shape (the same parameter, folder or ending, or whole hosts as mirrors). They count half, and at most as odds of a
//! hundred to one. With all of this prior evidence, 11 pairs still have to agree. Prior evidence against a rule is
//! ignored, because hosts differ.
//!
//! **Watch** is a cumulative sum over the trials of a proven rule. Each trial adds the log-likelihood ratio of a share
//! of [`Watch::BROKEN`] against [`Proof::SHARE_IF_TRUE`]; the sum is never below zero. Two failures within about ten
//! trials bring it to [`Watch::LIMIT`], and the rule is withdrawn. A rule that is right 99 times in 100 comes to the
//! limit about once in 1,000 trials.
//!
//! # References
//!
//! A. Wald, "Sequential Tests of Statistical Hypotheses", Annals of Mathematical Statistics 16 (1945), section 3;
//! E. S. Page, "Continuous Inspection Schemes", Biometrika 41 (1954).

use serde::{Deserialize, Serialize};

/// Pairs for and against a rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// Pairs that agreed.
    pub agreed: u32,
    /// Pairs that did not.
    pub differed: u32,
}

impl Evidence {
    /// One more pair.
    pub fn add(&mut self, agrees: bool) {
        if agrees {
            self.agreed = self.agreed.saturating_add(1);
        } else {
            self.differed = self.differed.saturating_add(1);
        }
    }

    /// The sum of two sets of pairs.
    pub fn and(self, other: Self) -> Self {
        let (agreed, differed) =
            (self.agreed.saturating_add(other.agreed), self.differed.saturating_add(other.differed));
        Self { agreed, differed }
    }

    /// This evidence without a part of it.
    pub(super) fn less(self, other: Self) -> Self {
        let (agreed, differed) =
            (self.agreed.saturating_sub(other.agreed), self.differed.saturating_sub(other.differed));
        Self { agreed, differed }
    }

    /// Log-likelihood ratio of two shares of agreeing pairs: how much better `one` explains the pairs than `other`.
    fn ratio(self, one: f64, other: f64) -> f64 {
        f64::from(self.agreed) * (one / other).ln() + f64::from(self.differed) * ((1.0 - one) / (1.0 - other)).ln()
    }
}

/// The result of the test of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// The rule holds.
    Proven,
    /// The rule does not hold.
    Refuted,
    /// More pairs are needed.
    Open,
}

impl Proof {
    /// At least this share of the pairs of a true rule agree. The others differ because pages change between two
    /// fetches.
    pub const SHARE_IF_TRUE: f64 = 0.99;
    /// At most this share of the pairs of a false rule agree.
    pub const SHARE_IF_FALSE: f64 = 0.8;
    /// About the probability that a false rule is accepted without prior evidence.
    pub const ALPHA: f64 = 0.001;
    /// About the probability that a true rule is refuted.
    pub const BETA: f64 = 0.01;
    /// Evidence of other hosts counts with this weight.
    const ELSEWHERE: f64 = 0.5;
    /// Evidence of other hosts counts at most as these odds.
    const PRIOR: f64 = 100.0;

    /// Tests a rule. `elsewhere` is the evidence for rules of the same shape on other hosts.
    pub fn of(evidence: Evidence, elsewhere: Evidence) -> Self {
        let ratio = evidence.ratio(Self::SHARE_IF_TRUE, Self::SHARE_IF_FALSE);
        let prior =
            (Self::ELSEWHERE * elsewhere.ratio(Self::SHARE_IF_TRUE, Self::SHARE_IF_FALSE)).clamp(0.0, Self::PRIOR.ln());
        if ratio >= ((1.0 - Self::BETA) / Self::ALPHA).ln() - prior {
            Proof::Proven
        } else if ratio <= (Self::BETA / (1.0 - Self::ALPHA)).ln() {
            Proof::Refuted
        } else {
            Proof::Open
        }
    }
}

/// The watch over a proven rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Watch {
    /// The cumulative sum.
    pub sum: f64,
}

impl Watch {
    /// The share of agreeing trials of a rule that should be withdrawn.
    pub const BROKEN: f64 = 0.9;
    /// The sum at which the rule is withdrawn.
    pub const LIMIT: f64 = 3.7;

    /// Counts one more trial. False if the rule must be withdrawn.
    pub fn count(&mut self, agrees: bool) -> bool {
        let one = Evidence { agreed: u32::from(agrees), differed: u32::from(!agrees) };
        self.sum = (self.sum + one.ratio(Self::BROKEN, Proof::SHARE_IF_TRUE)).max(0.0);
        self.sum < Self::LIMIT
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Runs the test of a rule until it ends, if this share of all pairs agrees. Returns the result and the number of
    /// pairs.
    fn run(share: f64, mut random: u64, elsewhere: Evidence) -> (Proof, u32) {
        let mut evidence = Evidence::default();
        loop {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            evidence.add(((random >> 11) as f64 / (1u64 << 53) as f64) < share);
            let proof = Proof::of(evidence, elsewhere);
            if proof != Proof::Open || evidence.agreed + evidence.differed == 10_000 {
                return (proof, evidence.agreed + evidence.differed);
            }
        }
    }

    #[test]
    fn a_rule_without_exception_takes_33_pairs_and_11_where_others_like_it_are_proven() {
        let nothing = Evidence::default();
        assert_eq!(run(1.0, 1, nothing), (Proof::Proven, 33));
        assert_eq!(run(1.0, 1, Evidence { agreed: 33, differed: 0 }), (Proof::Proven, 16));
        assert_eq!(run(1.0, 1, Evidence { agreed: 500, differed: 0 }), (Proof::Proven, 11));
        assert_eq!(run(1.0, 1, Evidence { agreed: 100, differed: 50 }), (Proof::Proven, 33));
        assert_eq!(run(0.0, 1, nothing), (Proof::Refuted, 2));
    }

    #[test]
    fn the_error_rates_are_what_they_are_said_to_be() {
        const RUNS: u64 = 100_000;
        let share = |of: f64, wanted: Proof| {
            (0..RUNS)
                .filter(|seed| run(of, seed.wrapping_mul(0x9E37_79B9_7F4A_7C15), Evidence::default()).0 == wanted)
                .count() as f64
                / RUNS as f64
        };
        let accepted = share(Proof::SHARE_IF_FALSE, Proof::Proven);
        assert!(accepted <= 1.3 * Proof::ALPHA / (1.0 - Proof::BETA), "{accepted} of the false rules accepted");
        let refuted = share(Proof::SHARE_IF_TRUE, Proof::Refuted);
        assert!(refuted <= 1.3 * Proof::BETA / (1.0 - Proof::ALPHA), "{refuted} of the true rules refuted");
    }

    #[test]
    fn two_failed_trials_in_a_row_withdraw_and_one_does_not() {
        let mut watch = Watch::default();
        assert!(watch.count(false));
        assert!((0..30).all(|_| watch.count(true)));
        assert!(watch.count(false));
        assert!(!watch.count(false));
    }

    proptest! {
        #[test]
        fn evidence_for_a_rule_never_counts_against_it(agreed in 0u32..200, differed in 0u32..50, elsewhere in 0u32..99) {
            let order = |proof| match proof { Proof::Refuted => 0, Proof::Open => 1, Proof::Proven => 2 };
            let proof = |agreed, differed, elsewhere| {
                order(Proof::of(Evidence { agreed, differed }, Evidence { agreed: elsewhere, differed: 0 }))
            };
            let now = proof(agreed, differed, elsewhere);
            prop_assert!(proof(agreed + 1, differed, elsewhere) >= now);
            prop_assert!(proof(agreed, differed + 1, elsewhere) <= now);
            prop_assert!(proof(agreed, differed, elsewhere + 1) >= now);
        }
    }
}
