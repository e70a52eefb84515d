//! [`PeerExchange`]: the other workers, as the engine of one worker sees them ([`Peers`]). Threads and tasks read and
//! write the streams, so the engine waits for the brokers only when it commits.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use async_nats::jetstream::Message;
use crossbeam_channel::{Receiver, Sender, unbounded};
use dedup_stage::url::Keys;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, watch};

use super::block_on::Wait;
use super::board::Board;
use super::connect::BrokerConnection;
use super::known_shares::KnownShares;
use super::lease::Deadline;
use super::pages::{Encoded, Group};
use super::quota::Keeper;
use super::tail::Listener;
use super::{Result, links, pages, tail};
use crate::engine::{Event, PeerProgress, Peers, PeersError, Proposed, QuotaRequest};
use crate::outbound::Outbound;

/// The connection of one engine to the other workers.
pub struct PeerExchange {
    cluster: BrokerConnection,
    runtime: Handle,
    board: Board,
    known_shares: KnownShares,
    partitions: u32,
    keys: Keys,
    deadline: Deadline,
    /// The name of this process in its messages.
    life: String,
    events: Receiver<Event>,
    groups: mpsc::UnboundedSender<Encoded>,
    progress: watch::Sender<PeerProgress>,
    /// The number of groups that were proposed so far.
    proposed: u64,
    /// The groups that were proposed and have not come back yet.
    proposals: Arc<UnderWay>,
    sent: Arc<AtomicU64>,
    ordered: bool,
    forwards: bool,
    /// The number of pages that this share may fetch at first, and the channel of requests for more; `None` if there is
    /// no limit.
    quota: Option<(u64, mpsc::UnboundedSender<QuotaRequest>)>,
    /// Set when the engine is gone. The readers end then.
    gone: Arc<AtomicBool>,
}

/// The parts that an exchange is made of.
pub struct Start {
    /// The brokers.
    pub cluster: BrokerConnection,
    /// The runtime of its tasks.
    pub runtime: Handle,
    /// The board.
    pub board: Board,
    /// The list of shares.
    pub known_shares: KnownShares,
    /// The number of partitions.
    pub partitions: u32,
    /// The share of this worker.
    pub share: usize,
    /// The code that computes the keys of URLs.
    pub keys: Keys,
    /// The deadline of the lease.
    pub deadline: Deadline,
    /// The name of this process. No two processes have the same name.
    pub life: String,
    /// The places up to which it has read the streams of links and of pages.
    pub places: (u64, u64),
    /// The number of batches of links that this process has sent.
    pub sent: Arc<AtomicU64>,
    /// Whether pages wait for their place in the common order.
    pub ordered: bool,
    /// Whether links for other shares that arrive here are sent on.
    pub forwards: bool,
    /// The number of pages that the share may fetch at first, and the keeper that asks for more; `None` if there is no
    /// limit.
    pub quota: Option<(u64, Keeper)>,
}

/// The time at which each group that is under way was sent.
#[derive(Debug, Default)]
struct UnderWay(Mutex<BTreeMap<u64, Instant>>);

impl UnderWay {
    fn left(&self, number: u64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(number, Instant::now());
    }

    /// The time for which a group was under way, in microseconds.
    fn came_back(&self, number: u64) -> u64 {
        let left = self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&number);
        left.map_or(0, |left| left.elapsed().as_micros() as u64)
    }
}

