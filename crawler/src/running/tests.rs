//! Tests that a read through the socket returns what is on the disk, as of one commit.

use std::ops::ControlFlow;

use dedup_stage::store::{Disk, Error, Session, Space, Store};

use super::*;
use crate::spaces;

fn entries(store: &dyn Store, from: &[u8], to: &[u8], most: usize) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut found = Vec::new();
    let mut visit = |key: &[u8], value: &[u8]| {
        found.push((key.to_vec(), value.to_vec()));
        if found.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    store.scan(Space::META, from, to, &mut visit).unwrap();
    found
}

/// A state with some values so long that a scan needs several answers.
fn filled(dir: &Path) -> (Session, dedup_stage::store::Reader) {
    let disk = Disk::open(dir, &spaces::of_crawl()).unwrap();
    let reader = disk.reader();
    let mut session = Session::new(Box::new(disk));
    for number in 0..60u8 {
        session.put(Space::META, [number / 8, number], vec![number; usize::from(number) * 400]);
    }
    session.commit().unwrap();
    (session, reader)
}

#[test]
fn an_asker_reads_what_the_disk_has() {
    let dir = tempfile::tempdir().unwrap();
    let (_session, reader) = filled(dir.path());
    let _serving = Serving::start(dir.path(), reader.clone()).unwrap();
    let (near, far) = (reader.snapshot(), Remote::connect(dir.path()).unwrap());
    assert!(entries(&far, &[], &[], usize::MAX).len() >= 60, "a scan of several answers is whole");
    let mut rng = fastrand::Rng::with_seed(7);
    for _ in 0..300 {
        let mut key = || (0..rng.usize(..3)).map(|_| rng.u8(..10)).collect::<Vec<u8>>();
        let (from, to) = (key(), key());
        let most = 1 + rng.usize(..80);
        assert_eq!(entries(&far, &from, &to, most), entries(&near, &from, &to, most), "{from:?} to {to:?}, {most}");
        assert_eq!(far.get(Space::META, &from).unwrap(), near.get(Space::META, &from).unwrap());
    }
}

#[test]
fn an_asker_sees_one_commit_and_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (mut session, reader) = filled(dir.path());
    let serving = Serving::start(dir.path(), reader).unwrap();
    let mut remote = Remote::connect(dir.path()).unwrap();
    assert_eq!(remote.get(Space::META, &[0, 1]).unwrap().map(|value| value.len()), Some(400));
    session.put(Space::META, [0, 1], b"new");
    session.delete(Space::META, [0, 2]);
    session.commit().unwrap();
    assert_eq!(remote.get(Space::META, &[0, 1]).unwrap().map(|value| value.len()), Some(400));
    assert_eq!(entries(&remote, &[0, 2], &[0, 3], 9).len(), 1);
    // An asker that connects now sees the new commit: it has another snapshot.
    let later = Remote::connect(dir.path()).unwrap();
    assert_eq!(later.get(Space::META, &[0, 1]).unwrap().as_deref(), Some(&b"new"[..]));
    assert!(entries(&later, &[0, 2], &[0, 3], 9).is_empty());
    assert!(matches!(remote.commit(&Vec::new()), Err(Error::ReadOnly)));
    drop(serving);
    assert!(Remote::connect(dir.path()).is_err());
}

#[test]
fn a_long_path_and_a_socket_that_was_left_are_no_hindrance() {
    let dir = tempfile::tempdir().unwrap();
    let deep = dir.path().join("long".repeat(30)).join("deep".repeat(30));
    std::fs::create_dir_all(&deep).unwrap();
    let (_session, reader) = filled(&deep);
    std::fs::write(deep.join(SOCKET), b"").unwrap();
    let _serving = Serving::start(&deep, reader).unwrap();
    let remote = Remote::connect(&deep).unwrap();
    assert_eq!(remote.get(Space::META, &[0, 1]).unwrap().map(|value| value.len()), Some(400));
}
