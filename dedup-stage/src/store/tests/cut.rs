//! Tests ranges of keys that are copied to another store, and removed.

use super::super::cut::{KeyRange, all, as_it_is, copy, delete};
use super::*;

#[test]
fn a_prefix_is_a_range() {
    let to = |prefix: &[u8]| KeyRange::of_prefix(POINTS, prefix).to;
    assert_eq!(to(b"ab"), b"ac");
    assert_eq!(to(&[1, 0xff]), [2]);
    assert_eq!(to(&[0xff, 0xff]), [0; 0]);
    assert_eq!(to(&[]), [0; 0]);
    let range = KeyRange::between(POINTS, b"ab", b"cd");
    assert_eq!((&range.from[..], &range.to[..]), (&b"ab"[..], &b"ce"[..]));
}

/// Entries in two spaces, some on disk and some pending.
fn entries(random: &mut Rng) -> (Session, Map) {
    let (mut session, mut all) = (Session::new(Box::new(Double::default())), Map::new());
    for number in 0..400 {
        let space = [POINTS, VOLUME][random.usize(..2)];
        let key = vec![[0, 1, 2, 0xff][random.usize(..4)], [0, 7, 0xff][random.usize(..3)], random.u8(..)];
        session.put(space, key.clone(), [number as u8]);
        all.insert((space, key), vec![number as u8]);
        if number == 200 {
            session.commit().unwrap();
        }
    }
    (session, all)
}

#[test]
fn what_is_in_the_ranges_is_copied_and_deleted_and_nothing_else() {
    let mut random = Rng::with_seed(1);
    for _ in 0..20 {
        let (mut session, all_entries) = entries(&mut random);
        let ranges = [
            KeyRange::of_prefix(POINTS, &[1]),
            KeyRange::of_prefix(POINTS, &[0xff, 0xff]),
            KeyRange::of_prefix(VOLUME, &[2, 7]),
        ];
        let inside = |space: Space, key: &[u8]| {
            if space == POINTS { key[0] == 1 || key[..2] == [0xff, 0xff] } else { key[..2] == [2, 7] }
        };
        let (wanted, rest): (Map, Map) = all_entries.into_iter().partition(|((space, key), _)| inside(*space, key));
        let other = Double::default();
        let mut to = Session::new(Box::new(other.clone()));
        // A second copy changes nothing.
        for _ in 0..2 {
            assert_eq!(copy(&session, &ranges, &as_it_is, &mut to).unwrap(), wanted.len() as u64);
            assert_eq!(contents(&other).unwrap(), wanted);
        }
        assert_eq!(delete(&mut session, &ranges, &all).unwrap(), wanted.len() as u64);
        assert_eq!(delete(&mut session, &ranges, &all).unwrap(), 0);
        for space in [POINTS, VOLUME] {
            let mut left = Vec::new();
            session.scan(space, &[], &[], &mut collect(&mut left, usize::MAX)).unwrap();
            assert_eq!(left, scan_map(&rest, space, &[], &[], usize::MAX));
        }
    }
}

#[test]
fn entries_are_chosen_and_changed_on_the_way() {
    let mut session = Session::new(Box::new(Memory::default()));
    (0..100u8).for_each(|key| session.put(POINTS, [key], [key]));
    let other = Double::default();
    let ranges = [KeyRange::whole(POINTS)];
    let even = |key: &[u8]| key[0].is_multiple_of(2);
    let copied = |key: &[u8], value: &[u8]| Ok(even(key).then(|| vec![value[0] / 2]));
    assert_eq!(copy(&session, &ranges, &copied, &mut Session::new(Box::new(other.clone()))).unwrap(), 50);
    let wanted: Map = (0..50u8).map(|half| ((POINTS, vec![2 * half]), vec![half])).collect();
    assert_eq!(contents(&other).unwrap(), wanted);
    assert_eq!(delete(&mut session, &ranges, &|key, _| Ok(even(key))).unwrap(), 50);
    assert_eq!(session.get(POINTS, &[1]).unwrap(), Some(vec![1]));
    assert_eq!(session.get(POINTS, &[2]).unwrap(), None);
}

#[test]
fn a_store_that_refuses_ends_the_copy_and_it_can_be_done_again() {
    let mut session = Session::new(Box::new(Memory::default()));
    (0..100u8).for_each(|key| session.put(POINTS, [key], [key]));
    let disk = Double::default();
    disk.fail(Fault::Refuse);
    let mut to = Session::new(Box::new(disk.clone()));
    let ranges = [KeyRange::of_prefix(POINTS, &[])];
    assert!(copy(&session, &ranges, &as_it_is, &mut to).is_err());
    assert_eq!(disk.commits().0, 0, "nothing behind the failure is written");
    assert_eq!(copy(&session, &ranges, &as_it_is, &mut to).unwrap(), 100);
    assert_eq!(contents(&disk).unwrap().len(), 100);
}
