//! The Hamming distance problem (Manku, Jain, Das Sarma 2007, section 3): is any stored 64-bit fingerprint within
//! distance k of this one?

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
