//! A static site server that shows folders as hosts. It can add what makes real sites hard to compare.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use anyhow::Context;
use bytes::Bytes;
use crawler::demo::server::{host_and_target, serve, status};
use http::{HeaderMap, Response, StatusCode, header};
use http_body_util::Full;
use tokio::net::TcpListener;

use crate::links::with_queries;

/// The noise that is added to the files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Noise {
    /// The time before each answer.
    pub latency: Duration,
    /// Whether each page gets an advertisement, a different one with each answer.
    pub ads: bool,
    /// Whether each page shows the time of its answer.
    pub timestamps: bool,
    /// Whether each link of a page gets a session: the session of the request, or a new one.
    pub sessions: bool,
}

/// Folders that are shown as hosts.
#[derive(Debug)]
pub struct Sites {
    folders: BTreeMap<String, PathBuf>,
    noise: Noise,
    asked: Mutex<Vec<(String, String)>>,
}

impl Sites {
    /// The name of the parameter that carries a session.
    pub const SESSION: &str = "sid";

    /// Shows these folders, each as the host before it. Links that lead out of a folder are not followed.
    pub fn new(sites: impl IntoIterator<Item = (String, PathBuf)>, noise: Noise) -> anyhow::Result<Self> {
        let folders = sites.into_iter().map(|(host, folder)| {
            let real = folder.canonicalize().with_context(|| folder.display().to_string())?;
            Ok((host.to_ascii_lowercase(), real))
        });
        Ok(Self { folders: folders.collect::<anyhow::Result<_>>()?, noise, asked: Mutex::default() })
    }

    /// The hosts and targets that were requested so far, in order.
    pub fn asked(&self) -> Vec<(String, String)> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(String, String)>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Serves connections until the future is dropped.
    pub async fn run(self: Arc<Self>, listener: TcpListener) {
        serve(listener, move |request| {
            let sites = Arc::clone(&self);
            async move {
                tokio::time::sleep(sites.noise.latency).await;
                let (host, target) = host_and_target(&request);
                sites.answer(host, target, request.headers())
            }
        })
        .await;
    }

    /// The answer of `host` to `target` (path and query).
    pub fn answer(&self, host: &str, target: &str, headers: &HeaderMap) -> Response<Full<Bytes>> {
        let number = {
            let mut asked = self.lock();
            asked.push((host.to_ascii_lowercase(), target.to_owned()));
            asked.len() as u64 - 1
        };
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let file = match self.folders.get(&host.to_ascii_lowercase()) {
            Some(folder) => find(folder, &decode(path)),
            None => return status(StatusCode::MISDIRECTED_REQUEST),
        };
        let file = match file {
            Some(Found::File(file)) => file,
            Some(Found::Folder) => return moved(&format!("{path}/")),
            None => return status(StatusCode::NOT_FOUND),
        };
        let (Ok(body), Ok(changed)) = (fs::read(&file), fs::metadata(&file).and_then(|data| data.modified())) else {
            return status(StatusCode::NOT_FOUND);
        };
        let content_type = content_type(&file);
        let noisy = self.noise.ads || self.noise.timestamps || self.noise.sessions;
        if noisy && content_type.starts_with("text/html") {
            let body = self.add_noise(String::from_utf8_lossy(&body).into_owned(), number, query);
            return page(content_type, Response::builder(), body.into());
        }
        let since = changed.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
        let etag = format!("\"{:x}-{since:x}\"", body.len());
        let validators = Response::builder().header(header::ETAG, &etag).header(
            header::LAST_MODIFIED,
            httpdate::fmt_http_date(SystemTime::UNIX_EPOCH + Duration::from_secs(since)),
        );
        if not_modified(headers, &etag, since) {
            return validators.status(StatusCode::NOT_MODIFIED).body(Full::default()).expect("headers of our own");
        }
        page(content_type, validators, body)
    }

