//! Fetches: one request, one hop, one answer. Every way in which a fetch can end has a name.

pub mod address;
mod body;
pub mod budget;
mod buffer;
mod caps;
mod clients;
mod decode;
mod failure;
pub mod fields;
pub mod file_digest;
mod files;
pub mod http;
mod names;
pub mod pressure;
mod reachable;
pub mod retry_after;
mod route;
mod trust;
mod worth;

use std::future::Future;
use std::net::IpAddr;
use std::sync::Arc;

use ::http::HeaderMap;
use bytes::Bytes;
use dedup_stage::url::drop_user;
use frontier::{Failure, JobKind, Millis};
use serde::{Deserialize, Serialize};
use url::Url;

use crate::auth::Secret;
use budget::{BudgetShare, ByteBudget};
pub use files::raise_limit;
use pressure::Pressure;

/// Something that brings answers. It is implemented over HTTP, and by the synthetic web of the tests in memory.
pub trait Fetch: Send + Sync + 'static {
    /// Makes one request. Redirects are not followed.
    fn fetch(&self, request: Request) -> impl Future<Output = Result<Response, FetchError>> + Send;

    /// Looks up the addresses of a host to which the crawl may connect.
    fn resolve(&self, url: Url) -> impl Future<Output = Result<Vec<IpAddr>, FetchError>> + Send;
}

/// A request.
#[derive(Clone, Debug)]
pub struct Request {
    /// The URL.
    pub url: Url,
    /// The kind of the job. It decides which content types are worth a body, and the largest body.
    pub kind: JobKind,
    /// The host's addresses, as `resolve` gave them.
    pub addresses: Arc<[IpAddr]>,
    /// The validators, for a conditional request.
    pub validators: Option<Validators>,
    /// The header fields of this request alone: cookies, authorization, a signature. They are sent to this URL, and
    /// nowhere else.
    pub fields: HeaderMap,
    /// The fields of a form to be sent, as `application/x-www-form-urlencoded`. With a form, the request is a POST.
    pub form: Option<Secret>,
    /// The budget of the bodies.
    pub budget: Arc<ByteBudget>,
    /// Whether the body is also kept as it was received, for the archive.
    pub keep_wire: bool,
    /// The number of earlier attempts at this URL.
    pub attempt: u32,
    /// Tells whether other hosts wait for the slot of this request.
    pub pressure: Pressure,
}

impl Request {
    /// A first, unconditional request, whose body draws on a budget of its own.
    pub fn new(url: Url, kind: JobKind, addresses: impl Into<Arc<[IpAddr]>>, budget: Arc<ByteBudget>) -> Self {
        let (addresses, pressure) = (addresses.into(), Pressure::default());
        let (fields, form) = (HeaderMap::new(), None);
        Self { url, kind, addresses, validators: None, fields, form, budget, keep_wire: false, attempt: 0, pressure }
    }
}

/// Validators of an earlier answer (RFC 9110, section 8.8).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Validators {
    /// `ETag`.
    pub etag: Option<String>,
    /// `Last-Modified`.
    pub last_modified: Option<String>,
}

impl Validators {
    /// Whether there is no validator.
    pub fn is_empty(&self) -> bool {
        self.etag.is_none() && self.last_modified.is_none()
    }
}

/// An answer. Its body is whole, or was cut at a cap.
#[derive(Debug)]
pub struct Response {
    /// HTTP status.
    pub status: u16,
    /// The response headers, as they were received except for their order and case.
    pub headers: HeaderMap,
    /// Protocol version, as in `HTTP/1.1`.
    pub version: ::http::Version,
    /// The decoded body. It is empty if the content type is not worth one.
    pub body: Bytes,
    /// The digest of a file of which only the first bytes were read ([`file_digest`]).
    pub file: Option<u64>,
    /// The body as it was received, with its content-encoding, if it is wanted and differs from `body`.
    pub wire: Option<Bytes>,
    /// The number of body bytes that were received.
    pub wire_bytes: u64,
    /// The reason why the body is not whole; `None` if it is.
    pub truncated: Option<Truncation>,
    /// The address of the server; `None` behind a proxy.
    pub address: Option<IpAddr>,
    /// The time at which the request was sent.
    pub sent_at: Millis,
    /// The time at which the last byte came.
    pub ended_at: Millis,
    /// The share of the budget that the body holds. It is given back on drop.
    pub share: BudgetShare,
}

impl Response {
    /// The values of a header field that are text.
    pub fn values(&self, name: &str) -> impl Iterator<Item = String> {
        self.headers.get_all(name).iter().filter_map(|value| value.to_str().ok().map(str::to_owned))
    }

    /// The target of a 3xx answer from `base`, if it has one.
    pub fn redirect_target(&self, base: &Url) -> Option<Url> {
        if !is_redirect(self.status) {
            return None;
        }
        // Servers send raw UTF-8 here, which the header type does not accept as text.
        let location = String::from_utf8_lossy(self.headers.get("location")?.as_bytes()).into_owned();
        let mut target = base.join(location.trim()).ok()?;
        target.set_fragment(None);
        drop_user(&mut target);
        Some(target)
    }
}

/// Whether a status is that of a redirect.
pub fn is_redirect(status: u16) -> bool {
    matches!(status, 301 | 302 | 303 | 307 | 308)
}

