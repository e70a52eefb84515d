//! Tests the stores against plain maps, and the disk against damage.

mod cut;
mod keyspaces;
mod tear;
mod undo;
mod unmade;

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use fastrand::Rng;
use proptest::prelude::*;

use super::*;

type Map = BTreeMap<(Space, Vec<u8>), Vec<u8>>;

#[derive(Clone, Debug)]
enum Step {
    Put(Space, Vec<u8>, Vec<u8>),
    Delete(Space, Vec<u8>),
    Scan(Space, Vec<u8>, Vec<u8>, usize),
    Commit,
    Fail(Fault),
    Crash,
}

const POINTS: Space = Space::new(1, "points", Layout::Points);
const VOLUME: Space = Space::new(5, "volume", Layout::Volume);

fn spaces() -> Spaces {
    Spaces::new(&[&[POINTS, VOLUME]])
}

fn space() -> impl Strategy<Value = Space> {
    prop_oneof![Just(Space::META), Just(POINTS), Just(VOLUME)]
}

fn key() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(prop_oneof![0..3u8, Just(0xff)], 0..3)
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (space(), key(), any::<[u8; 2]>()).prop_map(|(space, key, value)| Step::Put(space, key, value.to_vec())),
        3 => (space(), key()).prop_map(|(space, key)| Step::Delete(space, key)),
        3 => (space(), key(), key(), 1..6usize).prop_map(|(space, from, to, most)| Step::Scan(space, from, to, most)),
        2 => Just(Step::Commit),
        1 => prop_oneof![Just(Fault::Refuse), Just(Fault::Forget)].prop_map(Step::Fail),
        1 => Just(Step::Crash),
    ]
}

fn scan_map(map: &Map, space: Space, from: &[u8], to: &[u8], most: usize) -> Vec<(Vec<u8>, Vec<u8>)> {
    map.iter()
        .filter(|((s, key), _)| *s == space && key.as_slice() >= from && (to.is_empty() || key.as_slice() < to))
        .map(|((_, key), value)| (key.clone(), value.clone()))
        .take(most)
        .collect()
}

fn collect<'a>(out: &'a mut Vec<(Vec<u8>, Vec<u8>)>, most: usize) -> impl FnMut(&[u8], &[u8]) -> ControlFlow<()> + 'a {
    move |key, value| {
        out.push((key.to_vec(), value.to_vec()));
        if out.len() == most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_session_reads_what_it_wrote_and_keeps_what_it_committed(steps in proptest::collection::vec(step(), 0..60)) {
        let disk = Double::default();
        let mut session = Session::new(Box::new(disk.clone()));
        let (mut now, mut durable) = (Map::new(), Map::new());
        for step in steps {
            match step {
                Step::Put(space, key, value) => {
                    session.put(space, key.clone(), value.clone());
                    now.insert((space, key), value);
                }
                Step::Delete(space, key) => {
                    session.delete(space, key.clone());
                    now.remove(&(space, key));
                }
                Step::Scan(space, from, to, most) => {
                    let mut found = Vec::new();
                    session.scan(space, &from, &to, &mut collect(&mut found, most)).unwrap();
                    prop_assert_eq!(&found, &scan_map(&now, space, &from, &to, most));
                    for (key, value) in &found {
                        let got = session.get(space, key).unwrap();
                        prop_assert_eq!(got.as_ref(), Some(value));
                    }
                    let got = session.get(space, &from).unwrap();
                    prop_assert_eq!(got.as_ref(), now.get(&(space, from)));
                }
                Step::Commit => {
                    session.commit().unwrap();
                    durable = now.clone();
                }
                Step::Fail(fault) => {
                    if session.pending() > 0 {
                        disk.fail(fault);
                        prop_assert!(session.commit().is_err());
                        if fault == Fault::Forget {
                            durable = now.clone();
                        }
                    }
                }
                Step::Crash => {
                    session = Session::new(Box::new(disk.clone()));
                    now = durable.clone();
                }
            }
        }
        drop(session);
        let session = Session::new(Box::new(disk));
        for space in spaces().iter() {
            let mut found = Vec::new();
            session.scan(space, &[], &[], &mut collect(&mut found, usize::MAX)).unwrap();
            prop_assert_eq!(found, scan_map(&durable, space, &[], &[], usize::MAX));
        }
    }
}

fn contents(store: &dyn Store) -> Result<Map> {
    let mut map = Map::new();
    for space in spaces().iter() {
        store.scan(space, &[], &[], &mut |key, value| {
            map.insert((space, key.to_vec()), value.to_vec());
            ControlFlow::Continue(())
        })?;
    }
    Ok(map)
}

fn random_batch(random: &mut Rng) -> Batch {
    (0..random.usize(1..=60))
        .map(|_| Change {
            space: [Space::META, POINTS, VOLUME][random.usize(..3)],
            key: random.u32(..500).to_be_bytes().to_vec(),
            value: (random.u8(..4) > 0).then(|| vec![random.u8(..); random.usize(..200)]),
        })
        .collect()
}

