//! The last round of the rescue. It is a sample of the URLs that are still held or stopped. From it follows the
//! estimate of the number of new pages that are lost among them.
//!
//! A lot often falls because the sample has drawn a new page of it. Its other URLs are then fetched, so none of its
//! pages are lost. But it also gives evidence about similar lots that the sample has missed. A sample of the share `f`
//! misses a lot with `m` new pages with the probability `(1 - f)^m`. So each lot that was drawn stands for the new
//! pages of lots that were not: `m (1 - f)^m / (1 - (1 - f)^m)` of them, by the estimator of Horvitz and Thompson ("A
//! Generalization of Sampling Without Replacement From a Finite Universe", JASA 47, 1952). The number of new pages of
//! such a lot is known when all of its URLs are fetched.
//!
//! Some URLs were never found, because only the pages of URLs that are held back link to them. Such URLs lie *behind*
//! the URLs that are held back. If the pages of the sample had links that were not found before, the pages of the other
//! URLs will have such links, too, and so on. The estimate assumes that the URLs behind have the same share of new
//! pages as the sample. It counts at most as many URLs behind as the crawl has fetched pages. These URLs raise the
//! estimate and its upper end, but not the lower end. Other URLs lie behind those that the sample itself found and that
//! are held now. They raise the upper end. (If each page of a chain has one link that was not found before, one URL is
//! held at the end of the chain, and nobody knows how many pages lie behind it.)
//!
//! The new pages of the sample, and of the rounds before, had links that were not found before, too. The pages that are
//! lost will have as many. The upper end counts these pages, again at most as many as the crawl has fetched.
//!
//! Such links are often rare: a chain of lists leads to many pages, and only one of its lists is known. So the upper
//! end also counts the URLs that would lie behind the held URLs if these led to as many pages as their counterparts did
//! ([`super::led::behind`]). The sample cannot show everything: if all URLs that are known are copies, the new pages
//! far behind them raise only the upper end.

use std::collections::BTreeMap;

use frontier::UrlSet;

use super::results::SetResults;
use crate::estimate::{Lost, TrialSample, estimate};

/// The last round, and the URLs from which it was drawn.
#[derive(Clone, Copy, Debug)]
pub struct LastRound<'a> {
    /// The results of all rounds, by the lots that fall as one: sections that have fallen alone, and otherwise whole
    /// lots.
    pub results: &'a BTreeMap<UrlSet, SetResults>,
    /// The number of the last round.
    pub number: u32,
    /// The number of URLs from which it was drawn.
    pub population: u64,
    /// The number of URLs that are still held or stopped.
    pub held_back: u64,
    /// The number of pages that the crawl has fetched.
    pub fetched: u64,
    /// About how many URLs that were never met lie behind those that are held back, if these lead to as many pages as
    /// their counterparts did.
    pub unmet: u64,
    /// The mean number of links that were not found before, of the new pages of all rounds.
    pub opened: f64,
}

