//! Unpacks web archives that are packed with zstd (`.warc.zst`), as those of ArchiveTeam are.
//!
//! Such a file is a sequence of zstd frames, usually one for each record. If its first frame is a skippable one of the
//! kind `DICTIONARY`, this frame has the dictionary of all others, which may itself be packed as a zstd frame.
//!
//! # References
//!
//! IIPC, "Zstandard Compression for WARC Files 1.0".

use std::io::{self, BufRead, BufReader, Cursor, Read};

use zstd::stream::read::Decoder;

/// The first bytes of a zstd frame.
const FRAME: [u8; 4] = 0xfd2f_b528_u32.to_le_bytes();

/// The first bytes of a frame with a dictionary.
const DICTIONARY: [u8; 4] = 0x184d_2a5d_u32.to_le_bytes();

/// The most bytes of a dictionary. Those of ArchiveTeam have about one MiB.
const LONGEST: u64 = 64 << 20;

/// The unpacked bytes of a web archive, if its first bytes say that it is packed with zstd. Otherwise its bytes as they
/// are: the reader of WARC files unpacks gzip itself, member by member. Errors if the input cannot be read, or has a
/// broken dictionary.
pub fn unpacked<'a>(mut input: impl BufRead + Send + 'a) -> io::Result<Box<dyn BufRead + Send + 'a>> {
    let mut start = Vec::new();
    (&mut input).take(FRAME.len() as u64).read_to_end(&mut start)?;
    if start == DICTIONARY {
        let dictionary = dictionary(&mut input)?;
        return Ok(Box::new(BufReader::new(Frames(Decoder::with_dictionary(input, &dictionary)?))));
    }
    let is_packed = start == FRAME;
    let whole = Cursor::new(start).chain(input);
    Ok(if is_packed { Box::new(BufReader::new(Frames(Decoder::with_buffer(whole)?))) } else { Box::new(whole) })
}

/// Unpacks frames. Its errors say that they are about them.
struct Frames<D>(D);

impl<D: Read> Read for Frames<D> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.0.read(out).map_err(|error| match error.kind() {
            _ if error.raw_os_error().is_some() => error,
            io::ErrorKind::UnexpectedEof => io::Error::new(error.kind(), "the file ends within a zstd frame"),
            kind => io::Error::new(kind, format!("broken zstd frame: {error}")),
        })
    }
}

