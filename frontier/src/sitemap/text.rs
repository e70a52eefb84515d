//! Turns bytes of unknown encoding and size into UTF-8, piece by piece. The whole text is limited, and so is the text
//! between two marks that the reader sets.

use std::fmt;
use std::io::{self, BufRead, Read};

/// This many bytes are read at a time.
const PIECE: usize = 16 << 10;
/// At most this much text is given out between two calls of [`Text::start_event`], so that no element makes its reader
/// hold more.
const MAX_EVENT: usize = 1 << 20;

/// Text that is always valid UTF-8, because invalid bytes are replaced.
pub(super) struct Text<'a> {
    bytes: Box<dyn Read + Send + 'a>,
    /// The number of bytes that may still be read.
    left: usize,
    /// The amount of text that may still be given out in this event.
    event: usize,
    encoding: Option<Encoding>,
    /// The bytes of a character that the last piece cut.
    rest: Vec<u8>,
    decoded: Vec<u8>,
    given: usize,
}

#[derive(Clone, Copy)]
enum Encoding {
    Utf8,
    Utf16(fn([u8; 2]) -> u16),
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Text").field("left", &self.left).field("event", &self.event).finish_non_exhaustive()
    }
}

impl<'a> Text<'a> {
    /// The first `most` of these bytes, as text.
    pub fn new(bytes: Box<dyn Read + Send + 'a>, most: usize) -> Self {
        let (rest, decoded) = (Vec::new(), Vec::new());
        Self { bytes, left: most, event: MAX_EVENT, encoding: None, rest, decoded, given: 0 }
    }

    /// Whether the limit of bytes is used up.
    pub fn is_used_up(&self) -> bool {
        self.left == 0
    }

    /// Starts an event, for which the full amount of text may be read.
    pub fn start_event(&mut self) {
        self.event = MAX_EVENT;
    }

    /// The first letter that is no white space. The white space before it is skipped.
    pub fn first_letter(&mut self) -> Option<u8> {
        loop {
            let text = self.fill_buf().ok().filter(|text| !text.is_empty())?;
            match text.iter().position(|letter| !letter.is_ascii_whitespace()) {
                Some(at) => {
                    let letter = text[at];
                    self.consume(at);
                    return Some(letter);
                }
                None => {
                    let all = text.len();
                    self.consume(all);
                    self.start_event();
                }
            }
        }
    }

    /// Decodes the next piece. `decoded` stays empty if there is none.
    fn decode(&mut self) -> io::Result<()> {
        self.decoded.clear();
        self.given = 0;
        while self.decoded.is_empty() {
            let mut piece = std::mem::take(&mut self.rest);
            let kept = piece.len();
            (&mut self.bytes).take(self.left.min(PIECE) as u64).read_to_end(&mut piece)?;
            let is_last = piece.len() == kept;
            self.left -= piece.len() - kept;
            if is_last && kept == 0 {
                return Ok(());
            }
            let encoding = *self.encoding.get_or_insert_with(|| detect(&piece));
            let used = match encoding {
                Encoding::Utf8 => utf8(&piece, is_last, &mut self.decoded),
                Encoding::Utf16(unit) => utf16(&piece, is_last, unit, &mut self.decoded),
            };
            if self.decoded.starts_with("\u{feff}".as_bytes()) {
                self.decoded.drain(..3);
            }
            self.rest = piece.split_off(used);
        }
        Ok(())
    }
}

impl Read for Text<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let text = self.fill_buf()?;
        let count = text.len().min(out.len());
        out[..count].copy_from_slice(&text[..count]);
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Text<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.event == 0 {
            return Err(io::Error::other("an element of a sitemap is too long"));
        }
        if self.given == self.decoded.len() {
            self.decode()?;
        }
        Ok(&self.decoded[self.given..])
    }

    fn consume(&mut self, count: usize) {
        self.given += count;
        self.event = self.event.saturating_sub(count);
    }
}

fn detect(start: &[u8]) -> Encoding {
    match start {
        [0xff, 0xfe, ..] | [b'<' | b'h', 0, ..] => Encoding::Utf16(u16::from_le_bytes),
        [0xfe, 0xff, ..] | [0, b'<' | b'h', ..] => Encoding::Utf16(u16::from_be_bytes),
        _ => Encoding::Utf8,
    }
}

/// Decodes the whole characters, or all bytes if they are the last. Returns the number of bytes that were used.
fn utf8(bytes: &[u8], is_last: bool, out: &mut Vec<u8>) -> usize {
    let mut used = 0;
    for chunk in bytes.utf8_chunks() {
        out.extend_from_slice(chunk.valid().as_bytes());
        used += chunk.valid().len();
        let is_cut = used + chunk.invalid().len() == bytes.len() && chunk.invalid().len() < 4 && !is_last;
        if is_cut {
            break;
        }
        used += chunk.invalid().len();
        if !chunk.invalid().is_empty() {
            out.extend_from_slice("\u{fffd}".as_bytes());
        }
    }
    used
}

/// Like `utf8`, but for UTF-16.
fn utf16(bytes: &[u8], is_last: bool, unit: fn([u8; 2]) -> u16, out: &mut Vec<u8>) -> usize {
    let mut units: Vec<u16> = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]])).collect();
    if !is_last && units.last().is_some_and(|unit| (0xd800..0xdc00).contains(unit)) {
        units.pop();
    }
    for c in char::decode_utf16(units.iter().copied()) {
        out.extend_from_slice(c.unwrap_or(char::REPLACEMENT_CHARACTER).encode_utf8(&mut [0; 4]).as_bytes());
    }
    if is_last { bytes.len() } else { 2 * units.len() }
}
