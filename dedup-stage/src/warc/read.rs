//! Reads WARC files as a stream: gzip (one member for each record, or otherwise) and plain, with the oddities of real
//! files.
//!
//! Tolerated are: lines that end in LF alone, missing or additional empty lines between records, padding and other
//! bytes between records (skipped and counted), one gzip member around many records, one record across many members,
//! unknown versions, `<…>` around URLs. Not tolerated are a broken or cut gzip member, and a record shorter than its
//! Content-Length, because nothing is sure about the bytes after them.

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
    /// A record larger than the reader's limit, without its block …
    Begin(Record),
    /// … which follows in pieces …
    More(Vec<u8>),
    /// … and ends.
    End,
}

/// The reason why a file cannot be read on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The file is cut or broken, or no WARC file.
    #[error("damaged at offset {offset}: {what}")]
    Damaged {
        /// The offset of the record or gzip member.
        offset: u64,
        /// The kind of damage.
        what: String,
    },
}

/// Reads records from a file.
pub struct Reader<R> {
    members: Members<R>,
    limit: u64,
    /// If a block is handed out in pieces: the number of its bytes that are still to come.
    rest: Option<u64>,
    skipped: u64,
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
        Self { members: Members::new(input), limit, rest: None, skipped: 0 }
    }

    /// Number of bytes between records, which belong to no record.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Number of bytes of the file read so far.
    pub fn position(&self) -> u64 {
        self.members.position()
    }

    /// The next piece; `None` at the end of the file.
    pub fn piece(&mut self) -> Result<Option<Piece>, Error> {
        if let Some(rest) = self.rest {
            return self.go_on(rest).map(Some);
        }
        if !self.find_record()? {
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
        record.block = self.bytes(length)?;
        record.member = self.members.end_record()?;
        Ok(Some(Piece::Record(record)))
    }

    fn go_on(&mut self, rest: u64) -> Result<Piece, Error> {
        if rest == 0 {
            self.rest = None;
            return Ok(Piece::End);
        }
        let size = rest.min(Self::PIECE);
        self.rest = Some(rest - size);
        self.bytes(size).map(Piece::More)
    }

    /// Moves to the next line that begins a record; false at the end of the file.
    fn find_record(&mut self) -> Result<bool, Error> {
        const MAGIC: &[u8] = b"WARC/";
        let mut at_line_start = true;
        let mut first_junk = None;
        loop {
            let available = self.members.fill()?;
            if available.is_empty() {
                if self.members.next_member()? {
                    at_line_start = true;
                    continue;
                }
                // A file with bytes but without a record is another kind of file.
                return match first_junk {
                    Some(offset) if !self.members.any_record() => Err(damaged(offset, "this is no WARC file")),
                    _ => Ok(false),
                };
            }
            if at_line_start && available[0] == MAGIC[0] && self.members.peek(MAGIC.len())?.starts_with(MAGIC) {
                return Ok(true);
            }
            let byte = self.members.fill()?[0];
            at_line_start = byte == b'\n';
            if !matches!(byte, b'\r' | b'\n' | 0) {
                self.skipped += 1;
                first_junk.get_or_insert(self.members.position());
            }
            self.members.consume(1);
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
            if head.len() > Self::HEAD {
                return Err(damaged(offset, "the head of the record has no end"));
            }
            if end.is_some() {
                if matches!(&head[line..], b"\n" | b"\r\n") {
                    return Ok(head);
                }
                line = head.len();
            }
        }
    }

    fn bytes(&mut self, length: u64) -> Result<Vec<u8>, Error> {
        let offset = self.members.record_offset();
        // The length that a head claims may be wrong, so memory is allocated as bytes come.
        let mut bytes = Vec::with_capacity(length.min(1 << 20) as usize);
        while (bytes.len() as u64) < length {
            let available = self.more(offset)?;
            let taken = available.len().min((length - bytes.len() as u64) as usize);
            bytes.extend_from_slice(&available[..taken]);
            self.members.consume(taken);
        }
        Ok(bytes)
    }

    /// At least one more byte of the current record.
    fn more(&mut self, offset: u64) -> Result<&[u8], Error> {
        while self.members.fill()?.is_empty() {
            if !self.members.next_member()? {
                return Err(damaged(offset, "the file ends within a record"));
            }
        }
        self.members.fill()
    }
}

fn damaged(offset: u64, what: impl Into<String>) -> Error {
    Error::Damaged { offset, what: what.into() }
}
