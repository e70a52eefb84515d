//! URLs: the URL as written is what is fetched, its *key* is what is compared.

mod canonical;
mod hasher;
mod keyset;

pub use canonical::{Canonicalizer, UrlKey};
pub use hasher::KeyHasher;
pub use keyset::KeySet;
