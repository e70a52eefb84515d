//! The HTTP clients of a crawl, made from its settings: the certificates that are trusted, the client certificate, and
//! the hosts whose certificates are not checked. They also decide which client a request uses.

use std::path::Path;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use anyhow::Context;
use reqwest::{Certificate, Client, ClientBuilder, Identity};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use url::Url;

use super::failure;
use super::fields::request_headers;
use super::route::Pinned;
use super::trust;

/// The time for which an idle connection stays in the pool and waits for its host's next turn.
pub(super) const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// The most bytes of headers in an HTTP/2 response (in an HTTP/1 response, hyper holds at most 100 headers and about
/// 400 KiB).
const HTTP2_HEADERS: u32 = 64 << 10;
/// The bytes that an HTTP/2 server may send unread, for each stream and each connection.
const HTTP2_STREAM: u32 = 256 << 10;
const HTTP2_CONNECTION: u32 = 512 << 10;

type Make = Box<dyn Fn() -> anyhow::Result<Client> + Send + Sync>;

/// The clients of a crawl.
pub(super) struct Clients {
    /// The client that keeps connections for later.
    pooled: RwLock<Client>,
    /// Makes another client like `pooled`.
    make: Make,
    /// The client that keeps no connection: for connections that the pool could not tell apart, and for those that must
    /// not be kept.
    single: Client,
    /// The client that accepts every certificate, and keeps no connection.
    unchecked: Client,
    /// The hosts whose certificates are not checked.
    insecure: Vec<String>,
    /// The reason why no certificate can be trusted on this machine.
    pub(super) no_roots: Option<String>,
}

impl Clients {
    /// Makes the clients. They trust the certificates that the system trusts, those of `ca-file`, and `roots` (DER).
    pub(super) fn new(fetch: &config::Fetch, roots: &[&[u8]]) -> anyhow::Result<Self> {
        // This is an error if a provider is already installed.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let roots: Vec<_> = roots.iter().map(|der| CertificateDer::from_slice(der).into_owned()).collect();
        let own = named(&fetch.ca_file).map(certificates).transpose()?.unwrap_or_default();
        let identity = named(&fetch.client_cert).map(identity).transpose()?;
        let settings = fetch.clone();
        let builder = move |only_roots: bool, http1: bool| -> anyhow::Result<ClientBuilder> {
            let builder = basic(&settings)?;
            let builder = if http1 { builder.http1_only().pool_max_idle_per_host(0) } else { builder };
            if !own.is_empty() {
                let pem = identity.as_ref().map(|(_, pem)| &pem[..]);
                return Ok(builder.tls_backend_preconfigured(trust::config(&own, &roots, only_roots, pem, http1)?));
            }
            let builder = match &identity {
                Some((identity, _)) => builder.identity(identity.clone()),
                None => builder,
            };
            let roots: Result<Vec<_>, _> = roots.iter().map(|root| Certificate::from_der(root)).collect();
            let roots = roots.context("certificate")?;
            Ok(if only_roots { builder.tls_certs_only(roots) } else { builder.tls_certs_merge(roots) })
        };
        let mut no_roots = None;
        let pooled = match builder(false, false).and_then(|builder| Ok(builder.build()?)) {
            Ok(client) => client,
            // Plain HTTP needs no certificates.
            Err(error) => {
                no_roots = Some(failure::last(error.as_ref()).to_string());
                builder(true, false)?.build()?
            }
        };
        let only_roots = no_roots.is_some();
        let unpooled = || builder(only_roots, true);
        // This client checks no certificate, so it needs no certificates of authorities.
        let unchecked = || -> anyhow::Result<ClientBuilder> {
            let builder = basic(fetch)?.http1_only().pool_max_idle_per_host(0).tls_danger_accept_invalid_certs(true);
            let shown = named(&fetch.client_cert).map(self::identity).transpose()?;
            Ok(match shown {
                Some((identity, _)) => builder.identity(identity),
                None => builder,
            })
        };
        Ok(Self {
            pooled: RwLock::new(pooled),
            single: unpooled()?.build()?,
            unchecked: unchecked()?.build()?,
            insecure: fetch.insecure_hosts.iter().map(|host| host.to_ascii_lowercase()).collect(),
            no_roots,
            make: Box::new(move || Ok(builder(only_roots, false)?.build()?)),
        })
    }

    /// The client for a request to `url`. `keep`: whether its connection may be kept.
    pub(super) fn client(&self, url: &Url, keep: bool) -> Client {
        let is_insecure = || url.host_str().is_some_and(|host| self.insecure.iter().any(|known| known == host));
        match keep {
            _ if !self.insecure.is_empty() && is_insecure() => self.unchecked.clone(),
            true => self.pooled.read().unwrap_or_else(PoisonError::into_inner).clone(),
            false => self.single.clone(),
        }
    }

    /// Closes all idle connections. Some of them cannot be closed within their pool, so a new pool takes its place.
    /// Requests that are under way end as usual.
    pub(super) fn renew(&self) {
        // A client was made from the same settings before. If this fails now, the old client stays.
        if let Ok(client) = (self.make)() {
            *self.pooled.write().unwrap_or_else(PoisonError::into_inner) = client;
        }
    }
}

/// The file that a setting names, if any.
fn named(setting: &str) -> Option<&Path> {
    (!setting.is_empty()).then(|| Path::new(setting))
}

/// The certificates of `--ca-file`.
fn certificates(file: &Path) -> anyhow::Result<Vec<CertificateDer<'static>>> {
    let pem = std::fs::read(file).with_context(|| format!("--ca-file {}", file.display()))?;
    let found = CertificateDer::pem_slice_iter(&pem).collect::<Result<Vec<_>, _>>().unwrap_or_default();
    anyhow::ensure!(!found.is_empty(), "--ca-file {}: there is no certificate in it (PEM)", file.display());
    Ok(found)
}

/// The certificate of `--client-cert`, with its key, and the text of both.
fn identity(file: &Path) -> anyhow::Result<(Identity, Vec<u8>)> {
    let flag = || format!("--client-cert {}", file.display());
    let pem = std::fs::read(file).with_context(flag)?;
    let identity = Identity::from_pem(&pem)
        .with_context(|| format!("{}: a certificate and its private key (PEM) are expected in it", flag()))?;
    Ok((identity, pem))
}

/// The builder with the settings that all clients share.
fn basic(fetch: &config::Fetch) -> anyhow::Result<ClientBuilder> {
    let mut builder = Client::builder()
        .default_headers(request_headers(fetch)?)
        .redirect(reqwest::redirect::Policy::none())
        // The frontier decides when a request is repeated.
        .retry(reqwest::retry::never())
        .referer(false)
        .no_proxy()
        .connect_timeout(fetch.connect_timeout.to_std())
        .pool_max_idle_per_host(1)
        .pool_idle_timeout(KEEP_ALIVE)
        .http1_ignore_invalid_headers_in_responses(true)
        .http1_allow_obsolete_multiline_headers_in_responses(true)
        .http2_max_header_list_size(HTTP2_HEADERS)
        .http2_initial_stream_window_size(HTTP2_STREAM)
        .http2_initial_connection_window_size(HTTP2_CONNECTION);
    let mut proxy_host = None;
    if !fetch.proxy.is_empty() {
        let context = || format!("proxy {:?}", config::without_user(&fetch.proxy));
        proxy_host = Url::parse(&fetch.proxy).with_context(context)?.host_str().map(str::to_owned);
        builder = builder.proxy(reqwest::Proxy::all(&fetch.proxy).with_context(context)?);
    }
    Ok(builder.dns_resolver(Pinned { proxy: proxy_host }))
}
