//! Groups: which document of each is kept.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};

use super::*;
use crate::corpus::cluster::{Documents, JoinedForest, Keep, List};
use crate::corpus::join::{Edge, Effort, Side, Sink, join};

#[test]
fn one_of_each_group_is_kept_by_the_rule() {
    let mut random = fastrand::Rng::with_seed(9);
    let texts = texts(300, 15);
    let mut all = records(&texts);
    for record in &mut all {
        record.date = if random.bool() { random.i64(0..9) } else { NO_DATE };
        record.url = format!("http://a/{}", "x".repeat(random.usize(..4))).into();
    }
    let plain: HashMap<String, Record> = all.iter().map(|record| (record.id.to_string(), record.clone())).collect();
    let (early, late) = all.split_at(150);
    let files = [Signatures::of(early.to_vec()).unwrap(), Signatures::of(late.to_vec()).unwrap()];
    let roots = components(&[&files[0], &files[1]], RULE);
    let forest = || {
        let mut forest = Forest::new(300);
        (0..300).for_each(|node| forest.join(node, roots[node as usize]));
        forest
    };
    for keep in [Keep::First, Keep::Longest, Keep::Earliest, Keep::SmallestUrl] {
        let members = |list| {
            let mut members = Vec::new();
            Documents::new(&files)
                .members(&mut forest(), keep, list, &mut |member| {
                    let texts = [member.id, member.representative].map(str::to_owned);
                    members.push((texts, member.cluster, member.keep, member.distance));
                    Ok(())
                })
                .unwrap();
            members
        };
        let everything = members(List::All);
        assert_eq!(
            everything.iter().map(|([id, _], ..)| id.parse().unwrap()).collect::<Vec<u64>>(),
            (0..300).collect::<Vec<_>>()
        );
        let mut groups: HashMap<u64, Vec<&str>> = HashMap::new();
        everything.iter().for_each(|([id, _], cluster, ..)| groups.entry(*cluster).or_default().push(id));
        for ([id, representative], cluster, kept, distance) in &everything {
            assert_eq!(*kept, id == representative);
            let group = &groups[cluster];
            assert!(group.contains(&representative.as_str()));
            let key = |id: &str| {
                let record = &plain[id];
                let number: u64 = id.parse().unwrap();
                match keep {
                    Keep::First => (0, "".into(), number),
                    Keep::Longest => (-i64::from(record.words), "".into(), number),
                    Keep::Earliest => (if record.date == NO_DATE { i64::MAX } else { record.date }, "".into(), number),
                    Keep::SmallestUrl => (record.url.len() as i64, record.url.clone(), number),
                }
            };
            let best = group.iter().min_by_key(|id| key(id)).unwrap();
            assert_eq!(representative, best, "{keep:?}");
            if plain[id].signature.is_none() {
                assert_eq!(*distance, None);
            }
        }
        let ids = |list| members(list).into_iter().map(|([id, _], ..)| id).collect::<BTreeSet<_>>();
        let (kept, dropped, clusters) = (ids(List::Kept), ids(List::Dropped), ids(List::Clusters));
        assert!(kept.is_disjoint(&dropped) && kept.len() + dropped.len() == 300);
        assert_eq!(kept.len(), groups.len());
        assert_eq!(clusters.len(), groups.values().filter(|group| group.len() > 1).map(Vec::len).sum::<usize>());
    }
}

/// Counts the edges that a forest gets.
struct Counting(JoinedForest, AtomicU64);

impl Sink for Counting {
    fn take(&self, edges: &mut Vec<Edge>) {
        self.1.fetch_add(edges.len() as u64, Ordering::Relaxed);
        self.0.take(edges);
    }

    fn has_groups(&self) -> bool {
        self.0.has_groups()
    }

    fn group(&self, side: Side, row: u64) -> Option<u64> {
        self.0.group(side, row)
    }
}

#[test]
fn groups_made_while_edges_are_found_are_those_of_all_edges() {
    for criterion in [RULE, BY_FINGERPRINT, NearCriterion { look: false, ..BY_FINGERPRINT }] {
        let file = signatures(600, 31);
        for (threads, block) in [(1, Effort::BLOCK), (3, Effort::BLOCK), (3, 50)] {
            let forest = JoinedForest::new(file.rows());
            join(&file, None, criterion, Effort { threads, block }, &forest, &|_| {});
            let joins = forest.joins();
            let mut forest = forest.into_forest();
            let roots: Vec<u64> = (0..file.rows()).map(|node| forest.root(node)).collect();
            assert_eq!(roots, components(&[&file], criterion));
            let groups = roots.iter().collect::<BTreeSet<_>>().len() as u64;
            assert_eq!(joins, file.rows() - groups);
        }
    }
}

/// Would fail if every pair of a large group were compared.
#[test]
fn what_is_in_one_group_already_is_not_compared() {
    let mut random = fastrand::Rng::with_seed(32);
    let record = records(&[(0..60).map(|i| format!("w{i} ")).collect::<String>()]).remove(0);
    let (fingerprint, sketch) = record.signature.unwrap();
    // Each differs from the first one in two bits of the fingerprint and in one of the sketch.
    let near = |place| {
        let flipped = fingerprint ^ 1 << random.u32(..64) ^ 1 << random.u32(..64);
        let mut sketch = sketch;
        sketch[random.usize(..40)] ^= 1 << random.u32(..8);
        Record { place, signature: Some((flipped, sketch)), ..record.clone() }
    };
    let file = Signatures::of((0..1_500).map(near).collect()).unwrap();
    let found = Counting(JoinedForest::new(file.rows()), AtomicU64::new(0));
    join(&file, None, RULE, Effort { threads: 1, block: Effort::BLOCK }, &found, &|_| {});
    assert_eq!(found.0.joins(), file.rows() - 1);
    let (all, edges) = (file.rows() * (file.rows() - 1) / 2, found.1.into_inner());
    assert!(edges < all / 10, "{edges} of {all}");
}
