//! The known corpora that a judge compares pages with.

use std::path::{Path, PathBuf};

use super::known::{CorpusMatch, Known};
use super::{DIGEST, Error};
use crate::signature::Sketch;

/// Known corpora, in the order in which they were given.
#[derive(Debug, Default)]
pub struct Corpora(Vec<Known>);

impl Corpora {
    /// Opens signature files, each with its index for a distance ([`Known::open`]). A missing index is built on this
    /// many threads; 0 = one a core.
    ///
    /// # Errors
    ///
    /// If a file cannot be read, or is no signature file of this recipe. The error names the file.
    pub fn open(files: &[PathBuf], distance: u32, threads: usize) -> Result<Self, Unknown> {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let threads = if threads == 0 { cores() } else { threads };
        let open = |file: &PathBuf| {
            Known::open(file, distance, threads).map_err(|error| Unknown { file: file.clone(), error })
        };
        Ok(Self(files.iter().map(open).collect::<Result<_, _>>()?))
    }

    /// The corpus with this number, from 0, in the order in which they were given.
    pub fn get(&self, corpus: u32) -> &Known {
        &self.0[corpus as usize]
    }

    /// The sum of [`Known::compared_in_part`] over the corpora.
    pub fn compared_in_part(&self) -> u64 {
        self.0.iter().map(Known::compared_in_part).sum()
    }

    /// The document that a page repeats, and the number of its corpus. A document with the same bytes comes first, then
    /// the nearest one. Among equally near ones, that of the first corpus is taken. See [`super::Finder::find`].
    ///
    /// # Errors
    ///
    /// If the index of a corpus is seen to be damaged. The error names the file.
    pub fn find(
        &self,
        digest: &[u8; DIGEST],
        signature: Option<(u64, &Sketch)>,
    ) -> Result<Option<(u32, CorpusMatch)>, Error> {
        let mut best: Option<(u32, CorpusMatch)> = None;
        for (corpus, known) in (0..).zip(&self.0) {
            if let Some(document) = known.finder().find(digest, signature)?
                && best.is_none_or(|(_, held)| (!document.exact, document.distance) < (!held.exact, held.distance))
            {
                best = Some((corpus, document));
            }
        }
        Ok(best)
    }
}

/// A known corpus that cannot be opened.
#[derive(Debug, thiserror::Error)]
#[error("--known {}", about(file, error))]
pub struct Unknown {
    file: PathBuf,
    error: Error,
}

/// The text of the error, in which the name of the file stands once.
fn about(file: &Path, error: &Error) -> String {
    let (file, error) = (file.display().to_string(), error.to_string());
    if error.starts_with(&file) { error } else { format!("{file}: {error}") }
}
