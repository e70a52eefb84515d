//! Budgets against traps: how many duplicates a group of URLs, or a host, may still cost.
//!
//! A duplicate spends one page of the budget. A new page earns back four of the pages that were spent. It earns back
//! one if it differs from other pages only by its pictures, by a text in its chrome (a side bar, say), or by its links
//! beside pieces that pages of its kind have shown. It earns back nothing if only its links do.
//! (A page that brings nothing but another arrangement of such pieces spends a quarter: `Frontier::says_little`. So does
//! a duplicate with a few words of its own: [`Brought::Words`].) A budget never grows beyond its limit. So an endless
//! space of equal pages ends when its budget is spent, however many new pages came before. A site whose copies come in
//! random order does not spend its budget if clearly fewer than four fifths of its pages are copies, whatever its size.

use config::OnDuplicate;

use crate::taught::Brought;

/// The pages that a group or a host has spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    spent: u32,
}

/// The pages that may be spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// By a group of URLs.
    pub group: u32,
    /// By a host.
    pub host: u32,
}

impl Limits {
    /// In `drop`, the links of duplicates are not followed, so few copies are found through copies, and many copies in
    /// a row mean a trap. In the other modes these links are followed. Then a mirror of a whole site is found page by
    /// page, and it is no trap.
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
    /// A page with new text earns back this many pages.
    const EARNED: u32 = 4;
    /// The sum is put on record in steps of this many pages. Every limit is a multiple of the step, so a spent budget
    /// stays spent after a restart.
    const STEP: u32 = 20;

    /// A budget of which this many pages are spent.
    pub fn new(spent: u32) -> Self {
        Self { spent }
    }

    /// The pages that are spent.
    pub fn spent(self) -> u32 {
        self.spent
    }

    /// A page was judged. True if the sum should be put on record.
    pub fn page(&mut self, brought: Brought) -> bool {
        let before = self.spent;
        self.spent = match brought {
            Brought::Nothing | Brought::WordsOfStock => before.saturating_add(1),
            // Each page of a trap may have other links, or a few other words.
            Brought::Links | Brought::Words => before,
            Brought::Media => before.saturating_sub(1),
            Brought::Content => before.saturating_sub(Self::EARNED),
        };
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
                assert!(Budget::new(limit - 1).page(Brought::Nothing), "{limit}");
            }
        }
    }

    #[test]
    fn an_endless_space_of_copies_ends_and_history_does_not_prolong_it() {
        for history in [0, 100_000] {
            let mut budget = Budget::default();
            for _ in 0..history {
                budget.page(Brought::Content);
            }
            let pages = (1..).find(|_| {
                budget.page(Brought::Nothing);
                budget.spent() >= 1_000
            });
            assert_eq!(pages, Some(1_000));
        }
    }

    #[test]
    fn an_endless_space_in_which_every_fourth_page_has_another_picture_ends() {
        let mut budget = Budget::default();
        let pages = (1..5_000).find(|page| {
            budget.page(if page % 4 == 0 { Brought::Media } else { Brought::Nothing });
            budget.spent() >= 1_000
        });
        assert!(pages.is_some_and(|pages| pages < 2_100), "{pages:?}");
    }

    proptest! {
        #[test]
        fn a_site_with_three_copies_of_each_page_is_never_cut(seed in any::<u64>()) {
            // The order is random, so there are runs of copies.
            let mut budget = Budget::default();
            let mut state = seed | 1;
            for _ in 0..50_000 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                budget.page(if (state >> 33) % 4 != 0 { Brought::Nothing } else { Brought::Content });
                prop_assert!(budget.spent() < 500, "{}", budget.spent());
            }
        }
    }
}
