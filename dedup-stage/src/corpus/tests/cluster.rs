//! Groups: which document of each is kept.

use std::collections::{BTreeSet, HashMap};

use super::*;
use crate::corpus::cluster::{Documents, Keep, List};

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
