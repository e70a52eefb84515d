//! A server on loopback that a test writes down as a function of whole requests, header fields and body included, and that
//! remembers what it was asked.

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

/// A request as the server saw it.
#[derive(Clone, Debug)]
pub struct Asked {
    /// `GET` or `POST`.
    pub method: String,
    /// Without port.
    pub host: String,
    /// Path and query.
    pub target: String,
    /// Header fields.
    pub fields: HeaderMap,
    /// The body as text.
    pub body: String,
}

impl Asked {
    /// A header field as text; empty where it is absent.
    pub fn field(&self, name: &str) -> &str {
        self.fields.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

/// What is answered: status, header fields, body.
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

/// 404.
pub fn missing() -> Answer {
    (404, Vec::new(), b"no".to_vec())
}

/// The server.
pub struct Told {
    server: Background,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Told {
    /// A server that answers as `script` says, for all hosts.
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

    /// What it was asked so far.
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

    /// Settings that lead every host here; `more` are keys and values on top.
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
