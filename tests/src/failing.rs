//! A server on loopback whose hosts each fail in one way. The name of a host says which: `MANNER.failing.test`. The
//! host `lasting.failing.test` has pages without end until the test ends it, so that tests can look at a running crawl.

use std::net::{SocketAddr, TcpListener as Blocking};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::background::Background;

/// The domain of all hosts.
pub const DOMAIN: &str = "failing.test";

/// The behaviour of a host. Each works over plain HTTP, and its front page is `/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// Pages are answered with this status.
    Status(u16),
    /// robots.txt is answered, pages are not.
    Hang,
    /// The connection is cut after a request for a page.
    Reset,
    /// The answer to a request for a page is not HTTP.
    Garbage,
    /// robots.txt forbids everything.
    Disallow,
    /// robots.txt is answered with this status.
    RobotsStatus(u16),
    /// Nothing is answered, robots.txt included.
    Silent,
    /// The front page redirects to another domain.
    Out,
    /// The front page redirects to itself.
    ToItself,
    /// The front page redirects to a page that redirects back.
    Circle,
    /// Each page redirects to the next, without end.
    Chain,
    /// The body is 2 MiB.
    Large,
    /// The connection is cut in the middle of the body.
    Half,
    /// The size of the second chunk of the body is no number.
    BadChunks,
    /// The connection is cut in the middle of a chunk of the body.
    HalfChunk,
    /// The body is no gzip, although its header says so.
    BadGzip,
    /// The rest of the body never comes.
    Stuck,
    /// The front page is answered, and has five links. Requests for these get this status, with a Retry-After of an
    /// hour.
    LaterStatus(u16),
    /// The front page is answered, and has five links. The connection is cut after a request for one of them.
    LaterReset,
    /// The front page is answered, and has five links. Requests for these get no answer.
    LaterHang,
    /// Everything is answered correctly.
    Fine,
}

/// A running server. It ends when this is dropped.
#[derive(Debug)]
pub struct Failing {
    server: Background,
    last: Arc<AtomicBool>,
}

impl Failing {
    /// Starts the server. All hosts of [`DOMAIN`] behave as `manner` says, except the lasting one.
    pub fn start(manner: Manner) -> anyhow::Result<Self> {
        let last = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&last);
        let server = Background::start(move |listener| serve(listener, manner, ends))?;
        Ok(Self { server, last })
    }

    /// The address on which it listens.
    pub fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// The front page of the lasting host.
    pub fn lasting() -> String {
        format!("http://lasting.{DOMAIN}/")
    }

    /// Makes the next page of the lasting host its last one.
    pub fn end(&self) {
        self.last.store(true, Ordering::Relaxed);
    }
}

/// An address on which no program listens.
pub fn closed() -> std::io::Result<SocketAddr> {
    Blocking::bind("127.0.0.1:0")?.local_addr()
}

/// Starts a server that answers one request with a 404 (the one for robots.txt, which comes first) and then ends.
pub fn gone_after_robots() -> anyhow::Result<SocketAddr> {
    let listener = Blocking::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    std::thread::spawn(move || -> std::io::Result<()> {
        use std::io::{Read, Write};
        let (mut stream, _) = listener.accept()?;
        // From here on, connections are refused. This happens before the answer, so that the next request cannot come
        // first.
        drop(listener);
        let mut asked = [0; 4096];
        let _ = stream.read(&mut asked)?;
        stream.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
    });
    Ok(address)
}

async fn serve(listener: TcpListener, manner: Manner, last: Arc<AtomicBool>) {
    while let Ok((stream, _)) = listener.accept().await {
        let last = Arc::clone(&last);
        // If a client breaks its connection, that is no error of the server.
        tokio::spawn(async move { converse(stream, manner, &last).await });
    }
}

