//! Asking a crawl that runs. Only one process has the state of a crawl open. `crawler crawl` therefore answers reads of it on a
//! Unix socket in its state directory, each asker from a snapshot of its own; `why`, `rules`, `report` and `export` find the state
//! in use, connect, and read through the socket what they would have read from disk.
//!
//! The state directory is its owner's alone (mode 0700), and so is the socket in it. An asker can read and nothing else.

mod client;
mod server;

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use dedup_stage::store::codec;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub use client::Remote;
pub use server::Serving;

/// A read of the state.
#[derive(Debug, Serialize, Deserialize)]
enum Ask {
    /// The value of a key.
    Get { space: u8, key: Vec<u8> },
    /// The first entries with `from <= key < to` (`to` empty: to the end of the space).
    Scan { space: u8, from: Vec<u8>, to: Vec<u8> },
}

/// What the state has.
#[derive(Debug, Serialize, Deserialize)]
enum Answer {
    Value(Option<Vec<u8>>),
    /// In key order; `more`: there are others after these.
    Entries {
        entries: Vec<(Vec<u8>, Vec<u8>)>,
        more: bool,
    },
    /// The state could not be read.
    Failed(String),
}

/// Bytes of a message. An answer to [`Ask::Scan`] ends before it is longer, and no value of the state is nearly as long.
const MOST_BYTES: usize = 64 << 20;

/// Name of the socket in the state directory.
const SOCKET: &str = "reads.sock";

/// A message: its length as 4 bytes, big-endian, and its stored form.
fn send(out: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let bytes = codec::encode(message);
    let length = u32::try_from(bytes.len()).map_err(io::Error::other)?;
    out.write_all(&[&length.to_be_bytes()[..], &bytes].concat())
}

/// The next message; `None` where the other side has gone.
fn receive<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<Option<T>> {
    let mut length = [0; 4];
    match from.read_exact(&mut length) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let length = u32::from_be_bytes(length) as usize;
    if length > MOST_BYTES {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes)?;
    codec::decode(&bytes, "a message").map(Some).map_err(|_| io::ErrorKind::InvalidData.into())
}

/// Calls `act` with a path of the socket in `state`. The address of a Unix socket has 107 bytes at most, so a longer path is taken
/// through a descriptor of the directory, where the system can do that (Linux).
fn at_socket<T>(state: &Path, act: impl Fn(&Path) -> io::Result<T>) -> io::Result<T> {
    use std::os::fd::AsRawFd;
    let path: PathBuf = state.join(SOCKET);
    if path.as_os_str().len() <= 100 {
        return act(&path);
    }
    let directory = std::fs::File::open(state)?;
    act(&Path::new("/proc/self/fd").join(directory.as_raw_fd().to_string()).join(SOCKET))
}

#[cfg(test)]
mod tests;
