//! Open files: the limit of the process, and how many of them idle connections may take.
//!
//! A crawl of many hosts would keep a connection to each of them open, until the system refuses to open another file. So the
//! limit is raised as far as the system allows, and connections are kept for later only while their number is below a share
//! of it, and below a bound that holds for memory.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files that the state, the outputs, the live page and the resolver need.
const OWN: u64 = 128;
/// Without a limit from the system, this one holds.
const UNLIMITED: u64 = 65_536;

/// Raises the soft limit of open files to the hard one, and returns the limit that then holds.
pub fn raise_limit() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    if limit.current != limit.maximum {
        // A system that refuses leaves the limit where it was, which is then obeyed.
        let _ = setrlimit(Resource::Nofile, raised);
    }
    getrlimit(Resource::Nofile).current.unwrap_or(UNLIMITED)
}

/// Decides which connections are kept open for the next request to their host.
#[derive(Debug)]
pub(super) struct Kept {
    /// Connections that may be kept.
    most: usize,
    /// How long the pool keeps an idle connection.
    life: Duration,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    /// When the pool last had a connection to an origin.
    last_used: HashMap<Box<str>, Instant>,
    /// When those that the pool has closed since were last taken out.
    swept: Option<Instant>,
}

impl Kept {
    /// Between two looks for connections that the pool has closed.
    const SWEEP: Duration = Duration::from_secs(1);

    /// For a limit of `files` open files and `concurrency` requests at once; the pool keeps a connection for `life`.
    /// There are never more than [`config::bounds::CONNECTIONS`], because each takes some 25 KB of memory.
    pub(super) fn new(files: u64, concurrency: usize, life: Duration) -> Self {
        // A request may need two files at once: its connection, and the address family that is tried beside it.
        let free = files.saturating_sub(OWN + 2 * concurrency as u64);
        let most = usize::try_from(free / 2).unwrap_or(usize::MAX).min(config::bounds::CONNECTIONS);
        Self { most, life, open: Mutex::default() }
    }

    /// Whether the connection of a request to `origin` at `now` may stay open afterwards.
    pub(super) fn admits(&self, origin: &str, now: Instant) -> bool {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let Open { last_used, swept } = &mut *open;
        if let Some(last) = last_used.get_mut(origin) {
            *last = now;
            return true;
        }
        let sweep = swept.is_none_or(|swept| now.duration_since(swept) >= Self::SWEEP);
        if last_used.len() >= self.most && sweep {
            last_used.retain(|_, last| now.duration_since(*last) < self.life);
            *swept = Some(now);
        }
        let admitted = last_used.len() < self.most;
        if admitted {
            last_used.insert(origin.into(), now);
        }
        admitted
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
        // Those that have a connection keep it.
        assert_eq!(admitted(start + life / 2), 384);
        // Connections that were idle for their whole life make room for others.
        assert!(kept.admits("http://other.test", start + 3 * life));
        assert!(!Kept::new(256, 64, life).admits("http://h.test", start), "too few files for any");
        let kept = Kept::new(1 << 20, 64, life);
        let admitted = (0..10_000).filter(|host| kept.admits(&format!("http://h{host}.test"), start)).count();
        assert_eq!(admitted, config::bounds::CONNECTIONS);
    }

    #[test]
    fn the_limit_is_raised_as_far_as_it_may_be() {
        let raised = raise_limit();
        let now = getrlimit(Resource::Nofile);
        assert_eq!(now.current, now.maximum);
        assert_eq!(raised, now.current.unwrap_or(UNLIMITED));
    }
}
