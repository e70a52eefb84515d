//! Looks for documents that have the same id. A list of clusters names documents by their ids, so a reader of the list
//! takes such documents for one: if one of them is to be dropped, all of them may be.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use super::rows;
use super::say::say;
use crate::corpus::{Error, Signatures};

/// About this many ids are looked at, chosen by their hashes. Few ids that are equal may stay unnoticed in a large
/// corpus.
const LOOKED_AT: u64 = 200_000;

/// Warns on stderr if some of the ids of these files are equal. Errors if a file is damaged.
pub fn warn(paths: &[PathBuf], files: &[Signatures]) -> Result<(), Error> {
    let documents: u64 = files.iter().map(Signatures::rows).sum();
    let one_in = documents.div_ceil(LOOKED_AT).max(1);
    let (mut met, mut first, mut equal) = (HashMap::<u64, &Path>::new(), None, 0u64);
    for (path, file) in paths.iter().zip(files) {
        for row in 0..file.rows() {
            let id = file.id(row)?;
            let hash = xxh3_64(id.as_bytes());
            if hash.is_multiple_of(one_in)
                && let Some(before) = met.insert(hash, path)
            {
                equal += 1;
                first.get_or_insert((id, before, path));
            }
        }
    }
    if let Some((id, before, path)) = first {
        let looked_at = if one_in == 1 { String::new() } else { format!(" (one in {one_in} was looked at)") };
        let (equal, before, path) = (rows::count(equal, "document"), before.display(), path.display());
        say!(
            "warning: {equal} with the id of another document{looked_at}: the list cannot tell them apart. For \
             example, the id {id} is in {before} and in {path}"
        );
    }
    Ok(())
}
