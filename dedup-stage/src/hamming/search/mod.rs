//! Batch search: all pairs of a query and a stored fingerprint within a distance.

mod indexed;
mod pieces;
mod stream;
#[cfg(test)]
mod tests;

pub use indexed::{search_frozen, values_near};
pub use stream::search;

/// A query and a stored fingerprint within the distance, by their rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hit {
    /// Row of the query.
    pub query: u64,
    /// Row of the stored fingerprint.
    pub stored: u64,
    /// Hamming distance.
    pub distance: u32,
}
