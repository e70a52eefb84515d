//! Makes snapshots, in a thread of its own. The engine only says when one is due. After a snapshot, the messages that
//! are not needed any more are dropped from the streams.

use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, bounded};
use dedup_stage::store::{Reader, Session, Space};
use tokio::runtime::Handle;

use super::super::block_on::Wait;
use super::super::board::Board;
use super::super::commits::{self, LOG_AT};
use super::super::connect::BrokerConnection;
use super::super::record::keys;
use super::super::shares::{Assignment, Stay};
use super::super::{Result, broker, links, pages};
use super::{Entry, Folder, Manifest, Places, Segment, SnapshotsOnBoard, kept};
use crate::crawl::DirIdentity;
use crate::engine;
use crate::series::Series;
use crate::sink::Lengths;
use crate::spaces;

/// The number of records after which the writer looks whether the engine has ended.
const LOOK: usize = 1 << 12;

/// Counts the commits of an engine, and says when a snapshot is due.
#[derive(Debug)]
pub struct Tap {
    /// The number of commits between two snapshots.
    every: u32,
    since: u32,
    reader: Reader,
    out: Sender<Taken>,
    /// Set when the engine has ended and the state is about to be closed.
    gone: Arc<AtomicBool>,
}

/// The state as of one commit, for a snapshot.
#[derive(Debug)]
pub struct Taken {
    session: Session,
    lengths: Lengths,
    gone: Arc<AtomicBool>,
}

impl Tap {
    /// Makes a tap for an engine. `reader` reads the engine's state. A snapshot is due every `every` commits.
    pub fn new(every: u32, reader: Reader, out: Sender<Taken>) -> Self {
        Self { every, since: 0, reader, out, gone: Arc::default() }
    }

    /// Records that a commit is on the disk, and that the outputs have these lengths. If a snapshot is due and none is
    /// being made, this begins one.
    pub fn committed(&mut self, lengths: &Lengths) {
        self.since += 1;
        if self.since < self.every {
            return;
        }
        let session = Session::new(Box::new(self.reader.snapshot()));
        let taken = Taken { session, lengths: lengths.clone(), gone: Arc::clone(&self.gone) };
        if self.out.try_send(taken).is_ok() {
            self.since = 0;
        }
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        self.gone.store(true, Ordering::Relaxed);
    }
}

/// Makes the snapshots of a share.
#[derive(Debug)]
pub struct Maker {
    /// The brokers.
    pub cluster: BrokerConnection,
    /// The board.
    pub board: Board,
    /// The runtime of calls to the brokers.
    pub runtime: Handle,
    /// The folder of the snapshots.
    pub folder: Folder,
    /// The crawl directory.
    pub dir: PathBuf,
    /// The share.
    pub share: usize,
    /// The name of this process.
    pub life: String,
    /// The last snapshot, if it is undamaged.
    pub last: Option<Manifest>,
}

impl Maker {
    /// Starts the thread. It makes a snapshot of each state that it is sent, one at a time, until all senders are
    /// dropped.
    pub fn start(mut self) -> io::Result<(Sender<Taken>, JoinHandle<()>)> {
        let (out, taken): (_, Receiver<Taken>) = bounded(0);
        let thread = std::thread::Builder::new().name("snapshots".into()).spawn(move || {
            for taken in taken {
                let gone = Arc::clone(&taken.gone);
                match self.make(taken) {
                    Err(_) if gone.load(Ordering::Relaxed) => {}
                    Err(error) => tracing::warn!("no snapshot was made: {error}"),
                    Ok(()) => {}
                }
            }
        })?;
        Ok((out, thread))
    }

