//! The lock of the folder of parts. It keeps a second run out, and it marks the folder as one that a run has made.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::corpus::Error;

/// The name of the file in the folder. It is made before all parts, and removed after all parts. So a folder that has
/// files and not this one belongs to someone else.
pub const NAME: &str = "dedup-stage.lock";

/// Makes the folder if it does not exist, and locks it. The lock lasts until the file is dropped.
///
/// # Errors
///
/// If another run has locked the folder (the error has its process number), if the folder has files and no run has made
/// it, or if it cannot be made.
pub fn lock(folder: &Path) -> Result<File, Error> {
    let path = folder.join(NAME);
    loop {
        match fs::create_dir(folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(Error::io(folder)(error)),
            _ => {}
        }
        if is_foreign(folder, &path)? {
            let what = "there are files of others here; move them away, or give the output another name";
            return Err(Error::Refused(format!("{}: {what}", folder.display())));
        }
        let mut file = match File::options().read(true).write(true).create(true).truncate(false).open(&path) {
            // A run that has ended has just removed the folder.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            opened => opened.map_err(Error::io(&path))?,
        };
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                let mut number = String::new();
                // Without a number, the message is still right.
                let _ = file.read_to_string(&mut number);
                let of = if number.is_empty() { String::new() } else { format!(", process {}", number.trim()) };
                return Err(Error::Refused(format!("{}: another run makes this file{of}", folder.display())));
            }
            Err(TryLockError::Error(error)) if error.kind() != io::ErrorKind::Unsupported => {
                return Err(Error::io(&path)(error));
            }
            _ => {}
        }
        // Whoever had the lock before may have removed the file.
        let opened = file.metadata().map_err(Error::io(&path))?;
        if fs::metadata(&path).is_ok_and(|named| (named.dev(), named.ino()) == (opened.dev(), opened.ino())) {
            let number = format!("{}\n", std::process::id());
            let written = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(number.as_bytes()));
            written.map_err(Error::io(&path))?;
            return Ok(file);
        }
    }
}

/// Whether a folder has files, and no run has made it.
fn is_foreign(folder: &Path, lock: &Path) -> Result<bool, Error> {
    if lock.exists() {
        return Ok(false);
    }
    let is_empty = match fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => true,
        Err(error) => return Err(Error::io(folder)(error)),
    };
    // Another run may have begun in between.
    Ok(!is_empty && !lock.exists())
}
