//! Large values that a power cut tears.

use super::*;

/// Bytes of a value: some whole blocks lie inside it.
const LARGE: usize = 20_000;
const BLOCK: usize = 4096;

/// A store with so many commits, each of a large value that cannot be compressed.
struct Torn {
    dir: tempfile::TempDir,
    states: Vec<Map>,
    values: Vec<Vec<u8>>,
    journal: PathBuf,
}

impl Torn {
    fn new(commits: u8) -> Self {
        let (dir, mut random) = (tempfile::tempdir().unwrap(), Rng::with_seed(9));
        let (mut states, mut values, mut memory) = (vec![Map::new()], Vec::new(), Memory::default());
        let mut disk = Disk::open(dir.path(), &spaces()).unwrap();
        for n in 0..commits {
            let value: Vec<u8> = (0..LARGE).map(|_| random.u8(1..)).collect();
            let batch = vec![Change { space: VOLUME, key: vec![n], value: Some(value.clone()) }];
            disk.commit(&batch).unwrap();
            memory.commit(&batch).unwrap();
            states.push(contents(&memory).unwrap());
            values.push(value);
        }
        drop(disk);
        as_after_a_kill(dir.path());
        let mut all = Vec::new();
        files(dir.path(), &mut all);
        let journal = all.into_iter().rfind(|path| path.extension().is_some_and(|end| end == "jnl")).unwrap();
        Self { dir, states, values, journal }
    }

    /// Damages the whole block of the journal that holds the byte at `at` of a value.
    fn damage(&self, value: usize, at: usize, damage: impl Fn(&mut [u8])) {
        let mut bytes = fs::read(&self.journal).unwrap();
        let begin = memchr::memmem::find(&bytes, &self.values[value][..100]).unwrap();
        let block = (begin + at) / BLOCK * BLOCK;
        assert!(begin < block && block + BLOCK < begin + LARGE, "the block lies inside the value");
        damage(&mut bytes[block..block + BLOCK]);
        fs::write(&self.journal, bytes).unwrap();
    }

    fn open(&self) -> Result<Disk> {
        Disk::open(self.dir.path(), &spaces())
    }
}

#[test]
fn a_batch_of_which_a_block_was_never_written_is_left_out() {
    for at in [6_000, 10_000, 14_000] {
        let torn = Torn::new(5);
        torn.damage(4, at, |block| block.fill(0));
        assert_eq!(torn.open().and_then(|disk| contents(&disk)).unwrap(), torn.states[4], "at {at}");
        let mut disk = torn.open().unwrap();
        let batch = vec![Change { space: POINTS, key: vec![1], value: Some(vec![1]) }];
        disk.commit(&batch).unwrap();
        drop(disk);
        let now = torn.open().and_then(|disk| contents(&disk)).unwrap();
        assert_eq!(now.len(), torn.states[4].len() + 1, "it goes on");
    }
}

#[test]
fn damage_to_what_was_synced_is_told() {
    let torn = Torn::new(5);
    torn.damage(4, 10_000, |block| block[100] ^= 1);
    assert!(matches!(torn.open(), Err(Error::Damaged(_))), "a bit of the last batch");
    let torn = Torn::new(5);
    torn.damage(2, 10_000, |block| block.fill(0));
    assert!(matches!(torn.open(), Err(Error::Damaged(_))), "a block before two batches that are whole");
}

#[test]
fn a_store_that_lost_commits_after_it_was_closed_says_so() {
    let torn = Torn::new(5);
    closed::note(torn.dir.path(), 5);
    torn.damage(4, 10_000, |block| block.fill(0));
    for _ in 0..2 {
        let Err(Error::Damaged(what)) = torn.open().map(|_| ()) else { panic!("the last of five commits is lost") };
        assert!(what.contains("ends with commit 4") && what.contains("after commit 5"), "{what}");
    }
    as_after_a_kill(torn.dir.path());
    assert_eq!(torn.open().and_then(|disk| contents(&disk)).unwrap(), torn.states[4], "it goes on where it is whole");
    drop(torn.open().unwrap());
    assert_eq!(fs::read_to_string(torn.dir.path().join(closed::NAME)).unwrap(), "4\n");
}
