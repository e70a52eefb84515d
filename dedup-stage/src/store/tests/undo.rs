//! Tests that overwritten values come back, against a copy of the state.

use super::*;

const LOG: Space = Space::new(9, "log", Layout::Points);

fn snapshot(session: &Session) -> Map {
    let mut map = Map::new();
    for space in [POINTS, VOLUME] {
        let mut found = Vec::new();
        session.scan(space, &[], &[], &mut collect(&mut found, usize::MAX)).unwrap();
        map.extend(found.into_iter().map(|(key, value)| ((space, key), value)));
    }
    map
}

fn log_entries(session: &Session) -> usize {
    let mut found = Vec::new();
    session.scan(LOG, &[], &[], &mut collect(&mut found, usize::MAX)).unwrap();
    found.len()
}

#[test]
fn what_was_overwritten_in_an_epoch_comes_back() {
    let mut random = Rng::with_seed(1);
    for _ in 0..100 {
        let disk = Double::default();
        let mut session = Session::new(Box::new(disk.clone()));
        let (mut epoch, mut marked) = (0, Map::new());
        session.keep_undo(LOG, epoch);
        for _ in 0..random.usize(..80) {
            let space = [POINTS, VOLUME][random.usize(..2)];
            let value = (random.u8(..3) > 0).then(|| vec![random.u8(..); 3]);
            match random.u8(..20) {
                0 => {
                    // The changes so far stay.
                    session.forget_undo();
                    epoch += 1;
                    session.commit().unwrap();
                    marked = snapshot(&session);
                }
                1 | 2 => session.commit().unwrap(),
                3 => _ = session.sweep_undo().unwrap(),
                _ => session.overwrite(space, [random.u8(..12)], value).unwrap(),
            }
        }
        drop(session);
        let mut session = Session::new(Box::new(disk.clone()));
        session.keep_undo(LOG, epoch);
        session.undo(&[POINTS, VOLUME]).unwrap();
        assert_eq!(snapshot(&session), marked);
        // Another undo, as after a crash in the middle of the first one, changes nothing.
        session.undo(&[POINTS, VOLUME]).unwrap();
        assert_eq!(snapshot(&session), marked);
        session.forget_undo();
        while session.sweep_undo().unwrap() {
            session.commit().unwrap();
        }
        assert_eq!(log_entries(&session), 0);
    }
}

#[test]
fn without_a_log_nothing_is_kept() {
    let mut session = Session::new(Box::new(Memory::default()));
    session.overwrite(POINTS, *b"a", Some(b"1".to_vec())).unwrap();
    session.overwrite(POINTS, *b"a", None).unwrap();
    assert_eq!((session.get(POINTS, b"a").unwrap(), session.pending()), (None, 1));
    session.undo(&[POINTS]).unwrap();
    assert!(!session.sweep_undo().unwrap());
}

#[test]
fn a_log_of_thousands_is_taken_back_and_swept_in_steps() {
    let disk = Double::default();
    let mut session = Session::new(Box::new(disk.clone()));
    let key = |number: u32| number.to_be_bytes();
    (0..10_000).for_each(|number| session.put(POINTS, key(number), *b"old"));
    session.commit().unwrap();
    session.keep_undo(LOG, 7);
    (0..10_000).for_each(|number| session.overwrite(POINTS, key(number), None).unwrap());
    session.commit().unwrap();
    assert_eq!((snapshot(&session).len(), log_entries(&session)), (0, 10_000));
    session.undo(&[POINTS]).unwrap();
    assert_eq!(snapshot(&session).len(), 10_000);
    session.forget_undo();
    let mut steps = 0;
    while session.sweep_undo().unwrap() {
        assert!(session.pending() < 5_000);
        session.commit().unwrap();
        steps += 1;
    }
    assert_eq!((steps, log_entries(&session)), (3, 0));
}
