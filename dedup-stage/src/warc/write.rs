//! Makes records as finished gzip members, one member for each record. These are pure functions, made to run on worker
//! threads.

use std::io::Write as _;
use std::net::IpAddr;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::RecordId;
use super::date::rfc3339;
use super::digest::{Digest, sha256_of};
use super::fields::{Fields, display, line};

/// A response as it was received.
#[derive(Clone, Copy, Debug)]
pub struct ResponseRecord<'a> {
    /// The id of the record.
    pub id: RecordId,
    /// The URL that was asked for.
    pub url: &'a str,
    /// The time of the capture, in milliseconds since the Unix epoch.
    pub date: u64,
    /// The address of the server.
    pub address: Option<IpAddr>,
    /// The head of the message, from [`super::http::response_head`].
    pub head: &'a [u8],
    /// The body, with its content-encoding as received, without transfer-coding.
    pub payload: &'a [u8],
    /// The digest of `payload`.
    pub payload_digest: Digest,
    /// The media type found in the payload, if it was looked for.
    pub payload_type: Option<&'a str>,
    /// The reason why the payload is not complete: `length`, `time`, `disconnect` or `unspecified`.
    pub truncated: Option<&'a str>,
}

/// A request as it was sent. Its response is another record.
#[derive(Clone, Copy, Debug)]
pub struct RequestRecord<'a> {
    /// The id of the record.
    pub id: RecordId,
    /// The URL that was asked for.
    pub url: &'a str,
    /// The time of the capture, in milliseconds since the Unix epoch.
    pub date: u64,
    /// The address of the server.
    pub address: Option<IpAddr>,
    /// The head of the message, from [`super::http::request_head`].
    pub head: &'a [u8],
    /// The id of the response (or revisit) record with the answer.
    pub concurrent_to: RecordId,
}

/// A response whose payload is stored in another record.
#[derive(Clone, Copy, Debug)]
pub struct RevisitRecord<'a> {
    /// The id of the record.
    pub id: RecordId,
    /// The URL that was asked for.
    pub url: &'a str,
    /// The time of the capture, in milliseconds since the Unix epoch.
    pub date: u64,
    /// The address of the server.
    pub address: Option<IpAddr>,
    /// The head of the response; it may be empty.
    pub head: &'a [u8],
    /// In which way the response repeats the stored one.
    pub revisited: Revisited<'a>,
    /// The URL of the record with the payload.
    pub refers_to_url: &'a str,
    /// The date of that record, in milliseconds since the Unix epoch.
    pub refers_to_date: u64,
    /// The id of that record, if it is known.
    pub refers_to: Option<RecordId>,
}

/// The profile of a revisit record (WARC 1.1, section 6.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Revisited<'a> {
    /// The payload is the same byte for byte, *content-encoding included*. A copy with another encoding must be stored
    /// as a response, because a reader joins the head of this record with the payload of the other.
    IdenticalPayload(Digest),
    /// The server answered 304.
    NotModified {
        /// The `ETag` of the request or answer.
        etag: Option<&'a str>,
        /// The `Last-Modified` of the request or answer.
        last_modified: Option<&'a str>,
    },
}

impl Revisited<'_> {
    /// The URI of the profile.
    pub fn profile(&self) -> &'static str {
        match self {
            Revisited::IdenticalPayload(_) => IDENTICAL_PAYLOAD,
            Revisited::NotModified { .. } => "http://netpreserve.org/warc/1.1/revisit/server-not-modified",
        }
    }
}

/// The URI of the profile for equal payloads.
pub(crate) const IDENTICAL_PAYLOAD: &str = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest";

/// Facts about another record.
#[derive(Clone, Copy, Debug)]
pub struct MetadataRecord<'a> {
    /// The id of the record.
    pub id: RecordId,
    /// The URL of the record that is described.
    pub url: &'a str,
    /// The time at which this record was made, in milliseconds since the Unix epoch.
    pub date: u64,
    /// The `WARC-Record-ID` of the record that is described.
    pub concurrent_to: &'a str,
    /// The names and values of the facts.
    pub facts: &'a [(&'a str, &'a str)],
}

/// The record with which every file begins: the program that wrote the file, when, and how. For a stream, the file name
/// is empty.
pub fn warcinfo_member(id: RecordId, date: u64, file_name: &str, facts: &[(&str, &str)]) -> Vec<u8> {
    let mut head = begin("warcinfo", id, date);
    if !file_name.is_empty() {
        line(&mut head, "WARC-Filename", file_name.as_bytes());
    }
    finish(head, "application/warc-fields", &[&warc_fields(facts)])
}

