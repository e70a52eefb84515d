//! Documentation in two versions: all pairs of pages, with the exact 5-word resemblance as the truth.

use std::collections::HashMap;

use dedup_stage::signature::DISTANCE;
use dedup_stage::stage::{Prepared, Preparer};

use crate::data::{self, Tally};

/// Pages with at least the first resemblance are near-duplicates. Pages with at most the second are different. Pairs
/// between are ignored.
const NEAR: f64 = 0.8;
const DIFFERENT: f64 = 0.6;

struct Docs {
    names: Vec<String>,
    pages: Vec<Prepared>,
    truth: HashMap<(usize, usize), f64>,
}

fn docs(family: &str) -> Docs {
    let folder = data::unpacked(&format!("docs/{family}.tar.xz"));
    let names = data::files(&folder, ".html");
    let mut preparer = Preparer::new(data::keys());
    let pages = names
        .iter()
        .map(|name| {
            let body = std::fs::read(folder.join(name)).expect("readable");
            data::prepare(&mut preparer, name, "text/html", &body)
        })
        .collect();
    let index: HashMap<&str, usize> = names.iter().enumerate().map(|(i, name)| (name.as_str(), i)).collect();
    let list = std::fs::read_to_string(data::folder().join(format!("docs/all-pairs-{family}.tsv"))).expect("readable");
    let truth = list
        .lines()
        .skip(1)
        .map(|line| {
            let fields: Vec<&str> = line.split('\t').collect();
            let (a, b) = (index[fields[0]], index[fields[1]]);
            ((a.min(b), a.max(b)), fields[2].parse().expect("a number"))
        })
        .collect();
    Docs { names, pages, truth }
}

impl Docs {
    /// The tallies of the two halves for a decision about pairs.
    fn tally(&self, near: f64, judge: impl Fn(usize, usize) -> bool, misses: &mut Vec<String>) -> [Tally; 2] {
        let mut tallies = [Tally::default(); 2];
        for a in 0..self.names.len() {
            for b in a + 1..self.names.len() {
                let truth = self.truth.get(&(a, b)).copied().unwrap_or(0.0);
                if truth > DIFFERENT && truth < near {
                    continue;
                }
                let positive = judge(a, b);
                if positive != (truth >= near) {
                    let (distance, look) = (self.distance(a, b), data::look(&self.pages[a], &self.pages[b]));
                    misses.push(format!("{} {} {truth} {distance} {look:?}", self.names[a], self.names[b]));
                }
                // The versions of a page are a cluster. A pair from two clusters counts for the cluster of its first
                // page.
                let cluster = self.names[a].split_once('/').map_or("", |(_, page)| page);
                tallies[data::half(cluster)].count(positive, truth >= near);
            }
        }
        tallies
    }

    fn distance(&self, a: usize, b: usize) -> u32 {
        data::distance(&self.pages[a], &self.pages[b]).unwrap_or(u32::MAX)
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "there is no ../shared/data")]
fn versions_of_documentation() {
    let (mut all, mut all_nearer) = (Tally::default(), Tally::default());
    for family in ["postgresql", "python"] {
        let docs = docs(family);
        println!("{family}: {} pages, {} pairs with truth", docs.names.len(), docs.truth.len());
        for k in 3..=12 {
            let alone = docs.tally(NEAR, |a, b| docs.distance(a, b) <= k, &mut Vec::new());
            let mut misses = Vec::new();
            let sketches = |a, b| {
                docs.distance(a, b) <= k
                    && data::look(&docs.pages[a], &docs.pages[b]).is_some_and(|look| look.is_duplicate())
            };
            let sketches = docs.tally(NEAR, sketches, &mut Vec::new());
            let judge = |a: usize, b: usize| data::duplicates(&docs.pages[a], &docs.pages[b], k);
            let cascade = docs.tally(NEAR, judge, &mut misses);
            let nearer = docs.tally(data::NEARER, judge, &mut Vec::new());
            println!("  k {k:2} simhash alone  {}", alone[0].plus(alone[1]));
            println!("  k {k:2} sketches       {}", sketches[0].plus(sketches[1]));
            println!("  k {k:2} judge          {}", cascade[0].plus(cascade[1]));
            println!("  k {k:2} from {} on   {}", data::NEARER, nearer[0].plus(nearer[1]));
            if k == DISTANCE {
                println!("       chosen on      {}", cascade[0]);
                println!("       other half     {}", cascade[1]);
                misses.iter().for_each(|miss| println!("         {miss}"));
                let both = cascade[0].plus(cascade[1]);
                assert!(both.recall() >= 0.95 && both.precision() >= 0.98, "{family}: {both}");
                all = all.plus(both);
                all_nearer = all_nearer.plus(nearer[0]).plus(nearer[1]);
            }
        }
    }
    println!("both: {all}; from {} on: {all_nearer}", data::NEARER);
    assert!(all_nearer.recall() >= 0.98, "{all_nearer}");
    assert!(all.recall() >= 0.95 && all.precision() >= 0.99, "{all}");
}
