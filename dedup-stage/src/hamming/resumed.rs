//! A snapshot of an online index as a file, and an index that continues from it. This is for users of the library. The
//! crawler does not use it.

use std::io::{Seek, Write};

use super::frozen::{self, Frozen, IndexSpec, Reader};
use super::{Design, Error, Index};

/// A snapshot, and the fingerprints that were added since. The snapshot is an index file, which may be mapped.
///
/// The file is a [`Frozen`] index without rows. It has the version of its format, the design and the recipe of the
/// fingerprints. Damage is detected. At the start, no fingerprint has to be inserted again.
///
/// # Complexity
///
/// A query asks both the snapshot and the online index. An insertion looks the fingerprint up in the snapshot once.
/// Writing a snapshot takes 8 bytes of memory a fingerprint, besides what [`frozen::build`] takes.
#[derive(Debug)]
pub struct Resumed<'a> {
    snapshot: Reader<'a>,
    added: Index,
}

impl<'a> Resumed<'a> {
    /// Continues from a snapshot.
    pub fn new(snapshot: &'a Frozen) -> Self {
        Self { added: Index::new(snapshot.design().distance), snapshot: snapshot.reader() }
    }

    /// Number of distinct fingerprints.
    pub fn len(&self) -> usize {
        self.snapshot.index().len() as usize + self.added.len()
    }

    /// Whether nothing is stored.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Like [`Index::within`].
    pub fn within(&mut self, query: u64, out: &mut Vec<(u64, u32)>) {
        self.snapshot.within(&[query], &mut |_, fingerprint, distance| out.push((fingerprint, distance)));
        self.added.within(query, out);
    }

    /// Adds a fingerprint; false if it was there already.
    pub fn insert(&mut self, fingerprint: u64) -> bool {
        !self.snapshot.contains(fingerprint) && self.added.insert(fingerprint)
    }

    /// Writes a new snapshot of all fingerprints. Returns the number of bytes written.
    pub fn snapshot(&self, recipe: &str, threads: usize, out: &mut (impl Write + Seek)) -> Result<u64, Error> {
        let mut all = self.snapshot.fingerprints();
        all.extend(self.added.fingerprints());
        write(&all, self.added.distance(), recipe, threads, out)
    }
}

impl Index {
    /// Writes a snapshot from which [`Resumed`] continues. Returns the number of bytes written.
    pub fn snapshot(&self, recipe: &str, threads: usize, out: &mut (impl Write + Seek)) -> Result<u64, Error> {
        write(&self.fingerprints(), self.distance(), recipe, threads, out)
    }
}

fn write(
    fingerprints: &[u64],
    k: u32,
    recipe: &str,
    threads: usize,
    out: &mut (impl Write + Seek),
) -> Result<u64, Error> {
    let design = Design::for_size(k, fingerprints.len() as u64);
    let spec = IndexSpec { design, recipe: recipe.into(), with_rows: false, threads, part: IndexSpec::PART };
    frozen::build(fingerprints, &spec, out, &|_| {})
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::super::frozen::Load;
    use super::*;

    fn clustered(n: u64) -> impl Iterator<Item = u64> {
        let random = |i: u64| xxhash_rust::xxh3::xxh3_64(&i.to_le_bytes());
        (0..n).map(move |i| {
            (0..random(i) % 7).fold(random(!(random(i) % 300)), |f, e| f ^ 1 << (random(i ^ e << 40) % 64))
        })
    }

    /// Two snapshots are taken on the way. All answers are those of an index that never stopped.
    #[test]
    fn goes_on_as_if_it_had_never_stopped() {
        let folder = tempfile::tempdir().expect("a folder");
        let paths = [folder.path().join("first"), folder.path().join("second")];
        for k in [0, 3, 7] {
            let mut whole = Index::new(k);
            let mut early = Index::new(k);
            for fingerprint in clustered(2000) {
                assert_eq!(whole.insert(fingerprint), early.insert(fingerprint));
            }
            early.snapshot("test", 2, &mut File::create(&paths[0]).expect("a file")).expect("written");
            let first = Frozen::open(&paths[0], "test", Load::Map).expect("undamaged");
            let mut middle = Resumed::new(&first);
            for fingerprint in clustered(4000) {
                assert_eq!(whole.insert(fingerprint), middle.insert(fingerprint));
            }
            middle.snapshot("test", 1, &mut File::create(&paths[1]).expect("a file")).expect("written");
            let second = Frozen::open(&paths[1], "test", Load::Map).expect("undamaged");
            let mut late = Resumed::new(&second);
            for resumed in [&mut middle, &mut late] {
                assert_eq!(resumed.len(), whole.len());
                let (mut expected, mut near) = (Vec::new(), Vec::new());
                for query in clustered(5000).step_by(7) {
                    expected.clear();
                    near.clear();
                    whole.within(query, &mut expected);
                    resumed.within(query, &mut near);
                    expected.sort_unstable();
                    near.sort_unstable();
                    assert_eq!(near, expected, "k = {k}");
                }
            }
        }
    }

    #[test]
    fn a_snapshot_of_another_recipe_or_cut_short_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("snapshot");
        let mut index = Index::new(3);
        clustered(1000).for_each(|fingerprint| {
            index.insert(fingerprint);
        });
        let bytes = index.snapshot("theirs", 1, &mut File::create(&path).expect("a file")).expect("written");
        assert!(matches!(Frozen::open(&path, "ours", Load::Map), Err(Error::Recipe { .. })));
        let file = File::options().write(true).open(&path).expect("a file");
        file.set_len(bytes - 1).expect("cut");
        assert!(matches!(Frozen::open(&path, "theirs", Load::Map), Err(Error::Damaged(_))));
    }
}
