//! The order in which URLs of lots are tried, and the lots that need no further trial.

use std::collections::{BTreeMap, HashSet};

use frontier::{Drawn, Prospect, UrlSet};

use super::results::{Results, SetResults};

/// What decides the order in which URLs are drawn.
#[derive(Clone, Debug, Default)]
pub struct Order {
    /// How much each lot opens, in levels.
    tried: BTreeMap<UrlSet, u8>,
    /// The level of lots that were not tried.
    untried: u8,
    /// The siblings that are to be tried first.
    siblings: HashSet<UrlSet>,
}

impl Order {
    /// The order that follows from the results of these lots. The level of a lot is the binary logarithm of the mean
    /// number of links that were not found before. So a list of twenty pages comes before the pages that it lists, and
    /// two lists of nearly equal length are equal. Siblings that have gained something come first until it is clear
    /// whether they fall.
    pub fn of(lots: &BTreeMap<UrlSet, SetResults>, results: &Results) -> Self {
        let level = |opens: f64| ((opens + 1.0).log2() as u8).min(Prospect::MOST_OPEN);
        let tried: BTreeMap<_, _> = lots.iter().map(|(lot, result)| (*lot, level(result.opens()))).collect();
        let untried = tried.values().copied().max().unwrap_or_default();
        let siblings = results.siblings.iter().filter(|(_, of)| of.are_promising()).map(|(lot, _)| *lot).collect();
        Self { tried, untried, siblings }
    }

    /// What a URL promises. `led` is the number of pages first found through its counterpart.
    pub fn prospect(&self, drawn: &Drawn, led: u32) -> Prospect {
        let Drawn { sets, depth, .. } = *drawn;
        Prospect { siblings: self.siblings.contains(&sets.siblings), opens: self.level(sets.lot), depth, led }
    }

    /// The level of a lot. A lot that was not tried yet has the level of the best one that was. So a lot that was not
    /// tried comes first if it is farther from the seeds. A chain whose pages open one link each is followed to its end
    /// before another chain is begun.
    fn level(&self, lot: UrlSet) -> u8 {
        self.tried.get(&lot).copied().unwrap_or(self.untried)
    }
}

/// Leaves out URLs of lots that lead to little: their pages had less than half as many links that were not found before
/// as those of the best lot. (A list shows more of what lies behind it than the pages that it lists.) Lots that were
/// not tried yet stay.
pub fn retain_opening(drawn: &mut Vec<Drawn>, lots: &BTreeMap<UrlSet, SetResults>) {
    let opens = |drawn: &Drawn| lots.get(&drawn.sets.lot).map(SetResults::opens);
    let best = drawn.iter().filter_map(opens).fold(0.0, f64::max);
    drawn.retain(|drawn| opens(drawn).is_none_or(|opens| 2.0 * opens >= best));
}

/// The lots that need no further trial: `enough` of their URLs were tried, and none of their pages had links that were
/// not found before.
pub fn done_with(lots: &BTreeMap<UrlSet, SetResults>, enough: u64) -> HashSet<UrlSet> {
    let done = lots.iter().filter(|(_, result)| result.opened == 0 && result.trials >= enough);
    done.map(|(lot, _)| *lot).collect()
}

#[cfg(test)]
mod tests {
    use dedup_stage::url::UrlId;
    use frontier::UrlSets;

    use super::super::siblings::SiblingResults;
    use super::*;

    #[test]
    fn lists_and_what_was_not_tried_come_before_what_lists_show() {
        let tried = |trials, opened| SetResults { trials, opened, ..SetResults::default() };
        let lots = [(1, tried(2, 50)), (2, tried(1, 24)), (3, tried(8, 16)), (4, tried(1, 0)), (5, tried(1, 0))];
        let openness = Order::of(&lots.map(|(lot, result)| (UrlSet(lot), result)).into(), &Results::default());
        let [list, other_list, page, untried] = [1, 2, 3, 6].map(|lot| openness.level(UrlSet(lot)));
        assert!(page < untried && untried == list && list == other_list, "{page} {untried} {list} {other_list}");
        let endless = Order::of(&[(UrlSet(1), tried(1, 1 << 40))].into(), &Results::default());
        assert_eq!((endless.level(UrlSet(1)), endless.level(UrlSet(2))), (Prospect::MOST_OPEN, Prospect::MOST_OPEN));
    }

    #[test]
    fn siblings_come_first_until_it_is_clear_whether_they_fall() {
        let is_first = |tried, gained| {
            let of = SiblingResults { tried, gained, ..SiblingResults::default() };
            let mut results = Results::default();
            results.siblings.insert(UrlSet(7), of);
            let sets = UrlSets { siblings: UrlSet(7), ..UrlSets::default() };
            let drawn = Drawn { id: UrlId::default(), sets, covered: true, depth: 0, stands_in: None };
            Order::of(&BTreeMap::new(), &results).prospect(&drawn, 0).siblings
        };
        assert!(!is_first(4, 0) && is_first(1, 1) && is_first(8, 1) && !is_first(9, 1) && is_first(13, 3));
        assert!(!is_first(12, 3), "they fall");
    }

    #[test]
    fn urls_of_lots_that_lead_to_little_are_left_out() {
        let tried = |trials, opened| SetResults { trials, opened, ..SetResults::default() };
        let lots = BTreeMap::from([(UrlSet(1), tried(4, 100)), (UrlSet(2), tried(2, 30)), (UrlSet(3), tried(8, 16))]);
        let drawn = |lot| {
            let sets = UrlSets { lot: UrlSet(lot), ..UrlSets::default() };
            Drawn { id: UrlId::default(), sets, covered: true, depth: 0, stands_in: None }
        };
        let left = |lots_drawn: &[u64], lots| {
            let mut all: Vec<Drawn> = lots_drawn.iter().map(|lot| drawn(*lot)).collect();
            retain_opening(&mut all, lots);
            all.iter().map(|drawn| drawn.sets.lot.0).collect::<Vec<_>>()
        };
        // Pages of lot 1 had 25 new links each, those of lot 2 had 15, and those of lot 3 had 2. Lot 4 was not tried.
        assert_eq!(left(&[3, 1, 2, 3, 4], &lots), [1, 2, 4]);
        assert_eq!(left(&[3, 4, 3], &lots), [3, 4, 3]);
        assert_eq!(left(&[1, 2], &BTreeMap::new()), [1, 2]);
    }
}
