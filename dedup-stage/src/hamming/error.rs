//! The reasons for which a file of fingerprints, or an index, cannot be used.

use std::fs::File;
use std::path::{Path, PathBuf};

/// The reason for which a file of fingerprints, or an index, cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file could not be read or written.
    #[error("{path}: {error}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        error: std::io::Error,
    },
    /// Writing failed.
    #[error(transparent)]
    Write(#[from] std::io::Error),
    /// The content of the file is damaged, or the file is of another kind.
    #[error("{0}")]
    Damaged(String),
    /// The file is in use by another run, or it belongs to someone else.
    #[error("{0}")]
    Refused(String),
    /// The fingerprints of the index and those to be compared with it were made by different recipes.
    #[error("the index holds fingerprints of recipe {found:?}, not {expected:?}: they cannot be compared")]
    Recipe {
        /// The recipe of the index.
        found: String,
        /// The other recipe.
        expected: String,
    },
}

impl Error {
    /// An I/O error with its path.
    pub fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        |error| Error::Io { path, error }
    }

    /// The length of a file in bytes. Errors if it is a folder, a pipe or a device: `what` says what should be there.
    pub fn unless_file(file: &File, path: &Path, what: &str) -> Result<u64, Self> {
        let metadata = file.metadata().map_err(Self::io(path))?;
        if metadata.is_file() {
            return Ok(metadata.len());
        }
        let kind = if metadata.is_dir() { "a folder" } else { "a pipe or a device" };
        Err(Error::Damaged(format!("{}: {kind}, and {what} must be in a file", path.display())))
    }

    /// Adds the name of the file to the error.
    #[must_use]
    pub fn about(self, path: &Path) -> Self {
        match self {
            Error::Damaged(what) => Error::Damaged(format!("{}: {what}", path.display())),
            other => other,
        }
    }
}
