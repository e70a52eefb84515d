//! [`Fetch`] over HTTP: one hop, through reqwest, to addresses that were checked. No server can stretch its time-outs
//! and caps.

use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

use config::{ConnectTo, Target};
use http::header::{self, HeaderMap};
use http_body_util::BodyExt;
use tokio::time::{Instant, timeout_at};
use url::{Host, Url};

use super::address::AddressRules;
use super::body::{Body, Full};
use super::buffer::Buffer;
use super::caps::Caps;
use super::clients::{Clients, KEEP_ALIVE};
use super::decode::Decoder;
use super::fields::message;
use super::file_digest;
use super::files::{self, Kept};
use super::names::Names;
use super::pressure::{Given, Pressure, Watch};
use super::reachable::{Answered, has_route};
use super::route::{Route, SOCKETS, route};
use super::worth::{BodyWorth, content_type};
use super::{Fetch, FetchError, Request, Response, Truncation, failure};
use crate::clock::Clock;

/// An unwanted body up to this length is read and dropped. This keeps the connection usable.
const DRAINED: u64 = 16 << 10;

/// Fetches over HTTP.
///
/// It cannot bound the work of reading interim answers (1xx): hyper skips any number of them without giving way to
/// other tasks. A server that sends a flood of them occupies the thread that reads it until the time-out of the
/// headers.
pub struct HttpFetch {
    clients: Clients,
    names: Names,
    rules: AddressRules,
    connect_to: Vec<ConnectTo>,
    proxied: Proxied,
    timeouts: Timeouts,
    caps: Caps,
    /// The addresses that answered last.
    answered: Answered,
    kept: Kept,
}

/// The party that opens the connection to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Proxied {
    /// This process.
    No,
    /// A proxy that gets the address of the server (`socks4`, `socks5`).
    WithAddress,
    /// A proxy that gets the name of the server, and looks up the address itself.
    WithName,
}

struct Timeouts {
    /// The time until the headers are complete.
    headers: Duration,
    idle: Duration,
    total: Duration,
}

impl HttpFetch {
    /// Makes a fetcher that trusts the certificates that the system trusts.
    ///
    /// # Errors
    /// If a header, proxy, certificate or `connect-to` cannot be read.
    pub fn new(settings: &config::Settings) -> anyhow::Result<Self> {
        Self::trusting(settings, &[])
    }

    /// Like [`new`](Self::new), but the fetcher also trusts these certificates (DER).
    pub fn trusting(settings: &config::Settings, roots: &[&[u8]]) -> anyhow::Result<Self> {
        let fetch = &settings.fetch;
        let connect_to: Result<Vec<ConnectTo>, _> = fetch.connect_to.iter().map(|rule| rule.parse()).collect();
        let connect_to = connect_to.map_err(anyhow::Error::msg)?;
        let proxied = match fetch.proxy.split("://").next().unwrap_or_default() {
            "" => Proxied::No,
            "socks4" | "socks5" => Proxied::WithAddress,
            _ => Proxied::WithName,
        };
        if proxied != Proxied::No && !connect_to.is_empty() {
            anyhow::bail!("--connect-to and --proxy cannot be used together");
        }
        Ok(Self {
            clients: Clients::new(fetch, roots)?,
            names: Names::of_system()?,
            rules: AddressRules { allow_private: fetch.allow_private },
            connect_to,
            proxied,
            timeouts: Timeouts {
                headers: fetch.connect_timeout.to_std() + fetch.idle_timeout.to_std(),
                idle: fetch.idle_timeout.to_std(),
                total: fetch.timeout.to_std(),
            },
            caps: Caps::of(settings),
            answered: Answered::default(),
            kept: Kept::new(files::raise_limit(), fetch.concurrency, KEEP_ALIVE),
        })
    }

    /// The place to which a request for `url` connects, if its host may be fetched at all.
    fn target(&self, url: &Url) -> Result<Target, FetchError> {
        if let Some(address) = literal(url.host().map(|host| host.to_owned()).as_ref()) {
            self.rules.check(address).map_err(FetchError::Address)?;
        }
        Target::of(url, &self.connect_to).ok_or_else(|| FetchError::Connect(format!("{url} has no host")))
    }

    /// The route of a request. It contains no address that the address rules forbid.
    fn route(&self, request: &Request) -> Result<Route, FetchError> {
        let target = self.target(&request.url)?;
        if self.proxied == Proxied::WithName {
            return route(request, &target, &[]);
        }
        let own = literal(Some(&target.host));
        let addresses = own.as_ref().map_or(&*request.addresses, std::slice::from_ref);
        let mut allowed: Vec<_> = addresses.to_vec();
        allowed.retain(|address| self.rules.check(*address).is_ok());
        if self.proxied == Proxied::No
            && let Some(&first) = allowed.first()
        {
            allowed.retain(|address| address.is_ipv4() || has_route(*address));
            if allowed.is_empty() {
                return Err(FetchError::Connect(format!("this machine has no route to {first}")));
            }
        }
        match (allowed.is_empty(), addresses.first()) {
            (false, _) => route(request, &target, &allowed),
            (true, Some(first)) => Err(FetchError::Address(self.rules.check(*first).err().unwrap_or_default())),
            (true, None) => Err(FetchError::Dns(format!("no address known for {}", target.host))),
        }
    }

