//! Ranges of keys that are copied to another store, and removed.

use super::super::cut::{KeyRange, copy, delete};
use super::*;

#[test]
fn a_prefix_is_a_range() {
    let to = |prefix: &[u8]| KeyRange::of_prefix(POINTS, prefix).to;
    assert_eq!(to(b"ab"), b"ac");
    assert_eq!(to(&[1, 0xff]), [2]);
    assert_eq!(to(&[0xff, 0xff]), [0; 0]);
    assert_eq!(to(&[]), [0; 0]);
}

#[test]
fn what_is_in_the_ranges_is_copied_and_deleted_and_nothing_else() {
    let mut random = Rng::with_seed(1);
    for most in [1, 7, 1_000] {
        let mut session = Session::new(Box::new(Double::default()));
        let mut all = Map::new();
        for number in 0..400 {
            let space = [POINTS, VOLUME][random.usize(..2)];
            let key = vec![[0, 1, 2, 0xff][random.usize(..4)], [0, 7, 0xff][random.usize(..3)], random.u8(..)];
            session.put(space, key.clone(), [number as u8]);
            all.insert((space, key), vec![number as u8]);
            // Some entries are on disk, some are pending.
            if number == 200 {
                session.commit().unwrap();
            }
        }
        let ranges = [
            KeyRange::of_prefix(POINTS, &[1]),
            KeyRange::of_prefix(POINTS, &[0xff, 0xff]),
            KeyRange::of_prefix(VOLUME, &[2, 7]),
        ];
        let inside = |space: Space, key: &[u8]| {
            if space == POINTS { key[0] == 1 || key[..2] == [0xff, 0xff] } else { key[..2] == [2, 7] }
        };
        let (wanted, rest): (Map, Map) = all.into_iter().partition(|((space, key), _)| inside(*space, key));
        let mut other = Memory::default();
        assert_eq!(copy(&session, &ranges, most, &mut other).unwrap(), wanted.len() as u64);
        assert_eq!(contents(&other).unwrap(), wanted);
        assert_eq!(delete(&mut session, &ranges, most).unwrap(), wanted.len() as u64);
        for space in [POINTS, VOLUME] {
            let mut left = Vec::new();
            session.scan(space, &[], &[], &mut collect(&mut left, usize::MAX)).unwrap();
            assert_eq!(left, scan_map(&rest, space, &[], &[], usize::MAX));
        }
    }
}

#[test]
fn a_store_that_refuses_ends_the_copy() {
    let mut session = Session::new(Box::new(Memory::default()));
    (0..100u8).for_each(|key| session.put(POINTS, [key], [key]));
    let mut disk = Double::default();
    disk.fail(Fault::Refuse);
    let ranges = [KeyRange::of_prefix(POINTS, &[])];
    assert!(copy(&session, &ranges, 10, &mut disk).is_err());
    assert_eq!(disk.commits().0, 0, "nothing behind the failure is written");
    assert_eq!(copy(&session, &ranges, 10, &mut disk).unwrap(), 100);
    assert_eq!(disk.commits(), (10, 100));
}
