//! The log of commits: every commit of a share as a message, acknowledged before it is applied to the disk of its worker. So
//! the log is the truth, and a disk is a copy of its beginning, which any worker can make again.
//!
//! Who takes a share first writes to its *fence*, a subject in the same stream. Every commit names the place of the fence
//! that its writer has written, and the brokers refuse one that names an older fence. So a worker that has lost its share
//! without knowing it can change nothing, however long it was frozen.
//!
//! What the judge keeps is not in the log: it follows from the stream of pages.

use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use async_nats::jetstream::context::PublishErrorKind;
use async_nats::jetstream::stream::Config;
use async_nats::{HeaderMap, header};
use dedup_stage::store::{Batch, Change, Space, codec};
use serde::{Deserialize, Serialize};
use tokio::runtime::Handle;
use tokio::time::sleep;

use super::connect::BrokerConnection;
use super::lease::Deadline;
use super::{ANSWER, ClusterError, Result, broker, is_collision, tail};
use crate::series::Series;
use crate::spaces;

/// The place in the log of the last commit that a disk has, in [`Space::META`].
pub const LOG_AT: &[u8] = b"log-at";
/// A commit is cut into messages of so many bytes: brokers take 1 MiB unless told otherwise.
const PART: usize = 768 << 10;
/// Bytes before each part: its number, and how many there are.
const HEAD: usize = 8;
/// The header that names the subject whose last place is expected.
const FENCE_SUBJECT: &str = "Nats-Expected-Last-Subject-Sequence-Subject";

/// What one commit changes.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Commit {
    /// Number of the space, key, new value.
    changes: Vec<(u8, Vec<u8>, Option<Vec<u8>>)>,
    /// What was appended to outputs: file, where, bytes.
    pub grown: Vec<(String, u64, Vec<u8>)>,
}

/// The name of the stream.
pub fn stream_of(cluster: &BrokerConnection) -> String {
    cluster.stream("commits")
}

/// The subject of the commits of a share.
pub fn subject_of(cluster: &BrokerConnection, share: usize) -> String {
    cluster.subject(&format!("commits.done.{share}"))
}

/// The subject of what is given away under this name ([`super::moves`]).
pub fn gift_of(cluster: &BrokerConnection, name: &str) -> String {
    cluster.subject(&format!("commits.gift.{name}"))
}

fn fence_of(cluster: &BrokerConnection, share: usize) -> String {
    cluster.subject(&format!("commits.fence.{share}"))
}

/// Makes the stream of a new crawl.
pub async fn create(cluster: &BrokerConnection, replicas: usize) -> Result<()> {
    let subjects = vec![cluster.subject("commits.>")];
    let config = Config { name: stream_of(cluster), subjects, ..cluster.config(replicas) };
    cluster.make_stream(config, "making the stream of commits").await
}

/// The place of the last message with a subject; 0 where there is none.
pub async fn last(cluster: &BrokerConnection, subject: &str) -> Result<u64> {
    let stream = cluster.context.get_stream_no_info(stream_of(cluster)).await;
    tail::last(&stream.map_err(broker("reading the commits"))?, subject).await
}

/// Shuts everybody else out of a share. Returns the place of the fence.
///
/// # Errors
///
/// [`ClusterError::Lost`] where somebody else does so at the same time.
pub async fn fence(cluster: &BrokerConnection, share: usize, life: &str) -> Result<u64> {
    let subject = fence_of(cluster, share);
    let before = last(cluster, &subject).await?;
    let begin = Instant::now();
    loop {
        let mut headers = HeaderMap::new();
        headers.insert(header::NATS_EXPECTED_LAST_SUBJECT_SEQUENCE, before.to_string().as_str());
        let published = cluster.context.publish_with_headers(subject.clone(), headers, life.to_owned().into()).await;
        let acked = match published {
            Ok(ack) => ack.await,
            Err(error) => Err(error),
        };
        match acked {
            Ok(ack) => return Ok(ack.sequence),
            Err(error) if error.kind() == PublishErrorKind::WrongLastSequence => return Err(fenced()),
            // A commit of the worker that had the share was on its way, or the brokers choose a leader.
            Err(error)
                if begin.elapsed() < ANSWER
                    && (is_collision(&error) || error.kind() == PublishErrorKind::StreamNotFound) =>
            {
                sleep(Duration::from_millis(20)).await;
            }
            Err(error) => return Err(broker("writing the fence")(error)),
        }
    }
}