impl LastRound<'_> {
    /// The estimate of the pages that are lost, and the lower and the upper end of its 95 % interval. `left` has the
    /// lots with new pages that still have URLs. `followed` says of which lots and families URLs are still followed.
    pub fn lost(&self, left: &BTreeMap<UrlSet, u64>, followed: &dyn Fn(UrlSet) -> bool) -> [f64; 3] {
        let LastRound { population, .. } = *self;
        let last = || self.results.iter().filter(|(_, result)| result.round == self.number);
        let drawn: u64 = last().map(|(_, result)| result.drawn_newest).sum();
        let all: u64 = last().map(|(_, result)| result.gained_newest).sum();
        let share = (drawn as f64 / population.max(1) as f64).min(1.0);
        // `here` and `elsewhere` count new pages of the sample. Each stands for an equal share of the pages that are
        // left. A new page of a lot without further URLs only stands for other lots.
        let (mut here, mut elsewhere) = (0, 0.0);
        for (lot, result) in last().filter(|(_, result)| result.gained_newest > 0) {
            if left.contains_key(lot) {
                here += result.gained_newest;
            } else if !followed(result.family) {
                elsewhere += weight(result.gained_newest + result.after_fall, share);
            }
        }
        let left_over = population.saturating_sub(drawn);
        let behind = self.behind(left_over.min(self.held_back), drawn, followed);
        let of = |left: u64, new: u64| estimate(TrialSample { left, drawn, new: new.min(drawn) });
        let unknown = Lost { estimate: 0.0, low: 0.0, high: self.held_back as f64 };
        // The upper end comes from the whole sample. The rest of the sample alone would give a value that is too low,
        // because the same sample has decided which lots were released. Lots elsewhere do not raise the lower end: the
        // new pages of one lot are missed all together or not at all.
        let rest = of(left_over + behind, here + elsewhere.round() as u64).zip(of(left_over, here));
        let farthest = self.behind(self.held_back, drawn, followed);
        let farthest = if self.held_back == 0 { 0 } else { farthest.max(self.unmet.min(self.fetched)) };
        let most = of(left_over + farthest, (here + elsewhere.round() as u64).max(all));
        let lost = rest.zip(most).map_or(unknown, |((rest, here), most)| Lost {
            low: here.low,
            high: rest.high.max(most.high),
            ..rest
        });
        // Nothing is known about the URLs that were held back after the sample was drawn.
        let later = self.held_back.saturating_sub(left_over) as f64;
        let (held_back, most) = (self.held_back as f64, (self.held_back + farthest) as f64);
        let point = lost.estimate.min(most);
        let high = (lost.high + later).min(most).max(point);
        [point, lost.low.min(held_back), high + (high * self.opened).min(self.fetched as f64)]
    }

    /// The number of URLs, not found yet, that lie behind `left` URLs, if each page has as many links to such URLs as
    /// the `drawn` ones had. This is the total progeny of a branching process. If a page has one such link or more, it
    /// has no end.
    fn behind(&self, left: u64, drawn: u64, followed: &dyn Fn(UrlSet) -> bool) -> u64 {
        let is_left = |lot: UrlSet, result: &SetResults| !followed(lot) && !followed(result.family);
        let last = self.results.iter().filter(|(lot, result)| result.round == self.number && is_left(**lot, result));
        let opened: u64 = last.map(|(_, result)| result.opened_newest).sum();
        let links = opened as f64 / drawn.max(1) as f64;
        let behind = if links < 1.0 { left as f64 * links / (1.0 - links) } else { f64::INFINITY };
        if left == 0 { 0 } else { (behind as u64).min(self.fetched) }
    }
}

