//! Answers that are well-formed HTTP but hurt a crawler that believes their content: redirects, robots.txt, pages.

use std::fmt::Write;
use std::io;

use tokio::io::AsyncWriteExt;

use super::{After, Asked, DOMAIN, Stream, page, send};

pub(super) const CASES: &[(&str, &str)] = &[
    ("redirect-loop", "a redirect to itself"),
    ("redirect-chain", "a chain of redirects without end"),
    ("redirect-private", "redirects and links to private addresses, in every spelling"),
    ("redirect-scheme", "redirects to file:, data: and javascript:"),
    ("redirect-garbage", "a Location of random bytes"),
    ("redirect-body", "a redirect with a body of 1 MB"),
    ("robots-huge", "a robots.txt of 100 MB"),
    ("robots-error", "a robots.txt that answers 500"),
    ("robots-loop", "a robots.txt that redirects to itself"),
    ("meta-refresh-loop", "a page that refreshes to itself"),
    ("million-links", "a million links on a page"),
    ("long-links", "links of a million characters"),
    ("deep-tree", "a million open elements"),
    ("bad-utf8", "invalid UTF-8 in headers, text and links"),
    ("not-a-page", "an endless video"),
];

/// The URLs to which `redirect-private` redirects, each from a path of its own.
pub const PRIVATE: &[&str] = &[
    "http://127.0.0.1/",
    "http://2130706433/",
    "http://0x7f.1/",
    "http://017700000001/",
    "http://10.0.0.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://[::1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[2002:7f00:1::]/",
    "http://localhost/",
    "http://224.0.0.1/",
];

const SCHEMES: &[&str] = &["file:///etc/passwd", "data:text/html,x", "javascript:alert(1)", "gopher://x.test/"];

pub(super) async fn answer<S: Stream>(asked: &Asked, stream: &mut S) -> io::Result<Option<After>> {
    let path = asked.path.as_str();
    let index = path.trim_start_matches('/').parse::<usize>();
    let after = match (asked.case.as_str(), path) {
        ("robots-huge", "/robots.txt") => {
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 104857600\r\n\r\nuser-agent: *\ndisallow: /x\n";
            stream.write_all(head.as_bytes()).await?;
            let line = b"disallow: /a-path-that-nobody-will-ever-ask-for\n".repeat(1_000);
            for _ in 0..(100 << 20) / line.len() {
                stream.write_all(&line).await?;
            }
            After::Close
        }
        ("robots-error", "/robots.txt") => send(stream, "500 Internal Server Error", "", b"").await?,
        ("robots-loop", "/robots.txt") => send(stream, "302 Found", "location: /robots.txt\r\n", b"").await?,
        ("robots-huge" | "robots-error" | "robots-loop", _) => healthy(asked, stream).await?,
        (_, "/robots.txt") => return Ok(None),
        ("redirect-loop", _) => redirect(stream, path, b"").await?,
        ("redirect-chain", _) => redirect(stream, &format!("/{}", index.unwrap_or(0) + 1), b"").await?,
        ("redirect-private", "/") => {
            let links: String = (0..PRIVATE.len()).map(|i| format!("<a href='/{i}'>{i}</a> ")).collect();
            let direct: String = PRIVATE.iter().map(|url| format!("<a href='{url}'>{url}</a> ")).collect();
            page(stream, &(links + &direct)).await?
        }
        ("redirect-private", _) => redirect(stream, PRIVATE[index.unwrap_or(0) % PRIVATE.len()], b"").await?,
        ("redirect-scheme", "/") => {
            let links: String = (0..SCHEMES.len()).map(|i| format!("<a href='/{i}'>{i}</a> ")).collect();
            page(stream, &links).await?
        }
        ("redirect-scheme", _) => redirect(stream, SCHEMES[index.unwrap_or(0) % SCHEMES.len()], b"").await?,
        ("redirect-garbage", _) => {
            stream
                .write_all(
                    b"HTTP/1.1 302 Found\r\nlocation: http://[\xff\xfe%zz\x80/\xc3(\r\ncontent-length: 0\r\n\r\n",
                )
                .await?;
            After::Keep
        }
        ("redirect-body", _) => redirect(stream, "/", &vec![b'x'; 1 << 20]).await?,
        ("meta-refresh-loop", _) => {
            page(stream, "<meta http-equiv=refresh content='0; url=/'><a href='/'>again</a> and again and again")
                .await?
        }
        ("million-links", _) => {
            let mut html = String::with_capacity(32 << 20);
            for i in 0..1_000_000 {
                let _ = writeln!(html, "<a href='/{i}'>{i}</a>");
            }
            page(stream, &html).await?
        }
        ("long-links", "/") => {
            let long = "x".repeat(1_000_000);
            page(
                stream,
                &format!("<a href='/{long}'>a</a> <a href='/?{long}'>b</a> <a href='http://{long}.{DOMAIN}/'>c</a>"),
            )
            .await?
        }
        ("deep-tree", _) => page(stream, &"<div><b><table>".repeat(333_333)).await?,
        ("bad-utf8", _) => {
            let body =
                b"<title>\xff\xfe\xc3(</title><a href='/\xff\xfe\xc3('>\xed\xa0\x80</a>\xf0\x28\x8c\xbc words \xc0\x80";
            let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=\xff\xfe\r\nx-bytes: \x80\xff\r\ncontent-length: ";
            let length = format!("{}\r\n\r\n", body.len());
            stream.write_all(&[&head[..], length.as_bytes(), body].concat()).await?;
            After::Keep
        }
        ("not-a-page", _) => {
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: video/mp4\r\n\r\n").await?;
            super::wire::forever(stream, &[0; 1024]).await?
        }
        _ => return Ok(None),
    };
    Ok(Some(after))
}

async fn redirect<S: Stream>(stream: &mut S, to: &str, body: &[u8]) -> io::Result<After> {
    send(stream, "302 Found", &format!("location: {to}\r\ncontent-type: text/html\r\n"), body).await
}

/// Answers as a well-behaved site: page `/N` links to the two pages below it, `/2N+1` and `/2N+2`, down to page 30.
pub(super) async fn healthy<S: Stream>(asked: &Asked, stream: &mut S) -> io::Result<After> {
    let Ok(page_number) = (if asked.path == "/" { Ok(0) } else { asked.path.trim_start_matches('/').parse::<u32>() })
    else {
        return send(stream, "404 Not Found", "", b"").await;
    };
    let host: u32 = asked.host.bytes().fold(0, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    let mut html = format!("<html><title>page {page_number} of {}</title><p>", asked.host);
    for word in 0..60 {
        let _ = write!(html, "w{:x} ", host.wrapping_add(page_number * 60 + word).wrapping_mul(2_654_435_761));
    }
    for next in [2 * page_number + 1, 2 * page_number + 2] {
        if next <= 30 {
            let _ = write!(html, "<a href='/{next}'>page {next}</a> ");
        }
    }
    page(stream, &html).await
}
