//! Files that are one document each, and folders of files.

use std::collections::HashSet;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::{Bad, Date, Format, quoted};
use crate::corpus::output::{beside, temporary};
use crate::corpus::sign::{Document, TEXT};

/// Reads a file, or stdin if it is `-`, and calls `visit` with its document. The id of the document is the path of the
/// file.
pub fn document(number: u64, path: &Path, format: Format, visit: &mut dyn FnMut(Result<Document<'_>, Bad>)) {
    let id = quoted(&path.to_string_lossy());
    let content_type = Some(if format == Format::Text { TEXT } else { "text/html" });
    let read = || match path.as_os_str() == "-" {
        true => {
            let mut bytes = Vec::new();
            io::stdin().read_to_end(&mut bytes).map(|_| bytes)
        }
        false => fs::read(path),
    };
    match read() {
        Ok(body) => visit(Ok(Document { index: number, id, url: "", date: Date::Absent, content_type, body: &body })),
        Err(error) => visit(Err(Bad { place: path.display().to_string(), what: error.to_string() })),
    }
}

/// The files of all inputs, also those below folders, and the files and folders that were left out.
#[derive(Debug, Default)]
pub struct Expanded {
    /// The files to read.
    pub files: Vec<PathBuf>,
    /// Files in folders whose names do not tell their format.
    pub unknown: Vec<PathBuf>,
    /// Links in folders that lead to other folders. They are not followed.
    pub links: Vec<PathBuf>,
    /// Folders that cannot be read, and what is neither a file nor a folder, and why.
    pub unread: Vec<(PathBuf, io::Error)>,
    /// Files that were named more than once, or that also lie in a folder that was named. They are read once.
    pub repeated: Vec<PathBuf>,
    /// Whether one of the files is a link.
    has_links: bool,
}

/// The files among `inputs`, and instead of each folder the files below it, sorted by path. If `format` is `None`,
/// files in a folder whose names do not tell their format are left out. The output and the folder of its parts are
/// never taken from a folder.
pub fn expand(inputs: &[PathBuf], format: Option<Format>, output: &Path) -> Expanded {
    let mut expanded = Expanded::default();
    let ours = [output.to_owned(), beside(output, ".parts"), temporary(output)];
    let ours: Vec<PathBuf> = ours.iter().filter_map(|path| fs::canonicalize(path).ok()).collect();
    for input in inputs {
        if input.is_dir() {
            let from = expanded.files.len();
            walk(input, format, &ours, &mut expanded);
            expanded.files[from..].sort();
        } else {
            expanded.files.push(input.clone());
        }
    }
    expanded.unknown.sort();
    expanded.links.sort();
    // In a folder alone, only a link can give a file a second name.
    if inputs.len() > 1 || expanded.has_links {
        let Expanded { files, repeated, .. } = &mut expanded;
        let mut seen = HashSet::new();
        files.retain(|path| {
            let is_new = fs::canonicalize(path).map_or(true, |path| seen.insert(path));
            if !is_new {
                repeated.push(path.clone());
            }
            is_new
        });
    }
    expanded
}

fn walk(folder: &Path, format: Option<Format>, ours: &[PathBuf], expanded: &mut Expanded) {
    let entries = fs::read_dir(folder).and_then(|entries| entries.collect::<io::Result<Vec<_>>>());
    let entries = match entries {
        Ok(entries) => entries,
        Err(error) => return expanded.unread.push((folder.to_owned(), error)),
    };
    for entry in entries {
        let path = entry.path();
        // Names are compared first because that is quick: a folder may have millions of files.
        let is_named = ours.iter().any(|our| our.file_name() == path.file_name());
        if is_named && fs::canonicalize(&path).is_ok_and(|path| ours.contains(&path)) {
            continue;
        }
        // `file_type` does not follow symbolic links. A link that leads back up would never end.
        let own = entry.file_type().ok();
        let is_link = own.is_some_and(|kind| kind.is_symlink());
        let kind = if is_link { fs::metadata(&path).ok().map(|behind| behind.file_type()) } else { own };
        if own.is_some_and(|kind| kind.is_dir()) {
            walk(&path, format, ours, expanded);
        } else if kind.is_some_and(|kind| kind.is_dir()) {
            expanded.links.push(path);
        } else if format.is_none() && Format::of(&path).is_none() {
            expanded.unknown.push(path);
        } else if kind.is_some_and(|kind| !kind.is_file()) {
            // To read a pipe or a device might never end.
            expanded.unread.push((path, io::Error::new(io::ErrorKind::InvalidInput, "is no regular file")));
        } else {
            expanded.has_links |= is_link;
            expanded.files.push(path);
        }
    }
}
