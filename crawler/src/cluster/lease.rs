//! The lease of a worker on its share: who may ask the hosts of the share, and until when.
//!
//! The holder renews the lease every sixth of its length `T`. It may send requests while the renewal that it *sent* last is
//! younger than .6 `T`, by a clock that runs on while the machine sleeps, and an open request ends before `T`. Somebody
//! else takes the lease only after having seen it unchanged for `T` by his own clock. So no two processes ask one host at a
//! time, whatever their clocks show: only durations are compared, and the later of the two begins later.
//!
//! The broker's own expiry of records is not used: it has failed to expire them, and has expired them while nobody could
//! renew.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use tokio::time::Instant;

use super::board::{Board, Versioned};
use super::record::{Lease, keys, random};
use super::{ClusterError, Result};

/// Milliseconds since the machine was booted, sleep included.
pub fn since_boot() -> u64 {
    // Elsewhere than on Linux, the monotonic clock runs on while the machine sleeps.
    #[cfg(target_os = "linux")]
    let clock = ClockId::Boottime;
    #[cfg(not(target_os = "linux"))]
    let clock = ClockId::Monotonic;
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000 + time.tv_nsec as u64 / 1_000_000
}

/// Until when a worker may ask the hosts of its share.
#[derive(Clone, Debug)]
pub struct Deadline {
    /// By [`since_boot`]. 0: not at all.
    until: Arc<AtomicU64>,
    length: u64,
    /// Whether the lease is somebody else's.
    over: Arc<AtomicBool>,
}

impl Deadline {
    /// Of a lease of this length that is not held yet.
    pub fn new(length: Duration) -> Self {
        Self { until: Arc::default(), length: length.as_millis() as u64, over: Arc::default() }
    }

    /// A renewal that was sent then has come through.
    pub fn renewed(&self, sent: u64) {
        self.until.fetch_max(sent + self.length * 6 / 10, Ordering::Relaxed);
    }

    /// The lease is lost, or given back.
    pub fn end(&self) {
        self.over.store(true, Ordering::Relaxed);
        self.until.store(0, Ordering::Relaxed);
    }

    /// Whether the lease is lost or given back.
    pub fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// How long the lease is good for.
    pub fn length(&self) -> Duration {
        Duration::from_millis(self.length)
    }

    /// Time since the last renewal was sent. If there was none: since the machine was started.
    pub fn since_renewal(&self) -> Duration {
        let sent = self.until.load(Ordering::Relaxed).saturating_sub(self.length * 6 / 10);
        Duration::from_millis(since_boot().saturating_sub(sent))
    }

    /// Whether a request may be sent now.
    pub fn holds(&self) -> bool {
        since_boot() < self.until.load(Ordering::Relaxed)
    }

    /// How long an open request may still take.
    pub fn left(&self) -> Duration {
        let until = self.until.load(Ordering::Relaxed);
        let end = if until == 0 { 0 } else { until + self.length * 3 / 10 };
        Duration::from_millis(end.saturating_sub(since_boot()))
    }
}

/// A lease that is held.
#[derive(Debug)]
pub struct Held {
    board: Board,
    key: String,
    record: Lease,
    revision: u64,
    length: Duration,
    /// Until when requests may be sent.
    pub deadline: Deadline,
}

/// A lease as it was seen last, and since when it has been so, by this process's clock.
#[derive(Clone, Copy, Debug)]
pub struct LeaseSeen {
    revision: u64,
    since: Instant,
    /// Whether it was renewed since this process looked first.
    renewed: bool,
}

impl LeaseSeen {
    /// Whether somebody renews the lease, which has this length. (The holder renews it every sixth of that.)
    pub fn is_kept(self, length: Duration) -> bool {
        self.renewed && self.since.elapsed() < length / 2
    }
}

/// Who wants a lease.
#[derive(Clone, Copy, Debug)]
pub struct Claim<'a> {
    /// The directory.
    pub worker: &'a str,
    /// Whether the share is this worker's, as long as nobody else has taken it. Others take it only when it is abandoned.
    pub is_named: bool,
    /// Whether the work of the share is done.
    pub is_done: bool,
}

impl Held {
    /// Takes the lease on a share, if nobody can hold it; `None` where somebody may. `seen` is what this process saw of it.
    pub async fn take(
        board: &Board,
        share: usize,
        claim: Claim<'_>,
        length: Duration,
        seen: &mut Option<LeaseSeen>,
    ) -> Result<Option<Self>> {
        let key = keys::lease(share);
        let versioned = board.get::<Lease>(&key).await?;
        let revision = versioned.as_ref().map_or(0, |versioned| versioned.revision);
        let since = seen.filter(|seen| seen.revision == revision).map_or_else(Instant::now, |seen| seen.since);
        let other = versioned.map(|versioned| versioned.record).unwrap_or_default();
        let renewed = seen.is_some_and(|seen| seen.renewed || seen.revision != revision) && !other.released;
        *seen = Some(LeaseSeen { revision, since, renewed });
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned();
        // The directory is locked: a process of this boot that had it is dead.
        let was_here = other.worker == claim.worker && other.boot == boot && !boot.is_empty();
        let is_free = was_here || other.released || (revision == 0 && claim.is_named);
        if !(is_free || since.elapsed() >= length) || (claim.is_done && !claim.is_named) {
            return Ok(None);
        }
        let (worker, life, renewals) = (claim.worker.to_owned(), random::<8>()?, other.renewals + 1);
        let record = Lease { worker, life, boot, renewals, released: false };
        let deadline = Deadline::new(length);
        let sent = since_boot();
        let Some(revision) = board.put(&key, &record, revision).await? else { return Ok(None) };
        deadline.renewed(sent);
        Ok(Some(Self { board: board.clone(), key, record, revision, length, deadline }))
    }

    /// The name of this process.
    pub fn life(&self) -> &str {
        &self.record.life
    }

    /// How long to wait before the next renewal.
    pub fn pause(&self) -> Duration {
        self.length / 6
    }

    /// Renews the lease. That the brokers cannot be reached is no error: the deadline passes then.
    ///
    /// # Errors
    ///
    /// [`ClusterError::Lost`] where somebody else has it. Then no request is sent any more.
    pub async fn renew(&mut self) -> Result<()> {
        let next = Lease { renewals: self.record.renewals + 1, ..self.record.clone() };
        let sent = since_boot();
        match self.board.put(&self.key, &next, self.revision).await {
            Ok(Some(revision)) => (self.revision, self.record) = (revision, next),
            Ok(None) | Err(_) => {
                // Nobody else has written if what stands there is what this process wrote, though nobody said so.
                let there = match self.board.get::<Lease>(&self.key).await {
                    Ok(there) => there,
                    Err(error) => {
                        tracing::warn!("the lease was not renewed: {error}");
                        return Ok(());
                    }
                };
                match there {
                    Some(Versioned { record, revision, .. }) if record == next => {
                        (self.revision, self.record) = (revision, next);
                    }
                    Some(Versioned { record, .. }) if record == self.record => return Ok(()),
                    _ => {
                        self.deadline.end();
                        return Err(ClusterError::Lost("the lease on this worker's hosts is somebody else's".into()));
                    }
                }
            }
        }
        self.deadline.renewed(sent);
        Ok(())
    }

    /// Gives the lease back: whoever comes next need not wait.
    pub async fn release(&mut self) {
        self.deadline.end();
        self.record.released = true;
        self.record.renewals += 1;
        if let Err(error) = self.board.put(&self.key, &self.record, self.revision).await {
            tracing::warn!("the lease was not given back: {error}");
        }
    }
}
