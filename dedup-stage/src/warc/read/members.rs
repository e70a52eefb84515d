//! Unpacks the gzip members of a file, and keeps the bytes of the current member.

use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;

use super::{Error, damaged};

/// An input that counts the bytes that are read, and keeps those of the current member.
struct Tee<R> {
    input: R,
    position: u64,
    kept: Option<Vec<u8>>,
}

/// The bytes of members larger than this are not kept: the filter compresses such a record again.
const KEPT: usize = 64 << 20;

impl<R: BufRead> Read for Tee<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let n = available.len().min(out.len());
        out[..n].copy_from_slice(&available[..n]);
        self.consume(n);
        Ok(n)
    }
}

impl<R: BufRead> BufRead for Tee<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.input.fill_buf()
    }

    fn consume(&mut self, n: usize) {
        if n == 0 {
            return;
        }
        if let Some(kept) = &mut self.kept {
            match self.input.fill_buf() {
                Ok(available) if kept.len() + n <= KEPT => kept.extend_from_slice(&available[..n]),
                _ => self.kept = None,
            }
        }
        self.position += n as u64;
        self.input.consume(n);
    }
}

enum Source<R> {
    Between(Tee<R>),
    Gzip(Box<GzDecoder<Tee<R>>>),
    Plain(Tee<R>),
    Broken,
}

/// The unpacked bytes of a file, and beside them the bytes of the current gzip member.
pub(super) struct Members<R> {
    source: Source<R>,
    /// Unpacked bytes. Those in `start..end` are not consumed yet.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// The offset of the current member in the file, and whether nothing of it was consumed yet.
    member_at: u64,
    untouched: bool,
    /// The offset of the current record in the file.
    record_at: u64,
    records: u64,
}

impl<R: BufRead> Members<R> {
    const BUFFER: usize = 64 << 10;

    pub(super) fn new(input: R) -> Self {
        Self {
            source: Source::Between(Tee { input, position: 0, kept: None }),
            buffer: vec![0; Self::BUFFER],
            start: 0,
            end: 0,
            member_at: 0,
            untouched: true,
            record_at: 0,
            records: 0,
        }
    }

    /// Bytes of the file read so far.
    pub(super) fn position(&self) -> u64 {
        match &self.source {
            Source::Between(tee) | Source::Plain(tee) => tee.position - (self.end - self.start) as u64,
            Source::Gzip(decoder) => decoder.get_ref().position,
            Source::Broken => self.member_at,
        }
    }

    /// Moves on to the next member; false at the end of the file.
    pub(super) fn next_member(&mut self) -> Result<bool, Error> {
        let mut tee = match std::mem::replace(&mut self.source, Source::Broken) {
            Source::Between(tee) | Source::Plain(tee) => tee,
            Source::Gzip(decoder) => decoder.into_inner(),
            Source::Broken => return Ok(false),
        };
        tee.kept = None;
        // Zero bytes pad members on tape and in some object stores.
        loop {
            let zeros = tee.fill_buf()?.iter().take_while(|byte| **byte == 0).count();
            if zeros == 0 {
                break;
            }
            tee.consume(zeros);
        }
        self.member_at = tee.position;
        self.untouched = true;
        let next = tee.fill_buf()?;
        if next.is_empty() {
            self.source = Source::Between(tee);
            return Ok(false);
        }
        // The second byte of the gzip magic may lie beyond the buffer. The first is enough, because no plain WARC file
        // begins with it.
        if next[0] == 0x1f {
            tee.kept = Some(Vec::new());
            self.source = Source::Gzip(Box::new(GzDecoder::new(tee)));
        } else {
            self.source = Source::Plain(tee);
        }
        Ok(true)
    }

    /// Unpacked bytes of the current member that are not consumed; empty at its end.
    pub(super) fn fill(&mut self) -> Result<&[u8], Error> {
        if self.start == self.end {
            self.start = 0;
            self.end = self.refill(0)?;
        }
        Ok(&self.buffer[self.start..self.end])
    }

    /// At least `n` unpacked bytes, unless the member ends before.
    pub(super) fn peek(&mut self, n: usize) -> Result<&[u8], Error> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        while self.end < n {
            let more = self.refill(self.end)?;
            if more == 0 {
                break;
            }
            self.end += more;
        }
        Ok(&self.buffer[..self.end])
    }

    fn refill(&mut self, at: usize) -> Result<usize, Error> {
        let space = &mut self.buffer[at..];
        match &mut self.source {
            Source::Between(_) | Source::Broken => Ok(0),
            Source::Plain(tee) => Ok(tee.read(space)?),
            Source::Gzip(decoder) => decoder.read(space).map_err(|error| match error.kind() {
                io::ErrorKind::UnexpectedEof => damaged(self.member_at, "the file ends within a gzip member"),
                io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
                    damaged(self.member_at, format!("broken gzip member: {error}"))
                }
                _ => Error::Io(error),
            }),
        }
    }

    pub(super) fn consume(&mut self, n: usize) {
        self.start += n;
        self.untouched &= n == 0;
    }

    /// Marks the beginning of a record. Returns its offset in the file.
    pub(super) fn start_record(&mut self) -> u64 {
        self.records += 1;
        if !self.untouched {
            self.forget();
        }
        self.record_at = if matches!(self.source, Source::Gzip(_)) { self.member_at } else { self.position() };
        self.record_at
    }

    /// The offset of the current record in the file.
    pub(super) fn record_offset(&self) -> u64 {
        self.record_at
    }

    /// Whether any record was met.
    pub(super) fn any_record(&self) -> bool {
        self.records > 0
    }

    /// Stops keeping the bytes of the current member.
    pub(super) fn forget(&mut self) {
        if let Source::Gzip(decoder) = &mut self.source {
            decoder.get_mut().kept = None;
        }
    }

    /// Ends the current record: consumes the empty lines after its block. Returns the member if it ends here, too, and
    /// has this record alone.
    pub(super) fn end_record(&mut self) -> Result<Option<Vec<u8>>, Error> {
        loop {
            let available = self.fill()?;
            let blank = available.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            if blank == 0 {
                break;
            }
            self.consume(blank);
        }
        let ended = self.start == self.end;
        let member_at = self.member_at;
        let record_at = self.record_at;
        match &mut self.source {
            Source::Gzip(decoder) if ended && member_at == record_at => Ok(decoder.get_mut().kept.take()),
            _ => Ok(None),
        }
    }
}
