//! The data that the engine's thread and the thread of the live page share: the last counters, the hosts at the last
//! look, the counts so far, and the number of viewers. Locks are held only while data is copied.

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

use super::beside::LiveNames;
use super::drawn::Drawn;
use super::speed::Speed;
use super::tail::Read;
use crate::engine::{Control, Stats, StopReason};
use crate::estimate::Lost;
use crate::report::learned::Learned;

/// The counters at the last tick.
#[derive(Clone, Debug)]
pub struct Now {
    /// The counters of the crawl.
    pub stats: Stats,
    /// The counters of the frontier.
    pub counts: Counts,
    /// The number of open jobs.
    pub in_flight: usize,
    /// The pages a second, over the last seconds.
    pub rate: f64,
    /// The estimated number of unique pages held back, if there is an estimate.
    pub lost: Option<Lost>,
    /// The number of rules, and of URLs that they stopped.
    pub rules: Totals,
    /// Whether trouble on this machine keeps the crawl from fetching.
    pub trouble: bool,
    /// The time of the engine.
    pub time: Millis,
    /// The reason why the run has ended, if it has.
    pub stopped: Option<StopReason>,
    /// The time at which the tick came, for the health of the engine.
    pub at: Instant,
}

/// A host as the frontier sees it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostRow {
    /// The number of URLs queued.
    pub queued: u64,
    /// Its name.
    pub name: String,
    /// The delay between two requests.
    pub delay: Millis,
    /// The state of the host in words, and the time until which it lasts.
    pub state: (&'static str, Option<Millis>),
}

/// The shared data; see the description of the module.
#[derive(Debug)]
pub struct Shared {
    /// The crawl directory.
    pub dir: PathBuf,
    /// The address on which the page is served.
    pub address: SocketAddr,
    /// The token. Clients that know it may pause, resume and stop the crawl.
    pub token: String,
    /// The channel of orders to the engine.
    pub control: Sender<Control>,
    /// The source of reports beside the crawl, and the host names under which the page gives them.
    pub reach: LiveNames,
    /// The data that was read from the outputs.
    pub read: Mutex<Read>,
    /// The parts of the page. They are drawn again while there are viewers.
    pub drawn: watch::Sender<Drawn>,
    /// Wakes the drawing when the first viewer comes, and at the end.
    pub wake: Notify,
    now: Mutex<Option<Now>>,
    speed: Mutex<Speed>,
    hosts: Mutex<Vec<HostRow>>,
    learned: Mutex<Learned>,
    viewers: AtomicUsize,
    paused: AtomicBool,
    finished: AtomicBool,
}

impl Shared {
    /// The number of hosts that are shown.
    const HOSTS: usize = 100;

    /// Makes the data of a crawl that has not begun.
    pub fn new(dir: &Path, address: SocketAddr, control: Sender<Control>, reach: LiveNames) -> io::Result<Self> {
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
            speed: Mutex::default(),
            hosts: Mutex::new(Vec::new()),
            learned: Mutex::default(),
            viewers: AtomicUsize::new(0),
            paused: AtomicBool::new(false),
            finished: AtomicBool::new(false),
        })
    }

    /// Stores the counters of a tick.
    pub fn update(&self, now: Now) {
        lock(&self.speed).note(now.stats.elapsed_ms, now.stats.pages);
        *lock(&self.now) = Some(now);
    }

    /// The counters of the last tick; `None` before the first.
    pub fn now(&self) -> Option<Now> {
        lock(&self.now).clone()
    }

    /// The pages a second since the start of the run.
    pub fn speed(&self) -> Speed {
        lock(&self.speed).clone()
    }

    /// Copies what the frontier has learned.
    pub fn learn(&self, frontier: &Frontier) {
        *lock(&self.learned) = Learned::of(frontier);
    }

    /// Copies the states of the hosts with the longest queues.
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

    /// The rules and hosts that the frontier had learned at the last copy.
    pub fn learned(&self) -> Learned {
        lock(&self.learned).clone()
    }

    /// The number of viewers.
    pub fn viewers(&self) -> usize {
        self.viewers.load(Ordering::Relaxed)
    }

    /// Adds a viewer, until the returned guard is dropped.
    pub fn view(self: &std::sync::Arc<Self>) -> Viewer {
        self.viewers.fetch_add(1, Ordering::Relaxed);
        self.wake.notify_waiters();
        Viewer(std::sync::Arc::clone(self))
    }

    /// Passes an order on to the engine. Returns false if the engine is gone.
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

    /// Whether the crawl was paused from the live page.
    pub fn is_paused(&self) -> bool {
        self.paused.load(Ordering::Relaxed)
    }

    /// Records that the crawl has ended.
    pub fn finish(&self) {
        self.finished.store(true, Ordering::Relaxed);
        self.wake.notify_waiters();
    }

    /// Whether the crawl has ended.
    pub fn is_finished(&self) -> bool {
        self.finished.load(Ordering::Relaxed)
    }
}

/// A viewer. It counts as one until this is dropped.
#[derive(Debug)]
pub struct Viewer(std::sync::Arc<Shared>);

impl Drop for Viewer {
    fn drop(&mut self) {
        self.0.viewers.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Locks a mutex. If another thread has panicked while it held the lock, the old data is still there.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
