//! A hostile server on loopback. Each way in which an answer can hurt a crawler has a host name of its own,
//! `CASE.hostile.test`, on a plain and a TLS port. A crawl reaches it with two `connect-to` rules
//! ([`Hostile::connect_to`]). All other host names are healthy sites.

mod bombs;
mod certificates;
mod http2;
mod pages;
mod wire;

use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;

pub use bombs::{Coding, compress};
use certificates::Certificates;

/// A way to hurt a crawler, and the host that does it.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// The first label of its host.
    pub name: &'static str,
    /// `http` or `https`.
    pub scheme: &'static str,
    /// A description of what it does.
    pub what: &'static str,
}

impl Case {
    /// The host of the case.
    pub fn host(&self) -> String {
        format!("{}.{DOMAIN}", self.name)
    }

    /// The URL of `path` (without its slash) on the host of the case.
    pub fn url(&self, path: &str) -> String {
        format!("{}://{}/{path}", self.scheme, self.host())
    }
}

/// The domain of all hosts of the hostile server.
pub const DOMAIN: &str = "hostile.test";

/// All cases.
pub fn cases() -> Vec<Case> {
    let case = |scheme| move |&(name, what): &(&'static str, &'static str)| Case { name, scheme, what };
    let mut cases: Vec<Case> = wire::CASES.iter().chain(pages::CASES).chain(bombs::CASES).map(case("http")).collect();
    cases.extend(certificates::CASES.iter().chain(http2::CASES).map(case("https")));
    cases
}

/// A running server. It ends when this is dropped.
pub struct Hostile {
    /// The address of the plain port.
    pub http: SocketAddr,
    /// The address of the TLS port.
    pub https: SocketAddr,
    /// The certificate (DER) of the authority that signed the good certificate and most of the bad ones.
    pub authority: Vec<u8>,
    /// The same certificate as PEM, for programs that read it from a file.
    pub authority_pem: String,
    log: Log,
    runtime: Option<Runtime>,
}

/// The times of requests, by host.
type Log = Arc<Mutex<HashMap<String, Vec<Instant>>>>;

/// The data that is needed to answer a connection.
#[derive(Clone)]
struct Site {
    drip: Duration,
    log: Log,
    bombs: Arc<bombs::Bombs>,
    certificates: Arc<Certificates>,
}

impl Hostile {
    /// Starts the server on ports that the system chooses. `drip` is the time between two bytes of slow answers.
    pub fn start(drip: Duration) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .thread_name("hostile")
            .build()?;
        let certificates = Arc::new(Certificates::new());
        let (authority, authority_pem) = (certificates.authority.der().to_vec(), certificates.authority.pem());
        let log = Log::default();
        let site = Site { drip, log: Arc::clone(&log), bombs: Arc::new(bombs::Bombs::new()), certificates };
        let bind = || runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)));
        let (plain, tls) = (bind()?, bind()?);
        let (http, https) = (plain.local_addr()?, tls.local_addr()?);
        let plain_site = site.clone();
        runtime.spawn(async move {
            while let Ok((stream, _)) = plain.accept().await {
                let _ = stream.set_nodelay(true);
                let site = plain_site.clone();
                tokio::spawn(async move { site.converse(BufReader::new(stream)).await });
            }
        });
        runtime.spawn(async move {
            while let Ok((stream, _)) = tls.accept().await {
                let _ = stream.set_nodelay(true);
                let site = site.clone();
                tokio::spawn(async move { certificates::shake_hands(&site, stream).await });
            }
        });
        Ok(Self { http, https, authority, authority_pem, log, runtime: Some(runtime) })
    }

    /// The rules that lead every host to this server.
    pub fn connect_to(&self) -> [String; 2] {
        [
            format!(":80:{}:{}", self.http.ip(), self.http.port()),
            format!(":443:{}:{}", self.https.ip(), self.https.port()),
        ]
    }

    /// The times of the requests to `host`.
    pub fn requests(&self, host: &str) -> Vec<Instant> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).get(host).cloned().unwrap_or_default()
    }
}

impl Drop for Hostile {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// A connection that may use TLS.
trait Stream: AsyncRead + AsyncWrite + Unpin + Send {
    /// The underlying socket, which can be cut.
    fn socket(&self) -> &TcpStream;
}

impl Stream for TcpStream {
    fn socket(&self) -> &TcpStream {
        self
    }
}

impl Stream for tokio_rustls::server::TlsStream<TcpStream> {
    fn socket(&self) -> &TcpStream {
        self.get_ref().0
    }
}

/// The parts of a request that cases use.
struct Asked {
    /// The first label of its host.
    case: String,
    host: String,
    path: String,
}

/// What happens to the connection after an answer.
enum After {
    /// It stays open for the next request.
    Keep,
    /// It is closed properly.
    Close,
    /// It is cut with a reset.
    Reset,
}

impl Site {
    /// Reads requests and answers them.
    async fn converse<S: Stream>(&self, mut stream: BufReader<S>) -> io::Result<()> {
        while let Some(asked) = read_request(&mut stream).await? {
            self.log
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .entry(asked.host.clone())
                .or_default()
                .push(Instant::now());
            match self.answer(&asked, stream.get_mut()).await? {
                After::Keep => {}
                After::Close => return stream.get_mut().shutdown().await,
                After::Reset => return stream.get_ref().socket().set_zero_linger(),
            }
        }
        Ok(())
    }

    async fn answer<S: Stream>(&self, asked: &Asked, stream: &mut S) -> io::Result<After> {
        if !asked.host.ends_with(DOMAIN) {
            return pages::healthy(asked, stream).await;
        }
        if let Some(after) = pages::answer(asked, stream).await? {
            return Ok(after);
        }
        // Even a hostile host may be crawled.
        if asked.path == "/robots.txt" {
            return send(stream, "404 Not Found", "", b"").await;
        }
        if let Some(body) = self.bombs.get(&asked.case) {
            return send(stream, "200 OK", &body.headers, &body.bytes).await;
        }
        if asked.case.starts_with("tls-") {
            return pages::healthy(asked, stream).await;
        }
        wire::answer(self, asked, stream).await
    }
}

/// Reads the next request; `None` at the end of the connection.
async fn read_request<S: Stream>(stream: &mut BufReader<S>) -> io::Result<Option<Asked>> {
    let (mut line, mut path, mut host) = (String::new(), None, String::new());
    loop {
        line.clear();
        if stream.read_line(&mut line).await? == 0 {
            return Ok(None);
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        if path.is_none() {
            path = line.split(' ').nth(1).map(str::to_owned);
        } else if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("host")
        {
            host = value.trim().to_ascii_lowercase();
        }
    }
    let case = host.split('.').next().unwrap_or_default().to_owned();
    Ok(Some(Asked { case, host, path: path.unwrap_or_default() }))
}

/// Sends a well-formed answer. `headers` are complete lines.
async fn send<S: Stream>(stream: &mut S, status: &str, headers: &str, body: &[u8]) -> io::Result<After> {
    let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n{headers}\r\n", body.len());
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body).await?;
    stream.flush().await?;
    Ok(After::Keep)
}

/// Sends an HTML page.
async fn page<S: Stream>(stream: &mut S, html: &str) -> io::Result<After> {
    send(stream, "200 OK", "content-type: text/html; charset=utf-8\r\n", html.as_bytes()).await
}
