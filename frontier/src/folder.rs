//! Folders, as rules and ladders use the word: the places in which a rule must prove itself.

use url::Url;
use xxhash_rust::xxh3::xxh3_64;

use crate::host::groups::label;
use crate::segment::is_id;

/// The *folder* of a URL, as a hash: its first path segment and the names of its
/// parameters. All segments that look like an identifier (of a session, for example) count as one segment. Otherwise
/// each session would be a folder of its own, and what is learned about one session would not help with the next.
pub fn folder(url: &Url) -> u64 {
    let label = label(url);
    match label.trim_start_matches('/').split_once('/') {
        Some((segment, rest)) if is_id(segment) => xxh3_64(format!("/*/{rest}").as_bytes()),
        _ => xxh3_64(label.as_bytes()),
    }
}
