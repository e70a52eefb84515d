//! The lease of a worker on its share. It says who may send requests to the hosts of the share, and until when.
//!
//! The holder renews the lease every sixth of its length `T`. It may send requests while less than .6 `T` have passed
//! since it *sent* its last renewal. The clock for this runs on while the machine sleeps. An open request ends before
//! `T`. Somebody else takes the lease only after having seen it unchanged for `T`, by their own clock. So no two
//! processes ask one host at the same time, whatever their clocks show: only durations are compared, and the second
//! duration begins later and is longer.
//!
//! The brokers can let records expire, but this is not used: they have failed to expire records, and they have expired
//! records while nobody could renew them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use tokio::time::Instant;

use super::board::{Board, Versioned};
use super::record::{Lease, keys, random};
use super::{ClusterError, Result};

/// Milliseconds since the machine was booted, including the time for which it slept.
pub fn since_boot() -> u64 {
    // On systems other than Linux, the monotonic clock runs on while the machine sleeps.
    #[cfg(target_os = "linux")]
    let clock = ClockId::Boottime;
    #[cfg(not(target_os = "linux"))]
    let clock = ClockId::Monotonic;
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000 + time.tv_nsec as u64 / 1_000_000
}

/// The time until which a worker may send requests to the hosts of its share.
#[derive(Clone, Debug)]
pub struct Deadline {
    /// The end of the time for requests, as [`since_boot`] counts. 0: no request may be sent.
    until: Arc<AtomicU64>,
    length: u64,
    /// Whether somebody else has the lease, or it was given back.
    over: Arc<AtomicBool>,
}

impl Deadline {
    /// The deadline of a lease of this length that is not held yet.
    pub fn new(length: Duration) -> Self {
        Self { until: Arc::default(), length: length.as_millis() as u64, over: Arc::default() }
    }

    /// Records that the renewal that was sent at `sent` has succeeded.
    pub fn renewed(&self, sent: u64) {
        self.until.fetch_max(sent + self.length * 6 / 10, Ordering::Relaxed);
    }

    /// Records that the lease is lost or given back.
    pub fn end(&self) {
        self.over.store(true, Ordering::Relaxed);
        self.until.store(0, Ordering::Relaxed);
    }

    /// Whether the lease is lost or given back.
    pub fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// The length of the lease.
    pub fn length(&self) -> Duration {
        Duration::from_millis(self.length)
    }

    /// The time since the last renewal was sent. If there was none, the time since the machine was booted.
    pub fn since_renewal(&self) -> Duration {
        let sent = self.until.load(Ordering::Relaxed).saturating_sub(self.length * 6 / 10);
        Duration::from_millis(since_boot().saturating_sub(sent))
    }

    /// Whether a request may be sent now.
    pub fn holds(&self) -> bool {
        since_boot() < self.until.load(Ordering::Relaxed)
    }

    /// The time that an open request may still take.
    pub fn left(&self) -> Duration {
        let until = self.until.load(Ordering::Relaxed);
        let end = if until == 0 { 0 } else { until + self.length * 3 / 10 };
        Duration::from_millis(end.saturating_sub(since_boot()))
    }
}

/// A lease that this process holds.
#[derive(Debug)]
pub struct HeldLease {
    board: Board,
    key: String,
    record: Lease,
    revision: u64,
    length: Duration,
    /// The time until which requests may be sent.
    pub deadline: Deadline,
}

/// The last state of a lease that this process has seen, and the time at which it first saw that state, by its own
/// clock.
#[derive(Clone, Copy, Debug)]
pub struct LeaseSeen {
    revision: u64,
    since: Instant,
    /// Whether it was renewed after this process had first looked.
    renewed: bool,
}

impl LeaseSeen {
    /// Whether somebody renews the lease. `length` is the length of the lease; its holder renews it every sixth of
    /// that.
    pub fn is_kept(self, length: Duration) -> bool {
        self.renewed && self.since.elapsed() < length / 2
    }
}

/// A worker that wants a lease.
#[derive(Clone, Copy, Debug)]
pub struct Claim<'a> {
    /// The identity of the worker, which its directory keeps.
    pub worker: &'a str,
    /// The identity of the file that locks the directory. A copy of the directory has another one.
    pub place: &'a str,
    /// Whether the list of shares names this worker for the share. Others take the share only if it is abandoned.
    pub is_named: bool,
    /// Whether the work of the share is done.
    pub is_done: bool,
}

impl HeldLease {
    /// Takes the lease on a share if no other process can hold it; otherwise returns `None`. `seen` is what this
    /// process has seen of the lease.
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
        // The directory is locked. So if a process of this boot had the lease in this directory, that process is dead.
        // (A copy of the directory has the same worker, but another lock.)
        let is_here = (other.worker.as_str(), other.place.as_str()) == (claim.worker, claim.place);
        let was_here = is_here && other.boot == boot && !boot.is_empty();
        let is_free = was_here || other.released || (revision == 0 && claim.is_named);
        if !(is_free || since.elapsed() >= length) || (claim.is_done && !claim.is_named) {
            return Ok(None);
        }
        let (worker, place) = (claim.worker.to_owned(), claim.place.to_owned());
        let (life, renewals) = (random::<8>()?, other.renewals + 1);
        let record = Lease { worker, place, life, boot, renewals, released: false };
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

    /// The time to wait before the next renewal.
    pub fn pause(&self) -> Duration {
        self.length / 6
    }

    /// Renews the lease. It is no error if the brokers cannot be reached: the deadline passes then.
    ///
    /// # Errors
    ///
    /// [`ClusterError::Lost`] if somebody else has the lease. No request is sent after that.
    pub async fn renew(&mut self) -> Result<()> {
        let next = Lease { renewals: self.record.renewals + 1, ..self.record.clone() };
        let sent = since_boot();
        match self.board.put(&self.key, &next, self.revision).await {
            Ok(Some(revision)) => (self.revision, self.record) = (revision, next),
            Ok(None) | Err(_) => {
                // The answer may have been lost. If the stored record is the one that this process wrote, no other
                // process has written.
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

    /// Gives the lease back, so that the next worker need not wait.
    pub async fn release(&mut self) {
        self.deadline.end();
        self.record.released = true;
        self.record.renewals += 1;
        if let Err(error) = self.board.put(&self.key, &self.record, self.revision).await {
            tracing::warn!("the lease was not given back: {error}");
        }
    }
}
