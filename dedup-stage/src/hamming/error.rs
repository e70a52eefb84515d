//! Why a file of fingerprints, or an index, could not be used.

use std::path::{Path, PathBuf};

/// Why a file of fingerprints, or an index, could not be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It could not be read or written.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Writing failed.
    #[error(transparent)]
    Write(#[from] std::io::Error),
    /// It is not what was written, or not what it is taken for.
    #[error("{0}")]
    Damaged(String),
    /// Its fingerprints were made in another way than those it is to be compared with.
    #[error("the index holds fingerprints of recipe {found:?}, not {expected:?}: they cannot be compared")]
    Recipe {
        /// The index's recipe.
        found: String,
        /// The other recipe.
        expected: String,
    },
}

impl Error {
    /// An I/O error with its path.
    pub fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        |source| Error::Io { path, source }
    }

    /// With the file it is about.
    #[must_use]
    pub fn about(self, path: &Path) -> Self {
        match self {
            Error::Damaged(what) => Error::Damaged(format!("{}: {what}", path.display())),
            other => other,
        }
    }
}
