//! One exchange (a request and its answer), prepared for the archive by a page worker. Its WARC members are finished
//! before the verdict is known. The data that a revisit record needs is kept with them.

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
    /// The URL of the request.
    pub url: Url,
    /// The time of the last byte. It is `fetched_at` in `pages.jsonl`, and revisit records of later copies refer to it.
    pub date: Millis,
    /// The address of the server.
    pub address: Option<IpAddr>,
    /// HTTP status.
    pub status: u16,
    /// The `Content-Type`, for the index; empty if the answer has none.
    pub mime: String,
    /// The id of the record of the answer, which is a response or a revisit.
    pub id: RecordId,
    /// The head of the answer, written again from its fields: the HTTP library keeps neither their case nor their
    /// order.
    pub head: Vec<u8>,
    /// The digest of the payload as received, with its content-encoding.
    pub payload: Digest,
    /// The validators of the answer, for the record of a 304.
    pub validators: Validators,
    /// The statements about the use of the page, as JSON.
    pub permissions: Option<String>,
    /// The finished request record.
    pub request: Vec<u8>,
    /// The finished response record. It is dropped if the answer becomes a revisit.
    pub response: Vec<u8>,
}

impl Exchange {
    /// Makes the members. `fields` are the header fields of the request. Of secret fields, and of the answer's cookies,
    /// only the names are archived. `permissions` are the statements about the use of the page, as JSON. It is an error
    /// if the system gives no random numbers.
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
            fields.iter().map(|(name, value)| (name.as_str(), redact_request(name, value))).collect();
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

/// The part of a field of a request that may be shown. A field that the user adds is hidden if its name says that it is
/// a key.
fn redact_request<'a>(name: &str, value: &'a [u8]) -> Cow<'a, [u8]> {
    const SECRET: [&str; 5] = ["auth", "key", "password", "secret", "token"];
    let name = name.to_ascii_lowercase();
    let is_secret = SECRET.iter().any(|word| name.contains(word));
    if is_secret && name != "authorization" { Cow::Borrowed(b"[redacted]") } else { redact(&name, value) }
}
