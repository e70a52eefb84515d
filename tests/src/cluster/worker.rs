//! A worker as a process, and what it said. If a test fails, the words of its workers tell why.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::{Mutex, PoisonError};

/// A process that is killed when this is dropped. Then its words are kept for [`last_words`].
pub struct Worker(pub Child, Vec<Log>);

/// A file to which a process writes, and its length when the process started.
struct Log {
    file: PathBuf,
    from: u64,
}

/// What the workers that were dropped have said.
static WORDS: Mutex<String> = Mutex::new(String::new());

/// At most this many bytes of each log are kept.
const MOST: u64 = 64 << 10;

/// The exit codes and the logs of the workers that were dropped since the last call.
pub fn last_words() -> String {
    std::mem::take(&mut WORDS.lock().unwrap_or_else(PoisonError::into_inner))
}

impl Worker {
    /// A process, and the files to which it and its children write. `lengths` are those of the files at its start.
    pub fn new<'a>(child: Child, logs: impl IntoIterator<Item = (&'a Path, u64)>) -> Self {
        Self(child, logs.into_iter().map(|(file, from)| Log { file: file.to_owned(), from }).collect())
    }
}

impl Log {
    fn read(&self) -> std::io::Result<String> {
        let mut file = File::open(&self.file)?;
        let from = self.from.max(file.metadata()?.len().saturating_sub(MOST));
        file.seek(SeekFrom::Start(from))?;
        let mut words = Vec::new();
        file.read_to_end(&mut words)?;
        Ok(String::from_utf8_lossy(&words).into_owned())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let ended = match self.0.try_wait() {
            Ok(Some(status)) => format!("ended with {status}"),
            Ok(None) => "still ran".into(),
            Err(error) => error.to_string(),
        };
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
        let mut words = WORDS.lock().unwrap_or_else(PoisonError::into_inner);
        *words += &format!("--- process {} {ended}\n", self.0.id());
        for log in &self.1 {
            let said = log.read().unwrap_or_else(|error| error.to_string());
            *words += &format!("--- {}\n{said}\n", log.file.display());
        }
    }
}
