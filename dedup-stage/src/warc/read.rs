//! Reads WARC files as a stream: gzip (one member for each record, or otherwise) and plain, with the oddities of real
//! files.
//!
//! The reader tolerates lines that end in LF alone, missing or additional empty lines between records, zero bytes
//! between records, one gzip member around many records, one record across many members, unknown versions, `<…>` around
//! URLs. It does not tolerate other bytes between records, a broken or cut gzip member, and a record whose
//! Content-Length does not lead to its end. It names them, and goes on at the next record that it finds.

mod members;

use std::io::BufRead;

use members::Members;

use super::Fields;

/// A complete record.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// The version line, fields and empty line, as stored.
    pub head: Vec<u8>,
    /// The fields of the head.
    pub fields: Fields,
    /// The block of the record: as many bytes as Content-Length says.
    pub block: Vec<u8>,
    /// The gzip member with the record, byte for byte, if it has this record alone and is not too large to keep.
    pub member: Option<Vec<u8>>,
    /// The offset in the file where the record (or the member around it) begins.
    pub offset: u64,
}

impl Record {
    /// `WARC-Type`, such as `response`.
    pub fn kind(&self) -> &str {
        self.fields.text("WARC-Type").unwrap_or_default()
    }

    /// `WARC-Target-URI`, without the angle brackets that some writers put around it.
    pub fn url(&self) -> Option<&str> {
        let url = self.fields.text("WARC-Target-URI")?;
        Some(url.strip_prefix('<').and_then(|url| url.strip_suffix('>')).unwrap_or(url))
    }

    /// `WARC-Record-ID` as written.
    pub fn id(&self) -> &str {
        self.fields.text("WARC-Record-ID").unwrap_or_default()
    }
}

/// The next piece of a file.
#[derive(Clone, Debug)]
pub enum Piece {
    /// A record.
    Record(Record),
    /// The beginning of a record that is larger than the reader's limit. Its block follows in pieces.
    Begin(Record),
    /// The next piece of the block of such a record.
    More(Vec<u8>),
    /// The end of such a record.
    End,
}

/// The reason why a record, or the rest of a file, cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be read. Nothing more can be read of it.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// A record is cut or broken, or the file is no WARC file. The next call of [`Reader::piece`] goes on behind it.
    /// The rest of a record that came in pieces is missing.
    #[error("record at {offset}: {what}")]
    Damaged {
        /// The offset of the record or gzip member.
        offset: u64,
        /// The kind of damage.
        what: String,
    },
    /// There are bytes between records that belong to no record. The next call of [`Reader::piece`] goes on behind
    /// them.
    #[error("byte {offset}: {GAP}")]
    Gap {
        /// The offset of the first of these bytes, or of the gzip member around them.
        offset: u64,
    },
}

/// The message of an [`Error::Gap`].
pub const GAP: &str = "bytes that belong to no record";

/// Reads records from a file.
pub struct Reader<R> {
    members: Members<R>,
    limit: u64,
    /// If a block is handed out in pieces: the number of its bytes that are still to come.
    rest: Option<u64>,
    /// The bytes of such a block from the first line on that may begin a record, if the block is plain.
    spare: Option<Vec<u8>>,
    /// Whether damage was named, so the bytes before the next record are no gap of their own.
    lost: bool,
    /// Whether a record begins at the next byte.
    found: bool,
}

impl<R: BufRead> Reader<R> {
    /// The usual limit: records with blocks up to this size are read as a whole.
    pub const LIMIT: u64 = 64 << 20;
    /// The longest head of a record, in bytes.
    const HEAD: usize = 1 << 20;
    /// The size of the pieces of a large block, in bytes.
    const PIECE: u64 = 1 << 20;

    /// A reader of `input`, which may be gzip or plain. Blocks up to `limit` bytes are read as a whole.
    pub fn new(input: R, limit: u64) -> Self {
        Self { members: Members::new(input), limit, rest: None, spare: None, lost: false, found: false }
    }

