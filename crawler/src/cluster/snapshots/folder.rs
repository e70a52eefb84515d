//! The folder of the snapshots of a share. A file gets its name only when all of it is on the disk. Before a file is
//! used, its checksum is compared.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::Xxh3Default;

use super::Part;

/// The ending of a file that is being written.
const UNFINISHED: &str = "unfinished";

/// A folder of snapshots of one share.
#[derive(Clone, Debug)]
pub struct Folder(PathBuf);

/// A writer that counts the bytes and computes their checksum.
struct Summed<W> {
    to: W,
    bytes: u64,
    sum: Xxh3Default,
}

impl<W: Write> Write for Summed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.to.write(bytes)?;
        self.sum.update(&bytes[..count]);
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

impl Folder {
    /// The folder of a share of a crawl (`crawl`: its random name), in the folder that the user named.
    pub fn of(all: &Path, crawl: &str, share: usize) -> Self {
        Self(all.join(crawl).join(format!("share-{}", share + 1)))
    }

    /// Writes a file, compressed. It is on the disk when this returns.
    pub fn write(&self, name: &str, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<Part> {
        fs::create_dir_all(&self.0)?;
        let unfinished = self.0.join(name).with_extension(UNFINISHED);
        // The state holds cookies, so only the owner may read the file.
        let file = File::options().write(true).create(true).truncate(true).mode(0o600).open(&unfinished)?;
        let summed = Summed { to: BufWriter::new(file), bytes: 0, sum: Xxh3Default::new() };
        let written = || -> io::Result<Part> {
            let mut packed = zstd::Encoder::new(summed, 1)?;
            fill(&mut packed)?;
            let Summed { to, bytes, sum } = packed.finish()?;
            to.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
            fs::rename(&unfinished, self.0.join(name))?;
            File::open(&self.0)?.sync_all()?;
            Ok(Part { name: name.to_owned(), bytes, sum: format!("{:032x}", sum.digest128()) })
        };
        // A file that is left after a failure is removed: by this process, or by the next one that makes a snapshot.
        written().inspect_err(|_| _ = fs::remove_file(&unfinished))
    }

    /// Compares the length and the checksum of a file.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::InvalidData`] if the file is not as it was written.
    pub fn check(&self, part: &Part) -> io::Result<()> {
        let (mut file, mut sum, mut bytes) = (File::open(self.path(part)?)?, Xxh3Default::new(), 0);
        let mut some = vec![0; 256 << 10];
        loop {
            match file.read(&mut some)? {
                0 => break,
                count => {
                    sum.update(&some[..count]);
                    bytes += count as u64;
                }
            }
        }
        if (bytes, format!("{:032x}", sum.digest128())) == (part.bytes, part.sum.clone()) {
            return Ok(());
        }
        Err(io::Error::new(io::ErrorKind::InvalidData, format!("{} is damaged", part.name)))
    }

    /// Reads a file, decompressed. Check it first.
    pub fn read(&self, part: &Part) -> io::Result<impl Read + use<>> {
        Ok(BufReader::new(zstd::Decoder::new(File::open(self.path(part)?)?)?))
    }

    /// The name of a file of the snapshot as of a commit, made by the process `life`. Names sort by the commit.
    pub fn name(commit: u64, life: &str, what: &str) -> String {
        format!("{commit:020}-{life}.{what}")
    }

    /// Removes the manifests and states of snapshots as of earlier commits than this one, and unfinished files of
    /// these.
    pub fn clear_before(&self, commit: u64) -> io::Result<()> {
        let first = Self::name(commit, "", "");
        for entry in fs::read_dir(&self.0)? {
            let path = entry?.path();
            let (Some(name), Some(ending)) = (path.file_name(), path.extension().and_then(|ending| ending.to_str()))
            else {
                continue;
            };
            // Segments of outputs are kept: later snapshots name them.
            let is_whole = matches!(ending, "manifest" | "state" | UNFINISHED);
            if is_whole && name.to_str().is_some_and(|name| name < &first[..20]) {
                fs::remove_file(&path)?;
            }
        }
        Ok(())
    }

    fn path(&self, part: &Part) -> io::Result<PathBuf> {
        let is_name = !part.name.contains('/') && part.name != "..";
        let foreign = || io::Error::new(io::ErrorKind::InvalidData, format!("{:?} is no name of a file", part.name));
        if is_name { Ok(self.0.join(&part.name)) } else { Err(foreign()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_and_what_was_changed_is_noticed() {
        let all = tempfile::tempdir().unwrap();
        let folder = Folder::of(all.path(), "crawl", 0);
        let text = b"some text ".repeat(50_000);
        let part = folder.write("a.state", |to| to.write_all(&text)).unwrap();
        assert!(part.bytes < 10_000, "it is compressed");
        folder.check(&part).unwrap();
        let mut read = Vec::new();
        folder.read(&part).unwrap().read_to_end(&mut read).unwrap();
        assert!(read == text);
        let path = folder.path(&part).unwrap();
        let mut bytes = fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(&path, &bytes).unwrap();
        assert_eq!(folder.check(&part).unwrap_err().kind(), io::ErrorKind::InvalidData);
        bytes[middle] ^= 1;
        bytes.pop();
        fs::write(&path, &bytes).unwrap();
        assert!(folder.check(&part).is_err(), "a byte is missing");
        assert!(folder.check(&Part { name: "../a".into(), ..part.clone() }).is_err());
        let names = [(9, "state"), (10, "state"), (9, "segment"), (100, "manifest")];
        let names = names.map(|(commit, what)| Folder::name(commit, "life", what));
        let parts = names.map(|name| folder.write(&name, |_| Ok(())).unwrap());
        folder.clear_before(10).unwrap();
        assert_eq!(parts.map(|part| folder.check(&part).is_ok()), [false, true, true, true]);
        assert!(folder.write("b.state", |_| Err(io::ErrorKind::Other.into())).is_err());
        assert!(fs::read_dir(&folder.0).unwrap().all(|entry| !entry.unwrap().path().ends_with("b.unfinished")));
    }
}
