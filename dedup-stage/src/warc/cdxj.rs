//! CDXJ: an index with one line for each capture, by which replay tools find records. They expect the lines to be
//! sorted bytewise (`LC_ALL=C sort`). A program that writes them in another order sorts the file at the end.

use serde::Serialize;
use url::Url;

use super::Digest;
use super::date::timestamp14;
pub use super::surt::surt;

/// A capture in a WARC file.
#[derive(Clone, Copy, Debug)]
pub struct Capture<'a> {
    /// The URL that was fetched.
    pub url: &'a Url,
    /// The time of the capture, in milliseconds since the Unix epoch.
    pub date: u64,
    /// The `Content-Type` of the payload. Only its media type is written, and nothing if it is empty. `warc/revisit`
    /// for a revisit record.
    pub mime: &'a str,
    /// The HTTP status.
    pub status: u16,
    /// The digest of the payload.
    pub digest: Digest,
    /// The size of the gzip member.
    pub length: u64,
    /// The offset of the gzip member.
    pub offset: u64,
    /// The name of the WARC file.
    pub file_name: &'a str,
}

/// One line, with its line end: SURT, date of 14 digits, and JSON. The numbers in JSON are strings, as replay tools
/// write them.
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

/// The media type of a content type: `text/html` of `text/html; charset=utf-8`. Its case is kept.
fn media_type(content_type: &str) -> &str {
    content_type.trim().split(|c: char| c == ';' || c.is_whitespace()).next().unwrap_or_default()
}
