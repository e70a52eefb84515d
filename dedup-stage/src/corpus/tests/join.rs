//! Tests joins against comparing all with all, and files of edges.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::*;
use crate::corpus::join::{Edge, EdgeFile, EdgeWriter, Effort, Nodes, collect};

const WHOLE: Effort = Effort { threads: 2, block: Effort::BLOCK };

fn of_edges(nodes: u64, edges: &[Edge], second: u64) -> Forest {
    let mut forest = Forest::new(nodes);
    edges.iter().for_each(|edge| forest.join(edge.a, edge.b + second));
    forest
}

#[test]
fn a_join_links_what_comparing_all_with_all_links() {
    let near = |distance, look, pieces| NearCriterion { distance, look, pieces };
    for criterion in [RULE, BY_FINGERPRINT, near(3, true, false), near(0, true, true), near(7, false, false)] {
        let file = signatures(300, 11);
        let all = rows(&file);
        let mut sizes = BTreeSet::new();
        for block in [Effort::BLOCK, 60, 25] {
            let edges = collect(&file, None, criterion, Effort { threads: 3, block }, &|_| {});
            sizes.insert(edges.len());
            for edge in &edges {
                let (a, b) = (&all[edge.a as usize], &all[edge.b as usize]);
                assert!(edge.a != edge.b && alike(a, b, criterion), "{edge:?}");
                assert!(!edge.same || !criterion.look || a.signature == b.signature);
            }
            let pairs: BTreeSet<(u64, u64)> = edges.iter().map(|e| (e.a.min(e.b), e.a.max(e.b))).collect();
            assert_eq!(pairs.len(), edges.len(), "each pair once");
            let mut forest = of_edges(file.rows(), &edges, 0);
            let roots: Vec<u64> = (0..file.rows()).map(|node| forest.root(node)).collect();
            assert_eq!(roots, components(&[&file], criterion), "block {block}");
        }
        // The size of the blocks does not change which edges there are.
        assert_eq!(sizes.len(), 1, "{sizes:?}");
    }
}

#[test]
fn every_pair_of_different_signatures_is_told() {
    every_pair_is_told(BY_FINGERPRINT, 50);
    every_pair_is_told(RULE, 60);
    // Nearly all pairs are found by pieces only.
    every_pair_is_told(NearCriterion { distance: 0, ..RULE }, 50);
}

/// There are more than `least` such pairs.
fn every_pair_is_told(criterion: NearCriterion, least: usize) {
    let file = signatures(400, 12);
    let all = rows(&file);
    let first = |row: usize| all.iter().position(|other| other.signature == all[row].signature).unwrap();
    let told: BTreeSet<(usize, usize)> = collect(&file, None, criterion, WHOLE, &|_| {})
        .iter()
        .filter(|edge| !edge.same)
        .map(|edge| (edge.a.min(edge.b) as usize, edge.a.max(edge.b) as usize))
        .collect();
    let mut expected = BTreeSet::new();
    for (i, a) in all.iter().enumerate().filter(|(i, a)| a.signature.is_some() && first(*i) == *i) {
        for (j, b) in all.iter().enumerate().take(i).filter(|(j, b)| b.signature.is_some() && first(*j) == *j) {
            if alike(a, b, criterion) {
                expected.insert((j, i));
            }
        }
    }
    assert!(expected.len() > least, "{}", expected.len());
    assert_eq!(told, expected);
}

#[test]
fn two_files_joined_in_blocks_are_as_good_as_one() {
    let texts = texts(500, 13);
    let (early, late) = texts.split_at(320);
    let (a, b) = (Signatures::of(records(early)).unwrap(), Signatures::of(records(late)).unwrap());
    for block in [Effort::BLOCK, 50] {
        let effort = Effort { threads: 2, block };
        let mut forest = of_edges(500, &collect(&a, None, RULE, effort, &|_| {}), 0);
        for edge in collect(&b, None, RULE, effort, &|_| {}) {
            forest.join(edge.a + a.rows(), edge.b + a.rows());
        }
        let across = collect(&a, Some(&b), RULE, effort, &|_| {});
        assert!(!across.is_empty());
        across.iter().for_each(|edge| forest.join(edge.a, edge.b + a.rows()));
        let roots: Vec<u64> = (0..500).map(|node| forest.root(node)).collect();
        assert_eq!(roots, components(&[&a, &b], RULE));
    }
}

#[test]
fn a_hot_fingerprint_is_no_square() {
    let mut record = records(&["w ".repeat(3) + &(0..60).map(|i| format!("w{i} ")).collect::<String>()]);
    let record = record.remove(0);
    let (fingerprint, _) = record.signature.expect("enough words");
    // A hundred thousand copies, and thousands with the same fingerprint and other sketches.
    let copy = |i: u64| Record { place: i, ..record.clone() };
    let other = |i: u64| {
        let mut sketch = [0x55; Sketch::BYTES];
        sketch[..8].copy_from_slice(&(i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).to_le_bytes());
        Record { place: i, signature: Some((fingerprint, sketch)), ..record.clone() }
    };
    let file = Signatures::of((0..100_000).map(copy).chain((100_000..105_000).map(other)).collect()).unwrap();
    let edges = collect(&file, None, RULE, WHOLE, &|_| {});
    // By the fingerprint and by each piece, each document is compared with at most 64 of the others.
    let most = 99_999 + (1 + Sketch::PIECES) * 64 * 5_000;
    assert!(edges.len() >= 99_999 && edges.len() < most, "{}", edges.len());
}

#[test]
fn edges_come_back_by_node_and_damage_is_found() {
    let dir = TempDir::new().unwrap();
    let texts = texts(200, 14);
    let files: Vec<Signatures> = texts.chunks(100).map(|part| Signatures::of(records(part)).unwrap()).collect();
    let nodes = Nodes::of([(Path::new("a"), &files[0]), (Path::new("b"), &files[1])]);
    let turned = Nodes::of([(Path::new("b"), &files[1]), (Path::new("a"), &files[0])]);
    let edges: Vec<Edge> = (0..100)
        .map(|i| Edge { a: i, b: 199 - i, distance: i as u32 % 65, resemblance: i as f32 / 100.0, same: i % 3 == 0 })
        .collect();
    let path = dir.path().join("edges");
    write(&path, |file| {
        let mut writer = EdgeWriter::new(file, &nodes, RULE)?;
        edges.iter().try_for_each(|edge| writer.push(edge))?;
        writer.finish()
    })
    .unwrap();
    let read = |nodes: &Nodes| {
        let mut read = Vec::new();
        EdgeFile::open(&path).and_then(|file| file.read(nodes, &mut |edge| read.push(edge))).map(|()| read)
    };
    assert_eq!(read(&nodes).unwrap(), edges);
    let swapped = read(&turned).unwrap();
    assert!(swapped.iter().zip(&edges).all(|(x, y)| x.a == y.a + 100 && x.b == y.b - 100));
    let error = read(&Nodes::of([(Path::new("a"), &files[0])])).unwrap_err();
    assert!(error.to_string().contains("not among the files"), "{error}");
    let bytes = fs::read(&path).unwrap();
    for at in (0..bytes.len()).step_by(7) {
        let mut copy = bytes.clone();
        copy[at] ^= 0x10;
        fs::write(&path, copy).unwrap();
        assert!(read(&nodes).map_or(true, |read| read == edges), "byte {at}");
    }
    fs::write(&path, &bytes[..bytes.len() - 3]).unwrap();
    assert!(read(&nodes).is_err());
}