    /// Sends the request and waits for the headers.
    async fn send(
        &self,
        request: &Request,
        watch: &mut Watch,
        started: Instant,
    ) -> Result<reqwest::Response, FetchError> {
        let Route { url, host, sockets, single } = self.route(request)?;
        let message = message(request, url, host);
        let keep = !single && self.kept.admits(origin(message.url()), started.into_std());
        let client = self.clients.client(&request.url, keep);
        let deadline = started + self.timeouts.headers.min(self.timeouts.total);
        let answer = SOCKETS.scope(sockets, client.execute(message));
        let mut answer = std::pin::pin!(answer);
        let response = loop {
            let look = (Instant::now() + Pressure::LOOK).min(deadline);
            match timeout_at(look, &mut answer).await {
                Ok(response) => break response.map_err(|error| self.name(&error))?,
                Err(_) if Instant::now() >= deadline => return Err(FetchError::Timeout("no headers in time".into())),
                Err(_) => give_way(watch, 0, 0)?,
            }
        };
        self.check_peer(&response)?;
        Ok(response)
    }

    /// The connection was made to an address that passed the rules. This checks that the peer passes them, too.
    fn check_peer(&self, response: &reqwest::Response) -> Result<(), FetchError> {
        match response.remote_addr() {
            Some(peer) if self.proxied == Proxied::No => self.rules.check(peer.ip()).map_err(FetchError::Address),
            _ => Ok(()),
        }
    }

    fn name(&self, error: &reqwest::Error) -> FetchError {
        match (failure::of_request(error), &self.clients.no_roots) {
            (FetchError::Tls(text), Some(why)) => FetchError::Tls(format!("{text} ({why})")),
            (named, _) => named,
        }
    }

    /// Reads the body into `body`, as far as the caps and the time-outs allow. With `BodyWorth::Head`, it ends
    /// after the first bytes if these show that the body is not read.
    async fn read(
        &self,
        watch: &mut Watch,
        frames: &mut reqwest::Body,
        body: &mut Body,
        started: Instant,
        worth: &mut BodyWorth,
    ) -> Result<Option<Truncation>, FetchError> {
        let end = started + self.timeouts.total;
        let mut deadline = (Instant::now() + self.timeouts.idle).min(end);
        loop {
            let look = Instant::now() + Pressure::LOOK;
            let frame = match timeout_at(look.min(deadline), frames.frame()).await {
                Err(_) if Instant::now() >= deadline => return Ok(Some(Truncation::Time)),
                Err(_) => {
                    give_way(watch, body.wire_bytes, body.share.bytes())?;
                    continue;
                }
                Ok(None) => {
                    *worth = worth.after(body.decoded.bytes(), true);
                    return Ok(body.finish());
                }
                Ok(Some(Err(error))) => return Ok(Some(failure::of_body(&error))),
                Ok(Some(Ok(frame))) => frame,
            };
            give_way(watch, body.wire_bytes, body.share.bytes())?;
            deadline = (Instant::now() + self.timeouts.idle).min(end);
            let Ok(chunk) = frame.into_data() else { continue };
            match body.push(&chunk) {
                Ok(()) => {}
                Err(Full::Cut(truncation)) => return Ok(Some(truncation)),
                Err(Full::Budget) => return Err(FetchError::Budget),
            }
            *worth = worth.after(body.decoded.bytes(), false);
            if *worth == BodyWorth::Nothing {
                return Ok(Some(Truncation::NotAPage));
            }
        }
    }
}

impl Fetch for HttpFetch {
    async fn fetch(&self, request: Request) -> Result<Response, FetchError> {
        let addresses = request.addresses.clone();
        self.answered.learn(self.exchange(request).await, &addresses)
    }

    async fn resolve(&self, url: Url) -> Result<Vec<IpAddr>, FetchError> {
        let target = self.target(&url)?;
        if let Some(address) = literal(Some(&target.host)) {
            self.rules.check(address).map_err(FetchError::Address)?;
            return Ok(vec![address]);
        }
        let name = target.host.to_string();
        if self.proxied == Proxied::WithName {
            return Ok(vec![stand_in(&name)]);
        }
        let found = self.names.lookup(&name).await?;
        let allowed: Vec<_> = found.iter().copied().filter(|address| self.rules.check(*address).is_ok()).collect();
        match (allowed.is_empty(), found.first()) {
            (false, _) => Ok(allowed),
            (true, Some(first)) => Err(FetchError::Address(self.rules.check(*first).err().unwrap_or_default())),
            (true, None) => Err(FetchError::Dns(format!("{name} has no address"))),
        }
    }
}

