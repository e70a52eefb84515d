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
use tokio::time::{Instant, sleep};

use super::board::{Board, Message};
use super::record::{Lease, keys, random};
use super::{ClusterError, Result};

/// Milliseconds since the machine was booted, sleep included.
pub fn since_boot() -> u64 {
    let time = clock_gettime(ClockId::Boottime);
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

impl Held {
    /// Takes the lease on a share for the directory `worker`. Waits for as long as another process of this directory may
    /// hold it.
    ///
    /// # Errors
    ///
    /// [`ClusterError::Lost`] where another directory holds it.
    pub async fn take(board: &Board, share: usize, worker: &str, length: Duration) -> Result<Self> {
        let key = keys::lease(share);
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned();
        let mut record = Lease { worker: worker.into(), life: random::<8>()?, boot, renewals: 0, released: false };
        // The revision seen, and since when.
        let mut seen: Option<(u64, Instant)> = None;
        loop {
            let before = match board.get::<Lease>(&key).await? {
                None => 0,
                Some(Message { record: other, revision, .. }) => {
                    if other.worker != worker && !other.released {
                        return Err(taken(share));
                    }
                    // The directory is locked: a process of this boot that had it is dead.
                    let is_dead = other.released || (other.boot == record.boot && !record.boot.is_empty());
                    let since = match seen {
                        Some((same, since)) if same == revision => since,
                        _ => Instant::now(),
                    };
                    seen = Some((revision, since));
                    if !is_dead && since.elapsed() < length {
                        sleep(length / 20).await;
                        continue;
                    }
                    record.renewals = other.renewals + 1;
                    revision
                }
            };
            let deadline = Deadline::new(length);
            let sent = since_boot();
            if let Some(revision) = board.put(&key, &record, before).await? {
                deadline.renewed(sent);
                return Ok(Self { board: board.clone(), key, record, revision, length, deadline });
            }
        }
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
                    Some(Message { record, revision, .. }) if record == next => {
                        (self.revision, self.record) = (revision, next);
                    }
                    Some(Message { record, .. }) if record == self.record => return Ok(()),
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

fn taken(share: usize) -> ClusterError {
    ClusterError::Lost(format!("share {share} is another worker's"))
}
