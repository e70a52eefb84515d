//! A crawl and its directory: how it is opened and read. `start` makes the parts of a crawl before the engine runs.
//!
//! `DIR/state/` is the store and the only truth. `DIR/*.jsonl` and `DIR/warc/` are outputs. A start cuts them back to
//! the lengths that are in the state.

mod cut;
mod gift;
mod member;
mod outputs;
mod start;

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use config::{Layers, Settings};
use dedup_stage::store::{self, Disk, Reader, Session, Space};
use dedup_stage::url::{Canonicalizer, KeyHasher, Keys};
use serde::de::DeserializeOwned;
use url::Url;

use crate::access::AccessError;
use crate::engine::{Stats, StopReason};
use crate::focus::TopicError;
use crate::outbound::{self, Outbound};
use crate::running::{Remote, Serving};
use crate::series::Series;
use crate::sink::{Lengths, PagesJsonl};
use crate::spaces;
pub use cut::CutError;
pub use gift::{Gift, LateParts};
pub use member::DirIdentity;

/// The format of the state. A state of another format is refused, with a message that says what to do.
const FORMAT: &str = "crawl-6";
/// A format that this program reads, too. There, the links of accepted pages are in records of their own.
const EARLIER: &str = "crawl-5";

/// The reasons why a crawl cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The directory holds something else.
    #[error("{} is not empty and no crawl directory: name an empty one with --dir", .0.display())]
    Foreign(PathBuf),
    /// The directory holds no crawl.
    #[error("{} holds no crawl: name the directory that `crawler crawl --dir` wrote (without --dir it is ./crawl)", .0.display())]
    Missing(PathBuf),
    /// The state cannot be used.
    #[error("{}: {error}{}", .dir.display(), advice(.error))]
    Store {
        /// The crawl directory.
        dir: PathBuf,
        /// The error of the state.
        error: store::Error,
    },
    /// A set of hosts is on its way out of the directory, or into it.
    #[error("{}: a move of hosts was interrupted: run the program that moved them again, then crawl here", .0.display())]
    Cut(PathBuf),
    /// An output cannot be used.
    #[error("{}: {error}", .dir.display())]
    Output {
        /// The crawl directory.
        dir: PathBuf,
        /// The error of the output.
        error: io::Error,
    },
    /// There are no seeds.
    #[error("no seeds: give at least one URL to start from, as in: crawler crawl https://some.site/")]
    NoSeeds,
    /// The topic of a focused crawl cannot be used.
    #[error(transparent)]
    Topic(#[from] TopicError),
    /// The cookies, logins or keys cannot be used.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// A file of `--known` cannot be used.
    #[error(transparent)]
    Known(#[from] dedup_stage::corpus::Unknown),
    /// A pattern of `--include` or `--exclude` is wrong.
    #[error("{0}")]
    Pattern(String),
}

/// The advice to the user about a state that cannot be used.
fn advice(error: &store::Error) -> &'static str {
    match error {
        store::Error::Damaged(_) | store::Error::Engine(_) => {
            ". Its pages.jsonl can still be read; to crawl anew, name another directory with --dir"
        }
        store::Error::Locked => ": another crawl runs in this directory; wait for it or stop it",
        store::Error::ReadOnly => ": this needs the directory for itself; wait for the crawl, or stop it",
        store::Error::Foreign(_) => {
            ". `crawler report` still tells of it, from its outputs; to crawl anew, name another directory with --dir"
        }
        store::Error::Io(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            ". The state of a crawl has cookies: only the user who crawls may read it"
        }
        store::Error::Io(_) | store::Error::Known(_) => "",
    }
}

/// The longest wait for a state that another process has open. A command that reads a crawl (`why`, say) has its state
/// open for a moment.
const MOMENT: Duration = Duration::from_secs(5);

/// Opens the state in a directory. If another process has it open, this waits until that process closes it. It does not
/// wait for a crawl that answers questions.
fn open_free(state: &Path) -> store::Result<Disk> {
    let begin = Instant::now();
    loop {
        match Disk::open(state, &spaces::of_crawl()) {
            Err(store::Error::Locked) if begin.elapsed() < MOMENT && Remote::connect(state).is_err() => {
                std::thread::sleep(Duration::from_millis(20));
            }
            opened => return opened,
        }
    }
}

/// An open crawl directory.
#[derive(Debug)]
pub struct CrawlDir {
    path: PathBuf,
    session: Session,
    /// The source of snapshots of the state; `None` if the state is not open in this process.
    reader: Option<Reader>,
    /// Whether the state belongs to a crawl that another process runs, or another part of this one.
    is_running: bool,
}

