//! A crawl on many machines: workers that share the hosts of one crawl, over a replicated log (NATS JetStream).
//!
//! # How the work is shared
//!
//! A *partition* is a range of hashes of registrable domains. A *share* is a set of partitions. A worker has one share,
//! and it alone fetches the pages of these hosts. So each host has one queue and one politeness clock. A worker is an
//! ordinary crawl ([`crate::engine`]) with a directory of its own. The workers talk through four streams:
//!
//! - the *board*: settings, seeds, secret, shares, leases, and the progress of each worker. It has one message for each
//!   key, changed by compare-and-set;
//! - *links* to hosts of other shares, acknowledged before the commit that follows from them;
//! - *pages*: what all judges have to know of every page. The order of the messages in this stream is the *common
//!   order*;
//! - *commits*: every commit of every share, for workers that take a share over (`commits`).
//!
//! # What is promised
//!
//! - No link is lost: the state of a worker says that a link was sent only after the log has it. A link that arrives
//!   twice changes nothing.
//! - The verdicts are those of one machine: a worker sends each of its pages to the stream of pages. It judges the page
//!   only when the page has come back from there. By then it has judged or followed all pages before it in the common
//!   order ([`dedup_stage::judge::Judge::follow`]). So the judges of all workers know the same.
//! - Two workers never ask one host: a partition belongs to one share (`shares`; `moves` says how it gets to another),
//!   a share belongs to one directory, and a worker sends requests only while its *lease* on the share was renewed
//!   lately ([`lease`]).
//! - The crawl does not depend on any worker. If the lease of a worker has run out, a waiting worker takes its place,
//!   and makes its disk from the commits. What the dead worker fetched after its last commit is fetched again, at the
//!   earliest one full delay later for each host.

mod ask;
mod asking;
mod block_on;
mod board;
mod commits;
mod connect;
mod exchange;
mod fetch;
mod health;
mod holder;
mod joining;
mod known_shares;
pub mod lease;
mod links;
mod logged;
pub mod loopback;
mod moves;
pub mod operate;
mod owner;
mod pack;
mod pages;
mod patience;
mod quota;
mod record;
mod run;
mod shares;
mod snapshots;
mod status;
mod tail;
mod task;
mod total;
mod traffic;
mod trouble;
mod watch;
mod worker;

use std::time::Duration;

use async_nats::jetstream::context::PublishError;
use async_nats::jetstream::{Error, ErrorCode};

pub use ask::{Answers, Question};
pub use connect::{Broker, BrokerArgs, BrokerConnection};
pub use joining::WorkerShare;
pub use owner::{Asked, Owners};
pub use record::WantedState;
pub use shares::Stay;
pub use status::{CrawlStatus, LeaseState, OfWorker, status};
pub use task::{Begun, Snapshots, Without, WorkEnded, WorkerError, WorkerTask};
pub use total::Total;
pub use worker::work;

/// The time that the brokers have for an answer before they are asked again.
const ANSWER: Duration = Duration::from_secs(5);

/// The reasons why a cluster cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// The arguments make no sense, or the cluster may not be used.
    #[error("{0}")]
    Usage(String),
    /// The brokers do not answer, or they answer with an error.
    #[error("{what}: {error}")]
    Broker {
        /// The request to the brokers.
        what: String,
        /// The error.
        error: String,
    },
    /// The brokers do not let this program in.
    #[error("{what}: {error}")]
    Refused {
        /// The request to the brokers.
        what: String,
        /// The error.
        error: String,
    },
    /// The brokers have no such crawl.
    #[error("{0}")]
    Missing(String),
    /// A message of the cluster cannot be read.
    #[error("{0} in the cluster cannot be read; is it of another version of this program?")]
    Damaged(String),
    /// Another worker has the share of this worker.
    #[error("{0}")]
    Lost(String),
    /// A worker says nothing, though its hosts are needed.
    #[error("{0}")]
    Silent(String),
    /// A thread or a file fails.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// The result of a call to the brokers.
pub type Result<T> = std::result::Result<T, ClusterError>;

/// Whether the brokers refused a message only because another message that names the same subject was on its way. If
/// so, nothing was written, and the message may be sent again.
fn is_collision(error: &PublishError) -> bool {
    let source = std::error::Error::source(error);
    let code = source.and_then(|source| source.downcast_ref::<Error>()).map(Error::error_code);
    code == Some(ErrorCode::STREAM_WRONG_LAST_SEQUENCE_CONSTANT)
}

/// Makes the error of a request to the brokers that failed. Says it in plain English.
fn broker<E: std::fmt::Display>(what: &str) -> impl FnOnce(E) -> ClusterError {
    move |error| ClusterError::Broker { what: what.to_owned(), error: trouble::in_words(&error.to_string()) }
}
