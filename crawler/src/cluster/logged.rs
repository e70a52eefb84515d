//! The disk of a worker. It follows the log. A commit is in the log before it is on the disk. A disk that lacks commits
//! of the log is brought up to date before the worker begins.

use std::ops::Range;
use std::path::{Path, PathBuf};

use async_nats::jetstream::consumer::DeliverPolicy;
use async_nats::jetstream::consumer::pull::{Ordered, OrderedConfig};
use dedup_stage::store::{self, Batch, Change, Disk, Space, Store, Visitor};
use futures_util::StreamExt;

use super::commits::{self, Bytes, Commit, CommitWriter, LOG_AT, Parts};
use super::connect::BrokerConnection;
use super::snapshots::Tap;
use super::{ClusterError, Result, broker};
use crate::crawl::DirIdentity;
use crate::engine::PAGES_AT;
use crate::series;
use crate::sink::Lengths;

/// The keys that are not in the log: the disk's place in the log, the judge's place in the stream of pages, and the
/// worker to which the directory belongs.
const OWN: &[&[u8]] = &[LOG_AT, PAGES_AT, DirIdentity::KEY];
/// The key of the lengths of outputs.
const OUTPUTS: &[u8] = b"outputs";

/// A disk that follows the log.
pub struct Logged {
    disk: Disk,
    writer: CommitWriter,
    dir: PathBuf,
    lengths: Lengths,
    /// Told of every commit; `None` if no snapshots are made.
    tap: Option<Tap>,
    /// Whether hosts are given away: see [`Commit::of`].
    gives: bool,
}

impl Logged {
    /// Makes a store of a disk that has all commits of the log.
    pub fn new(disk: Disk, writer: CommitWriter, dir: &Path, tap: Option<Tap>) -> store::Result<Self> {
        let lengths = disk.get(Space::META, OUTPUTS)?.map(|json| lengths(&json)).transpose()?.unwrap_or_default();
        Ok(Self { disk, writer, dir: dir.to_owned(), lengths, tap, gives: false })
    }

    /// The same store, for the time in which hosts move and nothing is crawled.
    pub fn for_moves(disk: Disk, writer: CommitWriter, dir: &Path) -> store::Result<Self> {
        Ok(Self { gives: true, ..Self::new(disk, writer, dir, None)? })
    }

    /// The lengths of outputs, if the batch records them.
    fn recorded(batch: &Batch) -> store::Result<Option<Lengths>> {
        let said = batch.iter().rfind(|change| change.space == Space::META && change.key == OUTPUTS);
        said.and_then(|change| change.value.as_ref()).map(|json| lengths(json)).transpose()
    }

    /// The bytes that were appended to outputs since the last commit.
    fn grown(&self, now: &Lengths) -> store::Result<Vec<(String, u64, Bytes<'static>)>> {
        let mut grown = Vec::new();
        for (file, to) in now {
            let from = self.lengths.get(file).copied().unwrap_or(0);
            if *to > from {
                grown.push((file.clone(), from, Bytes::Owned(commits::grown(&self.dir, file, from, *to)?.into())));
            }
        }
        Ok(grown)
    }
}

fn lengths(json: &[u8]) -> store::Result<Lengths> {
    serde_json::from_slice(json).map_err(|_| store::Error::Damaged("the lengths of outputs cannot be read".into()))
}

impl Store for Logged {
    fn get(&self, space: Space, key: &[u8]) -> store::Result<Option<Vec<u8>>> {
        self.disk.get(space, key)
    }

    fn scan(&self, space: Space, from: &[u8], to: &[u8], visit: &mut Visitor<'_>) -> store::Result<()> {
        self.disk.scan(space, from, to, visit)
    }

    fn commit(&mut self, batch: &Batch) -> store::Result<()> {
        let mut commit = Commit::of(batch, OWN, self.gives);
        let recorded = Self::recorded(batch)?;
        if let Some(now) = &recorded {
            commit.grown = self.grown(now)?;
        }
        let place = self.writer.append(&commit).map_err(|error| std::io::Error::other(error.to_string()))?;
        // The lengths are set only now: if a commit fails, it is made again, with all the bytes that were appended to
        // outputs.
        self.lengths = recorded.unwrap_or(std::mem::take(&mut self.lengths));
        self.disk.commit_all(batch.iter().chain([&at(place)]))?;
        if let Some(tap) = &mut self.tap {
            tap.committed(&self.lengths);
        }
        Ok(())
    }
}

