//! The ceiling for sites without end. The pages of such a host keep saying what its other pages say, each time in other
//! words (lists behind filters, apologies for missing pages), or say hardly anything (the days of an empty calendar).
//! Such a host gets a falling share of the fetches.
//!
//! The ceiling counts the pages that bring little text of their own. A page that brings some text takes four of them
//! back. When the count is above five thousand, the delay of the host grows with the count. If the first five thousand
//! pages took a time T, about `5,000 · √(2t − 1)` pages are fetched in the time `t · T`. Nothing is refused. A shop of
//! ten thousand products that are alike takes a quarter longer. A shop of fifty thousand takes five times as long. A
//! site with text of its own on every fifth page takes no longer.

use serde::{Deserialize, Serialize};

/// The number of pages of a host that brought little text of their own, less what other pages took back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ceiling {
    little: u32,
}

impl Ceiling {
    /// This many pages cost nothing.
    const FREE: u32 = 5_000;
    /// A page with text of its own takes back this many pages.
    const EARNED: u32 = 4;

    /// A page was judged. `little` says that it brought little text of its own.
    pub fn page(&mut self, little: bool) {
        self.little = if little { self.little.saturating_add(1) } else { self.little.saturating_sub(Self::EARNED) };
    }

    /// How much longer the delay of the host is, in thousandths.
    pub fn stretch(self) -> u64 {
        u64::from(self.little.saturating_sub(Self::FREE)) * 1_000 / u64::from(Self::FREE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of pages that are fetched in this many delays, if one page in `every` has text of its own.
    fn fetched(delays: u64, every: u64) -> u64 {
        let (mut ceiling, mut time) = (Ceiling::default(), 0);
        (1..)
            .find(|page| {
                ceiling.page(page % every != 0);
                time += 1_000 + ceiling.stretch();
                time >= delays * 1_000
            })
            .unwrap_or(0)
    }

    #[test]
    fn a_site_without_end_gets_a_falling_share_and_an_honest_one_all_of_it() {
        assert_eq!(fetched(50_000, 5), 50_000, "text of its own on every fifth page");
        assert_eq!(fetched(5_000, u64::MAX), 5_000);
        let pages = [10_000, 50_000, 250_000].map(|delays| fetched(delays, u64::MAX));
        assert!((8_000..10_000).contains(&pages[0]) && pages[1] < 24_000 && pages[2] < 52_000, "{pages:?}");
        let mut ceiling = Ceiling::default();
        (0..20_000).for_each(|_| ceiling.page(true));
        (0..4_000).for_each(|_| ceiling.page(false));
        assert_eq!(ceiling.stretch(), 0, "pages with little text are forgotten");
    }
}
