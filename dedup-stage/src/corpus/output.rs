//! Writes outputs. A file is written beside its place until it is complete. It never replaces an input or a device.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Error;

/// Writes a file beside its place, and gives it its name when it is complete and on disk. `make` writes it and returns
/// its length, which is also the result.
///
/// # Errors
///
/// If `path` is a device, a pipe or a folder, or something cannot be written.
pub fn write(path: &Path, make: impl FnOnce(&File) -> Result<u64, Error>) -> Result<u64, Error> {
    let path = &place(path).map_err(Error::io(path))?;
    let part = temporary(path);
    let file = alone(&part).map_err(Error::io(&part))?;
    let unfinished = Unfinished::new(path.clone());
    let length = make(&file).map_err(|error| match error {
        // A full disk is that of this file.
        Error::Write(error) => Error::io(path)(error),
        other => other,
    })?;
    file.sync_all().map_err(Error::io(&part))?;
    unfinished.finish().map_err(Error::io(path))?;
    Ok(length)
}

/// The paths of the files that are being written, for [`remove_unfinished`].
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn unfinished() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes all files that this program is writing with [`write()`] or as an [`Unfinished`], because the program ends.
/// While the result is held, no such file gets its name.
pub fn remove_unfinished() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    let files = unfinished();
    for part in files.iter() {
        // The program ends, so there is no one to tell.
        let _ = fs::remove_file(part);
    }
    files
}

/// A file that is written beside its place. If it does not get its name, it is removed.
#[derive(Debug)]
pub struct Unfinished {
    path: PathBuf,
    part: PathBuf,
}

impl Unfinished {
    /// The file that is to have this path.
    pub fn new(path: PathBuf) -> Self {
        let part = temporary(&path);
        unfinished().insert(part.clone());
        Self { path, part }
    }

    /// The path until the file is complete.
    pub fn part(&self) -> &Path {
        &self.part
    }

    /// Gives the complete file its name.
    pub fn finish(self) -> io::Result<()> {
        let mut files = unfinished();
        fs::rename(&self.part, &self.path)?;
        files.remove(&self.part);
        Ok(())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // A file that has its name is in the list no more.
        if unfinished().remove(&self.part) {
            // The error that matters is the one for which the file was given up.
            let _ = fs::remove_file(&self.part);
        }
    }
}

/// Opens a file for writing, and empties it. While it is open, others who open it in this way wait. So two processes
/// that make the same output make it one after the other.
fn alone(part: &Path) -> io::Result<File> {
    loop {
        let file = File::options().read(true).write(true).create(true).truncate(false).open(part)?;
        match file.lock() {
            Err(error) if error.kind() != io::ErrorKind::Unsupported => return Err(error),
            _ => {}
        }
        // Whoever had the file before may have given it its final name, or removed it.
        let opened = file.metadata()?;
        if fs::metadata(part).is_ok_and(|named| (named.dev(), named.ino()) == (opened.dev(), opened.ino())) {
            file.set_len(0)?;
            return Ok(file);
        }
    }
}

/// The file that an output replaces. If `path` is a symbolic link, this is the file behind it, so that the link stays.
///
/// # Errors
///
/// If something is there that is no regular file, because it could not be put back.
pub fn place(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Ok(file) if file.is_file() => Ok(file),
        Ok(_) => Err(io::Error::new(io::ErrorKind::InvalidInput, "is no regular file")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(path.to_owned()),
        Err(error) => Err(error),
    }
}

/// The first of the inputs that an output would replace.
pub fn replaced<'a>(output: &Path, inputs: impl IntoIterator<Item = &'a Path>) -> Option<&'a Path> {
    let output = fs::canonicalize(output).ok()?;
    inputs.into_iter().find(|input| fs::canonicalize(input).is_ok_and(|input| input == output))
}

/// The end of the name of a file until it is complete. It has the name of this program, so that no file of someone else
/// has it: what is found under it is the rest of a run that was killed, and is replaced.
pub const TEMPORARY: &str = ".dedup-stage-part";

/// The path of a file until it is complete.
pub fn temporary(path: &Path) -> PathBuf {
    beside(path, TEMPORARY)
}

/// A path with `ending` after its name.
pub fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(ending);
    path.with_file_name(name)
}