fn fenced() -> ClusterError {
    ClusterError::Lost("fenced: another worker has taken these hosts".into())
}

impl Commit {
    /// What a batch changes, without what follows from the stream of pages, and what is this directory's own. Where hosts are
    /// given away (`gives`), what is still said of their pages is in no stream.
    pub fn of(batch: &Batch, own: &[&[u8]], gives: bool) -> Self {
        let follows =
            |space: Space| dedup_stage::spaces::JUDGE.contains(&space) || (space == spaces::ELSEWHERE && !gives);
        let is_own = |change: &Change| change.space == Space::META && own.contains(&change.key.as_slice());
        let logged = batch.iter().filter(|change| !follows(change.space) && !is_own(change));
        let changes = logged.map(|change| (change.space.number() as u8, change.key.clone(), change.value.clone()));
        Self { changes: changes.collect(), grown: Vec::new() }
    }

    /// The batch for a disk that has everything before.
    pub fn batch(self) -> Result<Batch> {
        let all = spaces::of_crawl();
        let change = |(number, key, value)| {
            let space = all.iter().find(|space| space.number() == usize::from(number));
            let space = space.ok_or_else(|| ClusterError::Damaged("a commit".into()))?;
            Ok(Change { space, key, value })
        };
        self.changes.into_iter().map(change).collect()
    }

    /// The messages.
    fn encode(&self) -> std::io::Result<Vec<Vec<u8>>> {
        let bytes = zstd::encode_all(&codec::encode(self)[..], 1)?;
        let count = bytes.len().div_ceil(PART) as u32;
        let part =
            |(number, part): (usize, &[u8])| [&(number as u32).to_le_bytes()[..], &count.to_le_bytes(), part].concat();
        Ok(bytes.chunks(PART).enumerate().map(part).collect())
    }
}

/// Puts commits together from their messages.
#[derive(Debug, Default)]
pub struct Parts {
    bytes: Vec<u8>,
    next: u32,
}

impl Parts {
    /// One more message; the commit, if it was the last of one. What a writer left unfinished is dropped.
    pub fn add(&mut self, message: &[u8]) -> Result<Option<Commit>> {
        let damaged = || ClusterError::Damaged("a commit".into());
        let (head, part) = message.split_at_checked(HEAD).ok_or_else(damaged)?;
        let number = |at: usize| head[at..at + 4].try_into().map(u32::from_le_bytes).unwrap_or_default();
        let (place, count) = (number(0), number(4));
        if place == 0 {
            *self = Self::default();
        }
        if place != self.next {
            return Err(damaged());
        }
        self.bytes.extend_from_slice(part);
        self.next += 1;
        if self.next < count {
            return Ok(None);
        }
        let bytes = zstd::decode_all(&std::mem::take(self).bytes[..]).map_err(|_| damaged())?;
        codec::decode(&bytes, "a commit").map(Some).map_err(|_| damaged())
    }
}

/// Writes the commits of a share.
#[derive(Clone, Debug)]
pub struct CommitWriter {
    /// The brokers.
    pub cluster: BrokerConnection,
    /// Where the tasks run.
    pub runtime: Handle,
    /// The share.
    pub share: usize,
    /// The place of the fence; `None` in tests that do without.
    pub fence: Option<u64>,
    /// The name of this process.
    pub life: String,
    /// Commits of this process so far.
    pub number: Arc<AtomicU64>,
    /// Says when the share is somebody else's.
    pub deadline: Deadline,
}

impl CommitWriter {
    /// Writes a commit, and returns its place once it is acknowledged.
    ///
    /// # Errors
    ///
    /// [`ClusterError::Lost`] where another worker has the share.
    pub fn append(&self, commit: &Commit) -> Result<u64> {
        Ok(*self.append_to(&subject_of(&self.cluster, self.share), commit)?.end())
    }

