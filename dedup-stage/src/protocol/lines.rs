//! Cuts a stream into lines, none of them longer than allowed.

use std::io::{self, Read};

use crate::pipeline::Weigh;

use super::MAX_LINE;
use crate::json_lines::unmarked;

/// A line, without its line end.
#[derive(Debug)]
pub enum Line {
    /// The whole line.
    Whole(Vec<u8>),
    /// The beginning of a line longer than [`MAX_LINE`]. The rest was passed over.
    TooLong(Vec<u8>),
    /// The error with which the stream failed. Nothing follows.
    Failed(io::Error),
}

impl Weigh for Line {
    fn weight(&self) -> usize {
        match self {
            Line::Whole(line) | Line::TooLong(line) => line.len(),
            Line::Failed(_) => 0,
        }
    }
}

/// Reads lines that end in LF or CRLF, or at the end of the stream; blank lines are passed over.
#[derive(Debug)]
pub struct Lines<R> {
    input: R,
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
    max: usize,
    /// Whether no line was read yet.
    is_new: bool,
    over: bool,
}

impl<R: Read> Lines<R> {
    /// The bytes at the beginning of an overlong line that are kept, to look for its `id`.
    const KEPT: usize = 64 << 10;

    /// Cuts into lines of at most [`MAX_LINE`] bytes.
    pub fn new(input: R) -> Self {
        Self::with_max(input, MAX_LINE)
    }

    /// Cuts into lines of at most `max` bytes.
    pub fn with_max(input: R, max: usize) -> Self {
        Self { input, buffer: vec![0; 128 << 10].into(), start: 0, end: 0, max, is_new: true, over: false }
    }

    /// Bytes that were read and not taken yet; empty at the end of the stream.
    fn fill(&mut self) -> io::Result<&[u8]> {
        while self.start == self.end && !self.over {
            match self.input.read(&mut self.buffer) {
                Ok(0) => self.over = true,
                Ok(n) => (self.start, self.end) = (0, n),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(&self.buffer[self.start..self.end])
    }

    /// The next line, blank or not; `None` at the end of the stream.
    fn line(&mut self) -> io::Result<Option<Line>> {
        let mut line = Vec::new();
        let mut too_long = false;
        loop {
            let max = self.max;
            let available = self.fill()?;
            if available.is_empty() {
                return Ok(match (too_long, line.is_empty()) {
                    (true, _) => Some(Line::TooLong(line)),
                    (false, false) => Some(Line::Whole(line)),
                    (false, true) => None,
                });
            }
            let end = memchr::memchr(b'\n', available);
            let piece = &available[..end.unwrap_or(available.len())];
            let taken = piece.len() + usize::from(end.is_some());
            too_long |= line.len() + piece.len() > max;
            if too_long {
                let room = Self::KEPT.saturating_sub(line.len());
                line.extend_from_slice(&piece[..piece.len().min(room)]);
                line.truncate(Self::KEPT);
                line.shrink_to_fit();
            } else {
                line.extend_from_slice(piece);
            }
            self.start += taken;
            if end.is_some() {
                return Ok(Some(if too_long { Line::TooLong(line) } else { Line::Whole(line) }));
            }
        }
    }
}

impl<R: Read> Iterator for Lines<R> {
    type Item = Line;

    fn next(&mut self) -> Option<Line> {
        loop {
            let mut next = self.line();
            if std::mem::take(&mut self.is_new)
                && let Ok(Some(Line::Whole(line) | Line::TooLong(line))) = &mut next
            {
                line.drain(..line.len() - unmarked(line).len());
            }
            match next {
                Ok(Some(Line::Whole(line))) if line.trim_ascii().is_empty() => {}
                Ok(line) => return line,
                Err(_) if self.over => return None,
                Err(error) => {
                    self.over = true;
                    return Some(Line::Failed(error));
                }
            }
        }
    }
}