    fn make(&mut self, taken: Taken) -> Result<()> {
        let Taken { session, lengths, gone } = taken;
        let places = places(&session).map_err(io::Error::other)?;
        let name = |what: &str| Folder::name(places.commits, &self.life, what);
        let state = self.folder.write(&name("state"), |to| write_records(&session, &gone, to))?;
        drop(session);
        let mut outputs = self.last.as_ref().map(|last| last.outputs.clone()).unwrap_or_default();
        for (file, to) in lengths {
            let from = self.last.as_ref().map_or(0, |last| last.length(&file));
            if to > from {
                let part = self.folder.write(&name(&format!("{}.segment", file.replace('/', "."))), |out| {
                    let output = Series::open(&self.dir, &file)?;
                    let copied = io::copy(&mut Going { from: output.bytes(from, to), gone: &gone }, out)?;
                    if copied == to - from { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
                })?;
                outputs.entry(file).or_default().push(Segment { from, part, to });
            }
        }
        let manifest = Manifest { state, outputs };
        let json = serde_json::to_vec(&manifest).map_err(io::Error::from)?;
        let part = self.folder.write(&name("manifest"), |to| to.write_all(&json))?;
        self.last = Some(manifest);
        let entry = Entry { manifest: part, places };
        let runtime = self.runtime.clone();
        runtime.wait_for(self.record(entry))
    }

    /// Puts a snapshot on the board, and cuts the streams.
    async fn record(&self, entry: Entry) -> Result<()> {
        let add = |kept: &mut SnapshotsOnBoard| Ok(kept.add(entry.clone()));
        let floor = self.board.change(&keys::snapshots(self.share), add).await?.floor();
        cut(
            &self.cluster,
            &commits::stream_of(&self.cluster),
            &commits::subject_of(&self.cluster, self.share),
            floor.commits,
        )
        .await?;
        cut(
            &self.cluster,
            &links::stream_of(&self.cluster),
            &links::subject_of(&self.cluster, self.share),
            floor.links,
        )
        .await?;
        // All shares need the stream of pages.
        let mut pages = floor.pages;
        // A share that joins is on this list before it reads the records of the judge from a snapshot.
        let assignment = self.board.need::<Assignment>(keys::ASSIGNMENT).await?.record;
        for (share, _) in assignment.shares.iter().enumerate().filter(|(_, share)| share.stay != Stay::Left) {
            pages = pages.min(kept(&self.board, share).await?.floor().pages);
        }
        cut(&self.cluster, &pages::stream_of(&self.cluster), &pages::subject_of(&self.cluster), pages).await?;
        Ok(self.folder.clear_before(floor.commits)?)
    }
}

/// A reader that fails when the engine has ended, so that the thread gives up its snapshot.
struct Going<'a, R> {
    from: R,
    gone: &'a AtomicBool,
}

impl<R: Read> Read for Going<'_, R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.gone.load(Ordering::Relaxed) { Err(ended()) } else { self.from.read(bytes) }
    }
}

fn ended() -> io::Error {
    io::Error::other("the engine has ended")
}

/// Drops the messages of a subject up to and including a place.
async fn cut(cluster: &BrokerConnection, stream: &str, subject: &str, last: u64) -> Result<()> {
    if last > 0 {
        let stream = cluster.context.get_stream_no_info(stream).await.map_err(broker("cutting a stream"))?;
        stream.purge().filter(subject).sequence(last + 1).await.map_err(broker("cutting a stream"))?;
    }
    Ok(())
}

/// The places in the streams that a state has reached.
fn places(session: &Session) -> dedup_stage::store::Result<Places> {
    let (links, pages) = engine::places(session)?;
    let commits = session.get(Space::META, LOG_AT)?;
    let commits = commits.and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_be_bytes);
    Ok(Places { commits, links, pages })
}

/// Writes all records except that of the worker's identity, which belongs to the directory. A record is the number of
/// the space, the lengths of key and value, the key and the value.
fn write_records(session: &Session, gone: &AtomicBool, to: &mut dyn Write) -> io::Result<()> {
    let mut written = Ok(());
    let mut count = 0;
    for space in spaces::of_crawl().iter() {
        let scanned = session.scan(space, &[], &[], &mut |key, value| {
            count += 1;
            if count % LOOK == 0 && gone.load(Ordering::Relaxed) {
                written = Err(ended());
            } else if space != Space::META || key != DirIdentity::KEY {
                written = write_record(space, key, value, to);
            }
            if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        scanned.map_err(io::Error::other)?;
        std::mem::replace(&mut written, Ok(()))?;
    }
    Ok(())
}

fn write_record(space: Space, key: &[u8], value: &[u8], to: &mut dyn Write) -> io::Result<()> {
    to.write_all(&[space.number() as u8])?;
    to.write_all(&(key.len() as u32).to_le_bytes())?;
    to.write_all(&(value.len() as u32).to_le_bytes())?;
    to.write_all(key)?;
    to.write_all(value)
}
