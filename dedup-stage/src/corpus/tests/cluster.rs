//! Groups: which document of each is kept.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};

use super::*;
use crate::corpus::cluster::{Documents, JoinedForest, Keep, List, complete};
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

/// The groups that are made in the order of the input, by the plainest comparison: the first document of each.
fn groups_without_chains(files: &[Signatures], criterion: NearCriterion) -> Vec<u64> {
    let documents = Documents::new(files);
    let all: Vec<Row<'_>> = files.iter().flat_map(rows).collect();
    let mut order: Vec<u64> = (0..documents.len()).collect();
    order.sort_by_key(|node| documents.position(*node));
    let mut groups: Vec<Vec<u64>> = Vec::new();
    for node in order {
        let is_near = |other: &u64| alike(&all[node as usize], &all[*other as usize], criterion);
        match groups.iter_mut().find(|group| group.iter().all(is_near)) {
            Some(group) => group.push(node),
            None => groups.push(vec![node]),
        }
    }
    let mut first = vec![0; all.len()];
    groups.iter().for_each(|group| group.iter().for_each(|node| first[*node as usize] = group[0]));
    first
}

/// Documents that differ from one in up to four bits, some of them copies, and documents with equal bytes. They make a large component
/// with chains.
fn crowded(n: u64, seed: u64) -> Vec<Signatures> {
    let mut random = fastrand::Rng::with_seed(seed);
    let base = records(&[(0..90).map(|i| format!("w{i} ")).collect::<String>(), "a".into()]);
    let (fingerprint, sketch) = base[0].signature.expect("many words");
    let mut one = |place| {
        if random.u32(..10) == 0 {
            return Record { place, ..base[1].clone() };
        }
        let flipped = (0..random.u32(..5)).fold(fingerprint, |value, _| value ^ 1 << random.u32(..64));
        Record { place, signature: Some((flipped, sketch)), ..base[0].clone() }
    };
    let (early, late) = (0..n).map(&mut one).partition::<Vec<_>, _>(|record| record.place % 3 > 0);
    [late, early].map(|records| Signatures::of(records).expect("memory")).into()
}

#[test]
fn groups_without_chains_are_those_of_the_plainest_comparison() {
    let narrow = NearCriterion { distance: 3, ..BY_FINGERPRINT };
    let webs = [vec![signatures(500, 41), signatures(300, 42)], crowded(5_000, 43)];
    for (files, criterion) in webs.iter().flat_map(|files| [RULE, narrow].map(|criterion| (files, criterion))) {
        let mut joined = Forest::new(Documents::new(files).len());
        let components = components(&files.iter().collect::<Vec<_>>(), criterion);
        (0..).zip(&components).for_each(|(node, root)| joined.join(node, *root));
        let expected = groups_without_chains(files, criterion);
        let parted = BTreeSet::from_iter(&expected).len() > BTreeSet::from_iter(&components).len();
        assert!(parted || criterion == RULE, "no chain was parted");
        for threads in [1, 3] {
            let done = std::cell::Cell::new(0.0);
            let add = |share| done.set(done.get() + share);
            let mut groups = complete(Documents::new(files), &mut joined.clone(), criterion, threads, &add);
            for node in 0..groups.len() {
                assert_eq!(groups.root(node), groups.root(expected[node as usize]), "{criterion:?}");
            }
            let different = |of: &mut dyn FnMut(u64) -> u64| (0..joined.len()).map(of).collect::<BTreeSet<_>>().len();
            assert_eq!(different(&mut |node| groups.root(node)), different(&mut |node| expected[node as usize]));
            assert!((done.get() - 1.0_f64).abs() < 1e-6);
        }
    }
}