impl HttpFetch {
    /// Sends a request and reads the answer.
    async fn exchange(&self, request: Request) -> Result<Response, FetchError> {
        let (sent_at, started) = (Clock::System.now(), Instant::now());
        let mut watch = request.pressure.watch(&request.budget, request.attempt, started.into_std());
        let response = self.send(&request, &mut watch, started).await?;
        let asked = response.url().clone();
        let address = response.remote_addr().map(|peer| peer.ip()).filter(|_| self.proxied == Proxied::No);
        let (head, mut frames) = http::Response::<reqwest::Body>::from(response).into_parts();
        let (status, headers) = (head.status.as_u16(), head.headers);
        let promised = content_length(&headers);
        let mut worth =
            if request.keep_wire { BodyWorth::Whole } else { BodyWorth::of(request.kind, status, &headers) };
        let cap = if worth == BodyWorth::Nothing { 0 } else { self.caps.of_answer(request.kind, status) };
        let encodings = headers.get_all(header::CONTENT_ENCODING).iter().filter_map(|value| value.to_str().ok());
        let decoder = Decoder::new(encodings);
        let readable = worth != BodyWorth::Nothing && decoder.is_ok();
        let mut body = Body::new(
            request.budget.share(),
            decoder.unwrap_or_default(),
            request.keep_wire,
            cap,
            promised.unwrap_or(0),
        );
        let cut = if readable {
            self.read(&mut watch, &mut frames, &mut body, started, &mut worth).await?
        } else {
            Some(Truncation::Encoding)
        };
        let truncated = if worth == BodyWorth::Whole { cut } else { Some(Truncation::NotAPage) };
        let mut file = None;
        if worth != BodyWorth::Whole || !readable {
            self.drain(&mut frames, promised, started).await;
            if readable && file_digest::is_file(content_type(&headers)) {
                file = Some(file_digest::digest(body.decoded.bytes(), promised));
            }
            // The first bytes were only looked at.
            body.decoded = Buffer::new();
        }
        body.release_buffers();
        watch.ended_well(Instant::now().into_std());
        if self.kept.answered(origin(&asked), body.wire_bytes) {
            self.clients.renew();
        }
        Ok(Response {
            status,
            headers,
            version: head.version,
            body: body.decoded.into_bytes(),
            file,
            wire: body.wire.map(Buffer::into_bytes),
            wire_bytes: body.wire_bytes,
            truncated,
            address,
            sent_at,
            ended_at: Clock::System.now(),
            share: body.share,
        })
    }

    /// Reads a short unwanted body, so that the connection can be used again. A long body is left, which closes the
    /// connection.
    async fn drain(&self, frames: &mut reqwest::Body, promised: Option<u64>, started: Instant) {
        if promised.is_some_and(|length| length <= DRAINED) {
            let end = started + self.timeouts.total;
            let idle = Instant::now() + self.timeouts.idle;
            let rest = async { while let Some(Ok(_)) = frames.frame().await {} };
            let _ = timeout_at(idle.min(end), rest).await;
        }
    }
}

/// The part of a URL by which a pool tells connections apart: scheme, host and port.
fn origin(url: &Url) -> &str {
    &url[..url::Position::BeforePath]
}

/// Returns an error if a request that has brought `bytes`, and holds `held` of the budget, must give way to others.
fn give_way(watch: &mut Watch, bytes: u64, held: u64) -> Result<(), FetchError> {
    let Some(given) = watch.must_give_way(bytes, held, Instant::now().into_std()) else { return Ok(()) };
    let why = match given {
        Given::Slot => "other hosts waited for a free slot",
        Given::Room => "other bodies found no room in memory",
    };
    let seconds = watch.elapsed().as_secs();
    Err(FetchError::Slow(format!("{bytes} bytes in {seconds} s, while {why}")))
}

/// The address in a host, if the host is an address.
fn literal(host: Option<&Host>) -> Option<IpAddr> {
    match host? {
        Host::Domain(_) => None,
        Host::Ipv4(address) => Some((*address).into()),
        Host::Ipv6(address) => Some((*address).into()),
    }
}

/// A stand-in for the address of a host that only a proxy resolves: an address in the discard-only block (RFC 6666), so
/// that the frontier can tell hosts apart. It is never connected to.
fn stand_in(name: &str) -> IpAddr {
    let hash = xxhash_rust::xxh3::xxh3_64(name.as_bytes());
    Ipv6Addr::from((0x0100_u128 << 112) | u128::from(hash)).into()
}

fn content_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}
