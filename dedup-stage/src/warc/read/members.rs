//! Unpacks the gzip members of a file, and keeps the bytes of the current member. Behind damage, it looks for the next
//! member or record in the bytes of the file.

use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;

use super::{AHEAD, Error, damaged, starts_record};

/// An input that counts the bytes that are read, and keeps those of the current member.
struct Tee<R> {
    input: R,
    position: u64,
    kept: Option<Vec<u8>>,
    /// Bytes that are read again before those of `input`, from `again_at` on.
    again: Vec<u8>,
    again_at: usize,
}

impl<R> Tee<R> {
    /// Puts bytes back that were read last.
    fn unread(&mut self, bytes: &[u8]) {
        self.position -= bytes.len() as u64;
        if bytes.len() <= self.again_at {
            // These places are free, because their bytes were consumed.
            self.again_at -= bytes.len();
            self.again[self.again_at..][..bytes.len()].copy_from_slice(bytes);
        } else {
            self.again = [bytes, &self.again[self.again_at..]].concat();
            self.again_at = 0;
        }
    }
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
        if self.again_at < self.again.len() { Ok(&self.again[self.again_at..]) } else { self.input.fill_buf() }
    }

    fn consume(&mut self, n: usize) {
        if n == 0 {
            return;
        }
        if let Some(mut kept) = self.kept.take() {
            match self.fill_buf() {
                Ok(available) if kept.len() + n <= KEPT => {
                    kept.extend_from_slice(&available[..n]);
                    self.kept = Some(kept);
                }
                _ => {}
            }
        }
        self.position += n as u64;
        if self.again_at < self.again.len() {
            self.again_at += n;
        } else {
            (self.again, self.again_at) = (Vec::new(), 0);
            self.input.consume(n);
        }
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
    /// Whether any gzip member was met.
    packed: bool,
    /// Whether the current gzip member cannot be unpacked any further.
    is_broken: bool,
    /// The error of a read behind bytes that are not consumed yet. It is told when they are.
    failure: Option<io::Error>,
}

impl<R: BufRead> Members<R> {
    const BUFFER: usize = 64 << 10;
    /// The first bytes of a gzip member.
    const GZIP: [u8; 3] = [0x1f, 0x8b, 8];

