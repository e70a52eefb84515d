//! Questions to a running worker, for which its directory is needed: why a URL was fetched, or an export. An asker
//! sends the question to the subject of the share. The worker sends the answer in parts, and sends each part only after
//! the asker has taken the one before. Before it begins, it says that it has heard the question: an asker that hears
//! nothing knows soon that the worker may be gone ([`super::asking`]).
//!
//! Everybody who may use the brokers may ask. An answer changes nothing, and the brokers keep no part of it.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_nats::{Client, HeaderMap, Message, Request};
use dedup_stage::store::{Reader, Session};
use futures_util::StreamExt;
use serde::{Deserialize, Serialize};
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::block_on::Wait;
use super::connect::BrokerConnection;
use super::lease::Deadline;
use super::trouble::in_words;
use crate::crawl::CrawlDir;

/// The most bytes in a part. By default, brokers take messages of up to 1 MiB.
const PART: usize = 256 << 10;
/// The number of questions that a worker answers at a time.
const MOST: usize = 4;
/// The longest wait for the next step of the other side. An asker that takes no part for this time is gone, and so is a
/// worker that sends none.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);
/// The longest wait for a state that is closed. An engine that ends to move hosts mostly begins again within this time.
const BEGIN: Duration = Duration::from_secs(20);
/// The header that holds the kind of a part.
pub(super) const KIND: &str = "Crawler-Part";
/// The kind of the last part of an answer.
pub(super) const END: &str = "end";
/// The kind of a part that says why there is no answer. It is the last part.
pub(super) const FAILED: &str = "failed";
/// The kind of a part without content: the worker has heard the question, and the answer follows. Programs that do not
/// know this kind take it for an empty part.
pub(super) const HEARD: &str = "heard";
/// The kind of a part that another part follows.
const MORE: &str = "more";

/// A question to a worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// The reason why a URL was fetched, held back or never seen.
    Why {
        /// The URL.
        url: String,
    },
    /// The contents of the directory, as JSON Lines.
    Export {
        /// The value of `--what`.
        what: String,
        /// Whether copies and earlier visits are exported, too.
        all: bool,
    },
}

/// Something that answers questions about a crawl directory.
pub trait Answers: Send + Sync {
    /// Writes the answer to `out`.
    fn answer(&self, dir: &mut CrawlDir, question: &Question, out: &mut dyn Write) -> anyhow::Result<()>;
}

/// The state of the worker while an engine has it open, and the permits of the answers that read it.
#[derive(Clone, Debug)]
pub struct OpenState {
    reader: watch::Sender<Option<Reader>>,
    /// A permit for each answer that reads the state.
    reading: Arc<Semaphore>,
}

impl Default for OpenState {
    fn default() -> Self {
        Self { reader: watch::Sender::new(None), reading: Arc::new(Semaphore::new(MOST)) }
    }
}

impl OpenState {
    /// Makes the state available: questions are answered from now on.
    pub fn open(&self, reader: Reader) {
        self.reader.send_replace(Some(reader));
    }

    /// Prepares for the end of the engine, which is about to close the state. Answers that are under way break off,
    /// even if their asker takes no part. Returns when no answer reads the state any more: until then, the state cannot
    /// be opened again.
    pub async fn close(&self) {
        self.reader.send_replace(None);
        // This cannot fail: the semaphore is never closed.
        let _ = self.reading.acquire_many(MOST as u32).await;
    }

    /// The state, and the permit to read it. Waits if no engine runs: one that ended to move hosts begins again soon.
    async fn reader(&self) -> Option<(Reader, OwnedSemaphorePermit)> {
        let mut opened = self.reader.subscribe();
        let begin = Instant::now();
        loop {
            let left = BEGIN.saturating_sub(begin.elapsed());
            timeout(left, opened.wait_for(Option::is_some)).await.ok()?.ok()?;
            let permit = Arc::clone(&self.reading).acquire_owned().await.ok()?;
            // The state may have been closed while this waited for the permit.
            if let Some(reader) = self.reader.borrow().clone() {
                return Some((reader, permit));
            }
        }
    }

    /// Waits until the state is about to be closed.
    async fn closed(&self) {
        // `self` keeps the sender, so waiting cannot fail.
        let _ = self.reader.subscribe().wait_for(Option::is_none).await;
    }
}

