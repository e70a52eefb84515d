//! The parts of a signature file that is being made: sorted files, and notes on the splits that are complete.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::{SigningOptions, Tally};
use crate::corpus::Error;
use crate::corpus::input::Split;
use crate::corpus::output::{beside, write};
use crate::signature::RECIPE;

/// The folder of the parts and notes.
#[derive(Debug)]
pub struct Parts {
    folder: PathBuf,
    next: AtomicU64,
}

/// The note on a complete split: its counts, and the names of its files.
#[derive(Serialize, Deserialize)]
struct Note {
    tally: Tally,
    files: Vec<String>,
}

impl Parts {
    /// Opens the folder beside `output`. It is made if it does not exist.
    pub fn open(output: &Path) -> Result<Self, Error> {
        let folder = beside(output, ".parts");
        fs::create_dir_all(&folder).map_err(Error::io(&folder))?;
        Ok(Self { folder, next: AtomicU64::new(0) })
    }

    /// A key that identifies a split, the state of its files (length and time of modification) and the settings. `None`
    /// if a path is no file, as with stdin.
    pub fn key(&self, split: &Split, options: &SigningOptions) -> Option<String> {
        let mut facts = format!("{RECIPE} {:?} {:?}", split.format, options.fields);
        for path in &split.paths {
            let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
            let modified = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?.as_nanos();
            facts += &format!(" {:?} {} {modified}", fs::canonicalize(path).ok()?, metadata.len());
        }
        Some(format!("{:016x}", xxh3_64(facts.as_bytes())))
    }

    /// The counts and the files of a split that an earlier build completed.
    pub fn done(&self, key: &str) -> Option<(Tally, Vec<PathBuf>)> {
        let note: Note = serde_json::from_slice(&fs::read(self.folder.join(format!("{key}.json"))).ok()?).ok()?;
        let files: Vec<PathBuf> = note.files.iter().map(|name| self.folder.join(name)).collect();
        files.iter().all(|file| file.exists()).then_some((note.tally, files))
    }

    /// Writes the note that a split is complete.
    pub fn note(&self, key: &str, tally: &Tally, files: &[PathBuf]) -> Result<(), Error> {
        let names = files.iter().filter_map(|file| Some(file.file_name()?.to_str()?.to_owned())).collect();
        let note =
            serde_json::to_vec(&Note { tally: tally.clone(), files: names }).expect("numbers and strings serialise");
        write(&self.folder.join(format!("{key}.json")), |mut file| {
            io::Write::write_all(&mut file, &note)?;
            Ok(note.len() as u64)
        })?;
        Ok(())
    }

    /// The path for a new part.
    pub fn fresh(&self) -> PathBuf {
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let path = self.folder.join(format!("{number:06}.sig"));
            if !path.exists() {
                return path;
            }
        }
    }

    /// Removes the folder with all parts and notes.
    pub fn remove(self) -> Result<(), Error> {
        fs::remove_dir_all(&self.folder).map_err(Error::io(&self.folder))
    }
}
