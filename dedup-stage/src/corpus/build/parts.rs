//! The parts of a signature file that is being made: sorted files, and notes on the splits that are complete.
//!
//! The folder may lose any of its files, as when a run is killed while it removes the folder. So a note tells its parts
//! by their identity, not only by their names. A note whose parts are not all there counts as absent, and its split is
//! signed again.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::lock;
use super::{SigningOptions, Tally};
use crate::corpus::input::Split;
use crate::corpus::output::{TEMPORARY, beside, write};
use crate::corpus::{Error, Signatures};
use crate::signature::RECIPE;

/// The folder of the parts and notes. No other run has it at the same time.
#[derive(Debug)]
pub struct Parts {
    folder: PathBuf,
    next: AtomicU64,
    _lock: File,
}

/// A sorted file that is to be merged.
#[derive(Clone, Debug)]
pub struct Sorted {
    /// The path of the file.
    pub file: PathBuf,
    identity: u64,
}

impl Sorted {
    /// The file at this path.
    pub fn of(file: PathBuf) -> Result<Self, Error> {
        let identity = Signatures::open(&file)?.identity();
        Ok(Self { file, identity })
    }

    /// Opens the file. Errors if another file has taken its place.
    pub fn open(&self) -> Result<Signatures, Error> {
        let signatures = Signatures::open(&self.file)?;
        if signatures.identity() == self.identity {
            return Ok(signatures);
        }
        Err(Error::Refused(format!("{}: another file has taken its place while it was needed", self.file.display())))
    }
}

/// The note on a complete split: its counts, and its parts.
#[derive(Serialize, Deserialize)]
struct Note {
    tally: Tally,
    parts: Vec<Part>,
}

/// A part of a complete split.
#[derive(Serialize, Deserialize)]
struct Part {
    /// The name of the file in the folder.
    name: String,
    /// [`Signatures::identity`] in hex. A part of another split that has taken the name has another one.
    identity: String,
}

impl Part {
    fn of(sorted: &Sorted) -> Self {
        let name = sorted.file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Self { name, identity: format!("{:016x}", sorted.identity) }
    }

    /// The file of the part in this folder, if it is there undamaged.
    fn find(&self, folder: &Path) -> Option<Sorted> {
        let sorted = Sorted { file: folder.join(&self.name), identity: u64::from_str_radix(&self.identity, 16).ok()? };
        sorted.open().ok()?.check().is_ok().then_some(sorted)
    }
}

impl Parts {
    /// The folder beside `output`.
    pub fn folder(output: &Path) -> PathBuf {
        beside(output, ".parts")
    }

    /// Opens the folder beside `output`. It is made if it does not exist. Errors as [`lock::lock`] does.
    pub fn open(output: &Path) -> Result<Self, Error> {
        let folder = Self::folder(output);
        let lock = lock::lock(&folder)?;
        Ok(Self { folder, next: AtomicU64::new(0), _lock: lock })
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

    /// The counts and the files of a split that an earlier build completed. `None` if there is no note, or if one of
    /// its parts is missing, damaged or replaced.
    pub fn done(&self, key: &str) -> Option<(Tally, Vec<Sorted>)> {
        let note: Note = serde_json::from_slice(&fs::read(self.folder.join(format!("{key}.json"))).ok()?).ok()?;
        let files = note.parts.iter().map(|part| part.find(&self.folder)).collect::<Option<_>>()?;
        Some((note.tally, files))
    }

    /// Writes the note that a split is complete. Errors if the note cannot be written.
    pub fn note(&self, key: &str, tally: &Tally, files: &[Sorted]) -> Result<(), Error> {
        let parts = files.iter().map(Part::of).collect();
        let note = serde_json::to_vec(&Note { tally: tally.clone(), parts }).expect("numbers and strings serialise");
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

    /// Removes the parts and notes, then the lock, and the folder if nothing else is in it. A run that is killed
    /// meanwhile leaves a folder that the next run can use.
    pub fn remove(self) -> Result<(), Error> {
        for entry in fs::read_dir(&self.folder).map_err(Error::io(&self.folder))? {
            let path = entry.map_err(Error::io(&self.folder))?.path();
            let name = path.to_string_lossy();
            if [".sig", ".json", TEMPORARY].iter().any(|ending| name.ends_with(ending)) {
                fs::remove_file(&path).map_err(Error::io(&path))?;
            }
        }
        let lock = self.folder.join(lock::NAME);
        fs::remove_file(&lock).map_err(Error::io(&lock))?;
        // If the folder has more, it is another run's, or a user has put something there.
        let _ = fs::remove_dir(&self.folder);
        Ok(())
    }
}
