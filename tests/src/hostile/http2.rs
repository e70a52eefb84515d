//! HTTP/2 servers that break off, flood or stall (RFC 9113), with frames written by hand.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

use super::wire::stall;

pub(super) const CASES: &[(&str, &str)] = &[
    ("h2-good", "a good answer, to see that the others fail for their reason"),
    ("h2-rapid-reset", "every stream reset at once"),
    ("h2-goaway", "a goodbye to every connection"),
    ("h2-endless-headers", "headers continued without end"),
    ("h2-huge-headers", "headers far over the announced limit"),
    ("h2-bad-frame", "a frame on a stream that does not exist"),
    ("h2-bad-hpack", "headers that refer to nothing"),
    ("h2-pings", "pings without end"),
    ("h2-settings", "settings without end"),
    ("h2-empty-data", "empty pieces of body without end"),
    ("h2-endless-body", "a body without end"),
    ("h2-over-window", "more body than the window allows"),
    ("h2-stall", "headers, and no body"),
    ("h2-drip", "a body of one byte a frame, without end"),
    ("h2-padding", "a body of padding without end"),
    ("h2-trailers", "trailers far over the announced limit"),
    ("h2-interim", "interim answers without end"),
    ("h2-unknown", "frames of unknown kinds without end"),
    ("h2-priorities", "priorities without end"),
    ("h2-push", "a pushed answer, which nobody may push"),
    ("h2-streams", "100,000 streams that the server opens"),
    ("h2-resets", "resets of 100,000 streams that do not exist"),
    ("h2-window-overflow", "a window that grows beyond what a window may be"),
    ("h2-window-zero", "a window that grows by nothing"),
    ("h2-huge-frame", "a frame of 16 MB"),
    ("h2-early-end", "an end of the stream in the middle of the headers"),
];

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const PRIORITY: u8 = 2;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PUSH_PROMISE: u8 = 5;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;
const UNKNOWN: u8 = 0x77;

const INITIAL_WINDOW_SIZE: [u8; 2] = [0, 4];
/// The number of bytes of the body in one frame.
const PIECE: i64 = 16_000;

const END_STREAM: u8 = 1;
const ACK: u8 = 1;
const END_HEADERS: u8 = 4;
const PADDED: u8 = 8;

