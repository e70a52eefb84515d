//! Corpora: the signatures of very many documents, as files that batch jobs and crawls read.
//!
//! [`build`] reads documents ([`input`]) on all cores, signs them and writes a signature file ([`SignatureWriter`]),
//! which [`Signatures`] maps. [`Known`] answers whether a page stands in such a file; [`join`] finds all
//! near-duplicates within one file or between two; [`cluster`] groups them and chooses which to keep. No step holds
//! more in memory than it was allowed, and each says what it could not read.

#[cfg(feature = "tools")]
pub mod build;
#[cfg(feature = "tools")]
pub mod cluster;
mod corpora;
mod crowd;
mod file;
mod format;
#[cfg(feature = "tools")]
pub mod input;
#[cfg(feature = "tools")]
pub mod join;
mod known;
mod lower_bound;
#[cfg(feature = "tools")]
mod merge;
pub mod output;
mod record;
#[cfg(feature = "tools")]
mod sign;
#[cfg(feature = "arrow")]
pub mod tables;
#[cfg(test)]
mod tests;
mod writer;

pub use crate::hamming::Error;
pub use corpora::{Corpora, Unknown};
pub use file::Signatures;
pub use format::{DIGEST, SPLIT_SHIFT};
pub use known::{CorpusMatch, Finder, Known};
#[cfg(feature = "tools")]
pub use merge::merge;
pub use record::{NO_DATE, Record, Row};
#[cfg(feature = "tools")]
pub use sign::{Document, Signing};
pub use writer::{FileShape, Output, SignatureWriter};
