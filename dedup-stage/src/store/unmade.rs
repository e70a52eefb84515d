//! A store that a process began to make, and was killed before it had made it. fjall refuses its folder: the first
//! journal is there, and the mark that the store is complete is not. Such a store never held anything, so its files can
//! be deleted, and the store is made anew.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// The names of fjall 3 for the file that the owner of a store locks, the file that is written when a store is made,
/// the first journal, the folder of the tables, and the file that is written when the first table is made.
const LOCK: &str = "lock";
const MADE: &str = "version";
const JOURNAL: &str = "0.jnl";
const TABLES: &str = "keyspaces";
const FIRST_TABLE: &str = "keyspaces/0/current";

/// Deletes the files of a store in `dir` that was never made. Does nothing if the store is complete, if its journal has
/// any content, or if another process has it open.
pub fn delete(dir: &Path) -> io::Result<()> {
    let journal = dir.join(JOURNAL);
    if !journal.exists() || dir.join(MADE).exists() && dir.join(FIRST_TABLE).exists() {
        return Ok(());
    }
    let Ok(lock) = File::options().write(true).open(dir.join(LOCK)) else { return Ok(()) };
    if lock.try_lock().is_err() || has_more(dir)? || !is_blank(&journal)? {
        return Ok(());
    }
    match fs::remove_dir_all(dir.join(TABLES)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    match fs::remove_file(dir.join(MADE)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    // The journal goes last, because it is the sign by which the folder is recognized.
    fs::remove_file(journal)
}

/// Whether there is a second journal, or a table other than the first. Then the store was made long ago.
fn has_more(dir: &Path) -> io::Result<bool> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.extension().is_some_and(|end| end == "jnl") && !path.ends_with(JOURNAL) {
            return Ok(true);
        }
    }
    match fs::read_dir(dir.join(TABLES)) {
        Ok(mut tables) => Ok(tables.any(|table| table.is_ok_and(|table| table.file_name() != "0"))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whether a journal has no byte but zeros: it is allocated ahead.
fn is_blank(journal: &Path) -> io::Result<bool> {
    let (mut file, mut bytes) = (File::open(journal)?, vec![0; 1 << 16]);
    loop {
        match file.read(&mut bytes)? {
            0 => return Ok(true),
            read if bytes[..read].iter().any(|byte| *byte != 0) => return Ok(false),
            _ => {}
        }
    }
}