impl CrawlDir {
    /// Opens a crawl directory. If the directory is empty or missing, makes one of it.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        Self::of_disk(path, Self::open_disk(path)?)
    }

    /// Opens a crawl directory into which outputs were copied, and whose state comes next.
    pub fn restored(path: &Path) -> Result<Self, OpenError> {
        let disk = Self::open_disk(path)?;
        Self::with_reader(path, disk.reader(), Session::new(Box::new(disk)))
    }

    fn of_disk(path: &Path, disk: Disk) -> Result<Self, OpenError> {
        let (reader, session) = (disk.reader(), Session::new(Box::new(disk)));
        Self::check_not_lost(path, &session)?;
        Self::with_reader(path, reader, session)
    }

    fn with_reader(path: &Path, reader: Reader, session: Session) -> Result<Self, OpenError> {
        Ok(Self { reader: Some(reader), ..Self::with_session(path, session)? })
    }

    /// Opens the disk of a crawl directory, or makes one.
    pub fn open_disk(path: &Path) -> Result<Disk, OpenError> {
        let state = path.join("state");
        let output = |error| OpenError::Output { dir: path.to_owned(), error };
        if !state.exists() && path.exists() && path.read_dir().map_err(output)?.next().is_some() {
            return Err(OpenError::Foreign(path.to_owned()));
        }
        let failed = |what: &str, error: io::Error| {
            output(io::Error::new(error.kind(), format!("{} cannot be {what}: {error}", state.display())))
        };
        std::fs::create_dir_all(&state).map_err(|error| failed("made", error))?;
        // The state holds cookies.
        std::fs::set_permissions(&state, Permissions::from_mode(0o700))
            .map_err(|error| failed("closed to other users", error))?;
        let mut disk = Self::open_state(path)?;
        disk.keep_private().map_err(|error| OpenError::Store { dir: path.to_owned(), error })?;
        Ok(disk)
    }

    /// Opens a state that exists, and changes nothing about its folder.
    fn open_state(path: &Path) -> Result<Disk, OpenError> {
        open_free(&path.join("state")).map_err(|error| OpenError::Store { dir: path.to_owned(), error })
    }

    /// Whether there is a crawl directory at this path.
    pub fn is_at(path: &Path) -> bool {
        path.join("state").exists()
    }

    /// Opens a directory that must hold a crawl, and changes nothing about its files.
    pub fn existing(path: &Path) -> Result<Self, OpenError> {
        if !Self::is_at(path) {
            return Err(OpenError::Missing(path.to_owned()));
        }
        Self::of_disk(path, Self::open_state(path)?)
    }

    /// Opens a directory that must hold a crawl, to read it. If another process crawls in it, the state is read through
    /// that process: it is the state as of the last commit, and nothing can be written.
    pub fn reading(path: &Path) -> Result<Self, OpenError> {
        match Self::existing(path) {
            Err(OpenError::Store { error: store::Error::Locked, dir }) => {
                let in_use = |_| OpenError::Store { dir, error: store::Error::Locked };
                let remote = Remote::connect(&path.join("state")).map_err(in_use)?;
                Ok(Self { is_running: true, ..Self::with_session(path, Session::new(Box::new(remote)))? })
            }
            opened => opened,
        }
    }

    /// Opens a directory in which this process crawls, to read it. `session` is its state as of a commit.
    pub fn running(path: &Path, session: Session) -> Result<Self, OpenError> {
        Ok(Self { is_running: true, ..Self::with_session(path, session)? })
    }

    /// Whether a crawl is running in the directory while its state is read.
    pub fn is_running(&self) -> bool {
        self.is_running
    }

    /// Answers [`CrawlDir::reading`] of other processes, until the returned value is dropped.
    pub fn serve(&self) -> io::Result<Option<Serving>> {
        self.reader.clone().map(|reader| Serving::start(&self.path.join("state"), reader)).transpose()
    }

    /// Opens a crawl directory whose state is elsewhere (in memory, or behind a store that injects faults).
    pub fn with_session(path: &Path, mut session: Session) -> Result<Self, OpenError> {
        let store_error = |error| OpenError::Store { dir: path.to_owned(), error };
        match session.get(Space::META, b"format").map_err(store_error)? {
            Some(format) if format == FORMAT.as_bytes() => {}
            Some(format) if format == EARLIER.as_bytes() => session.put(Space::META, *b"format", FORMAT),
            Some(format) => {
                let format = String::from_utf8_lossy(&format).into_owned();
                let reason = format!("{format:?}, and this program writes {FORMAT:?}");
                return Err(store_error(store::Error::Foreign(reason)));
            }
            None => session.put(Space::META, *b"format", FORMAT),
        }
        Ok(Self { path: path.to_owned(), session, reader: None, is_running: false })
    }

    /// Fails if the state is empty and there are outputs: the state was deleted, or only a part of the directory was
    /// restored. A crawl would cut the outputs back to nothing.
    fn check_not_lost(path: &Path, session: &Session) -> Result<(), OpenError> {
        let store_error = |error| OpenError::Store { dir: path.to_owned(), error };
        if session.get(Space::META, b"format").map_err(store_error)?.is_some() {
            return Ok(());
        }
        let pages = Series::open(path, PagesJsonl::NAME);
        match pages.map_err(|error| OpenError::Output { dir: path.to_owned(), error })?.end() {
            0 => Ok(()),
            length => {
                let what = format!("it is empty, but {} has {length} bytes", PagesJsonl::NAME);
                Err(store_error(store::Error::Damaged(what)))
            }
        }
    }

    /// The settings of the crawl's last run, as TOML.
    pub fn settings(&self) -> Result<Option<String>, OpenError> {
        let bytes = self.session.get(Space::META, b"settings").map_err(|error| self.store_error(error))?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// The settings of the crawl's last run; the defaults if no run has begun.
    pub fn last_settings(&self) -> Result<Settings, OpenError> {
        let damaged = |error: String| {
            self.store_error(store::Error::Damaged(format!("the settings of the last run cannot be read: {error}")))
        };
        let mut layers = Layers::new();
        if let Some(stored) = self.settings()? {
            layers = layers.text(Path::new("stored settings"), &stored).map_err(|error| damaged(error.to_string()))?;
        }
        layers.finish().map_err(|error| damaged(error.to_string()))
    }

    /// The code that computes the keys of URLs, with the rules of the last run and the secret of the crawl.
    pub fn keys(&mut self) -> Result<Keys, OpenError> {
        let canonicalizer = Canonicalizer::new(&self.last_settings()?.urls);
        Ok(Keys { canonicalizer, hasher: KeyHasher::new(self.secret()?) })
    }

    /// The counters of the crawl so far, and the reason why its last run ended.
    pub fn stats(&self) -> Result<(Stats, Option<StopReason>), OpenError> {
        let stats = self.meta(b"stats")?.unwrap_or_default();
        let reason: Option<String> = self.meta(b"stop-reason")?;
        Ok((stats, reason.as_deref().and_then(StopReason::from_name)))
    }

    /// The seeds of the crawl.
    pub fn seeds(&self) -> Result<Vec<Url>, OpenError> {
        Ok(self.meta(b"seeds")?.unwrap_or_default())
    }

    /// The lengths of the outputs that the state vouches for.
    pub fn lengths(&self) -> Result<Lengths, OpenError> {
        Ok(self.meta(b"outputs")?.unwrap_or_default())
    }

    /// The secret of the crawl's URL hashes.
    pub fn secret(&mut self) -> Result<[u8; KeyHasher::SECRET], OpenError> {
        let dir = self.path.clone();
        start::secret(&mut self.session).map_err(|error| OpenError::Store { dir, error })
    }

    /// Links to hosts that another directory has, at most `most` of them. They wait here until [`CrawlDir::taken`] says
    /// that they are durable in that directory ([`Parts::arrive`](crate::engine::Parts::arrive)).
    pub fn outbound(&self, most: usize) -> store::Result<Vec<Outbound>> {
        outbound::waiting(most, &self.session)
    }

    /// Removes links that are durable in the directory to which they belong.
    pub fn taken(&mut self, links: &[Outbound]) -> Result<(), OpenError> {
        let keys = self.keys()?;
        let taken = outbound::taken(links, &|url| keys.id(url), &mut self.session).and_then(|()| self.session.commit());
        taken.map_err(|error| self.store_error(error))
    }

    /// The state, for code that reads it.
    pub fn session(&mut self) -> &mut Session {
        &mut self.session
    }

    /// The path of the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn meta<T: DeserializeOwned>(&self, key: &[u8]) -> Result<Option<T>, OpenError> {
        let Some(bytes) = self.session.get(Space::META, key).map_err(|error| self.store_error(error))? else {
            return Ok(None);
        };
        serde_json::from_slice(&bytes).map(Some).map_err(|error| {
            let key = String::from_utf8_lossy(key);
            self.store_error(store::Error::Damaged(format!("{key} cannot be read: {error}")))
        })
    }

    fn store_error(&self, error: store::Error) -> OpenError {
        OpenError::Store { dir: self.path.clone(), error }
    }
}

#[cfg(test)]
mod tests {
    use dedup_stage::store::{Double, Session, Space};

    use super::*;

    #[test]
    fn a_state_of_the_version_before_is_read_and_an_older_one_is_refused() {
        let open = |format: &[u8]| {
            let disk = Double::default();
            disk.damage(Space::META, b"format", format);
            CrawlDir::with_session(Path::new("crawl"), Session::new(Box::new(disk)))
        };
        let read = open(b"crawl-5").expect("the format before");
        let now = read.session.get(Space::META, b"format").unwrap();
        assert_eq!(now.as_deref(), Some(FORMAT.as_bytes()), "the version before would not read its new records");
        let Err(refused) = open(b"crawl-4") else { panic!("an older format is read") };
        assert!(refused.to_string().contains("crawl-4"), "{refused}");
    }
}
