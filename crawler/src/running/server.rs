//! The side that has the state: a thread that accepts askers, and one for each of them.

use std::fs::Permissions;
use std::io;
use std::ops::ControlFlow;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dedup_stage::store::{Reader, Space, Store};

use super::{Answer, Ask, SOCKET, at_socket, receive, send};
use crate::spaces;

/// Askers at a time. Others are turned away.
const MOST_ASKERS: usize = 8;

/// An asker who asks nothing for so long is turned away, for the disk keeps what its snapshot shows.
const PATIENCE: Duration = Duration::from_secs(60);

/// Between two attempts to accept an asker, after one that failed.
const PAUSE: Duration = Duration::from_secs(1);

/// Entries of one answer to a scan stop at so many bytes.
const SCAN_BYTES: usize = 256 << 10;

/// Answers reads of a state until it is dropped.
#[derive(Debug)]
pub struct Serving {
    state: PathBuf,
    is_over: Arc<AtomicBool>,
}

impl Serving {
    /// Answers reads of the store in the directory `state`, which this process has open.
    ///
    /// # Errors
    ///
    /// Where the socket cannot be made. The crawl can do without.
    pub fn start(state: &Path, reader: Reader) -> io::Result<Self> {
        // The store is open here, so a socket that is there was left by a process that is no more.
        match std::fs::remove_file(state.join(SOCKET)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = at_socket(state, |path| UnixListener::bind(path))?;
        std::fs::set_permissions(state.join(SOCKET), Permissions::from_mode(0o600))?;
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        std::thread::Builder::new().name("reads".into()).spawn(move || accept(&listener, &reader, &over))?;
        Ok(Self { state: state.to_owned(), is_over })
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // The thread waits for an asker: this one tells it to look.
        drop(at_socket(&self.state, |path| UnixStream::connect(path)));
        drop(std::fs::remove_file(self.state.join(SOCKET)));
    }
}

fn accept(listener: &UnixListener, reader: &Reader, is_over: &AtomicBool) {
    // Each thread that answers holds this, so its count says how many there are.
    let askers = Arc::new(());
    for asker in listener.incoming() {
        if is_over.load(Ordering::Relaxed) {
            return;
        }
        let Ok(asker) = asker else {
            // No file is free, most likely. Asking again at once would take a processor until one is.
            std::thread::sleep(PAUSE);
            continue;
        };
        if Arc::strong_count(&askers) > MOST_ASKERS {
            continue;
        }
        let (reader, asking) = (reader.clone(), Arc::clone(&askers));
        let answering = move || {
            let _asking = asking;
            if let Err(error) = answer(asker, &reader.snapshot()) {
                tracing::debug!("who read the state of this crawl has gone: {error}");
            }
        };
        if let Err(error) = std::thread::Builder::new().name("read".into()).spawn(answering) {
            tracing::debug!("nobody can read the state of this crawl now: {error}");
        }
    }
}

fn answer(mut asker: UnixStream, snapshot: &impl Store) -> io::Result<()> {
    asker.set_read_timeout(Some(PATIENCE))?;
    asker.set_write_timeout(Some(PATIENCE))?;
    let spaces: Vec<Space> = spaces::of_crawl().iter().collect();
    while let Some(ask) = receive(&mut asker)? {
        let (Ask::Get { space, .. } | Ask::Scan { space, .. }) = &ask;
        let space = spaces.iter().find(|known| known.number() == usize::from(*space));
        let answer = match space {
            Some(space) => read(snapshot, *space, &ask).unwrap_or_else(|error| Answer::Failed(error.to_string())),
            None => Answer::Failed("there is no such space".into()),
        };
        send(&mut asker, &answer)?;
    }
    Ok(())
}

fn read(snapshot: &impl Store, space: Space, ask: &Ask) -> dedup_stage::store::Result<Answer> {
    match ask {
        Ask::Get { key, .. } => Ok(Answer::Value(snapshot.get(space, key)?)),
        Ask::Scan { from, to, .. } => {
            let (mut entries, mut bytes, mut more) = (Vec::new(), 0, false);
            snapshot.scan(space, from, to, &mut |key, value| {
                more = bytes >= SCAN_BYTES;
                if more {
                    return ControlFlow::Break(());
                }
                bytes += key.len() + value.len();
                entries.push((key.to_vec(), value.to_vec()));
                ControlFlow::Continue(())
            })?;
            Ok(Answer::Entries { entries, more })
        }
    }
}
