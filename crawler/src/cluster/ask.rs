//! Asking a worker that runs what its directory tells: why a URL was fetched, or an output. The question goes to the subject of
//! the share; the answer comes back in parts, and each part waits until the one before was taken.
//!
//! Whoever may talk to the brokers may ask. Nothing is changed by an answer, and none of it is kept by the brokers.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_nats::{Client, HeaderMap, Message, Request, StatusCode};
use dedup_stage::store::{Reader, Session};
use futures_util::StreamExt;
use serde::{Deserialize, Serialize};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::connect::BrokerConnection;
use super::lease::Deadline;
use super::{ClusterError, Result, broker};
use crate::crawl::CrawlDir;

/// Bytes of a part: brokers take 1 MiB.
const PART: usize = 256 << 10;
/// Questions that a worker answers at a time.
const MOST: usize = 4;
/// An asker that does not take a part for so long has gone, and so has a worker that sends none.
const PATIENCE: Duration = Duration::from_secs(60);
/// An engine is begun again within so long, most often.
const BEGIN: Duration = Duration::from_secs(20);
/// The header that says what a part is.
const KIND: &str = "Crawler-Part";
/// The last part.
const END: &str = "end";
/// The last part: why there is no answer.
const FAILED: &str = "failed";

/// What a worker is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// Why a URL was fetched, held back or never seen.
    Why {
        /// The URL.
        url: String,
    },
    /// What the directory holds, as JSON Lines.
    Export {
        /// The word of `--what`.
        what: String,
        /// Every copy and every visit.
        all: bool,
    },
}

/// Answers questions about a crawl directory.
pub trait Answers: Send + Sync {
    /// Writes the answer.
    fn answer(&self, dir: &mut CrawlDir, question: &Question, out: &mut dyn Write) -> anyhow::Result<()>;
}

/// The state of the worker, while an engine has it open.
#[derive(Clone, Debug, Default)]
pub struct Open(Arc<Mutex<Option<Reader>>>);

impl Open {
    /// The engine has opened the state, or (`None`) is about to close it. Answers that are under way end soon then.
    pub fn set(&self, reader: Option<Reader>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = reader;
    }

    fn get(&self) -> Option<Reader> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The same; an engine that takes hosts, say, is begun again soon.
    fn wait(&self) -> Option<Reader> {
        let begin = Instant::now();
        while self.is_closed() && begin.elapsed() < BEGIN {
            std::thread::sleep(Duration::from_millis(20));
        }
        self.get()
    }

    fn is_closed(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }
}

/// What answers.
#[derive(Clone)]
pub struct Responder {
    /// The brokers.
    pub cluster: BrokerConnection,
    /// The share that is asked after.
    pub share: usize,
    /// The directory.
    pub dir: PathBuf,
    /// Its state.
    pub open: Open,
    /// Only who holds the share answers for it.
    pub deadline: Deadline,
    /// What knows the answers.
    pub answers: Arc<dyn Answers>,
}

fn subject_of(cluster: &BrokerConnection, share: usize) -> String {
    cluster.subject(&format!("ask.{share}"))
}

impl Responder {
    /// Answers questions for as long as the process lives.
    pub async fn serve(self) {
        let subject = subject_of(&self.cluster, self.share);
        let mut questions = match self.cluster.client.subscribe(subject).await {
            Ok(questions) => questions,
            Err(error) => return tracing::warn!("nobody can ask this worker: {error}"),
        };
        let room = Arc::new(Semaphore::new(MOST));
        while let Some(Message { reply, payload, .. }) = questions.next().await {
            let (Some(to), true) = (reply, self.deadline.holds()) else { continue };
            let parts =
                Parts { client: self.cluster.client.clone(), to, runtime: Handle::current(), open: self.open.clone() };
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
            let reader = self.open.wait().ok_or_else(|| anyhow::anyhow!("the worker begins or ends; ask again"))?;
            let mut dir = CrawlDir::running(&self.dir, Session::new(Box::new(reader.snapshot())))?;
            drop(reader);
            let mut out = io::BufWriter::with_capacity(PART, parts);
            self.answers.answer(&mut dir, &question, &mut out)?;
            Ok(out.flush()?)
        };
        let last = match answer(&mut parts) {
            Ok(()) => parts.send(END, Vec::new()),
            Err(error) => parts.send(FAILED, format!("{error:#}").into_bytes()),
        };
        if let Err(error) = last {
            tracing::debug!("who asked this worker has gone: {error}");
        }
    }
}

/// An answer on its way.
struct Parts {
    client: Client,
    to: async_nats::Subject,
    runtime: Handle,
    open: Open,
}

impl Parts {
    /// Sends a part, and waits until it was taken.
    fn send(&self, kind: &str, part: Vec<u8>) -> io::Result<()> {
        let mut headers = HeaderMap::new();
        headers.insert(KIND, kind);
        let request = Request::new().headers(headers).payload(part.into()).timeout(Some(PATIENCE));
        let taken = self.runtime.block_on(self.client.send_request(self.to.clone(), request));
        taken.map(|_| ()).map_err(io::Error::other)
    }
}

impl Write for Parts {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.open.is_closed() {
            return Err(io::Error::other("the worker ends"));
        }
        let part = &bytes[..bytes.len().min(PART)];
        self.send("more", part.to_vec())?;
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Asks the worker that has a share, and writes its answer. False where no worker has it now; then nothing was written.
///
/// # Errors
///
/// Where the worker cannot answer, or ends amid its answer.
pub async fn ask(cluster: &BrokerConnection, share: usize, question: &Question, out: &mut dyn Write) -> Result<bool> {
    let (client, what) = (&cluster.client, "asking a worker");
    let inbox = client.new_inbox();
    let mut parts = client.subscribe(inbox.clone()).await.map_err(broker(what))?;
    let json = serde_json::to_vec(question).map_err(io::Error::from)?;
    client.publish_with_reply(subject_of(cluster, share), inbox, json.into()).await.map_err(broker(what))?;
    client.flush().await.map_err(broker(what))?;
    loop {
        let part = timeout(PATIENCE, parts.next()).await.ok().flatten();
        let Some(Message { status, headers, payload, reply, .. }) = part else {
            return Err(broker(what)("it stopped answering"));
        };
        if status == Some(StatusCode::NO_RESPONDERS) {
            return Ok(false);
        }
        let kind = headers.as_ref().and_then(|headers| headers.get(KIND)).map(|kind| kind.as_str().to_owned());
        if kind.as_deref() == Some(FAILED) {
            return Err(broker(what)(String::from_utf8_lossy(&payload)));
        }
        out.write_all(&payload)?;
        if let Some(reply) = reply {
            client.publish(reply, bytes::Bytes::new()).await.map_err(broker(what))?;
            client.flush().await.map_err(broker(what))?;
        }
        if kind.as_deref() == Some(END) {
            return Ok(true);
        }
    }
}

/// Why nobody answers for a share, and where to ask.
pub fn nobody(share: usize, host: &str, dir: &str, command: &str) -> ClusterError {
    let share = share + 1;
    ClusterError::Usage(format!(
        "no worker has share {share} now. Its directory is {dir} on {host}; if nobody else has taken the share, ask there: {command}"
    ))
}
