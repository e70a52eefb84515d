//! Files that are one document each, and folders of files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{Bad, Format, quoted};
use crate::corpus::NO_DATE;
use crate::corpus::sign::{Document, TEXT};

/// Reads a file and calls `visit` with it; its id is its path.
pub fn document(number: u64, path: &Path, format: Format, visit: &mut dyn FnMut(Result<Document<'_>, Bad>)) {
    let id = quoted(&path.to_string_lossy());
    let content_type = Some(if format == Format::Text { TEXT } else { "text/html" });
    match fs::read(path) {
        Ok(body) => visit(Ok(Document { index: number, id, url: "", date: NO_DATE, content_type, body: &body })),
        Err(error) => visit(Err(Bad { place: path.display().to_string(), what: error.to_string() })),
    }
}

/// The files named, and instead of each folder the files below it that a format is known for, sorted by path.
pub fn expand(inputs: &[PathBuf]) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for input in inputs {
        if input.is_dir() {
            let mut below = Vec::new();
            walk(input, &mut below)?;
            below.sort();
            files.append(&mut below);
        } else {
            files.push(input.clone());
        }
    }
    Ok(files)
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        // A link that leads back up would never end.
        if entry.file_type()?.is_dir() {
            walk(&entry.path(), files)?;
        } else if Format::of(&entry.path()).is_some() {
            files.push(entry.path());
        }
    }
    Ok(())
}
