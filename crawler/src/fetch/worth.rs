//! How much of a body is worth fetching. The type of the answer decides, or the first bytes if the type says little.

use dedup_stage::page::Kind;
use frontier::JobKind;
use http::header::{self, HeaderMap};

use super::file_digest;
use crate::feeds;

/// How much of a body is worth fetching.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BodyWorth {
    /// All of it.
    Whole,
    /// Its first bytes, which show whether the rest is.
    Head,
    /// Its first bytes, which tell it from other files.
    File,
    /// Nothing.
    Nothing,
}

impl BodyWorth {
    /// How much is worth fetching if no archive keeps it. robots.txt and sitemaps are always read, whatever content
    /// type their servers give.
    pub fn of(kind: JobKind, status: u16, headers: &HeaderMap) -> Self {
        let content_type = content_type(headers);
        if kind != JobKind::Page || Kind::of(content_type).is_fetched() || feeds::is_read(content_type) {
            BodyWorth::Whole
        } else if (200..300).contains(&status) && feeds::is_vague(content_type) {
            BodyWorth::Head
        } else if (200..300).contains(&status) && file_digest::is_file(content_type) {
            BodyWorth::File
        } else {
            BodyWorth::Nothing
        }
    }

    /// How much is worth fetching once these bytes of it are there. `is_whole` says that there are no others.
    pub fn after(self, body: &[u8], is_whole: bool) -> Self {
        match self {
            BodyWorth::Head => match feeds::is_recognised(body, is_whole) {
                Some(true) => BodyWorth::Whole,
                Some(false) => BodyWorth::Nothing,
                None => BodyWorth::Head,
            },
            BodyWorth::File if is_whole || body.len() >= file_digest::HEAD => BodyWorth::Nothing,
            BodyWorth::File | BodyWorth::Whole | BodyWorth::Nothing => self,
        }
    }
}

/// The type of an answer. A header that is no text says nothing.
pub(super) fn content_type(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::CONTENT_TYPE)?.to_str().ok()
}
