//! A run of the engine of a worker. A worker has several runs if seeds or limits change, and if hosts move.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use config::Settings;
use crossbeam_channel::{Receiver, Sender};
use dedup_stage::store::Session;

use super::ask::OpenState;
use super::block_on::Wait;
use super::board::Versioned;
use super::commits::CommitWriter;
use super::exchange::{PeerExchange, Start};
use super::fetch::Leased;
use super::holder::ShareHolder;
use super::logged::Logged;
use super::patience::patiently;
use super::quota::Keeper;
use super::record::{Crawl, WantedState};
use super::snapshots::{Taken, Tap};
use super::task::WorkerError;
use super::watch::{self, Watch, Why};
use crate::clock::Clock;
use crate::crawl::CrawlDir;
use crate::engine::{self, Control, EngineError, Event, Observer, Stats, StopReason};
use crate::fetch::http::HttpFetch;

/// The longest wait for the last progress of an engine to reach the board.
const LAST_WORD: Duration = Duration::from_secs(10);

/// The data that one run of the engine needs.
pub struct Run<'a> {
    /// The worker and its share.
    pub holder: &'a ShareHolder<'a>,
    /// The number of the run among the runs of this process.
    pub number: u64,
    /// The channel of orders to the engine.
    pub control: &'a (Sender<Control>, Receiver<Control>),
    /// The record of the crawl.
    pub versioned: &'a Versioned<Crawl>,
    /// The writer of commits.
    pub writer: &'a CommitWriter,
    /// The number of batches of links that this process has sent.
    pub sent: &'a Arc<AtomicU64>,
    /// The state, for questions about it.
    pub open: &'a OpenState,
    /// The channel to the thread that makes snapshots; `None` if it makes none.
    pub taken: Option<&'a Sender<Taken>>,
}

impl Run<'_> {
    /// Runs the engine.
    pub fn engine(
        &self,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> std::result::Result<(StopReason, Stats, Why), WorkerError> {
        let ShareHolder { task, runtime, cluster, board, known_shares, place, life, deadline, lost, .. } = self.holder;
        let crawl = &self.versioned.record;
        let disk = CrawlDir::open_disk(&task.dir)?;
        self.open.open(disk.reader());
        let tap = self.taken.zip(task.snapshots.as_ref());
        let tap = tap.map(|(taken, snapshots)| Tap::new(snapshots.every, disk.reader(), taken.clone()));
        let logged = Logged::new(disk, self.writer.clone(), &task.dir, tap);
        let session = Session::new(Box::new(logged.map_err(EngineError::from)?));
        let mut dir = CrawlDir::with_session(&task.dir, session)?;
        let places = engine::places(dir.session()).map_err(EngineError::from)?;
        // Groups of pages and requests for quota have a different name in each run.
        let life = format!("{life}-{}", self.number);
        let most = settings.limits.max_pages;
        let keeper = Keeper {
            board: board.clone(),
            share: place.share,
            shares: known_shares.get().staying().max(1),
            life: life.clone(),
            most,
            careless: task.without.quota,
        };
        let parts = dir.start(settings, crawl.seeds.clone(), Clock::System, self.control.1.clone())?;
        let is_over = || deadline.is_over();
        let fetched = parts.stats.pages;
        let quota = match most {
            0 => None,
            _ => Some((runtime.wait_for(patiently(is_over, async || keeper.claim(fetched).await))?, keeper)),
        };
        // An engine that starts while the crawl is paused sends no request.
        let wish = runtime.wait_for(patiently(is_over, async || watch::wish(board).await))?;
        if wish != WantedState::Run {
            let _ = self.control.0.send(watch::order_of(wish));
        }
        let start = Start {
            cluster: cluster.clone(),
            runtime: runtime.handle().clone(),
            board: board.clone(),
            known_shares: known_shares.clone(),
            partitions: crawl.partitions,
            share: place.share,
            keys: parts.context.keys.clone(),
            deadline: deadline.clone(),
            life,
            places,
            quota,
            sent: Arc::clone(self.sent),
            ordered: !task.without.barrier,
            forwards: !task.without.forwarding,
        };
        let (exchange, events, progress) = PeerExchange::start(start)?;
        let watch = Watch {
            cluster: cluster.clone(),
            board: board.clone(),
            place: *place,
            deadline: deadline.clone(),
            most,
            revision: self.versioned.revision,
            wish,
            known_shares: known_shares.clone(),
            events: events.clone(),
            control: self.control.0.clone(),
        };
        let watching = runtime.spawn(watch.run(progress));
        let mut lost = lost.clone();
        let telling = runtime.spawn(async move {
            if let Ok(why) = lost.wait_for(Option::is_some).await {
                // If this fails, the engine has ended.
                let _ = events.send(Event::Lost(why.clone().unwrap_or_default()));
            }
        });
        let fetch = HttpFetch::new(settings).map_err(WorkerError::Fetch)?;
        let fetch = Leased::new(fetch, deadline.clone(), task.without.deadline);
        let parts = engine::Parts { peers: Some(Box::new(exchange)), ..parts };
        let result = engine::run(parts, fetch, observer);
        runtime.wait_for(self.open.close());
        let why = runtime.wait_for(async { tokio::time::timeout(LAST_WORD, watching).await });
        telling.abort();
        let (reason, stats) = result?;
        Ok((reason, stats, why.ok().and_then(std::result::Result::ok).unwrap_or(Why::Itself)))
    }
}
