//! CDXJ: one line a capture, by which replay tools find records. They expect the file to be sorted bytewise (`LC_ALL=C sort`):
//! who writes it in another order sorts it at the end.

use serde::Serialize;
use url::Url;

use super::Digest;
use super::date::timestamp14;

/// A capture in a WARC file.
#[derive(Clone, Copy, Debug)]
pub struct Capture<'a> {
    /// What was fetched.
    pub url: &'a Url,
    /// When, in milliseconds since the Unix epoch.
    pub date: u64,
    /// Media type of the payload; `warc/revisit` for a revisit record.
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
        mime: &'a str,
        status: String,
        digest: String,
        length: String,
        offset: String,
        filename: &'a str,
    }
    let entry = Entry {
        url: capture.url.as_str(),
        mime: capture.mime,
        status: capture.status.to_string(),
        digest: capture.digest.to_string(),
        length: capture.length.to_string(),
        offset: capture.offset.to_string(),
        filename: capture.file_name,
    };
    let entry = serde_json::to_string(&entry).expect("strings serialise");
    format!("{} {} {entry}\n", surt(capture.url), timestamp14(capture.date))
}

/// The sort-friendly form of a URL that web archives use as a key: `com,example,sub)/path?a=1&b=2`. Lower case, without
/// scheme, user, `www`, default port, fragment and a slash at the end of the path; parameters sorted.
pub fn surt(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    let mut key = match url.host() {
        Some(url::Host::Domain(_)) => {
            let labels: Vec<&str> = without_www(host).trim_end_matches('.').rsplit('.').collect();
            labels.join(",")
        }
        _ => host.to_owned(),
    };
    if let Some(port) = url.port() {
        key.push_str(&format!(":{port}"));
    }
    key.push(')');
    let path = url.path().strip_suffix('/').unwrap_or(url.path());
    key.push_str(if path.is_empty() { "/" } else { path });
    if let Some(query) = url.query().filter(|query| !query.is_empty()) {
        let mut parameters: Vec<&str> = query.split('&').collect();
        parameters.sort_unstable();
        key.push('?');
        key.push_str(&parameters.join("&"));
    }
    key.to_ascii_lowercase()
}

/// Without a first label `www`, or `www` with digits.
fn without_www(host: &str) -> &str {
    match host.split_once('.') {
        Some((first, rest))
            if rest.contains('.')
                && first.strip_prefix("www").is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_digit())) =>
        {
            rest
        }
        _ => host,
    }
}
