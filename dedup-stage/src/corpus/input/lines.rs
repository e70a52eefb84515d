//! Reads JSON Lines in pieces of many lines.

use std::io::{self, Read};

use super::{Bad, Piece};
use crate::json_lines::unmarked;

/// Bytes that are read at once, and so about the size of a piece.
const PIECE: usize = 1 << 18;

/// Longest line, in bytes; a longer one is a bad record.
const LONGEST: usize = 64 << 20;

/// The pieces of a stream. Each ends at the end of a line. A read error is the last piece.
pub fn lines(input: impl Read + Send) -> impl Iterator<Item = Piece> + Send {
    Lines { input, rest: Vec::new(), line: 1, over: false, in_long: false }
}

struct Lines<R> {
    input: R,
    /// The beginning of a line whose end was not read yet.
    rest: Vec<u8>,
    /// Number of the line that `rest` begins.
    line: u64,
    over: bool,
    /// Whether `rest` is inside a line that is too long.
    in_long: bool,
}

impl<R: Read> Iterator for Lines<R> {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        while !self.over {
            let start = self.rest.len();
            self.rest.resize(start + PIECE, 0);
            let read = self.input.read(&mut self.rest[start..]);
            self.rest.truncate(start + *read.as_ref().unwrap_or(&0));
            match read {
                Ok(0) => self.over = true,
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    self.over = true;
                    let place = format!("line {}", self.line);
                    return Some(Piece::Bad(Bad { place, what: error.to_string() }));
                }
            }
            if let Some(piece) = self.cut(start) {
                return Some(piece);
            }
        }
        None
    }
}

impl<R> Lines<R> {
    /// Takes the whole lines out of `rest`. Its bytes from `new` on have just been read.
    fn cut(&mut self, new: usize) -> Option<Piece> {
        let end = match memchr::memrchr(b'\n', &self.rest[new..]) {
            Some(at) => new + at + 1,
            None if self.over => self.rest.len(),
            None if self.in_long => {
                self.rest.clear();
                return None;
            }
            None if self.rest.len() > LONGEST => {
                self.rest.clear();
                self.in_long = true;
                let what = format!("longer than {} MiB", LONGEST >> 20);
                return Some(Piece::Bad(Bad { place: format!("line {}", self.line), what }));
            }
            None => return None,
        };
        let rest = self.rest.split_off(end);
        let mut piece = std::mem::replace(&mut self.rest, rest);
        if std::mem::take(&mut self.in_long) {
            let long = memchr::memchr(b'\n', &piece).map_or(piece.len(), |at| at + 1);
            piece.drain(..long);
            self.line += 1;
        }
        let first = self.line;
        if first == 1 {
            piece.drain(..piece.len() - unmarked(&piece).len());
        }
        self.line += memchr::memchr_iter(b'\n', &piece).count() as u64;
        (!piece.is_empty()).then_some(Piece::Lines(first, piece))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives a few bytes at a time.
    struct Slow<'a>(&'a [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let n = self.1.min(out.len()).min(self.0.len());
            out[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    fn numbered(pieces: impl Iterator<Item = Piece>) -> Vec<(u64, String)> {
        let mut all = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Lines(first, bytes) => {
                    let text = String::from_utf8(bytes).unwrap();
                    all.extend((first..).zip(text.lines().map(str::to_owned)));
                }
                Piece::Bad(bad) => all.push((0, bad.place)),
                other => panic!("{other:?}"),
            }
        }
        all
    }

    #[test]
    fn lines_keep_their_numbers_however_they_come() {
        let text = "one\n\nthree\r\nfour";
        let expected: Vec<(u64, String)> = (1..).zip(["one", "", "three", "four"].map(str::to_owned)).collect();
        for at_once in 1..=text.len() {
            assert_eq!(numbered(lines(Slow(text.as_bytes(), at_once))), expected);
        }
        assert_eq!(numbered(lines(&b""[..])), []);
        assert_eq!(numbered(lines(&b"\xef\xbb\xbfone\n"[..])), [(1, "one".to_owned())]);
    }

    #[test]
    fn a_line_without_end_is_named_and_the_next_one_read() {
        let mut text = b"first\n".to_vec();
        text.resize(LONGEST + 3 * PIECE, b'x');
        text.extend(b"\nlast\n");
        let expected = [(1, "first"), (0, "line 2"), (3, "last")].map(|(n, text)| (n, text.to_owned()));
        assert_eq!(numbered(lines(&text[..])), expected);
    }

    #[test]
    fn a_read_error_names_the_line_that_is_missing() {
        /// Fails at once.
        struct Failing;

        impl Read for Failing {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("gone"))
            }
        }

        let text = b"one\ntwo\nthr".as_slice();
        let expected = [(1, "one"), (2, "two"), (0, "line 3")].map(|(n, text)| (n, text.to_owned()));
        assert_eq!(numbered(lines(text.chain(Failing))), expected);
    }
}
