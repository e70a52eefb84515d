//! HTTP messages inside WARC records: makes heads for the archive, and takes stored messages apart.

use std::io::Read;

use super::fields::{Fields, line};

/// The head of a request: request line, fields, empty line. `target` is written as in the request line, fields as they
/// were sent.
pub fn request_head<'a>(method: &str, target: &str, fields: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Vec<u8> {
    let mut head = Vec::with_capacity(512);
    head.extend(format!("{method} {target} HTTP/1.1\r\n").bytes().map(|b| if b == 0 { b' ' } else { b }));
    for (name, value) in fields {
        line(&mut head, name, value);
    }
    head.extend_from_slice(b"\r\n");
    head
}

/// The head of a response with a payload of `payload` bytes: status line, fields, empty line. The payload has no
/// transfer-coding any more, so the field for it is left out. Content-Length is the length of the stored payload.
pub fn response_head<'a>(
    status: u16,
    reason: &str,
    fields: impl IntoIterator<Item = (&'a str, &'a [u8])>,
    payload: u64,
) -> Vec<u8> {
    let mut head = Vec::with_capacity(1024);
    head.extend_from_slice(format!("HTTP/1.1 {status:03} {reason}\r\n").as_bytes());
    for (name, value) in fields {
        if !name.eq_ignore_ascii_case("transfer-encoding") && !name.eq_ignore_ascii_case("content-length") {
            line(&mut head, name, value);
        }
    }
    line(&mut head, "Content-Length", payload.to_string().as_bytes());
    head.extend_from_slice(b"\r\n");
    head
}

/// A stored response, in its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredResponse<'a> {
    /// The HTTP status.
    pub status: u16,
    /// The header fields.
    pub fields: Fields,
    /// The status line, fields and empty line, as stored.
    pub head: &'a [u8],
    /// The bytes after the head, as stored: with their codings.
    pub payload: &'a [u8],
}

/// Takes a response apart; `None` if it does not begin with an HTTP status line.
pub fn parse_response(block: &[u8]) -> Option<StoredResponse<'_>> {
    let head_end = head_end(block);
    let (head, payload) = block.split_at(head_end);
    let first = memchr::memchr(b'\n', head).map_or(head.len(), |at| at + 1);
    let mut words = head[..first].split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty());
    words.next().filter(|version| version.len() >= 4 && version[..4].eq_ignore_ascii_case(b"HTTP"))?;
    let status = std::str::from_utf8(words.next()?).ok()?.parse().ok()?;
    Some(StoredResponse { status, fields: Fields::parse(&head[first..]), head, payload })
}

/// The end of the head: after the first empty line, or the end of the block.
fn head_end(block: &[u8]) -> usize {
    let mut start = 0;
    while let Some(at) = memchr::memchr(b'\n', &block[start..]) {
        let line = &block[start..start + at];
        start += at + 1;
        if line.is_empty() || line == b"\r" {
            return start;
        }
    }
    block.len()
}

/// The reason why the codings of a body cannot be removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// A coding is broken or cut short.
    #[error("the body's coding is broken")]
    Broken,
    /// The content-encoding is unknown.
    #[error("the body has an unknown content-encoding")]
    Unknown,
    /// The decoded body is larger than allowed.
    #[error("the decoded body is too large")]
    TooLarge,
}

impl StoredResponse<'_> {
    /// The body without its codings, at most `limit` bytes. Content-encodings are decoded. Chunked transfer-coding is
    /// removed if it is really there: many archives keep the field but remove the coding. A chunk that is cut short is
    /// an error.
    pub fn body(&self, limit: usize) -> Result<Vec<u8>, BodyError> {
        let chunked = self.tokens("transfer-encoding").any(|coding| coding == "chunked");
        let mut body = match chunked.then(|| dechunk(self.payload)).flatten() {
            Some(plain) => plain?,
            None => self.payload.to_vec(),
        };
        let encodings: Vec<String> = self.tokens("content-encoding").collect();
        for encoding in encodings.iter().rev() {
            body = decode(encoding, body, limit)?;
        }
        if body.len() > limit { Err(BodyError::TooLarge) } else { Ok(body) }
    }

    /// The comma-separated tokens of a field, in lower case.
    fn tokens(&self, name: &'static str) -> impl Iterator<Item = String> {
        let values = self.fields.iter().filter(move |(other, _)| other.eq_ignore_ascii_case(name));
        values.flat_map(|(_, value)| {
            let tokens = value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii).filter(|token| !token.is_empty());
            tokens.map(|token| String::from_utf8_lossy(token).to_ascii_lowercase()).collect::<Vec<_>>()
        })
    }
}

/// Removes the chunked coding (RFC 9112, section 7.1); `None` if the bytes are not chunked. Errors if they end within a
/// chunk or its size. It is tolerated that the empty last chunk is missing.
fn dechunk(mut bytes: &[u8]) -> Option<Result<Vec<u8>, BodyError>> {
    let mut plain = Vec::with_capacity(bytes.len());
    let mut first = true;
    loop {
        let Some(end) = memchr::memchr(b'\n', bytes) else {
            let is_whole = bytes.iter().all(u8::is_ascii_whitespace);
            return (!first).then_some(if is_whole { Ok(plain) } else { Err(BodyError::Broken) });
        };
        let size = bytes[..end].split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
        let size = std::str::from_utf8(size).ok().and_then(|hex| usize::from_str_radix(hex, 16).ok())?;
        first = false;
        bytes = &bytes[end + 1..];
        if size == 0 {
            return Some(Ok(plain));
        }
        let Some((chunk, rest)) = bytes.split_at_checked(size) else { return Some(Err(BodyError::Broken)) };
        plain.extend_from_slice(chunk);
        bytes = rest;
        bytes = bytes.strip_prefix(b"\r").unwrap_or(bytes);
        bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
    }
}

/// Decodes one content-encoding. Bytes that do not begin as the encoding requires are taken as decoded already, because
/// some archives decode the body but keep the field.
fn decode(encoding: &str, bytes: Vec<u8>, limit: usize) -> Result<Vec<u8>, BodyError> {
    const ZSTD_WINDOW_LOG: u32 = 23;
    let input = bytes.as_slice();
    match encoding {
        "identity" => Ok(bytes),
        "gzip" | "x-gzip" if input.starts_with(&[0x1f, 0x8b]) => {
            read_all(flate2::read::MultiGzDecoder::new(input), limit)
        }
        "gzip" | "x-gzip" => Ok(bytes),
        // Servers send both: the zlib format that the standard means, and bare deflate.
        "deflate" => read_all(flate2::read::ZlibDecoder::new(input), limit)
            .or_else(|_| read_all(flate2::read::DeflateDecoder::new(input), limit)),
        "br" => read_all(brotli_decompressor::Decompressor::new(input, 4096), limit),
        "zstd" if input.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) => {
            let mut decoder = zstd::stream::read::Decoder::new(input).map_err(|_| BodyError::Broken)?;
            decoder.window_log_max(ZSTD_WINDOW_LOG).map_err(|_| BodyError::Broken)?;
            read_all(decoder, limit)
        }
        "zstd" => Ok(bytes),
        _ => Err(BodyError::Unknown),
    }
}

fn read_all(decoder: impl Read, limit: usize) -> Result<Vec<u8>, BodyError> {
    let mut plain = Vec::new();
    decoder.take(limit as u64 + 1).read_to_end(&mut plain).map_err(|_| BodyError::Broken)?;
    if plain.len() > limit { Err(BodyError::TooLarge) } else { Ok(plain) }
}