/// The part of a worker that answers questions.
#[derive(Clone)]
pub struct Responder {
    /// The brokers.
    pub cluster: BrokerConnection,
    /// The share about which it answers questions.
    pub share: usize,
    /// The directory of the worker.
    pub dir: PathBuf,
    /// The state in that directory.
    pub open: OpenState,
    /// The deadline of the lease: only the holder of the share answers for it.
    pub deadline: Deadline,
    /// The code that makes the answers.
    pub answers: Arc<dyn Answers>,
}

pub(super) fn subject_of(cluster: &BrokerConnection, share: usize) -> String {
    cluster.subject(&format!("ask.{share}"))
}

impl Responder {
    /// Answers questions for as long as the process lives.
    pub async fn serve(self) {
        let subject = subject_of(&self.cluster, self.share);
        let mut questions = match self.cluster.client.subscribe(subject).await {
            Ok(questions) => questions,
            Err(error) => return tracing::warn!("nobody can ask this worker: {}", in_words(&error.to_string())),
        };
        let room = Arc::new(Semaphore::new(MOST));
        while let Some(Message { reply, payload, .. }) = questions.next().await {
            let (Some(to), true) = (reply, self.deadline.holds()) else { continue };
            let parts =
                Parts { client: self.cluster.client.clone(), to, runtime: Handle::current(), open: self.open.clone() };
            if let Err(error) = parts.hear().await {
                tracing::debug!("a question was not answered: {error}");
                continue;
            }
            let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
            let responder = self.clone();
            spawn_blocking(move || {
                let _permit = permit;
                responder.answer(&payload, parts);
            });
        }
    }

    fn answer(&self, question: &[u8], mut parts: Parts) {
        let answer = |parts: &mut Parts| -> anyhow::Result<()> {
            let question: Question = serde_json::from_slice(question)?;
            let reader = parts.runtime.wait_for(self.open.reader());
            let (reader, _permit) = reader.ok_or_else(|| anyhow::anyhow!("the worker begins or ends; ask again"))?;
            let mut dir = CrawlDir::running(&self.dir, Session::new(Box::new(reader.snapshot())))?;
            drop(reader);
            let mut out = io::BufWriter::with_capacity(PART, parts);
            self.answers.answer(&mut dir, &question, &mut out)?;
            Ok(out.flush()?)
        };
        let last = match answer(&mut parts) {
            Ok(()) => parts.send(END, Vec::new()),
            Err(error) => parts.fail(&error),
        };
        if let Err(error) = last {
            tracing::debug!("who asked this worker has gone: {error}");
        }
    }
}

/// An answer that is being sent.
struct Parts {
    client: Client,
    to: async_nats::Subject,
    runtime: Handle,
    open: OpenState,
}

impl Parts {
    /// Sends a part, and waits until the asker has taken it.
    fn send(&self, kind: &str, part: Vec<u8>) -> io::Result<()> {
        self.runtime.wait_for(self.hand(kind, part))
    }

    async fn hand(&self, kind: &str, part: Vec<u8>) -> io::Result<()> {
        let request = Request::new().headers(headers(kind)).payload(part.into()).timeout(Some(PATIENCE));
        self.client.send_request(self.to.clone(), request).await.map(drop).map_err(io::Error::other)
    }

    /// Says that the question has come.
    async fn hear(&self) -> io::Result<()> {
        let heard = self.client.publish_with_headers(self.to.clone(), headers(HEARD), Default::default());
        heard.await.map_err(io::Error::other)
    }

    /// Sends the reason why there is no answer. Does not wait for the asker.
    fn fail(&self, why: &anyhow::Error) -> io::Result<()> {
        let why = format!("{why:#}").into_bytes().into();
        let sent = self.client.publish_with_headers(self.to.clone(), headers(FAILED), why);
        self.runtime.wait_for(sent).map_err(io::Error::other)
    }
}

fn headers(kind: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(KIND, kind);
    headers
}

impl Write for Parts {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let part = &bytes[..bytes.len().min(PART)];
        // An asker that takes no part must not keep the state open.
        let taken = self.runtime.wait_for(async {
            tokio::select! {
                biased;
                () = self.open.closed() => Err(io::Error::other("the worker begins again or ends; ask again")),
                taken = self.hand(MORE, part.to_vec()) => taken,
            }
        });
        taken.map(|()| part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
