//! The error of arguments that make no sense.

/// The arguments of the program make no sense.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Usage(pub(crate) String);
