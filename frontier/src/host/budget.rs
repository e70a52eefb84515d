//! Budgets against traps: how many more duplicates a group of URLs, or a host, may cost.
//!
//! A duplicate spends one page of the budget, a new page earns four back, and what was never spent is never earned. So an
//! endless space of equal pages ends when its budget is spent, whatever came before; while a site of any size, four fifths
//! of which may be copies, never spends it.

use config::OnDuplicate;

/// What a group or host has spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    spent: u32,
}

/// How much may be spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// By a group of URLs.
    pub group: u32,
    /// By a host.
    pub host: u32,
}

impl Limits {
    /// Where the links of duplicates are dropped, few copies are found through copies, and many in a row mean a trap. Where
    /// they are followed, a mirror of a whole site is found page by page and is none.
    pub fn of(on_duplicate: OnDuplicate) -> Self {
        let group = match on_duplicate {
            OnDuplicate::Drop => 1_000,
            OnDuplicate::Demote => 4_000,
            OnDuplicate::Keep => 10_000,
        };
        Self { group, host: 4 * group }
    }
}

impl Budget {
    /// What a new page earns back.
    const EARNED: u32 = 4;
    /// The sum is put on record in steps of so many pages. Every limit is a multiple, so that what is spent stays spent.
    const STEP: u32 = 20;

    /// A budget of which so much is spent.
    pub fn new(spent: u32) -> Self {
        Self { spent }
    }

    /// What is spent.
    pub fn spent(self) -> u32 {
        self.spent
    }

    /// A page was judged. True if the sum should be put on record.
    pub fn page(&mut self, duplicate: bool) -> bool {
        let before = self.spent;
        self.spent = if duplicate { before.saturating_add(1) } else { before.saturating_sub(Self::EARNED) };
        before / Self::STEP != self.spent / Self::STEP
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_budget_is_on_record_as_spent_when_it_is() {
        for mode in [OnDuplicate::Drop, OnDuplicate::Demote, OnDuplicate::Keep] {
            let Limits { group, host } = Limits::of(mode);
            for limit in [group, host] {
                assert!(Budget::new(limit - 1).page(true), "{limit}");
            }
        }
    }

    #[test]
    fn an_endless_space_of_copies_ends_and_history_does_not_prolong_it() {
        for history in [0, 100_000] {
            let mut budget = Budget::default();
            for _ in 0..history {
                budget.page(false);
            }
            let pages = (1..).find(|_| {
                budget.page(true);
                budget.spent() >= 1_000
            });
            assert_eq!(pages, Some(1_000));
        }
    }

    proptest! {
        #[test]
        fn a_site_with_three_copies_of_each_page_is_never_cut(seed in any::<u64>()) {
            // In random order: runs of copies happen.
            let mut budget = Budget::default();
            let mut state = seed | 1;
            for _ in 0..50_000 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                budget.page((state >> 33) % 4 != 0);
                prop_assert!(budget.spent() < 500, "{}", budget.spent());
            }
        }
    }
}
