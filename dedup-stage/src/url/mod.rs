//! URLs. A URL is fetched as it is written, and compared by its *key*.

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

/// Removes the user name and the password from a URL (`http://me:secret@host/`), because no output may have them.
/// Returns whether there were any.
pub fn drop_user(url: &mut url::Url) -> bool {
    if url.username().is_empty() && url.password().is_none() {
        return false;
    }
    // Both fail only for URLs without a host, which have neither.
    url.set_username("").is_ok() && url.set_password(None).is_ok()
}