/// The weight of a lot with `m` new pages that was drawn and is fetched as a whole now: how much it says about similar
/// lots that were not drawn. The unit is what one new page says in a sample of this `share`. With one new page the
/// weight is 1. With many it is nearly 0, because hardly any sample misses such a lot.
fn weight(m: u64, share: f64) -> f64 {
    let (m, missed) = (m as f64, 1.0 - share);
    if share <= 0.0 { 0.0 } else { m * share * missed.powf(m - 1.0) / (1.0 - missed.powf(m)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A web of held lots of `size` URLs, of which `new_lots` lots have `m` new pages. A sample of `drawn` URLs is
    /// drawn, and the lots in which it finds a new page fall. Returns the estimate and the number of new pages that are
    /// lost.
    fn run(random: &mut fastrand::Rng, lots: u64, size: u64, new_lots: u64, m: u64, drawn: usize) -> ([f64; 3], u64) {
        let mut urls: Vec<(u64, bool)> =
            (0..lots).flat_map(|lot| (0..size).map(move |url| (lot, lot < new_lots && url < m))).collect();
        random.shuffle(&mut urls);
        let mut results = BTreeMap::<UrlSet, SetResults>::new();
        for (lot, new) in &urls[..drawn] {
            let result = results.entry(UrlSet(*lot)).or_insert(SetResults { round: 1, ..SetResults::default() });
            result.drawn_newest += 1;
            result.gained_newest += u64::from(*new);
        }
        let fell: Vec<UrlSet> =
            results.iter().filter(|(_, result)| result.gained_newest > 0).map(|(lot, _)| *lot).collect();
        for lot in &fell {
            let result = results.get_mut(lot).unwrap();
            result.after_fall = m - result.gained_newest;
        }
        let held_back = urls[drawn..].iter().filter(|(lot, _)| !fell.contains(&UrlSet(*lot))).count() as u64;
        let lost = urls[drawn..].iter().filter(|(lot, new)| *new && !fell.contains(&UrlSet(*lot))).count() as u64;
        let population = urls.len() as u64;
        let last = LastRound {
            results: &results,
            number: 1,
            population,
            held_back,
            fetched: population,
            unmet: 0,
            opened: 0.0,
        };
        (last.lost(&BTreeMap::new(), &|_| false), lost)
    }

    #[test]
    fn what_lies_behind_raises_the_upper_end() {
        let high = |opened, fetched| {
            let drawn = SetResults { round: 1, drawn_newest: 40, opened_newest: opened, ..SetResults::default() };
            let results = BTreeMap::from([(UrlSet(1), drawn)]);
            let last = LastRound {
                results: &results,
                number: 1,
                population: 440,
                held_back: 400,
                fetched,
                unmet: 0,
                opened: 0.0,
            };
            let [estimate, low, high] = last.lost(&BTreeMap::new(), &|_| false);
            assert_eq!((estimate, low), (0.0, 0.0));
            high
        };
        let nothing = high(0, 2_000);
        // 400 URLs lead to half as many, these to half as many again, and so on: 800 instead of 400.
        assert!((1.8..2.2).contains(&(high(20, 2_000) / nothing)), "{nothing}, {}", high(20, 2_000));
        assert_eq!(high(80, 400), high(20, 2_000), "no more lie behind than were fetched");
        assert_eq!(high(20, 0), nothing);
    }

    #[test]
    fn new_pages_that_lead_to_others_raise_the_upper_end() {
        let lost = |opened, fetched| {
            let drawn = SetResults { round: 1, drawn_newest: 40, ..SetResults::default() };
            let results = BTreeMap::from([(UrlSet(1), drawn)]);
            let (population, held_back) = (440, 400);
            let last = LastRound { results: &results, number: 1, population, held_back, fetched, unmet: 0, opened };
            last.lost(&BTreeMap::new(), &|_| false)
        };
        let [estimate, low, high] = lost(0.0, 2_000);
        assert_eq!(lost(28.0, 2_000), [estimate, low, high + 28.0 * high]);
        assert_eq!(lost(28.0, 60), [estimate, low, high + 60.0]);
    }

    #[test]
    fn what_the_sample_found_leads_on() {
        let high = |opened_newest| {
            let drawn = SetResults { round: 1, drawn_newest: 1, opened_newest, ..SetResults::default() };
            let results = BTreeMap::from([(UrlSet(1), drawn)]);
            let last = LastRound {
                results: &results,
                number: 1,
                population: 1,
                held_back: 1,
                fetched: 40,
                unmet: 0,
                opened: 0.0,
            };
            last.lost(&BTreeMap::new(), &|_| false)
        };
        // A chain: the one URL that was drawn opened the next one, and this is held.
        let [estimate, low, end] = high(1);
        assert_eq!((estimate, low), (0.0, 0.0));
        assert!(end > 20.0, "{end}");
        assert_eq!(high(0), [0.0, 0.0, 1.0]);
    }

    /// Runs one web many times. Returns the number of runs, and of those whose interval holds the number of pages that
    /// are lost.
    fn coverage(
        random: &mut fastrand::Rng,
        (lots, size, new_lots, m): (u64, u64, u64, u64),
        share: f64,
    ) -> (usize, usize) {
        const RUNS: usize = 120;
        let drawn = ((lots * size) as f64 * share) as usize;
        let (mut told, mut true_ones, mut covered) = (0.0, 0, 0);
        for _ in 0..RUNS {
            let ([estimate, low, high], lost) = run(random, lots, size, new_lots, m, drawn);
            told += estimate;
            true_ones += lost;
            covered += usize::from(low <= lost as f64 && lost as f64 <= high);
        }
        let (told, lost) = (told / RUNS as f64, true_ones as f64 / RUNS as f64);
        let context = format!("{lots} lots of {size} URLs, {m} new, share {share}: {told:.2} told, {lost:.2} lost");
        assert!((told - lost).abs() <= 0.15 * lost + 0.5, "{context}");
        // The coverage of such an interval swings around its level if few new pages are drawn (Brown, Cai, DasGupta).
        assert!(covered >= RUNS * 88 / 100, "{context}: {covered} of {RUNS} covered");
        (RUNS, covered)
    }

    #[test]
    fn a_lot_that_fell_tells_of_those_that_were_not_drawn() {
        // There are lots with one new page among one, two or seven URLs, and lots with several new pages.
        let webs = [(500, 1, 25, 1), (300, 2, 12, 1), (80, 7, 20, 1), (200, 4, 15, 3)];
        let (mut all, mut covered_in_all) = (0, 0);
        std::thread::scope(|scope| {
            let threads = webs.map(|web| {
                scope.spawn(move || {
                    let mut random = fastrand::Rng::with_seed(1);
                    [0.1, 0.4, 0.8].map(|share| coverage(&mut random, web, share))
                })
            });
            for (runs, covered) in threads.into_iter().flat_map(|thread| thread.join().unwrap()) {
                (all, covered_in_all) = (all + runs, covered_in_all + covered);
            }
        });
        assert!(covered_in_all * 100 >= all * 93, "{covered_in_all} of {all} covered");
    }
}
