//! The board: a few records that all processes of a crawl read and change. A change names the revision that its writer
//! has read (compare-and-set). So if two writers change a record at the same time, the second change is refused.
//!
//! The board is a stream that keeps one message for each key. Every read asks the leader of the stream. So it sees
//! every change that was acknowledged before the read.

use std::time::{Duration, Instant};

use async_nats::jetstream::context::PublishErrorKind;
use async_nats::jetstream::stream::{Config, LastRawMessageErrorKind, RawMessageErrorKind, Stream};
use async_nats::jetstream::{self, ErrorCode, stream};
use async_nats::{HeaderMap, header};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::time::sleep;

use super::connect::BrokerConnection;
use super::{ANSWER, ClusterError, Result, broker, is_collision};

/// The board of a crawl.
#[derive(Clone, Debug)]
pub struct Board {
    context: jetstream::Context,
    stream: Stream<()>,
    prefix: String,
    /// The name of the crawl and its brokers, for the message that there is no such crawl.
    place: String,
}

/// A record, and what a change of it needs.
#[derive(Clone, Debug)]
pub struct Versioned<T> {
    /// The record.
    pub record: T,
    /// The revision of the record. A change must name it.
    pub revision: u64,
    /// The time of the last change, in seconds since 1970, by the clock of a broker.
    pub written: i64,
}

impl Board {
    /// Makes the stream of a new crawl.
    pub async fn create(cluster: &BrokerConnection, replicas: usize, say: &mut dyn FnMut(String)) -> Result<()> {
        let config = Config {
            name: cluster.stream("board"),
            subjects: vec![cluster.subject("board.>")],
            max_messages_per_subject: 1,
            ..cluster.config(replicas)
        };
        cluster.make_stream(config, say).await
    }

    /// Opens the board of a crawl. Does not check whether the crawl exists.
    pub async fn open(cluster: &BrokerConnection) -> Result<Self> {
        let context = cluster.context.clone();
        let stream = context.get_stream_no_info(cluster.stream("board")).await.map_err(broker("opening the board"))?;
        Ok(Self { context, stream, prefix: cluster.subject("board."), place: cluster.place() })
    }

    /// What this program does with the board, for messages.
    fn of(&self, what: &str) -> String {
        format!("{what} of the crawl {}", self.place)
    }

    /// The record under a key.
    pub async fn get<T: DeserializeOwned>(&self, key: &str) -> Result<Option<Versioned<T>>> {
        let subject = format!("{}{key}", self.prefix);
        let message = match self.stream.get_last_raw_message_by_subject(&subject).await {
            Ok(message) => message,
            Err(error) if is_nothing(error.kind()) => return Ok(None),
            Err(error) if is_no_stream(error.kind()) => {
                let what = format!("no crawl {}; `crawler cluster create` makes one", self.place);
                return Err(ClusterError::Missing(what));
            }
            Err(error) => return Err(broker(&self.of("reading the board"))(error)),
        };
        let record = serde_json::from_slice(&message.payload).map_err(|_| ClusterError::Damaged(key.to_owned()))?;
        let written = message.time.unix_timestamp();
        Ok(Some(Versioned { record, revision: message.sequence, written }))
    }

    /// The record under a key. It is an error if there is none.
    pub async fn need<T: DeserializeOwned>(&self, key: &str) -> Result<Versioned<T>> {
        let missing = || ClusterError::Usage(format!("the cluster has no {key}: was the crawl made to its end?"));
        self.get(key).await?.ok_or_else(missing)
    }

    /// Writes a record if the stored one still has the revision `before` (0: if there is none). Returns the new
    /// revision, or `None` if somebody else has written since, or was writing at the same time.
    ///
    /// # Errors
    ///
    /// If a broker fails. The record may then have been written or not.
    pub async fn put<T: Serialize>(&self, key: &str, record: &T, before: u64) -> Result<Option<u64>> {
        let mut headers = HeaderMap::new();
        headers.insert(header::NATS_EXPECTED_LAST_SUBJECT_SEQUENCE, before.to_string().as_str());
        match self.publish(key, record, headers).await {
            Ok(revision) => Ok(Some(revision)),
            Err(error) if error.kind() == PublishErrorKind::WrongLastSequence || is_collision(&error) => Ok(None),
            Err(error) => Err(broker(&self.of("writing to the board"))(error)),
        }
    }

    /// Writes a record, whatever the stored one is. Returns the new revision.
    pub async fn set<T: Serialize>(&self, key: &str, record: &T) -> Result<u64> {
        self.publish(key, record, HeaderMap::new()).await.map_err(broker(&self.of("writing to the board")))
    }

    async fn publish<T: Serialize>(
        &self,
        key: &str,
        record: &T,
        headers: HeaderMap,
    ) -> std::result::Result<u64, jetstream::context::PublishError> {
        let subject = format!("{}{key}", self.prefix);
        let json = bytes::Bytes::from(serde_json::to_vec(record).expect("a record is JSON"));
        let begin = Instant::now();
        loop {
            let sent = self.context.publish_with_headers(subject.clone(), headers.clone(), json.clone()).await;
            let acked = match sent {
                Ok(ack) => ack.await,
                Err(error) => Err(error),
            };
            match acked {
                Ok(ack) => return Ok(ack.sequence),
                // While the brokers choose a leader of the stream, no broker accepts the message.
                Err(error) if error.kind() == PublishErrorKind::StreamNotFound && begin.elapsed() < ANSWER => {
                    sleep(Duration::from_millis(50)).await;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Reads a record, changes it and writes it, and begins again if somebody else has written in between. `change`
    /// returns false if nothing needs to be written. Returns the record that is stored in the end.
    pub async fn change<T, F>(&self, key: &str, mut change: F) -> Result<T>
    where
        T: Serialize + DeserializeOwned + Default,
        F: FnMut(&mut T) -> Result<bool>,
    {
        loop {
            let (mut record, revision) = match self.get(key).await? {
                Some(Versioned { record, revision, .. }) => (record, revision),
                None => (T::default(), 0),
            };
            if !change(&mut record)? || self.put(key, &record, revision).await?.is_some() {
                return Ok(record);
            }
        }
    }
}

/// Whether an error only means that there is no message.
pub(super) fn is_nothing(kind: LastRawMessageErrorKind) -> bool {
    matches!(kind, RawMessageErrorKind::NoMessageFound)
}

/// Whether there is no such stream.
fn is_no_stream(kind: LastRawMessageErrorKind) -> bool {
    matches!(kind, RawMessageErrorKind::JetStream(error) if error.error_code() == ErrorCode::STREAM_NOT_FOUND)
}

/// Settings that all streams of a crawl share.
impl BrokerConnection {
    pub(super) fn config(&self, replicas: usize) -> stream::Config {
        Config {
            num_replicas: replicas,
            storage: stream::StorageType::File,
            discard: stream::DiscardPolicy::New,
            duplicate_window: std::time::Duration::from_secs(600),
            ..Config::default()
        }
    }
}
