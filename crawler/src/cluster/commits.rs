//! The log of commits. Every commit of a share is a message, which is acknowledged before the worker applies the commit
//! to its disk. So the log is the truth. A disk is a copy of a beginning of the log, and any worker can make it again.
//!
//! A worker that takes a share first writes to the *fence* of the share, a subject in the same stream. Every commit
//! names the place of the message that its writer has written to the fence. The brokers refuse a commit that names an
//! older place. So a worker that has lost its share without knowing it can change nothing, however long it was frozen.
//!
//! The records of the judge are not in the log: they follow from the stream of pages.

use std::borrow::Cow;
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

use super::block_on::Wait;
use super::connect::BrokerConnection;
use super::lease::Deadline;
use super::trouble::in_words;
use super::{ANSWER, ClusterError, Result, broker, is_collision, pack, tail};
use crate::series::Series;
use crate::spaces;

/// The key, in [`Space::META`], under which the disk keeps the place in the log of its last commit.
pub const LOG_AT: &[u8] = b"log-at";
/// The most bytes of a commit in one message. By default, brokers take messages of up to 1 MiB.
const PART: usize = 768 << 10;
/// The bytes before each part: the number of the part, and the number of all parts.
const HEAD: usize = 8;
/// The header that names the subject whose last place the broker is to compare.
const FENCE_SUBJECT: &str = "Nats-Expected-Last-Subject-Sequence-Subject";

/// Bytes that are borrowed when a message is written. (Serde takes other sequences of bytes for sequences of numbers,
/// and handles each number on its own.)
pub type Bytes<'a> = Cow<'a, serde_bytes::Bytes>;

/// The changes of one commit. Those of a batch are borrowed, because they are only written.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Commit<'a> {
    /// The changes of the state: the number of the space, the key, the new value.
    changes: Vec<(u8, Bytes<'a>, Option<Bytes<'a>>)>,
    /// The bytes that were appended to outputs: the file, the place in it, the bytes.
    pub grown: Vec<(String, u64, Bytes<'a>)>,
}

/// The name of the stream.
pub fn stream_of(cluster: &BrokerConnection) -> String {
    cluster.stream("commits")
}

/// The subject of the commits of a share.
pub fn subject_of(cluster: &BrokerConnection, share: usize) -> String {
    cluster.subject(&format!("commits.done.{share}"))
}

/// The subject of a gift of hosts with this name ([`super::moves`]).
pub fn gift_of(cluster: &BrokerConnection, name: &str) -> String {
    cluster.subject(&format!("commits.gift.{name}"))
}

fn fence_of(cluster: &BrokerConnection, share: usize) -> String {
    cluster.subject(&format!("commits.fence.{share}"))
}

/// Makes the stream of a new crawl.
pub async fn create(cluster: &BrokerConnection, replicas: usize, say: &mut dyn FnMut(String)) -> Result<()> {
    let subjects = vec![cluster.subject("commits.>")];
    let config = Config { name: stream_of(cluster), subjects, ..cluster.config(replicas) };
    cluster.make_stream(config, say).await
}

/// The place of the last message with a subject; 0 where there is none.
pub async fn last(cluster: &BrokerConnection, subject: &str) -> Result<u64> {
    let what = cluster.at(&format!("reading {}", stream_of(cluster)));
    let stream = cluster.context.get_stream_no_info(stream_of(cluster)).await;
    tail::last(&stream.map_err(broker(&what))?, subject, &what).await
}

/// Writes to the fence of a share, which shuts out all other processes. Returns the place of the message on the fence.
/// If this fails because the brokers do, it may be called again.
///
/// # Errors
///
/// [`ClusterError::Lost`] if somebody else does the same at the same time.
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
            Err(error) if error.kind() == PublishErrorKind::WrongLastSequence => {
                // The answer to an earlier try may have been lost.
                return own_fence(cluster, &subject, life).await?.ok_or_else(fenced);
            }
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

/// The place of the last message on a fence, if this process has written it.
async fn own_fence(cluster: &BrokerConnection, subject: &str, life: &str) -> Result<Option<u64>> {
    let what = "reading the fence";
    let stream = cluster.context.get_stream_no_info(stream_of(cluster)).await.map_err(broker(what))?;
    let last = stream.get_last_raw_message_by_subject(subject).await.map_err(broker(what))?;
    Ok((last.payload == life.as_bytes()).then_some(last.sequence))
}

fn borrowed(bytes: &[u8]) -> Bytes<'_> {
    Cow::Borrowed(serde_bytes::Bytes::new(bytes))
}

fn owned(bytes: Bytes<'_>) -> Vec<u8> {
    bytes.into_owned().into_vec()
}

fn fenced() -> ClusterError {
    ClusterError::Lost("fenced: another worker has taken these hosts".into())
}

