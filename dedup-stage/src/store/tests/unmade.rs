//! Stores that were killed while they were made.

use super::*;

/// A folder with the files of a store that was killed at some moment while it was made. `files`: those that exist, each
/// with its content.
fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, content) in files {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    dir
}

#[test]
fn a_store_that_was_killed_while_it_was_made_is_made_anew() {
    let zeros = vec![0; 100_000];
    for files in [
        &[("lock", &b""[..])][..],
        &[("lock", b""), ("0.jnl", b"")],
        &[("lock", b""), ("0.jnl", &zeros)],
        &[("lock", b""), ("0.jnl", &zeros), ("version", b"")],
        &[("lock", b""), ("0.jnl", &zeros), ("version", b"FJL\x03"), ("keyspaces/0/v0", b"begun")],
    ] {
        let dir = folder(files);
        fs::create_dir_all(dir.path().join("keyspaces")).unwrap();
        let change = Change { space: VOLUME, key: vec![1], value: Some(vec![2]) };
        let mut disk = Disk::open(dir.path(), &spaces()).unwrap_or_else(|error| panic!("{files:?}: {error}"));
        disk.commit(&vec![change]).unwrap();
        drop(disk);
        assert_eq!(contents(&Disk::open(dir.path(), &spaces()).unwrap()).unwrap().len(), 1, "{files:?}");
    }
}

#[test]
fn a_store_that_has_data_is_never_made_anew() {
    let dir = tempfile::tempdir().unwrap();
    let mut disk = Disk::open(dir.path(), &spaces()).unwrap();
    disk.commit(&vec![Change { space: VOLUME, key: vec![1], value: Some(vec![2]) }]).unwrap();
    drop(disk);
    fs::remove_file(dir.path().join("version")).unwrap();
    assert!(Disk::open(dir.path(), &spaces()).is_err(), "the journal has data");
    let mut all = Vec::new();
    files(dir.path(), &mut all);
    assert!(all.iter().any(|path| path.extension().is_some_and(|end| end == "jnl")), "nothing was deleted: {all:?}");
}