    /// Number of bytes of the file read so far.
    pub fn position(&self) -> u64 {
        self.members.position()
    }

    /// The next piece; `None` at the end of the file. After an error that is not [`Error::Io`], the next call goes on
    /// at the next record that is found.
    pub fn piece(&mut self) -> Result<Option<Piece>, Error> {
        let piece = self.next();
        if let Err(Error::Damaged { .. }) = &piece {
            self.lost = true;
            self.rest = None;
            if let Some(spare) = self.spare.take() {
                self.members.unread(&spare);
            }
        }
        piece
    }

    fn next(&mut self) -> Result<Option<Piece>, Error> {
        if let Some(rest) = self.rest {
            return self.go_on(rest).map(Some);
        }
        if !std::mem::take(&mut self.found) && !self.find_record()? {
            return Ok(None);
        }
        let offset = self.members.start_record();
        let head = self.head(offset)?;
        let fields_at = memchr::memchr(b'\n', &head).map_or(head.len(), |at| at + 1);
        let fields = Fields::parse(&head[fields_at..]);
        let length = match fields.text("Content-Length").map(str::parse::<u64>) {
            None => 0,
            Some(Ok(length)) => length,
            Some(Err(_)) => return Err(damaged(offset, "Content-Length is no number")),
        };
        let mut record = Record { head, fields, offset, ..Record::default() };
        if length > self.limit {
            self.members.forget();
            self.rest = Some(length);
            return Ok(Some(Piece::Begin(record)));
        }
        if let Err(error) = self.bytes(length, &mut record.block).and_then(|()| self.end_block()) {
            self.put_back(&record.block);
            return Err(error);
        }
        record.member = self.members.end_record();
        Ok(Some(Piece::Record(record)))
    }

    fn go_on(&mut self, rest: u64) -> Result<Piece, Error> {
        if rest == 0 {
            self.end_block()?;
            (self.rest, self.spare) = (None, None);
            return Ok(Piece::End);
        }
        let size = rest.min(Self::PIECE);
        self.rest = Some(rest - size);
        let mut bytes = Vec::new();
        let result = self.bytes(size, &mut bytes);
        if self.members.is_plain() {
            match &mut self.spare {
                Some(spare) => spare.extend_from_slice(&bytes),
                None => self.spare = record_in(&bytes).map(|at| bytes[at..].to_vec()),
            }
            // What is not held is lost if the length of the block proves wrong.
            self.spare = self.spare.take().filter(|spare| spare.len() as u64 <= Self::LIMIT);
        }
        result.map(|()| Piece::More(bytes))
    }

    /// Moves to the next line that begins a record; false at the end of the file. Errors if there are bytes before it
    /// that belong to no record.
    fn find_record(&mut self) -> Result<bool, Error> {
        let mut at_line_start = true;
        let mut gap = None;
        let found = loop {
            if self.members.is_broken() {
                break self.members.seek(false)?;
            }
            let next = match self.members.peek(AHEAD) {
                Err(Error::Damaged { .. }) if self.lost => continue,
                next => next?,
            };
            if next.is_empty() {
                if !self.members.next_member()? {
                    break false;
                }
                at_line_start = true;
                continue;
            }
            if at_line_start && starts_record(next) {
                break true;
            }
            let byte = next[0];
            if !matches!(byte, b'\r' | b'\n' | 0) {
                gap.get_or_insert(self.members.place());
                if self.members.is_plain() {
                    break self.members.seek(at_line_start)?;
                }
            }
            at_line_start = byte == b'\n';
            self.members.consume(1);
        };
        match gap {
            Some(offset) if !std::mem::take(&mut self.lost) => {
                // A file with bytes but without a record is another kind of file.
                if !found && !self.members.any_record() {
                    return Err(damaged(offset, "this is no WARC file"));
                }
                self.found = found;
                Err(Error::Gap { offset })
            }
            _ => {
                self.lost = false;
                Ok(found)
            }
        }
    }

