//! One exchange made ready for the archive, on a worker: its WARC members are finished before anybody knows the verdict,
//! and what a revisit record needs is kept beside them.

use std::borrow::Cow;
use std::net::IpAddr;

use dedup_stage::warc::write::{RequestRecord, ResponseRecord, request_member, response_member};
use dedup_stage::warc::{Digest, RecordId, http, sha256};
use frontier::Millis;
use url::{Position, Url};

use crate::cookies::redact;
use crate::fetch::{Response, Truncation, Validators};

/// A request and its answer as WARC members.
#[derive(Debug)]
pub struct Exchange {
    /// What was asked for.
    pub url: Url,
    /// When its last byte came: `fetched_at` of `pages.jsonl`, and what a revisit record of a later copy refers to.
    pub date: Millis,
    /// Who answered.
    pub address: Option<IpAddr>,
    /// HTTP status.
    pub status: u16,
    /// `Content-Type`, for the index; empty where the answer has none.
    pub mime: String,
    /// Name of the record that answers, be it a response or a revisit.
    pub id: RecordId,
    /// Head of the answer, re-serialised: an HTTP library gives neither case nor order of the original.
    pub head: Vec<u8>,
    /// Digest of the payload as received, content-encoding included.
    pub payload: Digest,
    /// For a 304.
    pub validators: Validators,
    /// What is said about the use of the page, as JSON.
    pub permissions: Option<String>,
    /// The finished request record.
    pub request: Vec<u8>,
    /// The finished response record; thrown away for a revisit.
    pub response: Vec<u8>,
}

impl Exchange {
    /// Makes the members. `fields` are the request's header fields; of those that are secrets, as of the answer's cookies, only
    /// names are archived. `permissions` is what is said about the use of the page, as JSON. Errors where the system gives no randomness.
    pub fn new(
        url: &Url,
        fields: &[(String, Vec<u8>)],
        response: &Response,
        validators: Validators,
        permissions: Option<String>,
    ) -> std::io::Result<Self> {
        let (id, date, address) = (RecordId::random()?, response.ended_at, response.address);
        let payload = response.wire.as_deref().unwrap_or(&response.body);
        let digest = sha256(payload);
        let reason = reqwest::StatusCode::from_u16(response.status).ok().and_then(|code| code.canonical_reason());
        let headers: Vec<(&str, Cow<'_, [u8]>)> = (response.headers.iter())
            .map(|(name, value)| (name.as_str(), redact(name.as_str(), value.as_bytes())))
            .collect();
        let headers = headers.iter().map(|(name, value)| (*name, &**value));
        let head = http::response_head(response.status, reason.unwrap_or_default(), headers, payload.len() as u64);
        let truncated = response.truncated.map(|why| match why {
            Truncation::Length | Truncation::NotAPage => "length",
            Truncation::Time => "time",
            Truncation::Disconnect => "disconnect",
            Truncation::Encoding | Truncation::Chunks => "unspecified",
        });
        let host = url[Position::BeforeHost..Position::AfterPort].to_owned();
        let fields: Vec<(&str, Cow<'_, [u8]>)> =
            fields.iter().map(|(name, value)| (name.as_str(), redact(name, value))).collect();
        let fields = fields.iter().map(|(name, value)| (*name, &**value));
        let fields = std::iter::once(("host", host.as_bytes())).chain(fields);
        let request_head = http::request_head("GET", &url[Position::BeforePath..Position::AfterQuery], fields);
        let request = request_member(&RequestRecord {
            id: RecordId::random()?,
            url: url.as_str(),
            date,
            address,
            head: &request_head,
            concurrent_to: id,
        });
        let member = response_member(&ResponseRecord {
            id,
            url: url.as_str(),
            date,
            address,
            head: &head,
            payload,
            payload_digest: digest,
            payload_type: None,
            truncated,
        });
        let content_type = response.headers.get("content-type").map(|value| String::from_utf8_lossy(value.as_bytes()));
        Ok(Self {
            url: url.clone(),
            date,
            address,
            status: response.status,
            mime: content_type.unwrap_or_default().into_owned(),
            id,
            head,
            payload: digest,
            validators,
            permissions,
            request,
            response: member,
        })
    }
}