/// `:status: 100`, as a literal.
const INTERIM: &[u8] = b"\x08\x03100";
/// `:status: 200` from the static table, and `content-type: text/html` as a literal with an indexed name (RFC 7541).
const OK: &[u8] = b"\x88\x0f\x10\x09text/html";

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let [_, length @ ..] = (payload.len() as u32).to_be_bytes();
    [&length[..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// The number of bytes that the client still allows the server to send.
struct Windows {
    connection: i64,
    stream: i64,
}

/// Reads one frame and returns its kind and stream. Updates the windows, and acknowledges settings.
async fn read_frame(client: &mut TlsStream<TcpStream>, windows: &mut Windows) -> io::Result<(u8, u32)> {
    let mut head = [0; 9];
    client.read_exact(&mut head).await?;
    let mut payload = vec![0; u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize];
    client.read_exact(&mut payload).await?;
    let number = |bytes: &[u8]| bytes.iter().fold(0, |number, byte| number << 8 | i64::from(*byte));
    let (kind, flags) = (head[3], head[4]);
    let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
    match kind {
        SETTINGS if flags & ACK == 0 => {
            let initial = payload.chunks_exact(6).find(|setting| setting[..2] == INITIAL_WINDOW_SIZE);
            windows.stream = initial.map_or(windows.stream, |setting| number(&setting[2..]));
            client.write_all(&frame(SETTINGS, ACK, 0, b"")).await?;
        }
        WINDOW_UPDATE if stream == 0 => windows.connection += number(&payload),
        WINDOW_UPDATE => windows.stream += number(&payload),
        _ => {}
    }
    Ok((kind, stream))
}

/// Serves one connection in the way of its case.
pub(super) async fn answer(case: &str, mut client: TlsStream<TcpStream>) -> io::Result<()> {
    let mut preface = [0; 24];
    client.read_exact(&mut preface).await?;
    client.write_all(&frame(SETTINGS, 0, 0, b"")).await?;
    client.flush().await?;
    let mut windows = Windows { connection: 65_535, stream: 65_535 };
    loop {
        let (kind, stream) = read_frame(&mut client, &mut windows).await?;
        if kind == HEADERS {
            respond(case, stream, &mut client, &mut windows).await?;
        }
        client.flush().await?;
    }
}

async fn respond(case: &str, stream: u32, client: &mut TlsStream<TcpStream>, windows: &mut Windows) -> io::Result<()> {
    let ok = frame(HEADERS, END_HEADERS, stream, OK);
    let literal = [&b"\x00\x06x-more\x7f\x80\x01"[..], &[b'x'; 255]].concat();
    match case {
        "h2-rapid-reset" => client.write_all(&frame(RST_STREAM, 0, stream, &7_u32.to_be_bytes())).await,
        "h2-goaway" => client.write_all(&frame(GOAWAY, 0, 0, &[0, 0, 0, 0, 0, 0, 0, 11])).await,
        "h2-endless-headers" => {
            client.write_all(&frame(HEADERS, 0, stream, OK)).await?;
            forever(client, &frame(CONTINUATION, 0, stream, &literal)).await
        }
        "h2-huge-headers" => {
            client.write_all(&frame(HEADERS, 0, stream, OK)).await?;
            for _ in 0..4_000 {
                client.write_all(&frame(CONTINUATION, 0, stream, &literal)).await?;
            }
            client.write_all(&frame(CONTINUATION, END_HEADERS, stream, b"")).await
        }
        "h2-bad-frame" => client.write_all(&frame(DATA, END_STREAM, 1_001, b"words")).await,
        "h2-bad-hpack" => {
            client.write_all(&frame(HEADERS, END_HEADERS | END_STREAM, stream, b"\xff\xff\xff\x7f")).await
        }
        "h2-pings" => forever(client, &frame(PING, 0, 0, &[0; 8])).await,
        "h2-settings" => forever(client, &frame(SETTINGS, 0, 0, &[0, 4, 0, 1, 0, 0])).await,
        "h2-empty-data" => {
            client.write_all(&ok).await?;
            forever(client, &frame(DATA, 0, stream, b"")).await
        }
        "h2-endless-body" => {
            client.write_all(&ok).await?;
            let data = frame(DATA, 0, stream, &[b'x'; PIECE as usize]);
            loop {
                while windows.connection.min(windows.stream) >= PIECE {
                    client.write_all(&data).await?;
                    windows.connection -= PIECE;
                    windows.stream -= PIECE;
                }
                client.flush().await?;
                read_frame(client, windows).await?;
            }
        }
        "h2-over-window" => {
            client.write_all(&ok).await?;
            forever(client, &frame(DATA, 0, stream, &[b'x'; PIECE as usize])).await
        }
        "h2-stall" => {
            client.write_all(&ok).await?;
            client.flush().await?;
            stall().await.map(|_| ())
        }
        "h2-drip" => {
            client.write_all(&ok).await?;
            loop {
                client.write_all(&frame(DATA, 0, stream, b"x")).await?;
                client.flush().await?;
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            }
        }
        "h2-padding" => {
            client.write_all(&ok).await?;
            let data = frame(DATA, PADDED, stream, &[&[200][..], &[0; 200]].concat());
            loop {
                while windows.connection.min(windows.stream) >= 201 {
                    client.write_all(&data).await?;
                    windows.connection -= 201;
                    windows.stream -= 201;
                }
                client.flush().await?;
                read_frame(client, windows).await?;
            }
        }
        "h2-trailers" => {
            client.write_all(&[ok, frame(DATA, 0, stream, b"<title>two</title>words")].concat()).await?;
            client.write_all(&frame(HEADERS, END_STREAM, stream, &literal)).await?;
            for _ in 0..4_000 {
                client.write_all(&frame(CONTINUATION, 0, stream, &literal)).await?;
            }
            client.write_all(&frame(CONTINUATION, END_HEADERS, stream, b"")).await
        }
        "h2-interim" => forever(client, &frame(HEADERS, END_HEADERS, stream, INTERIM)).await,
        "h2-unknown" => forever(client, &frame(UNKNOWN, 0, stream, &[0; 64])).await,
        "h2-priorities" => forever(client, &frame(PRIORITY, 0, stream, &[0, 0, 0, 0, 16])).await,
        "h2-push" => {
            let promise = [&[0, 0, 0, 2][..], b"\x82\x87\x84\x41\x06x.test"].concat();
            client.write_all(&frame(PUSH_PROMISE, END_HEADERS, stream, &promise)).await?;
            client.write_all(&frame(HEADERS, END_HEADERS, 2, OK)).await
        }
        "h2-streams" => {
            for number in 1..100_000 {
                client.write_all(&frame(HEADERS, END_HEADERS, 2 * number, OK)).await?;
            }
            Ok(())
        }
        "h2-resets" => {
            for number in 1..100_000 {
                client.write_all(&frame(RST_STREAM, 0, stream + 2 * number, &8_u32.to_be_bytes())).await?;
            }
            Ok(())
        }
        "h2-window-overflow" => {
            let most = frame(WINDOW_UPDATE, 0, 0, &0x7fff_ffff_u32.to_be_bytes());
            client.write_all(&[most.clone(), most].concat()).await
        }
        "h2-window-zero" => client.write_all(&frame(WINDOW_UPDATE, 0, 0, &[0; 4])).await,
        "h2-huge-frame" => client.write_all(&frame(DATA, 0, stream, &vec![b'x'; (1 << 24) - 1])).await,
        "h2-early-end" => {
            client.write_all(&frame(HEADERS, 0, stream, OK)).await?;
            client.write_all(&frame(DATA, END_STREAM, stream, b"words")).await
        }
        _ => {
            let body = frame(DATA, END_STREAM, stream, b"<title>two</title>words over HTTP/2");
            client.write_all(&[ok, body].concat()).await
        }
    }
}

async fn forever(client: &mut TlsStream<TcpStream>, frame: &[u8]) -> io::Result<()> {
    loop {
        client.write_all(frame).await?;
    }
}
