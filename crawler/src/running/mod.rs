//! Questions to a crawl that is running. Only one process can have the state of a crawl open. So `crawler crawl`
//! answers reads of the state on a Unix socket in its state directory, and each asker gets a snapshot of its own. If
//! `why`, `rules`, `report` or `export` find the state in use, they connect, and read through the socket what they
//! would have read from the disk.
//!
//! Only the owner may use the state directory (mode 0700), and so also the socket in it. An asker can only read.

mod client;
mod server;

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use dedup_stage::store::codec;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub use client::Remote;
pub use server::Serving;

/// A question: a read of the state.
#[derive(Debug, Serialize, Deserialize)]
enum Ask {
    /// The value of a key.
    Get { space: u8, key: Vec<u8> },
    /// The first entries with `from <= key < to` (if `to` is empty: to the end of the space).
    Scan { space: u8, from: Vec<u8>, to: Vec<u8> },
}

/// The answer to a question.
#[derive(Debug, Serialize, Deserialize)]
enum Answer {
    Value(Option<Vec<u8>>),
    /// Entries in the order of their keys. `more`: there are others after these.
    Entries {
        entries: Vec<(Vec<u8>, Vec<u8>)>,
        more: bool,
    },
    /// The state could not be read.
    Failed(String),
}

/// The most bytes of a message. An answer to [`Ask::Scan`] is cut before it is longer, and values of the state are much
/// shorter.
const MOST_BYTES: usize = 64 << 20;

/// The name of the socket in the state directory.
const SOCKET: &str = "reads.sock";

/// Sends a message: its length as 4 bytes, big-endian, and its encoded form.
fn send(out: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let bytes = codec::encode(message);
    let length = u32::try_from(bytes.len()).map_err(io::Error::other)?;
    out.write_all(&[&length.to_be_bytes()[..], &bytes].concat())
}

/// Receives the next message; `None` if the other side has gone.
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

/// Calls `act` with a path of the socket in `state`. The address of a Unix socket has 107 bytes at most. A longer path
/// is replaced by one through a descriptor of the directory, if the system can do that (Linux).
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
