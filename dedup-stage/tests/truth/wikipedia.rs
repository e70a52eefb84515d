//! Versions of encyclopedia articles as plain text. The truth is the exact 5-word resemblance, which is measured here.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use dedup_stage::signature::DISTANCE;
use dedup_stage::stage::Preparer;

use crate::data::{self, Tally};

#[derive(serde::Deserialize)]
pub struct Version {
    pub cluster: String,
    pub text: String,
}

pub fn versions() -> Vec<Version> {
    let file = data::folder().join("neardup/wikipedia-versions.jsonl.xz");
    let mut xz = Command::new("xz").arg("-dc").arg(file).stdout(Stdio::piped()).spawn().expect("xz runs");
    let lines = BufReader::new(xz.stdout.take().expect("piped")).lines();
    let versions = lines.map(|line| serde_json::from_str(&line.expect("UTF-8")).expect("JSON")).collect();
    xz.wait().expect("xz ends");
    versions
}

/// The distinct 5-word shingles. Words match `\w+` and are in lower case.
pub fn shingles(text: &str) -> HashSet<u64> {
    let words: Vec<String> = text
        .split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|w| !w.is_empty())
        .map(str::to_lowercase)
        .collect();
    words.windows(5).map(|five| xxhash_rust::xxh3::xxh3_64(five.join(" ").as_bytes())).collect()
}

#[test]
#[cfg_attr(not(shared_data), ignore = "there is no ../shared/data")]
fn versions_of_articles() {
    let versions = versions();
    let sets: Vec<HashSet<u64>> = versions.iter().map(|version| shingles(&version.text)).collect();
    let mut postings: HashMap<u64, Vec<u32>> = HashMap::new();
    for (i, set) in sets.iter().enumerate() {
        set.iter().for_each(|shingle| postings.entry(*shingle).or_default().push(i as u32));
    }
    let mut preparer = Preparer::new(data::keys());
    let read = |(number, version): (usize, &Version)| {
        let url = format!("text/{number}");
        data::prepare(&mut preparer, &url, "text/plain; charset=utf-8", version.text.as_bytes())
    };
    let pages: Vec<_> = versions.iter().enumerate().map(read).collect();
    for k in 3..=12 {
        let (mut halves, mut nearer) = ([Tally::default(); 2], Tally::default());
        for a in 0..versions.len() {
            let mut common: HashMap<u32, u32> = HashMap::new();
            for shingle in &sets[a] {
                for b in postings[shingle].iter().filter(|b| **b as usize > a) {
                    *common.entry(*b).or_default() += 1;
                }
            }
            for b in a + 1..versions.len() {
                let common = common.get(&(b as u32)).copied().unwrap_or(0) as usize;
                let truth = common as f64 / (sets[a].len() + sets[b].len() - common).max(1) as f64;
                if truth <= 0.6 || truth >= 0.8 {
                    let positive = data::duplicates(&pages[a], &pages[b], k);
                    halves[data::half(&versions[a].cluster)].count(positive, truth >= 0.8);
                    if truth <= 0.6 || truth >= data::NEARER {
                        nearer.count(positive, truth >= data::NEARER);
                    }
                }
            }
        }
        let both = halves[0].plus(halves[1]);
        println!("wikipedia k {k:2} judge {both}; from {} on: {nearer}", data::NEARER);
        if k == DISTANCE {
            println!("       chosen on      {}\n       other half     {}", halves[0], halves[1]);
            assert!(both.f1() >= 0.95 && nearer.recall() >= 0.98, "{both}; {nearer}");
        }
    }
}