async fn converse(mut stream: TcpStream, manner: Manner, last: &AtomicBool) -> std::io::Result<()> {
    while let Some((host, path)) = request(&mut stream).await? {
        let lasting = host.starts_with("lasting.");
        let manner = if lasting { Manner::Fine } else { manner };
        if path == "/robots.txt" {
            match manner {
                Manner::Silent => std::future::pending::<()>().await,
                Manner::RobotsStatus(status) => send(&mut stream, status, "", b"").await?,
                Manner::Disallow => {
                    send(&mut stream, 200, "content-type: text/plain\r\n", b"User-agent: *\nDisallow: /\n").await?;
                }
                _ => send(&mut stream, 404, "", b"").await?,
            }
            continue;
        }
        let number: u32 = path.trim_start_matches('/').parse().unwrap_or(0);
        let html = "content-type: text/html\r\n";
        match manner {
            Manner::LaterStatus(_) | Manner::LaterReset | Manner::LaterHang if path == "/" => {
                let links: String = (1..=5).map(|n| format!("<a href=\"/{n}\">{n}</a>")).collect();
                let page = format!("<title>Home</title><p>{}</p>{links}", "word ".repeat(30));
                send(&mut stream, 200, html, page.as_bytes()).await?;
            }
            Manner::LaterStatus(status) => send(&mut stream, status, "retry-after: 3600\r\n", b"").await?,
            Manner::LaterReset => return stream.set_zero_linger(),
            Manner::LaterHang => std::future::pending().await,
            Manner::Status(status) => send(&mut stream, status, html, b"<p>no</p>").await?,
            Manner::Hang | Manner::Silent => std::future::pending().await,
            Manner::Reset => return stream.set_zero_linger(),
            Manner::Garbage => stream.write_all(b"220 mail.failing.test ESMTP\r\n").await?,
            Manner::Out => moved(&mut stream, "http://elsewhere.example/").await?,
            Manner::ToItself => moved(&mut stream, &path).await?,
            Manner::Circle => moved(&mut stream, if path == "/" { "/b" } else { "/" }).await?,
            Manner::Chain => moved(&mut stream, &format!("/{}", number + 1)).await?,
            Manner::Large => send(&mut stream, 200, html, &b"<p>word".repeat(300_000)).await?,
            Manner::BadChunks | Manner::HalfChunk => {
                let rest = if manner == Manner::BadChunks { "zz zz\r\nwords\r\n" } else { "64\r\nwo" };
                let head =
                    format!("HTTP/1.1 200 OK\r\n{html}transfer-encoding: chunked\r\n\r\n8\r\n<p>words\r\n{rest}");
                stream.write_all(head.as_bytes()).await?;
                stream.flush().await?;
                return stream.shutdown().await;
            }
            Manner::BadGzip => {
                send(&mut stream, 200, &format!("{html}content-encoding: gzip\r\n"), b"<p>no gzip").await?;
            }
            Manner::Half | Manner::Stuck => {
                let head = format!("HTTP/1.1 200 OK\r\n{html}content-length: 100000\r\n\r\n<p>words");
                stream.write_all(head.as_bytes()).await?;
                stream.flush().await?;
                if manner == Manner::Stuck {
                    std::future::pending::<()>().await;
                }
                return stream.shutdown().await;
            }
            Manner::Disallow | Manner::RobotsStatus(_) | Manner::Fine => {
                let more = lasting && !last.load(Ordering::Relaxed);
                let next = if more { format!("<a href=\"/{}\">next</a>", number + 1) } else { String::new() };
                let page = format!("<title>{number}</title><p>{}</p>{next}", format!("word{number} ").repeat(30));
                send(&mut stream, 200, html, page.as_bytes()).await?;
            }
        }
    }
    Ok(())
}

/// Reads the host and the path of the next request; `None` at the end of the connection.
async fn request(stream: &mut TcpStream) -> std::io::Result<Option<(String, String)>> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            // This is the first byte of a TLS handshake, but the server has no TLS.
            Ok(0x16) if head.is_empty() => {
                stream.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n").await?;
                return Ok(None);
            }
            Ok(byte) => head.push(byte),
            Err(_) => return Ok(None),
        }
    }
    let head = String::from_utf8_lossy(&head);
    let path = head.split(' ').nth(1).unwrap_or("/").to_owned();
    let host = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("host").then(|| value.trim().to_owned())
    });
    Ok(Some((host.unwrap_or_default(), path)))
}

/// Sends a whole answer. `headers` are complete lines.
async fn send(stream: &mut TcpStream, status: u16, headers: &str, body: &[u8]) -> std::io::Result<()> {
    let head = format!("HTTP/1.1 {status} As it is\r\n{headers}content-length: {}\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body).await?;
    stream.flush().await
}

async fn moved(stream: &mut TcpStream, location: &str) -> std::io::Result<()> {
    send(stream, 302, &format!("location: {location}\r\n"), b"").await
}
