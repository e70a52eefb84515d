//! The live page of a crawl: one self-contained page over HTTP, with metrics beside it. Server-sent events keep it up
//! to date.
//!
//! Four times a second, the engine copies its counters. Less often, it copies what it has learned, and, if there are
//! viewers, its hosts. All other data is read from `pages.jsonl` as it grows. A thread of the live page counts it, and
//! draws the page while there are viewers.

mod beside;
mod drawn;
mod follow;
mod fragments;
mod guard;
mod metrics;
mod page;
mod routes;
mod serve;
mod shared;
mod speed;
mod stream;
mod tail;

#[cfg(test)]
mod tests;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

pub use beside::{Beside, LiveNames, Metric};
use crossbeam_channel::Sender;
use frontier::Millis;
use frontier::rules::Totals;
use tokio_util::sync::CancellationToken;

use crate::engine::{Control, Observer, Snapshot};
use crate::rate::Recent;
use shared::{Now, Shared};

/// A running live page. It ends when this is dropped.
#[derive(Debug)]
pub struct Dashboard {
    shared: Arc<Shared>,
    address: SocketAddr,
    end: CancellationToken,
    thread: Option<JoinHandle<()>>,
    recent: Recent,
    /// The time from which the frontier may be read again.
    look_due: Millis,
}

/// The shortest time between two looks at hosts and rules.
const LOOK_INTERVAL: Millis = 2_000;
/// The time between two looks is at least this many times as long as a look takes. So looks cost the engine 1 % of its
/// time at most.
const LOOK_SHARE: u128 = 100;
/// The time that open pages have to receive the message that the crawl has ended.
const FAREWELL: Duration = Duration::from_millis(500);

impl Dashboard {
    /// Serves the crawl in `dir` at `address`. Orders of clients that know the token are sent to `control`.
    pub fn start(address: SocketAddr, dir: &Path, control: Sender<Control>) -> io::Result<Self> {
        Self::start_with(address, dir, control, LiveNames::default())
    }

    /// Like [`start`](Self::start), but the live page also gives the reports of `reach` beside the crawl.
    pub fn start_with(address: SocketAddr, dir: &Path, control: Sender<Control>, reach: LiveNames) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::new(dir, address, control, reach)?);
        let end = CancellationToken::new();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let listener = {
            let _inside = runtime.enter();
            tokio::net::TcpListener::from_std(listener)?
        };
        let thread = {
            let (shared, end) = (Arc::clone(&shared), end.clone());
            std::thread::Builder::new().name("dashboard".into()).spawn(move || {
                runtime.block_on(async {
                    tokio::spawn(follow::follow(Arc::clone(&shared)));
                    tokio::spawn(stream::draw(Arc::clone(&shared)));
                    let serve = serve::serve(listener, routes::router(Arc::clone(&shared)), end.clone());
                    let farewell = async {
                        end.cancelled().await;
                        tokio::time::sleep(FAREWELL).await;
                    };
                    tokio::select! {
                        // If the listener fails later, the live page ends, and the crawl goes on.
                        () = serve => {}
                        () = farewell => {}
                    }
                });
            })?
        };
        Ok(Self { shared, address, end, thread: Some(thread), recent: Recent::default(), look_due: 0 })
    }

    /// The URL of the page. The token is in the fragment, which browsers do not send.
    pub fn url(&self) -> String {
        format!("http://{}/#{}", self.address, self.shared.token)
    }

    /// The address on which the page is served.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Observer for Dashboard {
    fn tick(&mut self, snapshot: &Snapshot<'_>) {
        self.shared.update(Now {
            stats: snapshot.stats.clone(),
            counts: snapshot.counts,
            in_flight: snapshot.in_flight,
            rate: self.recent.rate(snapshot.now, snapshot.stats.pages),
            lost: snapshot.lost,
            rules: snapshot.frontier.rules().map(|rules| Totals::of(rules.iter())).unwrap_or_default(),
            trouble: snapshot.trouble.is_some(),
            time: snapshot.now,
            stopped: snapshot.stopped,
            at: Instant::now(),
        });
        let due = snapshot.now >= self.look_due || snapshot.stopped.is_some();
        if due {
            let start = Instant::now();
            // The metrics need this even if there are no viewers.
            self.shared.learn(snapshot.frontier);
            if self.shared.viewers() > 0 {
                self.shared.look(snapshot.frontier);
            }
            let wait = start.elapsed().as_millis() * LOOK_SHARE;
            self.look_due = snapshot.now + LOOK_INTERVAL.max(Millis::try_from(wait).unwrap_or(Millis::MAX));
        }
    }
}

impl Drop for Dashboard {
    fn drop(&mut self) {
        self.shared.finish();
        self.end.cancel();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been printed. The crawl is over in any case.
            let _ = thread.join();
        }
    }
}
