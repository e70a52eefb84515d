//! The process that has the state: a thread that accepts askers, and a thread for each of them.

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

/// The most askers at a time. Others are turned away.
const MOST_ASKERS: usize = 8;

/// The longest wait for the next question of an asker. After that it is turned away, because the disk must keep what
/// its snapshot shows.
const PATIENCE: Duration = Duration::from_secs(60);

/// The pause after a failed attempt to accept an asker.
const PAUSE: Duration = Duration::from_secs(1);

/// The number of bytes after which the entries of one answer to a scan end.
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
    /// If the socket cannot be made. The crawl can go on without it.
    pub fn start(state: &Path, reader: Reader) -> io::Result<Self> {
        // The store is open here. So a socket that exists was left by a process that has ended.
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
        // The thread waits for an asker. This connection makes it look at `is_over`.
        drop(at_socket(&self.state, |path| UnixStream::connect(path)));
        drop(std::fs::remove_file(self.state.join(SOCKET)));
    }
}

fn accept(listener: &UnixListener, reader: &Reader, is_over: &AtomicBool) {
    // Each thread that answers holds a clone of this. So its count is the number of askers.
    let askers = Arc::new(());
    for asker in listener.incoming() {
        if is_over.load(Ordering::Relaxed) {
            return;
        }
        let Ok(asker) = asker else {
            // The usual reason is that no file descriptor is free. Trying again at once would keep a processor busy.
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