/// Reads the dictionary in a frame whose first four bytes were read.
fn dictionary(input: &mut impl Read) -> io::Result<Vec<u8>> {
    let broken = |what: &str| io::Error::new(io::ErrorKind::InvalidData, format!("the zstd dictionary {what}"));
    let mut length = [0; 4];
    input.read_exact(&mut length).map_err(|_| broken("is cut"))?;
    let length = u64::from(u32::from_le_bytes(length));
    if length > LONGEST {
        return Err(broken(&format!("has {length} bytes, more than {} MiB", LONGEST >> 20)));
    }
    let mut stored = Vec::new();
    if input.take(length).read_to_end(&mut stored)? as u64 != length {
        return Err(broken("is cut"));
    }
    if !stored.starts_with(&FRAME) {
        return Ok(stored);
    }
    let mut dictionary = Vec::new();
    let read = Decoder::with_buffer(&stored[..])?.take(LONGEST + 1).read_to_end(&mut dictionary);
    match read {
        Ok(length) if length as u64 > LONGEST => Err(broken(&format!("has more than {} MiB", LONGEST >> 20))),
        Ok(_) => Ok(dictionary),
        Err(error) => Err(broken(&format!("cannot be unpacked: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::warc::read::{Piece, Reader};
    use crate::warc::{Fields, write::member};

    /// Made by `zstd --train` from records like those of the tests.
    const TRAINED: &[u8] = include_bytes!("frames/dictionary");

    fn records() -> Vec<Vec<u8>> {
        let record = |n: usize| {
            let mut fields = Fields::default();
            let block =
                format!("HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=utf-8\r\n\r\npage {n}").repeat(n + 1);
            fields.push("WARC-Type", "response");
            fields.push("WARC-Record-ID", format!("<urn:uuid:{n}>"));
            fields.push("Content-Length", block.len().to_string());
            let mut plain = Vec::new();
            let packed = member("WARC/1.1", &fields, &[block.as_bytes()]);
            flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut plain).unwrap();
            plain
        };
        (0..20).map(record).collect()
    }

    fn skippable(magic: [u8; 4], content: &[u8]) -> Vec<u8> {
        [&magic, &(content.len() as u32).to_le_bytes(), content].concat()
    }

    /// A file with a frame for each record, all with this dictionary.
    fn packed(dictionary: &[u8]) -> Vec<u8> {
        let mut compressor = zstd::bulk::Compressor::with_dictionary(3, dictionary).unwrap();
        records().iter().flat_map(|record| compressor.compress(record).unwrap()).collect()
    }

    /// The heads of all records of a file, and the error that ends it.
    fn read(file: &[u8], buffer: usize) -> (Vec<Vec<u8>>, Option<String>) {
        let mut heads = Vec::new();
        let input = match unpacked(BufReader::with_capacity(buffer, file)) {
            Ok(input) => input,
            Err(error) => return (heads, Some(error.to_string())),
        };
        let mut reader = Reader::new(input, 1 << 20);
        loop {
            match reader.piece() {
                Ok(Some(Piece::Record(record))) => heads.push(record.head),
                Ok(Some(other)) => panic!("{other:?}"),
                Ok(None) => return (heads, None),
                Err(error) => return (heads, Some(error.to_string())),
            }
        }
    }

    fn heads() -> Vec<Vec<u8>> {
        let head =
            |record: &Vec<u8>| record[..record.windows(4).position(|end| end == b"\r\n\r\n").unwrap() + 4].to_vec();
        records().iter().map(head).collect()
    }

    #[test]
    fn frames_are_unpacked_with_and_without_a_dictionary() {
        let with = packed(TRAINED);
        let dictionary_packed = zstd::bulk::compress(TRAINED, 19).unwrap();
        let files = [
            packed(b""),
            zstd::bulk::compress(&records().concat(), 3).unwrap(),
            [skippable(DICTIONARY, TRAINED), with.clone()].concat(),
            [skippable(DICTIONARY, &dictionary_packed), with.clone()].concat(),
            // Other skippable frames mean nothing.
            [skippable(DICTIONARY, TRAINED), skippable([0x50, 0x2a, 0x4d, 0x18], b"more"), with.clone()].concat(),
            records().concat(),
        ];
        for (i, file) in files.iter().enumerate() {
            for buffer in [1, 7, 1 << 16] {
                assert_eq!(read(file, buffer), (heads(), None), "file {i}");
            }
        }
        // The frames need their dictionary.
        let (found, error) = read(&with, 1 << 16);
        assert!(found.is_empty() && error.is_some_and(|error| error.contains("broken zstd frame")), "{found:?}");
    }

    #[test]
    fn a_dictionary_that_is_cut_broken_or_too_large_is_named() {
        let whole = [skippable(DICTIONARY, TRAINED), packed(TRAINED)].concat();
        for (file, what) in [
            (whole[..6].to_vec(), "is cut"),
            (whole[..100].to_vec(), "is cut"),
            ([&DICTIONARY[..], &[0xff; 8]].concat(), "has 4294967295 bytes"),
            (skippable(DICTIONARY, &[&FRAME[..], b"nothing"].concat()), "cannot be unpacked"),
            (
                skippable(DICTIONARY, &zstd::bulk::compress(&vec![0; (LONGEST + 1) as usize], 1).unwrap()),
                "has more than",
            ),
        ] {
            let (found, error) = read(&file, 1 << 16);
            assert!(found.is_empty() && error.as_ref().is_some_and(|error| error.contains(what)), "{error:?}");
        }
    }

    #[test]
    fn records_before_a_cut_are_read() {
        let whole = [skippable(DICTIONARY, TRAINED), packed(TRAINED)].concat();
        let (found, error) = read(&whole[..whole.len() - 3], 1 << 16);
        assert_eq!(found[..], heads()[..found.len()]);
        assert_eq!((found.len(), error.as_deref()), (19, Some("the file ends within a zstd frame")));
    }
}
