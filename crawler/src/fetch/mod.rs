//! Fetching: one request, one hop, one answer; every way it can end has a name.

pub mod address;
mod body;
pub mod budget;
mod buffer;
mod caps;
mod clients;
mod decode;
mod failure;
pub mod fields;
mod files;
pub mod http;
mod names;
pub mod pressure;
pub mod retry_after;
mod route;
mod trust;

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
use budget::{ByteBudget, Share};
pub use files::raise_limit;
use pressure::Pressure;

/// Brings answers. Implemented over HTTP, and by the tests' synthetic web in memory.
pub trait Fetch: Send + Sync + 'static {
    /// One request and its answer; redirects are not followed.
    fn fetch(&self, request: Request) -> impl Future<Output = Result<Response, FetchError>> + Send;

    /// The addresses of a host that may be connected to.
    fn resolve(&self, url: Url) -> impl Future<Output = Result<Vec<IpAddr>, FetchError>> + Send;
}

/// What to fetch.
#[derive(Clone, Debug)]
pub struct Request {
    /// The URL.
    pub url: Url,
    /// Decides which content types are worth a body, and the largest body.
    pub kind: JobKind,
    /// The host's addresses, as `resolve` gave them.
    pub addresses: Arc<[IpAddr]>,
    /// For a conditional request.
    pub validators: Option<Validators>,
    /// Header fields of this request alone: cookies, authorization, a signature. They go to this URL, and nowhere else.
    pub fields: HeaderMap,
    /// A form to be sent: its fields as `application/x-www-form-urlencoded`. The request is a POST then.
    pub form: Option<Secret>,
    /// What bodies draw on.
    pub budget: Arc<ByteBudget>,
    /// Keep the body as received as well, for the archive.
    pub keep_wire: bool,
    /// Attempts at this URL before this one.
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
    /// Whether there is nothing to ask with.
    pub fn is_empty(&self) -> bool {
        self.etag.is_none() && self.last_modified.is_none()
    }
}

/// A whole answer, or one cut at a cap.
#[derive(Debug)]
pub struct Response {
    /// HTTP status.
    pub status: u16,
    /// Response headers, as received but for their order and case.
    pub headers: HeaderMap,
    /// Protocol version, as in `HTTP/1.1`.
    pub version: ::http::Version,
    /// Decoded body; empty where the content type is not worth one.
    pub body: Bytes,
    /// Body with its content-encoding as received, where asked for and different from `body`.
    pub wire: Option<Bytes>,
    /// Body bytes received.
    pub wire_bytes: u64,
    /// Why the body is not whole, if it is not.
    pub truncated: Option<Truncation>,
    /// The peer.
    pub address: Option<IpAddr>,
    /// When the request was sent.
    pub sent_at: Millis,
    /// When the last byte came.
    pub ended_at: Millis,
    /// What the body holds of the budget; given back on drop.
    pub share: Share,
}

impl Response {
    /// The values of a header field, those that are text.
    pub fn values(&self, name: &str) -> impl Iterator<Item = String> {
        self.headers.get_all(name).iter().filter_map(|value| value.to_str().ok().map(str::to_owned))
    }

    /// Where a 3xx answer from `base` points, if it points anywhere.
    pub fn redirect_target(&self, base: &Url) -> Option<Url> {
        if !is_redirect(self.status) {
            return None;
        }
        // Servers send raw UTF-8 here, which is no visible ASCII.
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

/// Why a body is not whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truncation {
    /// Decoded size over the cap.
    Length,
    /// Time-out after the headers.
    Time,
    /// The connection ended early.
    Disconnect,
    /// The Content-Encoding expands beyond the ratio allowed, or is broken.
    Encoding,
    /// The chunks of the body (`Transfer-Encoding: chunked`) break the protocol.
    Chunks,
    /// A content type that is no page: not asked for.
    NotAPage,
}

impl Truncation {
    /// The word used in counters.
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

    /// A sentence for `pages.jsonl`.
    pub fn name(self) -> &'static str {
        match self {
            Truncation::Length => "body longer than --max-body",
            Truncation::Time => "body took longer than --timeout or --idle-timeout",
            Truncation::Disconnect => "connection ended before the body did",
            Truncation::Encoding => "content-encoding broken, or it expands too far",
            Truncation::Chunks => "bad chunks: the transfer-encoding of the body is broken",
            Truncation::NotAPage => "not a page: body not asked for",
        }
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// The name has no address, or the resolver did not answer.
    #[error("dns: {0}")]
    Dns(String),
    /// The address rules forbid it.
    #[error("address: {0} may not be fetched")]
    Address(String),
    /// No connection.
    #[error("connect: {0}")]
    Connect(String),
    /// The certificate or handshake was refused.
    #[error("tls: {0}")]
    Tls(String),
    /// Took too long before the headers were complete.
    #[error("timeout: {0}")]
    Timeout(String),
    /// The connection ended before the headers were complete.
    #[error("reset: {0}")]
    Reset(String),
    /// Not HTTP, or headers over the limits.
    #[error("protocol: {0}")]
    Protocol(String),
    /// Made too little progress while other hosts waited.
    #[error("slow: {0}")]
    Slow(String),
    /// The body does not fit the budget now; to be tried again later.
    #[error("budget: no room for the body now")]
    Budget,
    /// The trouble is on this machine: no file, no memory, no network. It says nothing of the host.
    #[error("local: {0}")]
    Local(String),
}

impl FetchError {
    /// The kind of failure, as reports, retries and counters have it.
    pub fn kind(&self) -> Failure {
        match self {
            FetchError::Dns(_) => Failure::Name,
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
}
