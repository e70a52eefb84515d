//! The Hamming distance problem (Manku, Jain, Das Sarma 2007, section 3): find all stored 64-bit fingerprints within
//! distance k of a query, exactly.
//!
//! `README.md` in this folder says which file is for what. For the index of the crawler's judge, read `index` and
//! `design`. For index files, read [`frozen`] and [`search`]. For pairs and clusters of a corpus, read [`pairs`] and
//! [`cluster`].

#[cfg(target_arch = "x86_64")]
mod avx2;
mod bucket;
mod calibration;
pub mod cluster;
mod code;
mod cover;
mod design;
mod error;
mod file;
mod filter;
mod flat;
pub mod frozen;
mod growth;
pub mod health;
mod index;
mod kernel;
mod key;
mod linear;
mod memory;
mod overflow;
mod pages;
pub mod pairs;
mod permutation;
pub mod plan;
mod recursion;
mod resumed;
mod runs;
pub mod search;
mod segments;
mod table;
mod tables;
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
