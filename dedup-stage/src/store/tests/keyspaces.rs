//! A space costs files only when it has entries.

use std::fs;

use super::*;

const LATER: Space = Space::new(9, "later", Layout::Points);

fn all() -> Spaces {
    Spaces::new(&[&[POINTS, VOLUME, LATER]])
}

/// The number of folders in which the store in `dir` keeps tables. One more than it has keyspaces: fjall has one of its
/// own.
fn folders(dir: &Path) -> usize {
    fs::read_dir(dir.join("keyspaces")).unwrap().count()
}

fn put(disk: &mut Disk, space: Space, key: &[u8]) {
    disk.commit(&vec![Change { space, key: key.to_vec(), value: Some(vec![1]) }]).unwrap();
}

#[test]
fn a_space_without_entries_has_no_files() {
    let dir = tempfile::tempdir().unwrap();
    let mut disk = Disk::open(dir.path(), &all()).unwrap();
    let empty = folders(dir.path());
    put(&mut disk, POINTS, b"a");
    disk.commit(&vec![Change { space: LATER, key: b"a".to_vec(), value: None }]).unwrap();
    assert_eq!(folders(dir.path()), empty + 1, "a deleted entry makes no keyspace");
    assert_eq!(disk.get(LATER, b"a").unwrap(), None);
    let mut found = Vec::new();
    disk.scan(LATER, b"", b"", &mut collect(&mut found, 9)).unwrap();
    assert!(found.is_empty());
    put(&mut disk, LATER, b"b");
    assert_eq!(folders(dir.path()), empty + 2);
}

#[test]
fn a_space_that_was_written_later_is_there_after_the_next_start() {
    let dir = tempfile::tempdir().unwrap();
    put(&mut Disk::open(dir.path(), &all()).unwrap(), POINTS, b"a");
    put(&mut Disk::open(dir.path(), &all()).unwrap(), LATER, b"b");
    let disk = Disk::open(dir.path(), &all()).unwrap();
    assert_eq!(disk.get(LATER, b"b").unwrap(), Some(vec![1]));
    assert_eq!(disk.get(POINTS, b"a").unwrap(), Some(vec![1]));
}

#[test]
fn a_reader_finds_a_space_that_was_made_after_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut disk = Disk::open(dir.path(), &all()).unwrap();
    let reader = disk.reader();
    let before = reader.snapshot();
    put(&mut disk, LATER, b"b");
    assert_eq!(reader.snapshot().get(LATER, b"b").unwrap(), Some(vec![1]));
    assert_eq!(before.get(LATER, b"b").unwrap(), None, "a snapshot shows one commit");
}

#[test]
fn a_store_that_lost_the_keyspace_of_a_space_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    put(&mut Disk::open(dir.path(), &all()).unwrap(), POINTS, b"a");
    let known: Vec<_> =
        fs::read_dir(dir.path().join("keyspaces")).unwrap().map(|entry| entry.unwrap().path()).collect();
    put(&mut Disk::open(dir.path(), &all()).unwrap(), LATER, b"b");
    for entry in fs::read_dir(dir.path().join("keyspaces")).unwrap().map(|entry| entry.unwrap().path()) {
        if !known.contains(&entry) {
            fs::remove_dir_all(entry).unwrap();
        }
    }
    let refused = Disk::open(dir.path(), &all());
    assert!(matches!(refused, Err(Error::Damaged(_))), "{:?}", refused.err());
}
