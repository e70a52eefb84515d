//! URLs: the URL as written is what is fetched, its *key* is what is compared.

mod canonical;
mod escapes;
mod hasher;
mod id;
mod keymap;
mod keys;
mod resolve;
mod sessions;
mod sites;
mod tracking;

pub use canonical::{Canonicalizer, UrlKey};
pub use hasher::KeyHasher;
pub use id::{PageId, SiteId, UrlId, host, registrable, registrable_domain};
pub use keymap::{KeyMap, KeySet};
pub use keys::Keys;
pub use resolve::{compact, resolve};
pub use sites::Sites;