    pub(super) fn new(input: R) -> Self {
        Self {
            source: Source::Between(Tee { input, position: 0, kept: None, again: Vec::new(), again_at: 0 }),
            buffer: vec![0; Self::BUFFER],
            start: 0,
            end: 0,
            member_at: 0,
            untouched: true,
            record_at: 0,
            records: 0,
            packed: false,
            is_broken: false,
            failure: None,
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

    /// Moves on to the next member, or to other bytes behind the last one; false at the end of the file.
    pub(super) fn next_member(&mut self) -> Result<bool, Error> {
        let mut tee = match std::mem::replace(&mut self.source, Source::Broken) {
            Source::Between(tee) => tee,
            Source::Gzip(decoder) => decoder.into_inner(),
            // Plain bytes end with the file.
            source => {
                self.source = source;
                return Ok(false);
            }
        };
        tee.kept = None;
        // Zero bytes pad members on tape and in some object stores. Some writers end members with empty lines.
        loop {
            let is_blank = |byte: &&u8| **byte == 0 || self.packed && matches!(byte, b'\r' | b'\n');
            let blank = tee.fill_buf()?.iter().take_while(is_blank).count();
            if blank == 0 {
                break;
            }
            tee.consume(blank);
        }
        let Some(&next) = tee.fill_buf()?.first() else {
            self.source = Source::Between(tee);
            return Ok(false);
        };
        // The second byte of the gzip magic may lie beyond the buffer. The first is enough, because no plain WARC file
        // begins with it.
        self.enter(tee, next == Self::GZIP[0]);
        Ok(true)
    }

    /// Begins to read a gzip member, or plain bytes.
    fn enter(&mut self, mut tee: Tee<R>, is_gzip: bool) {
        (self.start, self.end) = (0, 0);
        self.member_at = tee.position;
        self.untouched = true;
        self.is_broken = false;
        self.packed |= is_gzip;
        tee.kept = is_gzip.then(Vec::new);
        self.source = if is_gzip { Source::Gzip(Box::new(GzDecoder::new(tee))) } else { Source::Plain(tee) };
    }

    /// Moves to the next place in the bytes of the file where a record begins: at a line or in a gzip member. In a
    /// member that is being read, the place is behind its first byte. Returns false at the end of the file.
    /// `at_line_start` says whether a line begins at the next byte.
    pub(super) fn seek(&mut self, mut at_line_start: bool) -> Result<bool, Error> {
        loop {
            let tee = match std::mem::replace(&mut self.source, Source::Broken) {
                Source::Between(tee) => tee,
                Source::Plain(mut tee) => {
                    tee.unread(&self.buffer[self.start..self.end]);
                    tee
                }
                Source::Gzip(decoder) => {
                    let mut tee = decoder.into_inner();
                    // Damage may have led the decoder beyond the end of the member.
                    if let Some(kept) = tee.kept.take()
                        && let Some(rest) = kept.get(1..)
                    {
                        tee.unread(rest);
                    }
                    at_line_start = false;
                    tee
                }
                Source::Broken => return Ok(false),
            };
            if !self.find(tee, at_line_start)? {
                return Ok(false);
            }
            // The bytes of other data may look like a gzip member.
            match self.peek(AHEAD) {
                Ok(start) if starts_record(start) => return Ok(true),
                Err(error @ Error::Io(_)) => return Err(error),
                _ => {}
            }
        }
    }

    /// Moves to the next bytes that look like the beginning of a gzip member or of a plain record.
    fn find(&mut self, mut tee: Tee<R>, mut at_line_start: bool) -> Result<bool, Error> {
        (self.start, self.end) = (0, 0);
        tee.kept = None;
        loop {
            let available = tee.fill_buf()?;
            if available.is_empty() {
                self.source = Source::Between(tee);
                return Ok(false);
            }
            let n = memchr::memchr2(Self::GZIP[0], b'W', available).unwrap_or(available.len());
            if n > 0 {
                at_line_start = available[n - 1] == b'\n';
                tee.consume(n);
                continue;
            }
            let start = ahead(&mut tee)?;
            let is_gzip = start.starts_with(&Self::GZIP);
            if is_gzip || at_line_start && starts_record(&start) {
                self.enter(tee, is_gzip);
                return Ok(true);
            }
            at_line_start = false;
            tee.consume(1);
        }
    }

    /// Puts unpacked bytes back. They must be those that were consumed last, if the bytes of the file are plain.
    pub(super) fn unread(&mut self, bytes: &[u8]) {
        self.untouched = false;
        let mut buffer = [bytes, &self.buffer[self.start..self.end]].concat();
        (self.start, self.end) = (0, buffer.len());
        buffer.resize(buffer.len().max(Self::BUFFER), 0);
        self.buffer = buffer;
    }

    /// Whether the current gzip member cannot be unpacked any further.
    pub(super) fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// Whether nothing of the current member was consumed yet.
    pub(super) fn is_untouched(&self) -> bool {
        self.untouched
    }

    /// Whether the bytes that are read now are plain.
    pub(super) fn is_plain(&self) -> bool {
        matches!(self.source, Source::Plain(_))
    }

    /// The offset of the next byte in the file, or of the gzip member around it.
    pub(super) fn place(&self) -> u64 {
        if self.is_plain() { self.position() } else { self.member_at }
    }

    /// Unpacked bytes of the current member that are not consumed; empty at its end.
    pub(super) fn fill(&mut self) -> Result<&[u8], Error> {
        if self.start == self.end {
            self.start = 0;
            self.buffer.truncate(Self::BUFFER);
            self.buffer.shrink_to_fit();
            self.end = self.refill(0)?;
        }
        Ok(&self.buffer[self.start..self.end])
    }

    /// At least `n` unpacked bytes, unless the member ends before.
    pub(super) fn peek(&mut self, n: usize) -> Result<&[u8], Error> {
        if self.end - self.start < n {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        while self.end - self.start < n {
            match self.refill(self.end) {
                Ok(0) => break,
                Ok(more) => self.end += more,
                Err(Error::Io(error)) if self.end > self.start => {
                    self.failure = Some(error);
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(&self.buffer[self.start..self.end])
    }

    fn refill(&mut self, at: usize) -> Result<usize, Error> {
        if let Some(error) = self.failure.take() {
            return Err(Error::Io(error));
        }
        let space = &mut self.buffer[at..];
        match &mut self.source {
            Source::Between(_) | Source::Broken => Ok(0),
            Source::Plain(tee) => Ok(tee.read(space)?),
            Source::Gzip(decoder) => decoder.read(space).map_err(|error| {
                let what = match error.kind() {
                    io::ErrorKind::UnexpectedEof => "the file ends within a gzip member".to_owned(),
                    io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
                        format!("broken gzip member: {error}")
                    }
                    _ => return Error::Io(error),
                };
                self.is_broken = true;
                damaged(self.member_at, what)
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
        self.record_at = self.place();
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

    /// Whether a block ends here: before an empty line or another record, or at the end of a member. Consumes the empty
    /// lines after it, if it does.
    pub(super) fn end_block(&mut self) -> Result<bool, Error> {
        let is_blank = |byte: &&u8| matches!(**byte, b'\r' | b'\n' | 0);
        let start = self.peek(64)?;
        let next = &start[start.iter().take_while(is_blank).count()..];
        let has_empty_line = start.starts_with(b"\r\n\r\n") || start.starts_with(b"\n\n");
        if !has_empty_line && !next.is_empty() && !starts_record(next) {
            return Ok(false);
        }
        loop {
            let blank = match self.fill() {
                Err(Error::Io(error)) => {
                    self.failure = Some(error);
                    0
                }
                bytes => bytes?.iter().take_while(is_blank).count(),
            };
            if blank == 0 {
                return Ok(true);
            }
            self.consume(blank);
        }
    }

    /// Ends the current record, whose block has ended ([`Members::end_block`]). Returns the member if it ends here,
    /// too, and has this record alone.
    pub(super) fn end_record(&mut self) -> Option<Vec<u8>> {
        let ended = self.start == self.end;
        match &mut self.source {
            Source::Gzip(decoder) if ended && self.member_at == self.record_at => decoder.get_mut().kept.take(),
            _ => None,
        }
    }
}

/// The next bytes, up to [`AHEAD`].
fn ahead<R: BufRead>(tee: &mut Tee<R>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    tee.by_ref().take(AHEAD as u64).read_to_end(&mut bytes)?;
    tee.unread(&bytes);
    Ok(bytes)
}
