//! A server on loopback that a test defines by a function of whole requests, including header fields and body. It
//! records the requests.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use config::Settings;
use crawler::clock::Clock;
use crawler::demo::server::{host_and_target, serve};
use crawler::fetch::http::HttpFetch;
use http::{HeaderMap, Response};
use http_body_util::{BodyExt, Full};

use crate::background::Background;
use crate::crawl::{Crawled, crawl_with, settings};

/// A request, as the server received it.
#[derive(Clone, Debug)]
pub struct Asked {
    /// `GET` or `POST`.
    pub method: String,
    /// The host, without port.
    pub host: String,
    /// The path and query.
    pub target: String,
    /// The header fields.
    pub fields: HeaderMap,
    /// The body as text.
    pub body: String,
}

impl Asked {
    /// A header field as text; empty if it is absent.
    pub fn field(&self, name: &str) -> &str {
        self.fields.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

/// An answer: status, header fields, body.
pub type Answer = (u16, Vec<(&'static str, String)>, Vec<u8>);

/// An HTML page.
pub fn html(body: impl Into<String>) -> Answer {
    let body: String = body.into();
    (200, vec![("content-type", "text/html".into())], body.into_bytes())
}

/// A redirect.
pub fn moved(status: u16, to: &str) -> Answer {
    (status, vec![("location", to.into())], Vec::new())
}

/// A 404 answer.
pub fn missing() -> Answer {
    (404, Vec::new(), b"no".to_vec())
}

/// A server that is defined by a function.
pub struct Told {
    server: Background,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Told {
    /// Starts a server that answers as `script` says, for all hosts.
    pub fn new(script: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> anyhow::Result<Self> {
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let (script, seen) = (Arc::new(script), Arc::clone(&asked));
        let server = Background::start(move |listener| {
            serve(listener, move |request| {
                let (script, seen) = (Arc::clone(&script), Arc::clone(&seen));
                async move {
                    let (host, target) = host_and_target(&request);
                    let (host, target) = (host.to_owned(), target.to_owned());
                    let (head, body) = request.into_parts();
                    let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
                    let body = String::from_utf8_lossy(&body).into_owned();
                    let asked = Asked { method: head.method.to_string(), host, target, fields: head.headers, body };
                    let (status, fields, body) = script(&asked);
                    seen.lock().unwrap_or_else(PoisonError::into_inner).push(asked);
                    let mut response = Response::builder().status(status);
                    for (name, value) in fields {
                        response = response.header(name, value);
                    }
                    response.body(Full::new(Bytes::from(body))).unwrap_or_default()
                }
            })
        })?;
        Ok(Self { server, asked })
    }

    /// All requests so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The requests for this host and target.
    pub fn of(&self, host: &str, target: &str) -> Vec<Asked> {
        self.asked()
            .into_iter()
            .filter(|asked| (asked.host.as_str(), asked.target.as_str()) == (host, target))
            .collect()
    }

    /// Settings that lead every host to this server. `more` are keys and values that are set on top.
    pub fn settings(&self, more: &[(&str, &str)]) -> anyhow::Result<Settings> {
        let connect_to = self.server.connect_to();
        let mut all = vec![("scope.scope", "any"), ("fetch.connect-to", connect_to.as_str())];
        all.extend(more);
        settings(&all)
    }

    /// Crawls from `seed` into `dir`.
    pub fn crawl(&self, dir: &Path, seed: &str, more: &[(&str, &str)]) -> anyhow::Result<Crawled> {
        let settings = self.settings(more)?;
        crawl_with(HttpFetch::new(&settings)?, &Clock::System, dir, &[seed.to_owned()], &settings)
    }
}