fn at(place: u64) -> Change {
    Change { space: Space::META, key: LOG_AT.into(), value: Some(place.to_be_bytes().into()) }
}

/// The place in the log of the last commit that is on a disk.
pub fn place_of(disk: &Disk) -> store::Result<u64> {
    let bytes = disk.get(Space::META, LOG_AT)?;
    Ok(bytes.and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_be_bytes))
}

/// Brings a disk up to date with the log of its share, including the outputs. In the meantime, nobody may write to the
/// log except through the fence of the caller. Returns the number of commits that were missing.
pub async fn replay(cluster: &BrokerConnection, share: usize, disk: &mut Disk, dir: &Path) -> Result<u64> {
    let subject = commits::subject_of(cluster, share);
    let last = commits::last(cluster, &subject).await?;
    let after = place_of(disk).map_err(failed)?;
    let (mut commits, mut count) = (Commits::new(cluster, subject, after..last), 0);
    while let Some((commit, place)) = commits.next().await? {
        apply(commit, place, disk, dir)?;
        count += 1;
    }
    Ok(count)
}

/// The commits under a subject whose messages lie after the first place of a range, up to the last.
pub struct Commits {
    cluster: BrokerConnection,
    subject: String,
    places: Range<u64>,
    parts: Parts,
    messages: Option<Ordered>,
}

impl Commits {
    /// Makes a reader. It reads nothing yet.
    pub fn new(cluster: &BrokerConnection, subject: String, places: Range<u64>) -> Self {
        Self { cluster: cluster.clone(), subject, places, parts: Parts::default(), messages: None }
    }

    /// The next commit, with the place of its last message.
    pub async fn next(&mut self) -> Result<Option<(Commit<'static>, u64)>> {
        let what = "reading the commits";
        while self.places.start < self.places.end {
            let messages = match &mut self.messages {
                Some(messages) => messages,
                None => self.messages.insert(self.cluster.read_commits(&self.subject, self.places.start + 1).await?),
            };
            let Some(message) = messages.next().await else {
                self.messages = None;
                continue;
            };
            let message = message.map_err(broker(what))?;
            self.places.start = message.info().map_err(broker(what))?.stream_sequence;
            if let Some(commit) = self.parts.add(&message.payload)? {
                return Ok(Some((commit, self.places.start)));
            }
        }
        Ok(None)
    }
}

impl BrokerConnection {
    /// The messages of a subject of the stream of commits, beginning at a place.
    async fn read_commits(&self, subject: &str, start_sequence: u64) -> Result<Ordered> {
        let what = "reading the commits";
        let from = OrderedConfig {
            filter_subject: subject.to_owned(),
            deliver_policy: DeliverPolicy::ByStartSequence { start_sequence },
            ..OrderedConfig::default()
        };
        let stream = self.context.get_stream_no_info(commits::stream_of(self)).await.map_err(broker(what))?;
        let consumer = stream.create_consumer(from).await.map_err(broker(what))?;
        consumer.messages().await.map_err(broker(what))
    }
}

fn failed(error: store::Error) -> ClusterError {
    ClusterError::Io(std::io::Error::other(error))
}

/// Applies a commit. The bytes of the outputs go to the disk before the changes of the state, as they did when the
/// commit was made.
fn apply(mut commit: Commit<'_>, place: u64, disk: &mut Disk, dir: &Path) -> Result<()> {
    for (file, from, bytes) in std::mem::take(&mut commit.grown) {
        let path = dir.join(&file);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        // The bytes go into the newest part, whatever parts the writer of the commit had.
        let mut output = series::SeriesWriter::open(dir, &file, from, None)?;
        output.append(&[&bytes])?;
        output.sync()?;
    }
    let mut batch = commit.batch()?;
    batch.push(at(place));
    disk.commit(&batch).map_err(failed)
}
