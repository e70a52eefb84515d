//! Open files: the limit of the process, and the number of them that idle connections may take.
//!
//! A crawl of many hosts would keep a connection to each of them open, until the system refuses to open another file.
//! So the limit is raised as far as the system allows. Connections are kept for later only while their number is below
//! a share of the limit, and while they hold less memory than they may.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The number of files that the state, the outputs, the live page and the resolver need.
const OWN: u64 = 128;
/// The limit that is used if the system has none.
const UNLIMITED: u64 = 65_536;

/// Raises the soft limit of open files to the hard limit. Returns the limit that is valid then.
pub fn raise_limit() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    if limit.current != limit.maximum {
        // If the system refuses, the old limit stays.
        let _ = setrlimit(Resource::Nofile, raised);
    }
    getrlimit(Resource::Nofile).current.unwrap_or(UNLIMITED)
}

/// Decides which connections are kept open for the next request to their host.
#[derive(Debug)]
pub(super) struct Kept {
    /// The most connections that may be kept.
    most: usize,
    /// The time for which the pool keeps an idle connection.
    life: Duration,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    /// The connections, by origin.
    origins: HashMap<Box<str>, Connection>,
    /// The approximate number of bytes of memory that all of them hold.
    bytes: usize,
    /// The time at which connections that the pool has closed were last removed.
    swept: Option<Instant>,
}

/// A connection in the pool.
#[derive(Debug)]
struct Connection {
    last_used: Instant,
    /// The bytes of its read buffer, besides [`Kept::CONNECTION`].
    buffer: usize,
}

impl Kept {
    /// The time between two removals of connections that the pool has closed.
    const SWEEP: Duration = Duration::from_secs(1);
    /// The approximate number of bytes of memory that an idle connection holds, without its read buffer.
    const CONNECTION: usize = 25 << 10;
    /// The most bytes of the read buffer of a connection. It grows with the answers that come through it (hyper).
    const BUFFER: usize = 408 << 10;
    /// The read buffer grows with answers from this size on.
    const LARGE: u64 = 64 << 10;
    /// If all connections hold more bytes than this, no other is kept.
    const FULL: usize = Self::MOST / 2;
    /// If all connections hold more bytes than this, all are closed. (A buffer may also grow after its connection was
    /// admitted.)
    const MOST: usize = config::bounds::CONNECTIONS;

    /// For a limit of `files` open files and `concurrency` requests at once. The pool keeps a connection for `life`.
    pub(super) fn new(files: u64, concurrency: usize, life: Duration) -> Self {
        // A request may need two files at once: its connection, and the address family that is tried beside it.
        let free = files.saturating_sub(OWN + 2 * concurrency as u64);
        Self { most: usize::try_from(free / 2).unwrap_or(usize::MAX), life, open: Mutex::default() }
    }

    /// Whether the connection of a request to `origin` at `now` may stay open after the request.
    pub(super) fn admits(&self, origin: &str, now: Instant) -> bool {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(connection) = open.origins.get_mut(origin) {
            connection.last_used = now;
            return true;
        }
        let sweep = open.swept.is_none_or(|swept| now.duration_since(swept) >= Self::SWEEP);
        if !self.has_room(&open) && sweep {
            let Open { origins, bytes, swept } = &mut *open;
            origins.retain(|_, connection| now.duration_since(connection.last_used) < self.life);
            *bytes = origins.values().map(|connection| Self::CONNECTION + connection.buffer).sum();
            *swept = Some(now);
        }
        let admitted = self.has_room(&open);
        if admitted {
            open.origins.insert(origin.into(), Connection { last_used: now, buffer: 0 });
            open.bytes += Self::CONNECTION;
        }
        admitted
    }

    /// Records an answer of `bytes` bytes from `origin`. Returns true if the idle connections hold too much memory now.
    /// Then the caller must close all of them.
    #[must_use]
    pub(super) fn answered(&self, origin: &str, bytes: u64) -> bool {
        if bytes < Self::LARGE {
            return false;
        }
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let buffer = usize::try_from(bytes).unwrap_or(usize::MAX).min(Self::BUFFER);
        let Some(connection) = open.origins.get_mut(origin) else { return false };
        let more = buffer.saturating_sub(connection.buffer);
        connection.buffer += more;
        open.bytes += more;
        let is_over = open.bytes > Self::MOST;
        if is_over {
            *open = Open::default();
        }
        is_over
    }

    fn has_room(&self, open: &Open) -> bool {
        open.origins.len() < self.most && open.bytes + Self::CONNECTION <= Self::FULL
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_connections_are_kept_than_the_limit_allows() {
        let life = Duration::from_secs(15);
        let kept = Kept::new(1_024, 64, life);
        let start = Instant::now();
        let admitted = |now| (0..10_000).filter(|host| kept.admits(&format!("http://h{host}.test"), now)).count();
        assert_eq!(admitted(start), 384);
        // Hosts that have a connection keep it.
        assert_eq!(admitted(start + life / 2), 384);
        // Connections that were idle for their whole life make room for others.
        assert!(kept.admits("http://other.test", start + 3 * life));
        assert!(!Kept::new(256, 64, life).admits("http://h.test", start), "too few files for any");
    }

    /// Simulates a crawl of `hosts` hosts whose answers have these sizes, without a limit of files. Returns how many
    /// connections are kept, and how often all were closed.
    fn crawled(hosts: usize, answers: &[u64]) -> (usize, usize) {
        let kept = Kept::new(1 << 20, 64, Duration::from_secs(15));
        let mut closed = 0;
        for bytes in answers {
            for host in 0..hosts {
                let origin = format!("http://h{host}.test");
                kept.admits(&origin, Instant::now());
                closed += usize::from(kept.answered(&origin, *bytes));
                assert!(kept.open.lock().unwrap().bytes <= Kept::MOST);
            }
        }
        (kept.open.into_inner().unwrap().origins.len(), closed)
    }

    #[test]
    fn connections_hold_no_more_memory_than_they_may() {
        assert_eq!(crawled(10_000, &[Kept::LARGE - 1, 0]), (Kept::FULL / Kept::CONNECTION, 0));
        let large = Kept::CONNECTION + Kept::BUFFER;
        assert_eq!(crawled(10_000, &[2 << 20, 2 << 20]), (Kept::FULL.div_ceil(large), 0), "nothing is closed in vain");
        // The answers are small at first, and then all are large.
        let (_, closed) = crawled(10_000, &[1_000, 8 << 20]);
        assert_eq!(closed, 1);
    }

    #[test]
    fn the_limit_is_raised_as_far_as_it_may_be() {
        let raised = raise_limit();
        let now = getrlimit(Resource::Nofile);
        assert_eq!(now.current, now.maximum);
        assert_eq!(raised, now.current.unwrap_or(UNLIMITED));
    }
}
