//! The Hamming distance problem (Manku, Jain, Das Sarma 2007, section 3): find all stored 64-bit fingerprints within
//! distance k of a query, exactly.
//!
//! `README.md` in this folder says which file is for what. For the index of the crawler's judge, read `index` and
//! `design`. For index files, read [`frozen`] and [`search`]. For pairs and clusters of a corpus, read [`pairs`] and
//! [`cluster`].
//!
//! All files here use these words:
//!
//! - *fingerprint*: the 64-bit simhash of a page or document. *Stored* fingerprints are those that are searched.
//! - *query*: the fingerprint whose neighbours are wanted. A *probe* is one query to one index.
//! - *error*: a bit in which a stored fingerprint differs from the query. The *distance* of both is their number of
//!   errors.
//! - *table*: it stores all fingerprints, sorted into *buckets* by their *key*. The key is a part of the bits, for
//!   example one half.
//! - *flips*: the number of errors that a table allows in the key. If the key has more, the table does not find the
//!   fingerprint.
//! - *ball*: all keys within this number of flips of the key of a query, or the buckets of these keys. A query reads
//!   these buckets.
//! - *address*: 32 bits from which a table takes the number of the bucket. It begins with the key. The other 32 bits of
//!   the fingerprint are the *filter*. The *rest* is the part of the address that the number of the bucket does not
//!   tell. A bucket stores filter and rest of each *entry*.
//! - *candidate*: an entry whose filter is compared with that of the query.
//! - to *announce*: to start to load memory into the cache before it is read. While it is loaded, the program does
//!   something else.
//! - *row*: the position of a fingerprint in its file. A *value* is a fingerprint regardless of its rows.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod bucket;
mod calibration;
#[cfg(feature = "tools")]
pub mod cluster;
mod code;
mod cover;
mod design;
mod error;
mod file;
#[cfg(feature = "tools")]
mod filter;
mod flat;
pub mod frozen;
mod growth;
#[cfg(feature = "tools")]
pub mod health;
mod index;
mod kernel;
mod key;
mod level;
mod linear;
mod memory;
mod overflow;
mod pages;
#[cfg(feature = "tools")]
pub mod pairs;
mod permutation;
#[cfg(feature = "tools")]
pub mod plan;
mod recursion;
mod resumed;
mod runs;
#[cfg(feature = "tools")]
pub mod search;
mod segments;
mod table;
mod tables;
#[cfg(feature = "tools")]
mod values;

pub use calibration::Calibration;
pub use code::Code;
pub use design::Design;
pub use error::Error;
pub use file::Fingerprints;
pub(crate) use file::words;
pub use index::{Fill, Index, Probe};
pub use key::Key;
pub use recursion::Recursion;
pub use resumed::Resumed;
