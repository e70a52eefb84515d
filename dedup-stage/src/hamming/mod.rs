//! The Hamming distance problem (Manku, Jain, Das Sarma 2007, section 3): is any stored 64-bit fingerprint within
//! distance k of this one?

mod bucket;
mod code;
mod index;
mod kernel;
mod linear;
mod memory;
mod overflow;
mod segments;
mod table;

pub use code::Code;
pub use index::Index;