impl PeerExchange {
    /// Starts the readers. Returns the exchange, a sender of further events for the engine, and a receiver of the
    /// progress that the engine tells.
    pub fn start(start: Start) -> Result<(Self, Sender<Event>, watch::Receiver<PeerProgress>)> {
        let Start { cluster, runtime, board, known_shares, partitions, share, keys, .. } = start;
        let Start { deadline, life, places, sent, ordered, forwards, quota, .. } = start;
        let (events_in, events) = unbounded();
        let (groups, mut groups_out) = mpsc::unbounded_channel::<Encoded>();
        let (progress, progress_out) = watch::channel(PeerProgress::default());
        let gone = Arc::<AtomicBool>::default();

        let (publisher, over, failed) = (cluster.clone(), deadline.clone(), events_in.clone());
        runtime.spawn(async move {
            while let Some(group) = groups_out.recv().await {
                if let Err(error) = group.publish(&publisher, || over.is_over()).await {
                    // If this fails, the engine has stopped listening.
                    let _ = failed.send(Event::Lost(error.to_string()));
                    return;
                }
            }
        });

        let listener = Listener { events: events_in.clone(), gone: Arc::clone(&gone) };
        let (reader, to) = (cluster.clone(), listener.clone());
        runtime.spawn(async move {
            let (stream, subject) = (links::stream_of(&reader), links::subject_of(&reader, share));
            let event = |at, message: &Message| match links::decode(&message.payload) {
                Ok(links) => Event::Links { at, links },
                Err(error) => Event::Lost(error.to_string()),
            };
            tail::follow(&reader.context, &stream, &subject, places.0, &to, &reader.traffic.links_behind, event).await;
        });
        let quota = quota.map(|(pages, keeper)| {
            let (requests, requests_out) = mpsc::unbounded_channel();
            runtime.spawn(keeper.run(pages, requests_out, events_in.clone(), deadline.clone()));
            (pages, requests)
        });
        let under_way = Arc::new(UnderWay::default());
        let proposals = Arc::clone(&under_way);
        let (reader, own) = (cluster.clone(), life.clone());
        runtime.spawn(async move {
            let (stream, subject) = (pages::stream_of(&reader), pages::subject_of(&reader));
            let event = |at, message: &Message| match Group::decode(&message.payload) {
                Ok(group) if group.life == own => {
                    reader.traffic.groups.add(1);
                    reader.traffic.waited.add(under_way.came_back(group.number));
                    Event::Mine { at }
                }
                Ok(group) => Event::Theirs { at, pages: group.pages },
                Err(error) => Event::Lost(error.to_string()),
            };
            tail::follow(&reader.context, &stream, &subject, places.1, &listener, &reader.traffic.pages_behind, event)
                .await;
        });
        let exchange = Self {
            cluster,
            runtime,
            board,
            known_shares,
            partitions,
            keys,
            deadline,
            life,
            events,
            groups,
            progress,
            proposed: 0,
            proposals,
            sent,
            ordered,
            forwards,
            quota,
            gone,
        };
        Ok((exchange, events_in, progress_out))
    }
}

impl Peers for PeerExchange {
    fn events(&self) -> &Receiver<Event> {
        &self.events
    }

    fn propose(&mut self, group: &[&Proposed]) -> std::result::Result<(), PeersError> {
        self.proposals.left(self.proposed);
        let name = format!("{}.{}", self.life, self.proposed);
        // The pages stay here, so only their bytes go to the other thread.
        let group = Group { life: self.life.clone(), number: self.proposed, pages: group };
        let group = Encoded { name, bytes: group.encode() };
        self.proposed += 1;
        self.groups.send(group).map_err(|_| PeersError("pages cannot be proposed any more".into()))
    }

    fn send(&mut self, links: &[Outbound]) -> std::result::Result<(), PeersError> {
        let sent = links::send(
            &self.cluster,
            (&self.board, &self.known_shares),
            (&self.keys, self.partitions),
            links,
            (&self.life, &self.sent),
            &self.deadline,
        );
        self.runtime.wait_for(sent).map_err(|error| PeersError(error.to_string()))
    }

    fn pages(&self) -> Option<u64> {
        self.quota.as_ref().map(|(pages, _)| *pages)
    }

    fn ask_for_pages(&mut self, request: QuotaRequest) {
        if let Some((_, requests)) = &self.quota {
            // The task ends with the lease. The engine ends then, too.
            let _ = requests.send(request);
        }
    }

    fn tell(&mut self, progress: PeerProgress) {
        // If the process is ending, the receiver is gone.
        let _ = self.progress.send(progress);
    }

    fn is_ordered(&self) -> bool {
        self.ordered
    }

    fn forwards(&self) -> bool {
        self.forwards
    }
}

impl Drop for PeerExchange {
    fn drop(&mut self) {
        self.gone.store(true, Ordering::Relaxed);
    }
}
