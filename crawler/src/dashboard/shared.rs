//! What the engine's thread and the dashboard's share: the last counters, the last look at the hosts, what was counted so
//! far, and how many look on. Locks are held for copies only.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crossbeam_channel::Sender;
use frontier::rules::Totals;
use frontier::{Counts, Frontier, HostState, Millis};
use tokio::sync::{Notify, watch};

use super::beside::Reach;
use super::drawn::Drawn;
use super::tail::Read;
use crate::engine::{Control, Stats, StopReason};
use crate::estimate::Lost;
use crate::report::learned::Learned;

/// The last tick.
#[derive(Clone, Debug)]
pub struct Now {
    /// Totals.
    pub stats: Stats,
    /// Totals of the frontier.
    pub counts: Counts,
    /// Jobs open.
    pub in_flight: usize,
    /// Pages a second, of the last seconds.
    pub rate: f64,
    /// Unique pages held back, so far as they can be estimated.
    pub lost: Option<Lost>,
    /// How many rules, and what they stopped.
    pub rules: Totals,
    /// Whether trouble on this machine keeps the crawl from fetching.
    pub trouble: bool,
    /// The engine's time.
    pub time: Millis,
    /// Why the run has ended, if it has.
    pub stopped: Option<StopReason>,
    /// When the tick came.
    pub at: Instant,
}

/// A host as the frontier sees it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostRow {
    /// URLs queued.
    pub queued: u64,
    /// Its name.
    pub name: String,
    /// Delay between requests.
    pub delay: Millis,
    /// What it does, as a word, and until when.
    pub state: (&'static str, Option<Millis>),
}

/// See the module.
#[derive(Debug)]
pub struct Shared {
    /// Crawl directory.
    pub dir: PathBuf,
    /// Where the page is served.
    pub address: SocketAddr,
    /// Who knows it may pause, resume and stop.
    pub token: String,
    /// To the engine.
    pub control: Sender<Control>,
    /// What is told beside the crawl, and to whom.
    pub reach: Reach,
    /// What was read from the outputs.
    pub read: Mutex<Read>,
    /// The page, drawn anew while somebody looks.
    pub drawn: watch::Sender<Drawn>,
    /// Wakes the drawing when the first viewer comes, and at the end.
    pub wake: Notify,
    now: Mutex<Option<Now>>,
    hosts: Mutex<Vec<HostRow>>,
    learned: Mutex<Learned>,
    viewers: AtomicUsize,
    paused: AtomicBool,
    finished: AtomicBool,
}

impl Shared {
    /// Hosts shown.
    const HOSTS: usize = 100;

    /// Nothing has been seen yet.
    pub fn new(dir: &Path, address: SocketAddr, control: Sender<Control>, reach: Reach) -> io::Result<Self> {
        let mut token = [0u8; 16];
        getrandom::fill(&mut token).map_err(|error| io::Error::other(error.to_string()))?;
        Ok(Self {
            dir: dir.to_owned(),
            address,
            token: token.iter().map(|byte| format!("{byte:02x}")).collect(),
            control,
            reach,
            read: Mutex::new(Read::new(dir)),
            drawn: watch::Sender::default(),
            wake: Notify::new(),
            now: Mutex::new(None),
            hosts: Mutex::new(Vec::new()),
            learned: Mutex::default(),
            viewers: AtomicUsize::new(0),
            paused: AtomicBool::new(false),
            finished: AtomicBool::new(false),
        })
    }

    /// Takes a tick.
    pub fn update(&self, now: Now) {
        *lock(&self.now) = Some(now);
    }

    /// The last tick; none before the first.
    pub fn now(&self) -> Option<Now> {
        lock(&self.now).clone()
    }

    /// Looks at what the frontier has learned.
    pub fn learn(&self, frontier: &Frontier) {
        *lock(&self.learned) = Learned::of(frontier);
    }

    /// Looks at what the hosts do: keeps those with the longest queues.
    pub fn look(&self, frontier: &Frontier) {
        let mut longest = BinaryHeap::<Reverse<HostRow>>::new();
        frontier.hosts(&mut |host| {
            if longest.len() >= Self::HOSTS {
                match longest.peek() {
                    Some(Reverse(HostRow { queued, .. })) if host.queued > *queued => drop(longest.pop()),
                    _ => return,
                }
            }
            let state = match host.state {
                HostState::Idle => ("idle", None),
                HostState::Preparing => ("asking for its address or robots.txt", None),
                HostState::Fetching => ("fetching", None),
                HostState::Waiting(until) => ("waiting for its delay", Some(until)),
                HostState::BackingOff(until) => ("in back-off", Some(until)),
            };
            longest.push(Reverse(HostRow {
                queued: host.queued,
                name: host.name.to_owned(),
                delay: host.delay,
                state,
            }));
        });
        *lock(&self.hosts) = longest.into_sorted_vec().into_iter().map(|Reverse(row)| row).collect();
    }

    /// The hosts at the last look, longest queue first.
    pub fn hosts(&self) -> Vec<HostRow> {
        lock(&self.hosts).clone()
    }

    /// What was learned, at the last look.
    pub fn learned(&self) -> Learned {
        lock(&self.learned).clone()
    }

    /// How many look on.
    pub fn viewers(&self) -> usize {
        self.viewers.load(Ordering::Relaxed)
    }

    /// Somebody looks on, until the guard is dropped.
    pub fn view(self: &std::sync::Arc<Self>) -> Viewer {
        self.viewers.fetch_add(1, Ordering::Relaxed);
        self.wake.notify_waiters();
        Viewer(std::sync::Arc::clone(self))
    }

    /// Passes a wish on. False if the engine is gone.
    pub fn wish(&self, control: Control) -> bool {
        match control {
            Control::Pause => self.paused.store(true, Ordering::Relaxed),
            Control::Resume => self.paused.store(false, Ordering::Relaxed),
            Control::Stop => {}
        }
        let sent = self.control.send(control).is_ok();
        self.wake.notify_waiters();
        sent
    }

    /// Whether somebody here has paused the crawl.
    pub fn is_paused(&self) -> bool {
        self.paused.load(Ordering::Relaxed)
    }

    /// The crawl has ended.
    pub fn finish(&self) {
        self.finished.store(true, Ordering::Relaxed);
        self.wake.notify_waiters();
    }

    /// Whether the crawl has ended.
    pub fn is_finished(&self) -> bool {
        self.finished.load(Ordering::Relaxed)
    }
}

/// Counts as a viewer while it lives.
#[derive(Debug)]
pub struct Viewer(std::sync::Arc<Shared>);

impl Drop for Viewer {
    fn drop(&mut self) {
        self.0.viewers.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A panic while a copy is made leaves the copy before it.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