/// The reason why a body is not whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truncation {
    /// The decoded body is larger than the cap.
    Length,
    /// A time-out after the headers.
    Time,
    /// The connection ended early.
    Disconnect,
    /// The Content-Encoding is broken, or it expands more than the allowed ratio.
    Encoding,
    /// The chunks of the body (`Transfer-Encoding: chunked`) break the protocol.
    Chunks,
    /// The content type is no page, so the body was not read.
    NotAPage,
}

impl Truncation {
    /// The word for counters.
    pub fn kind(self) -> &'static str {
        match self {
            Truncation::Length => "too_large",
            Truncation::Time => "timeout",
            Truncation::Disconnect => "reset",
            Truncation::Encoding => "encoding",
            Truncation::Chunks => "bad_chunks",
            Truncation::NotAPage => "not_a_page",
        }
    }

    /// The text for `pages.jsonl`: the kind, a colon, and details.
    pub fn name(self) -> &'static str {
        match self {
            Truncation::Length => "too_large: body longer than --max-body",
            Truncation::Time => "timeout: the body took longer than --timeout or --idle-timeout",
            Truncation::Disconnect => "reset: the connection ended before the body did",
            Truncation::Encoding => "encoding: the content-encoding is broken, or the body expands too far",
            Truncation::Chunks => "bad_chunks: the transfer-encoding of the body is broken",
            Truncation::NotAPage => "not_a_page: body not asked for",
        }
    }

    /// Whether the body is broken, and not only longer or slower than a limit allows.
    pub fn is_broken(self) -> bool {
        matches!(self, Truncation::Disconnect | Truncation::Encoding | Truncation::Chunks)
    }

    /// Whether an `error` of `pages.jsonl` says that the body was broken.
    pub fn is_broken_name(error: &str) -> bool {
        [Truncation::Disconnect, Truncation::Encoding, Truncation::Chunks].iter().any(|broken| broken.name() == error)
    }
}

/// The reason why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// The name has no address, or the resolver did not answer.
    #[error("dns: {0}")]
    Dns(String),
    /// No name server has ever answered. There may be none, or the network of this machine is down.
    #[error("dns: no name server answers")]
    NoNameServer,
    /// The address rules forbid the address.
    #[error("address: {0} may not be fetched")]
    Address(String),
    /// There was no connection.
    #[error("connect: {0}")]
    Connect(String),
    /// The certificate or handshake was refused.
    #[error("tls: {0}")]
    Tls(String),
    /// It took too long until the headers were complete.
    #[error("timeout: {0}")]
    Timeout(String),
    /// The connection ended before the headers were complete.
    #[error("reset: {0}")]
    Reset(String),
    /// The answer was not HTTP, or its headers were over the limits.
    #[error("protocol: {0}")]
    Protocol(String),
    /// The answer made too little progress while others waited.
    #[error("slow: {0}")]
    Slow(String),
    /// The body does not fit the budget now. It should be tried again later.
    #[error("budget: no room for the body now")]
    Budget,
    /// The trouble is on this machine: no file, no memory, no network. It says nothing about the host.
    #[error("local: {0}")]
    Local(String),
}

impl FetchError {
    /// The kind of the failure, for reports, retries and counters.
    pub fn kind(&self) -> Failure {
        match self {
            FetchError::Dns(_) | FetchError::NoNameServer => Failure::Name,
            FetchError::Address(_) => Failure::Address,
            FetchError::Connect(_) => Failure::Refused,
            FetchError::Tls(text) => failure::of_tls(text),
            FetchError::Timeout(_) => Failure::Timeout,
            FetchError::Reset(_) => Failure::Reset,
            FetchError::Protocol(_) => Failure::Protocol,
            FetchError::Slow(_) => Failure::Slow,
            FetchError::Budget => Failure::NoRoom,
            FetchError::Local(_) => Failure::Local,
        }
    }

    /// The kind of the failure that has this text. `None` if the text is not one of a `FetchError`.
    pub fn kind_of(text: &str) -> Option<Failure> {
        let (word, rest) = text.split_once(": ")?;
        let error = match word {
            "dns" => FetchError::Dns,
            "address" => FetchError::Address,
            "connect" => FetchError::Connect,
            "tls" => FetchError::Tls,
            "timeout" => FetchError::Timeout,
            "reset" => FetchError::Reset,
            "protocol" => FetchError::Protocol,
            "slow" => FetchError::Slow,
            "local" => FetchError::Local,
            "budget" => return Some(Failure::NoRoom),
            _ => return None,
        };
        Some(error(rest.to_owned()).kind())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a kind whose text is not known, so that `crawler check` does not compare it.
    #[test]
    fn the_text_of_an_error_tells_its_kind() {
        let text = || "certificate expired: 2031-05-03".to_owned();
        let errors = [
            FetchError::Dns(text()),
            FetchError::NoNameServer,
            FetchError::Address(text()),
            FetchError::Connect(text()),
            FetchError::Tls(text()),
            FetchError::Timeout(text()),
            FetchError::Reset(text()),
            FetchError::Protocol(text()),
            FetchError::Slow(text()),
            FetchError::Budget,
            FetchError::Local(text()),
        ];
        for error in errors {
            assert_eq!(FetchError::kind_of(&error.to_string()), Some(error.kind()), "{error}");
        }
        assert_eq!(FetchError::kind_of("too many redirects"), None);
    }
}