    /// Reads the version line, the fields and the empty line.
    fn head(&mut self, offset: u64) -> Result<Vec<u8>, Error> {
        let mut head = Vec::new();
        let mut line = 0;
        loop {
            let available = self.more(offset)?;
            let end = memchr::memchr(b'\n', available).map(|at| at + 1);
            let taken = end.unwrap_or(available.len());
            head.extend_from_slice(&available[..taken]);
            self.members.consume(taken);
            if head[head.len() - taken..].contains(&0) {
                return Err(damaged(offset, "the head of the record has zero bytes"));
            }
            if head.len() > Self::HEAD {
                return Err(damaged(offset, "the head of the record has no end"));
            }
            if end.is_some() {
                if line > 0 && starts_record(&head[line..]) {
                    self.members.unread(&head[line..]);
                    return Err(damaged(offset, "the head of the record has no end"));
                }
                if matches!(&head[line..], b"\n" | b"\r\n") {
                    return Ok(head);
                }
                line = head.len();
            }
        }
    }

    /// Reads this many bytes of a block to the end of `bytes`, which is empty. After an error, `bytes` has those that
    /// could be read.
    fn bytes(&mut self, length: u64, bytes: &mut Vec<u8>) -> Result<(), Error> {
        let offset = self.members.record_offset();
        // The length that a head claims may be wrong, so memory is allocated as bytes come.
        bytes.reserve(length.min(1 << 20) as usize);
        while (bytes.len() as u64) < length {
            let available = self.more(offset)?;
            let taken = available.len().min((length - bytes.len() as u64) as usize);
            bytes.extend_from_slice(&available[..taken]);
            self.members.consume(taken);
        }
        Ok(())
    }

    /// Reads on to the end of the empty lines after a block. Errors if the block does not end here.
    fn end_block(&mut self) -> Result<(), Error> {
        match self.members.end_block()? {
            true => Ok(()),
            false => {
                let what = "Content-Length does not lead to the end of the record";
                Err(damaged(self.members.record_offset(), what))
            }
        }
    }

    /// Puts the bytes of a block back in which other records may begin.
    fn put_back(&mut self, bytes: &[u8]) {
        if self.members.is_broken() || self.rest.is_some() {
            return;
        }
        if self.members.is_untouched() {
            // What comes next is another member, which begins a line of its own.
            if record_in(bytes).is_some() && !self.members.is_plain() {
                self.members.unread(&[bytes, b"\n"].concat());
            }
        } else {
            self.members.unread(bytes);
        }
    }

    /// At least one more byte of the current record.
    fn more(&mut self, offset: u64) -> Result<&[u8], Error> {
        while self.members.fill()?.is_empty() {
            if !self.members.next_member()? {
                return Err(damaged(offset, "the file ends within a record"));
            }
            if self.members.is_plain() || starts_record(self.members.peek(AHEAD)?) {
                return Err(damaged(offset, "the gzip member ends within a record"));
            }
        }
        self.members.fill()
    }
}

/// Number of bytes by which the beginning of a record is told.
const AHEAD: usize = 6;

/// Whether bytes are those of a version line, such as `WARC/1.1`.
fn starts_record(bytes: &[u8]) -> bool {
    bytes.strip_prefix(b"WARC/").is_some_and(|rest| rest.first().is_some_and(u8::is_ascii_digit))
}

/// The position of the first line, but not the first one, that may begin a record.
fn record_in(bytes: &[u8]) -> Option<usize> {
    memchr::memmem::find_iter(bytes, b"\nWARC/").map(|at| at + 1).find(|at| starts_record(&bytes[*at..]))
}

fn damaged(offset: u64, what: impl Into<String>) -> Error {
    Error::Damaged { offset, what: what.into() }
}
