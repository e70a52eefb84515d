//! Answers that are wrong, slow or endless below the level of pages: in their framing, headers or connections.

use std::io;

use tokio::io::AsyncWriteExt;

use super::{After, Asked, Site, Stream, send};

pub(super) const CASES: &[(&str, &str)] = &[
    ("endless-body", "a body that never ends"),
    ("slow-body", "a body of one byte at a time"),
    ("stalled-body", "a body that stops coming"),
    ("silent", "no answer at all"),
    ("slow-headers", "headers of one byte at a time"),
    ("endless-headers", "headers that never end"),
    ("endless-interim", "interim answers (100 Continue) that never end"),
    ("huge-header", "a header of 10 MB"),
    ("many-headers", "10,000 headers"),
    ("length-too-long", "a Content-Length larger than the body"),
    ("length-too-short", "a Content-Length smaller than the body"),
    ("length-negative", "a Content-Length of -1"),
    ("length-twice", "two Content-Lengths that differ"),
    ("chunk-garbage", "chunk sizes that are no numbers"),
    ("chunk-overflow", "a chunk size of 20 digits"),
    ("chunk-extension", "a chunk extension that never ends"),
    ("chunk-trailers", "trailers that never end"),
    ("chunk-cut", "chunks that end in the middle"),
    ("not-http", "another protocol's greeting"),
    ("no-status", "a page without a status line"),
    ("header-garbage", "headers of random bytes"),
    ("reset-request", "a reset instead of an answer"),
    ("reset-headers", "a reset within the headers"),
    ("reset-body", "a reset within the body"),
    ("close-request", "an end instead of an answer"),
    ("close-headers", "an end within the headers"),
];

const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n";
const CHUNKED: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ntransfer-encoding: chunked\r\n\r\n";

pub(super) async fn answer<S: Stream>(site: &Site, asked: &Asked, stream: &mut S) -> io::Result<After> {
    let text = "<html><title>hostile</title><p>words and words and words ".repeat(20);
    match asked.case.as_str() {
        "endless-body" => {
            write(stream, &[OK, b"\r\n"]).await?;
            forever(stream, text.repeat(10).as_bytes()).await
        }
        "slow-body" => {
            write(stream, &[OK, b"\r\n"]).await?;
            drip(site, stream, text.as_bytes()).await
        }
        "stalled-body" => {
            write(stream, &[OK, b"content-length: 100000\r\n\r\n", text.as_bytes()]).await?;
            stall().await
        }
        "silent" => stall().await,
        "slow-headers" => {
            write(stream, &[OK]).await?;
            drip(site, stream, b"x-slow: and steady\r\n").await
        }
        "endless-headers" => {
            write(stream, &[OK]).await?;
            forever(stream, b"x-more: and more and more and more and more\r\n").await
        }
        "endless-interim" => forever(stream, b"HTTP/1.1 100 Continue\r\n\r\n").await,
        "huge-header" => {
            write(stream, &[OK, b"x-huge: ", &vec![b'x'; 10 << 20], b"\r\n\r\n"]).await?;
            Ok(After::Close)
        }
        "many-headers" => {
            let headers: String = (0..10_000).map(|i| format!("x-{i}: {i}\r\n")).collect();
            write(stream, &[OK, headers.as_bytes(), b"\r\n"]).await?;
            Ok(After::Close)
        }
        "length-too-long" => {
            write(stream, &[OK, b"content-length: 100000\r\n\r\n", text.as_bytes()]).await?;
            Ok(After::Close)
        }
        "length-too-short" => {
            write(stream, &[OK, b"content-length: 100\r\n\r\n", text.as_bytes()]).await?;
            Ok(After::Close)
        }
        "length-negative" => write_and_close(stream, &[OK, b"content-length: -1\r\n\r\n", text.as_bytes()]).await,
        "length-twice" => {
            write_and_close(stream, &[OK, b"content-length: 5\r\ncontent-length: 6\r\n\r\n", text.as_bytes()]).await
        }
        "chunk-garbage" => write_and_close(stream, &[CHUNKED, b"5\r\nwords\r\nzz zz\r\nwords\r\n"]).await,
        "chunk-overflow" => {
            write_and_close(stream, &[CHUNKED, b"5\r\nwords\r\n12345678901234567890\r\nwords\r\n"]).await
        }
        "chunk-extension" => {
            write(stream, &[CHUNKED, b"5;"]).await?;
            forever(stream, b"extension=extension;extension=extension;").await
        }
        "chunk-trailers" => {
            write(stream, &[CHUNKED, b"5\r\nwords\r\n0\r\n"]).await?;
            forever(stream, b"x-trailer: and more and more and more\r\n").await
        }
        "chunk-cut" => write_and_close(stream, &[CHUNKED, b"5\r\nwords\r\n5\r\nwo"]).await,
        "not-http" => write_and_close(stream, &[b"SSH-2.0-OpenSSH_9.9\r\n"]).await,
        "no-status" => write_and_close(stream, &[text.as_bytes()]).await,
        "header-garbage" => {
            let mut garbage: Vec<u8> = (0..4096u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
            garbage.retain(|byte| *byte != b'\n');
            write_and_close(stream, &[OK, &garbage, b"\r\n\r\n", text.as_bytes()]).await
        }
        "reset-request" => Ok(After::Reset),
        "reset-headers" => {
            write(stream, &[OK]).await?;
            Ok(After::Reset)
        }
        "reset-body" => {
            write(stream, &[OK, b"content-length: 100000\r\n\r\n", text.as_bytes()]).await?;
            // The reset must not overtake the bytes that the client should see.
            tokio::time::sleep(site.drip).await;
            Ok(After::Reset)
        }
        "close-request" => Ok(After::Close),
        "close-headers" => write_and_close(stream, &[OK]).await,
        _ => send(stream, "404 Not Found", "", b"").await,
    }
}

async fn write<S: Stream>(stream: &mut S, parts: &[&[u8]]) -> io::Result<()> {
    stream.write_all(&parts.concat()).await?;
    stream.flush().await
}

async fn write_and_close<S: Stream>(stream: &mut S, parts: &[&[u8]]) -> io::Result<After> {
    write(stream, parts).await?;
    Ok(After::Close)
}

/// Sends `piece` again and again, until the client closes the connection.
pub(super) async fn forever<S: Stream>(stream: &mut S, piece: &[u8]) -> io::Result<After> {
    let piece = piece.repeat((16 << 10) / piece.len());
    loop {
        stream.write_all(&piece).await?;
    }
}

/// Sends the bytes one at a time, again and again.
async fn drip<S: Stream>(site: &Site, stream: &mut S, bytes: &[u8]) -> io::Result<After> {
    for byte in bytes.iter().cycle() {
        tokio::time::sleep(site.drip).await;
        stream.write_all(&[*byte]).await?;
        stream.flush().await?;
    }
    Ok(After::Close)
}

/// Sends nothing until the server ends.
pub(super) async fn stall() -> io::Result<After> {
    std::future::pending().await
}
