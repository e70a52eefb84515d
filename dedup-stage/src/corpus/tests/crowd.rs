//! Tests crowds: many more signatures with one fingerprint, or with one piece of their sketches, than are compared all
//! with all.

use std::collections::BTreeSet;

use tempfile::TempDir;

use super::*;
use crate::corpus::join::{Collected, Edge, Effort, join};

const EFFORT: Effort = Effort { threads: 2, block: Effort::BLOCK };

/// Records with one fingerprint and sketches that are far from each other. `place` numbers their documents.
fn crowd(n: u64, place: impl Fn(u64) -> u64) -> Vec<Record> {
    let record = records(&[(0..60).map(|i| format!("w{i} ")).collect::<String>()]).remove(0);
    let (fingerprint, _) = record.signature.expect("enough words");
    let each = |i: u64| {
        let mut random = fastrand::Rng::with_seed(i);
        let sketch = std::array::from_fn(|at| if at < 60 { random.u8(..) } else { 60 * (at as u8 % 2) });
        let mut digest = [0; 32];
        digest[..8].copy_from_slice(&i.to_le_bytes());
        Record {
            place: place(i),
            digest,
            signature: Some((fingerprint, sketch)),
            id: i.to_string().into(),
            ..record.clone()
        }
    };
    (0..n).map(each).collect()
}

fn found(a: &Signatures, b: Option<&Signatures>, criterion: NearCriterion) -> (Vec<Edge>, u64) {
    let found = Collected::default();
    join(a, b, criterion, EFFORT, &found, &|_| {});
    found.into_edges()
}

#[test]
fn equal_documents_of_two_crowds_are_linked_and_what_was_not_compared_is_told() {
    let a = Signatures::of(crowd(300, |i| i)).unwrap();
    // The same documents in another order, so that rows do not tell them.
    let b = Signatures::of(crowd(300, |i| (i * 7) % 300)).unwrap();
    let (edges, uncompared) = found(&a, Some(&b), BY_FINGERPRINT);
    assert!(edges.iter().all(|edge| edge.same && a.id(edge.a).unwrap() == b.id(edge.b).unwrap()));
    assert_eq!(edges.iter().map(|edge| edge.a).collect::<Vec<_>>(), (0..300).collect::<Vec<_>>());
    // Of 236 further documents on each side, those that have their copy there are known to be equal.
    let further = |file: &Signatures| (64..300).map(|row| file.id(row).unwrap().to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(uncompared, 236 * 236 - further(&a).intersection(&further(&b)).count() as u64);
    // Within one file there are no equal sketches here.
    let (edges, uncompared) = found(&a, None, BY_FINGERPRINT);
    assert_eq!((edges.len(), uncompared), (0, 236 * 235 / 2));
}

/// Catches near-duplicates that are not found because their fingerprint is that of very many documents, although a
/// piece of their sketches tells them from the others.
#[test]
fn near_duplicates_in_a_crowd_are_found_by_pieces() {
    let with_edits = |from: u64| {
        let mut all = crowd(300, |i| i);
        for (i, record) in all.iter_mut().enumerate() {
            let (_, sketch) = record.signature.as_mut().expect("a signature");
            sketch[20..24].iter_mut().for_each(|byte| *byte ^= (from as u8) * 0b0100_0001);
            record.digest[30] = from as u8;
            record.id = format!("{from}-{i}").into();
        }
        all
    };
    let number = |id: &str| id.split('-').nth(1).map(str::to_owned);
    let (a, b) = (Signatures::of(with_edits(0)).unwrap(), Signatures::of(with_edits(1)).unwrap());
    let (edges, _) = found(&a, Some(&b), RULE);
    assert!(edges.iter().all(|edge| number(a.id(edge.a).unwrap()) == number(b.id(edge.b).unwrap())));
    assert_eq!(edges.len(), 300, "each pair once");
    let (by_fingerprint, _) = found(&a, Some(&b), BY_FINGERPRINT);
    assert!(by_fingerprint.len() < 200, "the test has a crowd: {}", by_fingerprint.len());
    let places = with_edits(1).into_iter().map(|record| Record { place: record.place + 300, ..record });
    let both = Signatures::of(with_edits(0).into_iter().chain(places).collect()).unwrap();
    let (edges, _) = found(&both, None, RULE);
    assert_eq!(edges.len(), 300, "within one file as well");
}

#[test]
fn crowds_by_a_piece_are_linked_as_well() {
    // All have the same first piece, and each has a fingerprint that is far from those of the others.
    let records = |turn: u64| {
        let mut all = crowd(200, |i| i);
        for (i, record) in (0..).zip(&mut all) {
            let (fingerprint, sketch) = record.signature.as_mut().expect("a signature");
            *fingerprint = xxhash_rust::xxh3::xxh3_64(&(i + turn).to_le_bytes());
            sketch[..8].fill(7);
        }
        all
    };
    let (a, b) = (Signatures::of(records(0)).unwrap(), Signatures::of(records(1000)).unwrap());
    let (edges, _) = found(&a, Some(&b), RULE);
    let linked: BTreeSet<(&str, &str)> =
        edges.iter().map(|edge| (a.id(edge.a).unwrap(), b.id(edge.b).unwrap())).filter(|(x, y)| x == y).collect();
    assert_eq!(linked.len(), 200);
    assert_eq!(linked.len(), edges.len(), "each pair once");
}

#[test]
fn a_known_corpus_finds_every_copy_in_a_crowd() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("known.sig");
    // A hundred copies of one text come before all the others.
    let crowd = crowd(300, |i| i + 100);
    let copies = (0..100).map(|place| Record { place, id: format!("9{place:03}").into(), ..crowd[5].clone() });
    file(&path, crowd.iter().cloned().chain(copies).collect());
    let known = Known::open(&path, 7, 1).unwrap();
    let find = |record: &Record, digest: &[u8; 32]| {
        let (fingerprint, sketch) = record.signature.unwrap();
        known.finder().find(digest, Some((fingerprint, &Sketch::from_bytes(sketch)))).unwrap()
    };
    for (i, record) in crowd.iter().enumerate() {
        let exact = find(record, &record.digest).unwrap();
        let id = if i == 5 { "9000" } else { &*record.id };
        assert!(exact.exact && known.id(exact.row).unwrap() == id, "{i}");
        let near = find(record, &[1; 32]).unwrap();
        assert!(!near.exact && near.resemblance == 1.0 && known.id(near.row).unwrap() == id, "{i}");
    }
    assert_eq!(known.compared_in_part(), 0);
    let mut other = crowd[0].clone();
    other.signature.as_mut().unwrap().1[..44].fill(0x35);
    assert_eq!((find(&other, &[1; 32]), known.compared_in_part()), (None, 1));
}
