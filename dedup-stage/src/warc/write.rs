//! Records as finished gzip members, one member a record; pure functions, made to run on worker threads.

use std::io::Write as _;
use std::net::IpAddr;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::RecordId;
use super::date::rfc3339;
use super::digest::{Digest, sha256_of};
use super::fields::{Fields, display, line};

/// An answer as it was received.
#[derive(Clone, Copy, Debug)]
pub struct ResponseRecord<'a> {
    /// Its name.
    pub id: RecordId,
    /// What was asked for.
    pub url: &'a str,
    /// When, in milliseconds since the Unix epoch.
    pub date: u64,
    /// Who answered.
    pub address: Option<IpAddr>,
    /// Head of the message, from [`super::http::response_head`].
    pub head: &'a [u8],
    /// Body with its content-encoding as received, without transfer-coding.
    pub payload: &'a [u8],
    /// Digest of `payload`.
    pub payload_digest: Digest,
    /// Media type found in the payload, if it was looked for.
    pub payload_type: Option<&'a str>,
    /// Why the payload is not whole: `length`, `time`, `disconnect` or `unspecified`.
    pub truncated: Option<&'a str>,
}

/// A request as it was sent, beside its answer.
#[derive(Clone, Copy, Debug)]
pub struct RequestRecord<'a> {
    /// Its name.
    pub id: RecordId,
    /// What was asked for.
    pub url: &'a str,
    /// When, in milliseconds since the Unix epoch.
    pub date: u64,
    /// Who was asked.
    pub address: Option<IpAddr>,
    /// Head of the message, from [`super::http::request_head`].
    pub head: &'a [u8],
    /// The response (or revisit) record that answers it.
    pub concurrent_to: RecordId,
}

/// An answer whose payload is stored elsewhere.
#[derive(Clone, Copy, Debug)]
pub struct RevisitRecord<'a> {
    /// Its name.
    pub id: RecordId,
    /// What was asked for.
    pub url: &'a str,
    /// When, in milliseconds since the Unix epoch.
    pub date: u64,
    /// Who answered.
    pub address: Option<IpAddr>,
    /// Head of the answer; may be empty.
    pub head: &'a [u8],
    /// In what way it repeats what is stored.
    pub revisited: Revisited<'a>,
    /// URL under which the payload is stored.
    pub refers_to_url: &'a str,
    /// Date of that record, in milliseconds since the Unix epoch.
    pub refers_to_date: u64,
    /// Name of that record, where it is known.
    pub refers_to: Option<RecordId>,
}

/// The profile of a revisit record (WARC 1.1, section 6.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Revisited<'a> {
    /// The same payload byte for byte, *content-encoding included*: a copy that came with another encoding must be
    /// stored as a response, since a reader joins the head of this record with the payload of the other.
    IdenticalPayload(Digest),
    /// The server said 304.
    NotModified {
        /// `ETag` of the request or answer.
        etag: Option<&'a str>,
        /// `Last-Modified` of the request or answer.
        last_modified: Option<&'a str>,
    },
}

impl Revisited<'_> {
    /// The profile's URI.
    pub fn profile(&self) -> &'static str {
        match self {
            Revisited::IdenticalPayload(_) => IDENTICAL_PAYLOAD,
            Revisited::NotModified { .. } => "http://netpreserve.org/warc/1.1/revisit/server-not-modified",
        }
    }
}

/// URI of the profile for equal payloads.
pub(crate) const IDENTICAL_PAYLOAD: &str = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest";

/// Facts about another record.
#[derive(Clone, Copy, Debug)]
pub struct MetadataRecord<'a> {
    /// Its name.
    pub id: RecordId,
    /// URL of the record described.
    pub url: &'a str,
    /// When, in milliseconds since the Unix epoch.
    pub date: u64,
    /// `WARC-Record-ID` of the record described.
    pub concurrent_to: &'a str,
    /// Names and values.
    pub facts: &'a [(&'a str, &'a str)],
}

/// The record that every file begins with: who wrote it, when, and how. The name may be empty, for a stream.
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

/// A revisit record: small, since it has no payload.
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

/// Any record from its fields and block, both as they are: nothing is added or changed.
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