    /// The same with another subject. Returns the places of its first and its last message.
    pub fn append_to(&self, subject: &str, commit: &Commit) -> Result<RangeInclusive<u64>> {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        let mut places = Vec::new();
        for (part, payload) in commit.encode()?.into_iter().enumerate() {
            let name = format!("commit.{}.{number}.{part}", self.life);
            places.push(self.runtime.block_on(self.publish(subject, &name, payload.into()))?);
        }
        let (first, last) = (places.first().copied(), places.last().copied());
        Ok(first.unwrap_or_default()..=last.unwrap_or_default())
    }

    /// One message at a time: the brokers take one that names a fence only while no other is on its way.
    async fn publish(&self, subject: &str, name: &str, payload: bytes::Bytes) -> Result<u64> {
        let mut pause = Duration::from_millis(20);
        loop {
            let mut headers = HeaderMap::new();
            headers.insert(header::NATS_MESSAGE_ID, name);
            if let Some(fence) = self.fence {
                headers.insert(header::NATS_EXPECTED_LAST_SUBJECT_SEQUENCE, fence.to_string().as_str());
                headers.insert(FENCE_SUBJECT, fence_of(&self.cluster, self.share).as_str());
            }
            let sent = self.cluster.context.publish_with_headers(subject.to_owned(), headers, payload.clone()).await;
            let acked = match sent {
                Ok(ack) => ack.await,
                Err(error) => Err(error),
            };
            match acked {
                Ok(ack) => {
                    self.cluster.traffic.commits.add(payload.len() as u64);
                    return Ok(ack.sequence);
                }
                Err(error) if error.kind() == PublishErrorKind::WrongLastSequence => return Err(fenced()),
                Err(_) if self.deadline.is_over() => return Err(fenced()),
                Err(error) => tracing::warn!("a commit was not acknowledged: {error}"),
            }
            self.cluster.traffic.retries.add(1);
            sleep(pause).await;
            pause = (pause * 2).min(Duration::from_secs(1));
        }
    }
}

/// Bytes of an output from one place to another.
pub fn grown(dir: &Path, file: &str, from: u64, to: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = vec![0; (to - from) as usize];
    Series::open(dir, file)?.read_exact_at(from, &mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_comes_back_from_its_parts_and_a_part_alone_is_none() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut bytes = |count: usize| (0..count).map(|_| random.u8(..)).collect::<Vec<u8>>();
        let change = |space, key: &[u8]| Change { space, key: key.into(), value: Some(vec![1]) };
        let judge = dedup_stage::spaces::JUDGE[0];
        let batch = vec![
            change(spaces::PAGES, b"a"),
            change(judge, b"b"),
            change(spaces::ELSEWHERE, b"c"),
            change(Space::META, LOG_AT),
            Change { space: Space::META, key: b"d".into(), value: None },
        ];
        let mut commit = Commit::of(&batch, &[LOG_AT], false);
        commit.grown.push(("pages.jsonl".into(), 7, bytes(2 * PART + 100)));
        let messages = commit.encode().unwrap();
        assert_eq!(messages.len(), 3);
        let mut parts = Parts::default();
        // A writer that died in the middle.
        assert_eq!(parts.add(&messages[0]).unwrap(), None);
        assert_eq!(parts.add(&messages[1]).unwrap(), None);
        let back: Vec<Option<Commit>> = messages.iter().map(|message| parts.add(message).unwrap()).collect();
        assert_eq!(back[..2], [None, None]);
        assert_eq!(back[2].as_ref(), Some(&commit));
        assert!(parts.add(&messages[1]).is_err(), "a part without those before");
        assert_eq!(commit.batch().unwrap(), [batch[0].clone(), batch[4].clone()]);
        let given = Commit::of(&batch, &[LOG_AT], true).batch().unwrap();
        assert_eq!(given, [batch[0].clone(), batch[2].clone(), batch[4].clone()]);
    }
}
