//! A minimal HTTP client for tests of servers: one request per connection, and nothing is decoded.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use anyhow::Context;

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The status code.
    pub status: u16,
    /// The status line and header lines, as received.
    pub head: String,
    /// The body.
    pub body: Vec<u8>,
}

impl Reply {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(':'));
        lines.into_iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// Requests `target` of `host` from `server`, with more header lines.
pub fn get(server: SocketAddr, host: &str, target: &str, headers: &str) -> anyhow::Result<Reply> {
    let mut stream = TcpStream::connect(server)?;
    write!(stream, "GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\r\n")?;
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes)?;
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").context("no end of headers")?;
    let head = String::from_utf8(bytes[..end].to_vec())?;
    let status = head.split(' ').nth(1).context("no status")?.parse()?;
    Ok(Reply { status, head, body: bytes[end + 4..].to_vec() })
}
