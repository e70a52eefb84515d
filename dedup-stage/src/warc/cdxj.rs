//! CDXJ: one line a capture, by which replay tools find records. They expect the file to be sorted bytewise (`LC_ALL=C sort`):
//! who writes it in another order sorts it at the end.

use serde::Serialize;
use url::Url;

use super::Digest;
use super::date::timestamp14;
pub use super::surt::surt;

/// A capture in a WARC file.
#[derive(Clone, Copy, Debug)]
pub struct Capture<'a> {
    /// What was fetched.
    pub url: &'a Url,
    /// When, in milliseconds since the Unix epoch.
    pub date: u64,
    /// `Content-Type` of the payload, of which the media type is written; nothing where it is empty. `warc/revisit` for a
    /// revisit record.
    pub mime: &'a str,
    /// HTTP status.
    pub status: u16,
    /// Digest of the payload.
    pub digest: Digest,
    /// Size of the gzip member.
    pub length: u64,
    /// Offset of the gzip member.
    pub offset: u64,
    /// Name of the WARC file.
    pub file_name: &'a str,
}

/// One line, with its line end: SURT, 14-digit date, JSON with the numbers as strings, as replay tools write them.
pub fn line(capture: &Capture<'_>) -> String {
    #[derive(Serialize)]
    struct Entry<'a> {
        url: &'a str,
        #[serde(skip_serializing_if = "str::is_empty")]
        mime: &'a str,
        status: String,
        digest: String,
        length: String,
        offset: String,
        filename: &'a str,
    }
    let entry = Entry {
        url: capture.url.as_str(),
        mime: media_type(capture.mime),
        status: capture.status.to_string(),
        digest: capture.digest.to_string(),
        length: capture.length.to_string(),
        offset: capture.offset.to_string(),
        filename: capture.file_name,
    };
    let entry = serde_json::to_string(&entry).expect("strings serialise");
    format!("{} {} {entry}\n", surt(capture.url), timestamp14(capture.date))
}

/// `text/html` of `text/html; charset=utf-8`, in the case in which it came.
fn media_type(content_type: &str) -> &str {
    content_type.trim().split(|c: char| c == ';' || c.is_whitespace()).next().unwrap_or_default()
}
