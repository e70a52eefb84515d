//! Answers of a few kilobytes that unpack to gigabytes, in each coding, and answers whose coding is broken.

use std::collections::HashMap;

use async_compression::codecs::brotli::params::EncoderParams;
use async_compression::codecs::{BrotliEncoder, DeflateEncoder, EncodeV2, GzipEncoder, ZlibEncoder, ZstdEncoder};
use async_compression::core::Level;
use async_compression::core::util::{PartialBuffer, WriteBuffer};

pub(super) const CASES: &[(&str, &str)] = &[
    ("bomb-gzip", "40 MB of zeros in gzip"),
    ("bomb-gzip-gzip", "4 GB of zeros in gzip in gzip"),
    ("bomb-deflate", "40 MB of zeros in deflate"),
    ("bomb-deflate-deflate", "4 GB of zeros in deflate in deflate"),
    ("bomb-br", "4 GB of zeros in brotli"),
    ("bomb-zstd", "4 GB of zeros in zstd"),
    ("bomb-nothing", "4 GB of empty deflate blocks in gzip: nothing, after long work"),
    ("encoding-lie", "a page that is said to be gzip"),
    ("encoding-cut", "half a gzip"),
    ("encoding-stack", "eight codings, one in the other"),
    ("encoding-unknown", "a coding from the past"),
    ("encoding-window", "zstd with a window of 2 GB"),
];

/// A content coding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// gzip.
    Gzip,
    /// deflate as RFC 9110 defines it (with a zlib wrapper).
    Zlib,
    /// deflate as many servers implement it (without a wrapper).
    Deflate,
    /// br.
    Brotli,
    /// zstd.
    Zstd,
}

impl Coding {
    fn encoder(self) -> Box<dyn EncodeV2> {
        match self {
            Coding::Gzip => Box::new(GzipEncoder::new(Level::Default.into())),
            Coding::Zlib => Box::new(ZlibEncoder::new(Level::Default.into())),
            Coding::Deflate => Box::new(DeflateEncoder::new(Level::Default.into())),
            Coding::Brotli => Box::new(BrotliEncoder::new(EncoderParams::default().quality(Level::Precise(5)))),
            Coding::Zstd => Box::new(ZstdEncoder::new(3)),
        }
    }
}

/// Compresses `data` with a coding.
pub fn compress(coding: Coding, data: &[u8]) -> Vec<u8> {
    let (mut encoder, mut out) = (coding.encoder(), Vec::new());
    encode(&mut *encoder, data, &mut out);
    step(&mut out, |buffer| encoder.finish(buffer));
    out
}

fn encode(encoder: &mut dyn EncodeV2, data: &[u8], out: &mut Vec<u8>) {
    let mut input = PartialBuffer::new(data);
    step(out, |buffer| {
        encoder.encode(&mut input, buffer)?;
        Ok(input.unwritten().is_empty())
    });
}

/// Runs one operation of an encoder until it is done.
fn step(out: &mut Vec<u8>, mut run: impl FnMut(&mut WriteBuffer<'_>) -> std::io::Result<bool>) {
    let mut piece = vec![0; 64 << 10];
    loop {
        let mut buffer = WriteBuffer::new_initialized(&mut piece);
        let done = run(&mut buffer).expect("encoders do not fail");
        out.extend_from_slice(buffer.written());
        if done {
            return;
        }
    }
}

/// A prepared answer.
pub(super) struct Packed {
    pub(super) headers: String,
    pub(super) bytes: Vec<u8>,
}

/// The answers of the cases, which are made once.
pub(super) struct Bombs(HashMap<&'static str, Packed>);

impl Bombs {
    pub(super) fn new() -> Self {
        let text = "<title>packed</title>words and words ".repeat(100);
        let gzip = compress(Coding::Gzip, text.as_bytes());
        let stack = (0..8).fold(text.into_bytes(), |inner, _| compress(Coding::Gzip, &inner));
        let zeros = vec![0; 1 << 20];
        // The same mebibyte 4096 times, each time flushed to a byte boundary.
        let many = |coding| repeat(coding, &zeros, 4096);
        let cases = [
            ("bomb-gzip", "gzip", compress(Coding::Gzip, &vec![0; 40 << 20])),
            ("bomb-gzip-gzip", "gzip, gzip", compress(Coding::Gzip, &many(Coding::Gzip))),
            ("bomb-deflate", "deflate", compress(Coding::Zlib, &vec![0; 40 << 20])),
            ("bomb-deflate-deflate", "deflate, deflate", compress(Coding::Deflate, &many(Coding::Deflate))),
            ("bomb-br", "br", many(Coding::Brotli)),
            ("bomb-zstd", "zstd", zstd_zeros()),
            // An empty stored block is five bytes.
            ("bomb-nothing", "deflate, gzip, gzip", {
                let blocks = [0, 0, 0, 0xff, 0xff].repeat(200_000);
                let outer = repeat(Coding::Gzip, &blocks, 4096);
                compress(Coding::Gzip, &outer)
            }),
            ("encoding-lie", "gzip", b"<title>plain</title>words and words".to_vec()),
            ("encoding-cut", "gzip", gzip[..gzip.len() / 2].to_vec()),
            ("encoding-stack", "gzip, gzip, gzip, gzip, gzip, gzip, gzip, gzip", stack),
            ("encoding-unknown", "compress", gzip.clone()),
            ("encoding-window", "zstd", [&ZSTD_MAGIC[..], &[0, 21 << 3, 0x03, 0, 0x10, 0]].concat()),
        ];
        Self(HashMap::from(cases.map(|(name, coding, bytes)| {
            (name, Packed { headers: format!("content-type: text/html\r\ncontent-encoding: {coding}\r\n"), bytes })
        })))
    }

    pub(super) fn get(&self, case: &str) -> Option<&Packed> {
        self.0.get(case)
    }
}

/// Encodes `data` this many times, by repeating the output of the encoder between two flushes. The result has no proper
/// end.
fn repeat(coding: Coding, data: &[u8], times: usize) -> Vec<u8> {
    let mut encoder = coding.encoder();
    let mut ends = vec![0];
    let mut out = Vec::new();
    // The first round includes the header, and the second may still differ because the history of the encoder is new.
    for _ in 0..4 {
        encode(&mut *encoder, data, &mut out);
        step(&mut out, |buffer| encoder.flush(buffer));
        ends.push(out.len());
    }
    let round = out[ends[3]..].to_vec();
    assert_eq!(&out[ends[2]..ends[3]], round, "{coding:?}: rounds that differ cannot be repeated");
    for _ in 4..times {
        out.extend_from_slice(&round);
    }
    out
}

const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// 4 GB of zeros in zstd: 32,768 blocks of one repeated byte (RFC 8878, section 3.1.1.2), a window of 8 MiB.
fn zstd_zeros() -> Vec<u8> {
    const BLOCK: u32 = 128 << 10;
    let [a, b, c, _] = (BLOCK << 3 | 1 << 1).to_le_bytes();
    let mut out = [&ZSTD_MAGIC[..], &[0, 13 << 3]].concat();
    out.extend([a, b, c, 0].repeat(32_768));
    out
}
