//! Hosts that keep what other hosts need: slots, and memory for bodies.

use std::io;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::missing;

const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n";
const SECOND: Duration = Duration::from_secs(1);

pub(super) async fn answer(kind: &str, path: &str, stream: &mut TcpStream) -> io::Result<()> {
    if path == "/robots.txt" {
        return missing(stream).await;
    }
    stream.write_all(HEAD).await?;
    match kind {
        // One byte per second.
        "drip" => {
            stream.write_all(b"\r\n").await?;
            forever(stream, b"x", SECOND).await
        }
        // Nearly the largest body that is allowed, at once; then one byte per second.
        "fill" => {
            stream.write_all(b"content-length: 8300000\r\n\r\n").await?;
            stream.write_all(&vec![b'x'; 8_200_000]).await?;
            forever(stream, b"x", SECOND).await
        }
        // Barely as fast as a single answer must be.
        "stutter" => {
            stream.write_all(b"\r\n").await?;
            forever(stream, &[b'x'; 1_100], SECOND).await
        }
        // Headers without end.
        _ => forever(stream, b"x-more: and more\r\n", SECOND).await,
    }
}

/// Whether a host of the kind `turn` holds its slot for this path. Such a host answers five pages well, and then holds
/// its slot for one.
pub(super) fn is_its_turn(path: &str) -> bool {
    path.trim_start_matches('/').parse::<u32>().is_ok_and(|page| page % 6 == 5)
}

/// A host of the kind `steady` answers each page well, after a time that is a little too short to lose the slot.
pub(super) async fn wait_a_while(path: &str) {
    if path != "/robots.txt" {
        tokio::time::sleep(Duration::from_millis(2_700)).await;
    }
}

async fn forever(stream: &mut TcpStream, piece: &[u8], pause: Duration) -> io::Result<()> {
    loop {
        stream.write_all(piece).await?;
        stream.flush().await?;
        tokio::time::sleep(pause).await;
    }
}
