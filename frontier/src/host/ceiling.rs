//! The ceiling for sites without end: a host whose pages keep saying what its other pages say, in other words each time (lists
//! behind filters, apologies for what is missing), gets a falling share of the fetches.
//!
//! A page that brings little text of its own counts, and one that brings some earns four back. Beyond five thousand the delay
//! of the host grows with their number, so that after `t` times the time that the first five thousand took about
//! `5,000 · √(2t)` are fetched. Nothing is refused: a shop of ten thousand products that are alike takes a quarter longer, one
//! of fifty thousand five times as long, and a site with text of its own on every fifth page no longer at all.

use serde::{Deserialize, Serialize};

/// What a host has brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ceiling {
    alike: u32,
}

impl Ceiling {
    /// Pages like others that cost nothing.
    const FREE: u32 = 5_000;
    /// What a page with text of its own earns back.
    const EARNED: u32 = 4;

    /// A page was judged: whether it is like others of its host.
    pub fn page(&mut self, alike: bool) {
        self.alike = if alike { self.alike.saturating_add(1) } else { self.alike.saturating_sub(Self::EARNED) };
    }

    /// By how much the delay of the host is longer, in thousandths.
    pub fn stretch(self) -> u64 {
        u64::from(self.alike.saturating_sub(Self::FREE)) * 1_000 / u64::from(Self::FREE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pages fetched in so many delays, where one of `every` has text of its own.
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
        assert_eq!(ceiling.stretch(), 0, "what was alike is forgotten");
    }
}
