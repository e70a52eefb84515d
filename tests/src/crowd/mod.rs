//! A crowd of hosts on one loopback port: healthy sites, and hosts that harm others. The first part of a name is the
//! kind of the host (`drip-7.test`). There are any number of hosts of each kind, each under a registrable domain of its
//! own, and a subdomain is of the kind of its domain. The server records every request, so that tests can check what a
//! crawl did.

mod files;
mod floods;
pub mod run;
mod slow;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;

/// One request, as the server saw it.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The time at which it arrived.
    pub at: Instant,
    /// The host.
    pub host: String,
    /// The path and query.
    pub path: String,
}

/// A running server. It ends when this is dropped.
pub struct Crowd {
    /// The address on which it listens.
    pub address: SocketAddr,
    log: Log,
    runtime: Option<Runtime>,
}

type Log = Arc<Mutex<Vec<Asked>>>;

impl Crowd {
    /// Starts the server on a port that the system chooses. Each healthy host has `pages` pages.
    pub fn start(pages: usize) -> io::Result<Self> {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().thread_name("crowd").build()?;
        let log = Log::default();
        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))?;
        let (address, shared) = (listener.local_addr()?, Arc::clone(&log));
        runtime.spawn(async move {
            loop {
                // If no file is free, the next connection is accepted later.
                let Ok((stream, _)) = listener.accept().await else {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                    continue;
                };
                let _ = stream.set_nodelay(true);
                tokio::spawn(converse(BufReader::new(stream), Arc::clone(&shared), pages));
            }
        });
        Ok(Self { address, log, runtime: Some(runtime) })
    }

    /// The value of `--connect-to` that leads every host to this server.
    pub fn connect_to(&self) -> String {
        format!(":80:{}:{}", self.address.ip(), self.address.port())
    }

    /// All requests so far, in the order of their arrival.
    pub fn log(&self) -> Vec<Asked> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until this many requests have arrived. Returns false if they have not after `time`.
    pub fn wait_for(&self, requests: usize, time: Duration) -> bool {
        let end = Instant::now() + time;
        while Instant::now() < end {
            if self.log.lock().unwrap_or_else(PoisonError::into_inner).len() >= requests {
                return true;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        false
    }

    /// Forgets the requests so far.
    pub fn clear(&self) {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// The front pages of `count` hosts of a kind.
pub fn seeds(kind: &str, count: usize) -> impl Iterator<Item = String> {
    (0..count).map(move |n| format!("http://{kind}-{n}.test/"))
}

async fn converse(mut stream: BufReader<TcpStream>, log: Log, pages: usize) -> io::Result<()> {
    while let Some((host, path)) = read_request(&mut stream).await? {
        let asked = Asked { at: Instant::now(), host: host.clone(), path: path.clone() };
        log.lock().unwrap_or_else(PoisonError::into_inner).push(asked);
        let kind = host.rsplit('.').nth(1).and_then(|domain| domain.split('-').next()).unwrap_or_default();
        let stream = stream.get_mut();
        match kind {
            "drip" | "fill" | "heads" | "stutter" => slow::answer(kind, &path, stream).await?,
            "turn" if slow::is_its_turn(&path) => slow::answer("stutter", &path, stream).await?,
            "steady" => {
                slow::wait_a_while(&path).await;
                healthy(&host, &path, pages, stream).await?;
            }
            _ if floods::KINDS.contains(&kind) => floods::answer(kind, &host, &path, stream).await?,
            _ => healthy(&host, &path, pages, stream).await?,
        }
    }
    Ok(())
}

/// Reads the host and the path of the next request; `None` at the end of the connection.
async fn read_request(stream: &mut BufReader<TcpStream>) -> io::Result<Option<(String, String)>> {
    let (mut line, mut path, mut host) = (String::new(), None, String::new());
    loop {
        line.clear();
        if stream.read_line(&mut line).await? == 0 {
            return Ok(None);
        }
        let line = line.trim_end();
        if line.is_empty() {
            return Ok(path.map(|path| (host, path)));
        }
        if path.is_none() {
            path = line.split(' ').nth(1).map(str::to_owned);
        } else if let Some(value) = line.get(..5).filter(|name| name.eq_ignore_ascii_case("host:")) {
            host = line[value.len()..].trim().to_ascii_lowercase();
        }
    }
}

/// Answers as a healthy site: the front page links to all other pages, and each page has words of its own.
async fn healthy(host: &str, path: &str, pages: usize, stream: &mut TcpStream) -> io::Result<()> {
    if path == "/robots.txt" {
        return missing(stream).await;
    }
    let mut rng = fastrand::Rng::with_seed(xxhash_rust::xxh3::xxh3_64(format!("{host}{path}").as_bytes()));
    let mut html = format!("<html><title>{host}{path}</title><p>");
    words(&mut html, 120, &mut rng);
    if path == "/" {
        (1..pages).for_each(|n| html.push_str(&format!("<p><a href=/{n}>page {n}</a>")));
    }
    page(stream, &html).await
}

/// Appends this many made-up words.
fn words(text: &mut String, count: usize, rng: &mut fastrand::Rng) {
    for _ in 0..count {
        (0..rng.usize(3..9)).for_each(|_| text.push(rng.lowercase()));
        text.push(' ');
    }
}

async fn page(stream: &mut TcpStream, html: &str) -> io::Result<()> {
    send(stream, "200 OK", "text/html; charset=utf-8", html.as_bytes()).await
}

async fn missing(stream: &mut TcpStream) -> io::Result<()> {
    send(stream, "404 Not Found", "text/plain", b"").await
}

async fn send(stream: &mut TcpStream, status: &str, kind: &str, body: &[u8]) -> io::Result<()> {
    let head = format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body).await
}
