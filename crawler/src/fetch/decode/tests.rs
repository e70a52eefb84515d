//! Tests of decoding against encoders, with cuts, noise and bombs.

use async_compression::Level;
use async_compression::codecs::brotli::params::EncoderParams;
use async_compression::codecs::{BrotliEncoder, DeflateEncoder, EncodeV2, GzipEncoder, ZlibEncoder, ZstdEncoder};
use proptest::prelude::*;

use super::*;

const NAMES: [&str; 5] = ["gzip", "zlib", "deflate", "br", "zstd"];

fn compress(coding: &str, data: &[u8]) -> Vec<u8> {
    let mut encoder: Box<dyn EncodeV2> = match coding {
        "gzip" => Box::new(GzipEncoder::new(Level::Default.into())),
        "zlib" => Box::new(ZlibEncoder::new(Level::Default.into())),
        "deflate" => Box::new(DeflateEncoder::new(Level::Default.into())),
        "br" => Box::new(BrotliEncoder::new(EncoderParams::default().quality(Level::Precise(3)))),
        _ => Box::new(ZstdEncoder::new(3)),
    };
    let mut out = vec![0; data.len() + 4096];
    let mut input = PartialBuffer::new(data);
    let mut output = WriteBuffer::new_initialized(&mut out);
    while !input.unwritten().is_empty() {
        encoder.encode(&mut input, &mut output).expect("encoders do not fail");
    }
    while !encoder.finish(&mut output).expect("encoders do not fail") {}
    output.written().to_vec()
}

/// The name of a coding in `Content-Encoding`. zlib and raw deflate share one name.
fn header(coding: &str) -> &str {
    if coding == "zlib" { "deflate" } else { coding }
}

/// The output for `data`, given in pieces of `step` bytes, and how decoding ended.
fn decode(header: &str, data: &[u8], step: usize, most: u64) -> (Vec<u8>, Result<bool, DecodeStop<()>>) {
    let mut decoder = Decoder::new([header].into_iter()).expect("known codings").expect("a coding");
    let mut out = Vec::new();
    for piece in data.chunks(step) {
        let pushed = decoder.push(piece, most, &mut |piece| {
            assert!(piece.len() <= PIECE);
            out.extend_from_slice(piece);
            Ok(())
        });
        if let Err(stop) = pushed {
            return (out, Err(stop));
        }
    }
    let complete = decoder.finish();
    (out, Ok(complete))
}

/// Texts. Some lengths are at the bounds of pieces, and some texts compress well, others hardly.
fn data() -> impl Strategy<Value = Vec<u8>> {
    let length = prop_oneof![1..100_usize, PIECE - 1..PIECE + 2, 2 * PIECE - 1..2 * PIECE + 2, 1..100_000_usize];
    (length, any::<u32>(), 1..64_u32).prop_map(|(length, seed, spread)| {
        let value = |i: usize| (i as u32).wrapping_mul(seed | 1) >> 24;
        (0..length).map(|i| (value(i / spread as usize) % 64 + 32) as u8).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn decoding_undoes_encoding_however_it_is_cut(data in data(), step in prop_oneof![1..4_usize, 1..40_000_usize]) {
        for coding in NAMES {
            let (out, end) = decode(header(coding), &compress(coding, &data), step, u64::MAX);
            prop_assert!(out == data, "{coding}: {} bytes of {}", out.len(), data.len());
            prop_assert_eq!(end, Ok(true), "{}", coding);
        }
    }

    #[test]
    fn stacks_are_undone_from_the_outside(data in data(), inner in 0..5_usize, outer in 0..5_usize, step in 1..5_000_usize) {
        let packed = compress(NAMES[outer], &compress(NAMES[inner], &data));
        let names = format!("{}, {}", header(NAMES[inner]), header(NAMES[outer]));
        prop_assert!(decode(&names, &packed, step, u64::MAX) == (data, Ok(true)));
    }

    #[test]
    fn what_is_cut_is_not_complete(data in data(), keep in 0.0..1.0_f64) {
        for coding in NAMES {
            let packed = compress(coding, &data);
            let kept = &packed[..((packed.len() as f64 * keep) as usize).max(1)];
            let (out, end) = decode(header(coding), kept, usize::MAX, u64::MAX);
            prop_assert!(data.starts_with(&out), "{coding}");
            prop_assert!(end == Ok(false), "{coding}: {end:?}");
        }
    }

    #[test]
    fn noise_ends(noise in proptest::collection::vec(any::<u8>(), 1..2_000), flip in any::<usize>(), data in data()) {
        for coding in NAMES {
            let _ = decode(header(coding), &noise, 100, 1 << 20);
            let mut damaged = compress(coding, &data);
            let length = damaged.len();
            damaged[flip % length] ^= 1 << (flip % 8);
            let _ = decode(header(coding), &damaged, 100, 1 << 20);
        }
    }
}

#[test]
fn no_layer_puts_out_more_than_is_allowed() {
    for coding in NAMES {
        let packed = compress(coding, &vec![0; 4 << 20]);
        let (out, end) = decode(header(coding), &packed, usize::MAX, 1 << 20);
        assert_eq!(end, Err(DecodeStop::Expands), "{coding}");
        assert!(out.len() <= (1 << 20) + PIECE, "{coding}");
    }
    // The middle layer has much output, and the last one has none: empty stored blocks.
    let nothing = compress("gzip", &[0, 0, 0, 0xff, 0xff].repeat(1 << 20));
    assert_eq!(decode("deflate, gzip", &nothing, usize::MAX, 1 << 20), (vec![], Err(DecodeStop::Expands)));
}

#[test]
fn gzip_goes_on_with_members_and_ends_before_padding() {
    let twice = [compress("gzip", b"one "), compress("gzip", b"two")].concat();
    for step in [1, 7, 1_000] {
        assert_eq!(decode("gzip", &twice, step, 100), (b"one two".to_vec(), Ok(true)));
    }
    let padded = [compress("gzip", b"one"), vec![0; 100]].concat();
    assert_eq!(decode("x-gzip", &padded, 3, 100), (b"one".to_vec(), Ok(true)));
}

#[test]
fn names_of_codings() {
    let decoder = |values: &[&str]| Decoder::new(values.iter().copied()).map(|decoder| decoder.map(|d| d.stages.len()));
    assert_eq!(decoder(&[]), Ok(None));
    for plain in ["", "identity", "none", "UTF-8", "8bit, identity"] {
        assert_eq!(decoder(&[plain]), Ok(None), "{plain}");
    }
    assert_eq!(decoder(&["GZIP"]), Ok(Some(1)));
    assert_eq!(decoder(&["gzip , br", "identity", "zstd"]), Ok(Some(3)));
    for unreadable in ["compress", "gzip, exi", "gzip, gzip, gzip, gzip"] {
        assert_eq!(decoder(&[unreadable]), Err(DecodeStop::Broken), "{unreadable}");
    }
}

#[test]
fn zstd_windows_are_bounded() {
    let frame = |log: u8| [&[0x28, 0xb5, 0x2f, 0xfd, 0, (log - 10) << 3][..], &[0x03, 0, 0, b'x']].concat();
    let end = |log| decode("zstd", &frame(log), 100, 100).1;
    assert_eq!(end(31), Err(DecodeStop::Broken));
    assert_eq!(end(24), Err(DecodeStop::Broken));
    assert!(end(23) != Err(DecodeStop::Broken));
}