impl<'a> Commit<'a> {
    /// The changes of a batch that belong into the log. Records that follow from the stream of pages do not, nor do
    /// those that concern only this directory (`own`). If hosts are given away (`gives`), the notes about pages
    /// elsewhere are logged, too: no stream has them.
    pub fn of(batch: &'a Batch, own: &[&[u8]], gives: bool) -> Self {
        let follows =
            |space: Space| dedup_stage::spaces::JUDGE.contains(&space) || (space == spaces::ELSEWHERE && !gives);
        let is_own = |change: &Change| change.space == Space::META && own.contains(&change.key.as_slice());
        let logged = batch.iter().filter(|change| !follows(change.space) && !is_own(change));
        let changes = logged
            .map(|Change { space, key, value }| (space.number() as u8, borrowed(key), value.as_deref().map(borrowed)));
        Self { changes: changes.collect(), grown: Vec::new() }
    }

    /// The commit as a batch, for a disk that has all commits before it.
    pub fn batch(self) -> Result<Batch> {
        let all = spaces::of_crawl();
        let change = |(number, key, value): (u8, Bytes<'_>, Option<Bytes<'_>>)| {
            let space = all.iter().find(|space| space.number() == usize::from(number));
            let space = space.ok_or_else(|| ClusterError::Damaged("a commit".into()))?;
            Ok(Change { space, key: owned(key), value: value.map(owned) })
        };
        self.changes.into_iter().map(change).collect()
    }

    /// The messages of this commit.
    fn encode(&self) -> std::io::Result<Vec<Vec<u8>>> {
        let bytes = pack::pack(&codec::encode(self))?;
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
    /// Adds one more message. Returns the commit if the message was its last one. Drops what a writer left unfinished.
    pub fn add(&mut self, message: &[u8]) -> Result<Option<Commit<'static>>> {
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
        let bytes = pack::unpack(&std::mem::take(self).bytes).map_err(|_| damaged())?;
        codec::decode(&bytes, "a commit").map(Some).map_err(|_| damaged())
    }
}

/// Writes the commits of a share.
#[derive(Clone, Debug)]
pub struct CommitWriter {
    /// The brokers.
    pub cluster: BrokerConnection,
    /// The runtime that sends the messages.
    pub runtime: Handle,
    /// The share.
    pub share: usize,
    /// The place of this worker's message on the fence; `None` in tests that need no fence.
    pub fence: Option<u64>,
    /// The name of this process.
    pub life: String,
    /// The number of commits that this process has written.
    pub number: Arc<AtomicU64>,
    /// The deadline of the lease. It tells when somebody else has the share.
    pub deadline: Deadline,
}

impl CommitWriter {
    /// Writes a commit. Returns its place after the brokers have acknowledged it.
    ///
    /// # Errors
    ///
    /// [`ClusterError::Lost`] if another worker has the share.
    pub fn append(&self, commit: &Commit<'_>) -> Result<u64> {
        Ok(*self.append_to(&subject_of(&self.cluster, self.share), commit)?.end())
    }

    /// Writes a commit under another subject. Returns the places of its first and last messages.
    pub fn append_to(&self, subject: &str, commit: &Commit<'_>) -> Result<RangeInclusive<u64>> {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        let mut places = Vec::new();
        for (part, payload) in commit.encode()?.into_iter().enumerate() {
            let name = format!("commit.{}.{number}.{part}", self.life);
            places.push(self.runtime.wait_for(self.publish(subject, &name, payload.into()))?);
        }
        let (first, last) = (places.first().copied(), places.last().copied());
        Ok(first.unwrap_or_default()..=last.unwrap_or_default())
    }

    /// Sends one message, and waits for its acknowledgement: the brokers take no message that names a fence while
    /// another one is on its way.
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
                Err(error) => {
                    tracing::warn!("a commit was not acknowledged: {}; sending it again", in_words(&error.to_string()))
                }
            }
            self.cluster.traffic.retries.add(1);
            sleep(pause).await;
            pause = (pause * 2).min(Duration::from_secs(1));
        }
    }
}

/// The bytes of an output from one place to another.
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
        commit.grown.push(("pages.jsonl".into(), 7, Cow::Owned(bytes(2 * PART + 100).into())));
        let messages = commit.encode().unwrap();
        assert_eq!(messages.len(), 3);
        let mut parts = Parts::default();
        // A writer that died in the middle.
        assert_eq!(parts.add(&messages[0]).unwrap(), None);
        assert_eq!(parts.add(&messages[1]).unwrap(), None);
        let back: Vec<Option<Commit<'_>>> = messages.iter().map(|message| parts.add(message).unwrap()).collect();
        assert_eq!(back[..2], [None, None]);
        assert_eq!(back[2].as_ref(), Some(&commit));
        assert!(parts.add(&messages[1]).is_err(), "a part without those before");
        assert_eq!(commit.batch().unwrap(), [batch[0].clone(), batch[4].clone()]);
        let given = Commit::of(&batch, &[LOG_AT], true).batch().unwrap();
        assert_eq!(given, [batch[0].clone(), batch[2].clone(), batch[4].clone()]);
    }
}
