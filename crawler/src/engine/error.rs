//! The errors that end a crawl.

use dedup_stage::store;

use crate::access::{AccessError, LoginError};

/// The reason why a crawl cannot go on. Everything that was committed stays, and the next start continues from there.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The state failed.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// An output failed: most often a full disk.
    #[error("output: {0}")]
    Output(#[from] std::io::Error),
    /// A request could not be given its header fields.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// A login failed.
    #[error(transparent)]
    Login(#[from] LoginError),
    /// The processes that crawl with this one cannot be reached, or this one lost its hosts.
    #[error("the cluster: {0}")]
    Peers(#[from] PeersError),
    /// A thread ended unexpectedly.
    #[error("internal: {0}")]
    Internal(&'static str),
}

/// The reason why the other processes cannot be reached, or why this one must end.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct PeersError(pub String);

pub(super) type Result<T> = std::result::Result<T, EngineError>;