    fn add_noise(&self, html: String, number: u64, query: &str) -> String {
        let mut html = html;
        if self.noise.sessions {
            let prefix = format!("{}=", Self::SESSION);
            let given = query.split('&').find_map(|pair| pair.strip_prefix(&prefix));
            let own = format!("{:08x}", xxhash_rust::xxh3::xxh3_64(&number.to_le_bytes()) >> 32);
            html = with_session(&html, given.unwrap_or(&own));
        }
        let mut tail = String::new();
        if self.noise.ads {
            let offer = xxhash_rust::xxh3::xxh3_64(&number.to_le_bytes());
            tail += &format!(
                "<div class=\"ad\">Offer {offer}: buy {} now and save {} percent!</div>\n",
                offer % 7919,
                offer % 91
            );
        }
        if self.noise.timestamps {
            tail += &format!(
                "<p class=\"served\">Served on {}, visitor {number}</p>\n",
                httpdate::fmt_http_date(SystemTime::now())
            );
        }
        let end = html.rfind("</body>").unwrap_or(html.len());
        html.insert_str(end, &tail);
        html
    }
}

enum Found {
    File(PathBuf),
    /// A folder that was requested without the slash at its end.
    Folder,
}

fn find(folder: &Path, path: &str) -> Option<Found> {
    let real = folder.join(path.trim_start_matches('/')).canonicalize().ok()?;
    if !real.starts_with(folder) {
        return None;
    }
    if !real.is_dir() {
        return Some(Found::File(real));
    }
    if !path.ends_with('/') {
        return Some(Found::Folder);
    }
    Some(Found::File(real.join("index.html").canonicalize().ok().filter(|index| index.starts_with(folder))?))
}

fn decode(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let hex = tail.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()).filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Whether the answer is 304, according to RFC 9110, section 13.2.2: If-None-Match decides; only without it,
/// If-Modified-Since does.
fn not_modified(headers: &HeaderMap, etag: &str, changed: u64) -> bool {
    let text = |name| headers.get(name).and_then(|value: &http::HeaderValue| value.to_str().ok());
    match text(header::IF_NONE_MATCH) {
        Some(tags) => {
            tags.split(',').any(|tag| matches!(tag.trim(), tag if tag == "*" || tag.trim_start_matches("W/") == etag))
        }
        None => text(header::IF_MODIFIED_SINCE)
            .and_then(|since| httpdate::parse_http_date(since).ok())
            .is_some_and(|since| SystemTime::UNIX_EPOCH + Duration::from_secs(changed) <= since),
    }
}

/// Adds the session to the links that stay on the site.
fn with_session(html: &str, session: &str) -> String {
    with_queries(html, |page| {
        let stays = !page.contains(':') && !page.starts_with("//");
        let carries = stays && (page.ends_with(".html") || page.ends_with('/'));
        carries.then(|| format!("{}={session}", Sites::SESSION))
    })
}

/// The content type of a file, by its name.
pub fn content_type(file: &Path) -> &'static str {
    match file.extension().and_then(|extension| extension.to_str()).unwrap_or("") {
        "html" | "htm" => "text/html",
        "css" => "text/css",
        "js" => "text/javascript",
        "json" => "application/json",
        "txt" => "text/plain",
        "xml" => "application/xml",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "gif" => "image/gif",
        "jpg" | "jpeg" => "image/jpeg",
        "pdf" => "application/pdf",
        _ => "application/octet-stream",
    }
}

fn page(content_type: &str, response: http::response::Builder, body: Vec<u8>) -> Response<Full<Bytes>> {
    response.header(header::CONTENT_TYPE, content_type).body(Full::new(body.into())).expect("headers of our own")
}

fn moved(location: &str) -> Response<Full<Bytes>> {
    let mut response = status(StatusCode::MOVED_PERMANENTLY);
    match location.parse() {
        Ok(location) => {
            response.headers_mut().insert(header::LOCATION, location);
            response
        }
        Err(_) => status(StatusCode::NOT_FOUND),
    }
}