#[test]
fn the_disk_agrees_with_memory_across_reopening() {
    let dir = tempfile::tempdir().unwrap();
    let mut memory = Memory::default();
    let mut random = Rng::with_seed(1);
    for _ in 0..4 {
        let mut disk = Disk::open_with(dir.path(), &spaces(), 16 << 10).unwrap();
        for _ in 0..30 {
            let batch = random_batch(&mut random);
            disk.commit(&batch).unwrap();
            memory.commit(&batch).unwrap();
        }
        assert_eq!(contents(&disk).unwrap(), contents(&memory).unwrap());
        let (from, to) = (100u32.to_be_bytes(), 200u32.to_be_bytes());
        for space in spaces().iter() {
            let (mut left, mut right) = (Vec::new(), Vec::new());
            disk.scan(space, &from, &to, &mut collect(&mut left, 7)).unwrap();
            memory.scan(space, &from, &to, &mut collect(&mut right, 7)).unwrap();
            assert_eq!(left, right);
            assert_eq!(disk.get(space, &from).unwrap(), memory.get(space, &from).unwrap());
        }
    }
    assert_eq!(contents(&Disk::open(dir.path(), &spaces()).unwrap()).unwrap(), contents(&memory).unwrap());
}

#[test]
fn memory_tables_of_all_spaces_have_one_bound() {
    const BOUND: u64 = 64 << 10;
    let many: Vec<Space> = ["a", "b", "c", "d", "e", "f", "g", "h"]
        .iter()
        .zip(1..)
        .map(|(name, number)| Space::new(number, name, Layout::Points))
        .collect();
    let dir = tempfile::tempdir().unwrap();
    let mut disk = Disk::open_with(dir.path(), &Spaces::new(&[&many]), BOUND).unwrap();
    let (mut most, batch) = (0, |number: u32| -> Batch {
        many.iter()
            .map(|space| Change { space: *space, key: number.to_be_bytes().into(), value: Some(vec![7; 1 << 10]) })
            .collect()
    });
    for number in 0..100 {
        disk.commit(&batch(number)).unwrap();
        most = most.max(disk.in_memory());
    }
    // One commit may bring more than there is room for. After it, one table is written to disk.
    assert!(BOUND / 2 < most && most < 2 * BOUND, "{most}");
    for space in many {
        assert_eq!(disk.get(space, &7u32.to_be_bytes()).unwrap(), Some(vec![7; 1 << 10]));
    }
}

#[test]
fn a_store_is_open_once() {
    let dir = tempfile::tempdir().unwrap();
    let disk = Disk::open(dir.path(), &spaces()).unwrap();
    assert!(matches!(Disk::open(dir.path(), &spaces()), Err(Error::Locked)));
    drop(disk);
    assert!(Disk::open(dir.path(), &spaces()).is_ok());
}

/// A process that is killed does not close its store.
fn as_after_a_kill(dir: &Path) {
    fs::remove_file(dir.join(closed::NAME)).unwrap();
}

fn files(dir: &Path, out: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() { files(&path, out) } else { out.push(path) }
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() { copy(&path, &target) } else { _ = fs::copy(&path, &target).unwrap() }
    }
}

/// Opens a damaged store. Its contents must be what some commit left, or it must say that it is damaged.
fn judge(dir: &Path, states: &[Map], what: &str) -> bool {
    let outcome = Disk::open_with(dir, &spaces(), 16 << 10).and_then(|disk| contents(&disk));
    match outcome {
        Ok(map) => {
            assert!(states.contains(&map), "{what}: a state that no commit left");
            true
        }
        Err(Error::Damaged(_) | Error::Io(_)) => false,
        Err(other) => panic!("{what}: {other:?}"),
    }
}

#[test]
fn a_torn_or_flipped_file_gives_an_earlier_commit_or_is_told() {
    let original = tempfile::tempdir().unwrap();
    let mut random = Rng::with_seed(2);
    let mut states = vec![Map::new()];
    let mut memory = Memory::default();
    let mut disk = Disk::open_with(original.path(), &spaces(), 16 << 10).unwrap();
    for _ in 0..40 {
        let batch = random_batch(&mut random);
        disk.commit(&batch).unwrap();
        memory.commit(&batch).unwrap();
        states.push(contents(&memory).unwrap());
    }
    drop(disk);
    as_after_a_kill(original.path());
    let mut all = Vec::new();
    files(original.path(), &mut all);
    let all: Vec<_> = all.iter().filter(|path| path.metadata().unwrap().len() > 0).collect();
    let (mut resumed, mut told) = (0, 0);
    for n in 0..24 {
        let dir = tempfile::tempdir().unwrap();
        copy(original.path(), dir.path());
        // Every second time the journal is damaged, because that is what a crash tears.
        let victim = match all.iter().find(|path| n % 2 == 0 && path.extension().is_some_and(|end| end == "jnl")) {
            Some(journal) => journal,
            None => all[random.usize(..all.len())],
        };
        let path = dir.path().join(victim.strip_prefix(original.path()).unwrap());
        let mut bytes = fs::read(&path).unwrap();
        // The journal is allocated ahead: only its beginning is written.
        let written = bytes.iter().rposition(|byte| *byte != 0).map_or(1, |last| last + 1);
        let at = random.usize(..written);
        if n % 4 < 2 {
            bytes.truncate(at);
        } else {
            bytes[at] ^= 1 << random.u8(..8);
        }
        fs::write(&path, bytes).unwrap();
        let what = format!("{} of {written} bytes, at {at}", path.display());
        if judge(dir.path(), &states, &what) { resumed += 1 } else { told += 1 }
    }
    assert!(resumed > 0 && told > 0, "{resumed} resumed, {told} told");
}