/// A response record.
pub fn response_member(record: &ResponseRecord<'_>) -> Vec<u8> {
    let mut head = begin("response", record.id, record.date);
    target(&mut head, record.url, record.address);
    display(&mut head, "WARC-Payload-Digest", record.payload_digest);
    if let Some(media_type) = record.payload_type {
        line(&mut head, "WARC-Identified-Payload-Type", media_type.as_bytes());
    }
    if let Some(reason) = record.truncated {
        line(&mut head, "WARC-Truncated", reason.as_bytes());
    }
    finish(head, "application/http; msgtype=response", &[record.head, record.payload])
}

/// A request record.
pub fn request_member(record: &RequestRecord<'_>) -> Vec<u8> {
    let mut head = begin("request", record.id, record.date);
    target(&mut head, record.url, record.address);
    display(&mut head, "WARC-Concurrent-To", record.concurrent_to);
    finish(head, "application/http; msgtype=request", &[record.head])
}

/// A revisit record. It is small, because it has no payload.
pub fn revisit_member(record: &RevisitRecord<'_>) -> Vec<u8> {
    let mut head = begin("revisit", record.id, record.date);
    target(&mut head, record.url, record.address);
    line(&mut head, "WARC-Profile", record.revisited.profile().as_bytes());
    match record.revisited {
        Revisited::IdenticalPayload(digest) => display(&mut head, "WARC-Payload-Digest", digest),
        Revisited::NotModified { etag, last_modified } => {
            let validators = [("WARC-Etag", etag), ("WARC-Last-Modified", last_modified)];
            for (name, value) in validators.into_iter().filter_map(|(name, value)| Some((name, value?))) {
                line(&mut head, name, value.as_bytes());
            }
        }
    }
    if let Some(id) = record.refers_to {
        display(&mut head, "WARC-Refers-To", id);
    }
    line(&mut head, "WARC-Refers-To-Target-URI", record.refers_to_url.as_bytes());
    line(&mut head, "WARC-Refers-To-Date", rfc3339(record.refers_to_date).as_bytes());
    finish(head, "application/http; msgtype=response", &[record.head])
}

/// A metadata record.
pub fn metadata_member(record: &MetadataRecord<'_>) -> Vec<u8> {
    let mut head = begin("metadata", record.id, record.date);
    line(&mut head, "WARC-Target-URI", record.url.as_bytes());
    line(&mut head, "WARC-Concurrent-To", record.concurrent_to.as_bytes());
    finish(head, "application/warc-fields", &[&warc_fields(record.facts)])
}

/// A record made of the given fields and block. Nothing is added or changed.
pub fn member(version: &str, fields: &Fields, block: &[&[u8]]) -> Vec<u8> {
    let mut head = format!("{version}\r\n").into_bytes();
    fields.write_to(&mut head);
    compress(head, block)
}

fn begin(kind: &str, id: RecordId, date: u64) -> Vec<u8> {
    let mut head = Vec::with_capacity(1024);
    head.extend_from_slice(b"WARC/1.1\r\n");
    line(&mut head, "WARC-Type", kind.as_bytes());
    display(&mut head, "WARC-Record-ID", id);
    line(&mut head, "WARC-Date", rfc3339(date).as_bytes());
    head
}

fn target(head: &mut Vec<u8>, url: &str, address: Option<IpAddr>) {
    line(head, "WARC-Target-URI", url.as_bytes());
    if let Some(address) = address {
        display(head, "WARC-IP-Address", address);
    }
}

fn finish(mut head: Vec<u8>, content_type: &str, block: &[&[u8]]) -> Vec<u8> {
    display(&mut head, "WARC-Block-Digest", sha256_of(block));
    line(&mut head, "Content-Type", content_type.as_bytes());
    display(&mut head, "Content-Length", block.iter().map(|part| part.len()).sum::<usize>());
    compress(head, block)
}

fn compress(mut head: Vec<u8>, block: &[&[u8]]) -> Vec<u8> {
    head.extend_from_slice(b"\r\n");
    let size: usize = block.iter().map(|part| part.len()).sum();
    let mut encoder = GzEncoder::new(Vec::with_capacity(head.len() + size / 3), Compression::default());
    for part in [head.as_slice()].iter().chain(block).chain(&[b"\r\n\r\n".as_slice()]) {
        encoder.write_all(part).expect("writing to memory cannot fail");
    }
    encoder.finish().expect("writing to memory cannot fail")
}

fn warc_fields(facts: &[(&str, &str)]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in facts {
        line(&mut block, name, value.as_bytes());
    }
    block
}
