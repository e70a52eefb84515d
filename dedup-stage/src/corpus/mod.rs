//! Corpora: the signatures of very many documents, as files that batch jobs and crawls read.
//!
//! [`build`] reads documents ([`input`]) on all cores, signs them and writes a signature file ([`SignatureWriter`]),
//! which [`Signatures`] maps. [`Known`] answers whether a page stands in such a file; [`join`] finds all
//! near-duplicates within one file or between two; [`cluster`] groups them and chooses which to keep. No step holds
//! more in memory than it was allowed, and each says what it could not read.

pub mod build;
pub mod cluster;
mod corpora;
mod file;
mod format;
pub mod input;
pub mod join;
mod known;
mod lower_bound;
mod merge;
pub mod output;
mod record;
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
pub use merge::merge;
pub use record::{NO_DATE, Record, Row};
pub use sign::{Document, Signing};
pub use writer::{Output, Shape, SignatureWriter};
