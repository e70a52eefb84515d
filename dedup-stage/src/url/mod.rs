//! URLs: the URL as written is what is fetched, its *key* is what is compared.

mod canonical;
mod escapes;
mod hasher;
mod keyset;
mod resolve;
mod sessions;
mod tracking;

pub use canonical::{Canonicalizer, UrlKey};
pub use hasher::KeyHasher;
pub use keyset::KeySet;
pub use resolve::resolve;
