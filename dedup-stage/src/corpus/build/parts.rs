//! The parts of a signature file that is being made: sorted files, and notes on the splits that are complete.
//!
//! The folder may lose any of its files, as when a run is killed while it removes the folder. So a note tells its parts
//! by their identity, not only by their names. A note whose parts are not all there counts as absent, and its split is
//! signed again.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::{SigningOptions, Tally};
use crate::corpus::input::Split;
use crate::corpus::output::{beside, write};
use crate::corpus::{Error, Signatures};
use crate::signature::RECIPE;

/// The folder of the parts and notes.
#[derive(Debug)]
pub struct Parts {
    folder: PathBuf,
    next: AtomicU64,
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
    fn of(file: &Path) -> Result<Self, Error> {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { name, identity: format!("{:016x}", Signatures::open(file)?.identity()) })
    }

    /// The file of the part in this folder, if it is there undamaged.
    fn find(&self, folder: &Path) -> Option<PathBuf> {
        let file = folder.join(&self.name);
        let signatures = Signatures::open(&file).ok()?;
        let is_own = format!("{:016x}", signatures.identity()) == self.identity && signatures.check().is_ok();
        is_own.then_some(file)
    }
}

impl Parts {
    /// Opens the folder beside `output`. It is made if it does not exist. What is left of a folder that an earlier
    /// build was removing is removed.
    pub fn open(output: &Path) -> Result<Self, Error> {
        let folder = beside(output, ".parts");
        remove(&retired(&folder))?;
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

    /// The counts and the files of a split that an earlier build completed. `None` if there is no note, or if one of
    /// its parts is missing, damaged or replaced.
    pub fn done(&self, key: &str) -> Option<(Tally, Vec<PathBuf>)> {
        let note: Note = serde_json::from_slice(&fs::read(self.folder.join(format!("{key}.json"))).ok()?).ok()?;
        let files = note.parts.iter().map(|part| part.find(&self.folder)).collect::<Option<_>>()?;
        Some((note.tally, files))
    }

    /// Writes the note that a split is complete. Errors if the note cannot be written, or a part cannot be read.
    pub fn note(&self, key: &str, tally: &Tally, files: &[PathBuf]) -> Result<(), Error> {
        let parts = files.iter().map(|file| Part::of(file)).collect::<Result<_, _>>()?;
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

    /// Removes the folder with all parts and notes. First the folder gets a name under which no build looks for parts.
    pub fn remove(self) -> Result<(), Error> {
        let retired = retired(&self.folder);
        fs::rename(&self.folder, &retired).map_err(Error::io(&self.folder))?;
        remove(&retired)
    }
}

/// The name of a folder of parts while it is removed.
fn retired(folder: &Path) -> PathBuf {
    beside(folder, ".old")
}

/// Removes a folder, if it is there.
fn remove(folder: &Path) -> Result<(), Error> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io(folder)(error)),
        _ => Ok(()),
    }
}
