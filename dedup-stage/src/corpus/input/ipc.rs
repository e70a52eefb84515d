//! The rows of Arrow IPC files and streams.
//!
//! Damaged files may claim that something has any length. So a length is compared with that of the file before memory
//! is allocated for it.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileDecoder, StreamDecoder, read_footer_length};
use arrow_ipc::{Block, root_as_footer, root_as_message};
use arrow_schema::SchemaRef;

use super::arrow::{guarded, wanted};
use super::{Bad, Fields, Piece};

/// The first bytes of a file, and, without the zeros, its last ones. A stream does not have them.
const MAGIC: &[u8; 8] = b"ARROW1\0\0";

/// The first bytes of a message. The length of its head follows.
const MARKER: [u8; 4] = [0xff; 4];

/// The batches of a file or stream. If a batch of a file is damaged, it is named, and the next one is read. If the
/// footer of a file is damaged or cut off, the file is read as the stream that it is before its footer. Errors if the
/// file cannot be read, or no column has the documents.
pub fn batches(path: &Path, fields: &Fields) -> io::Result<Box<dyn Iterator<Item = Piece> + Send>> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let mut start = Vec::new();
    (&mut file).take(128).read_to_end(&mut start)?;
    let Some(behind) = start.strip_prefix(MAGIC) else { return Stream::open(file, length, 0, fields, None) };
    match footer(&mut file, length) {
        Ok(footer) => Ok(Box::new(Blocks::open(file, length, &footer, fields)?)),
        Err(what) => {
            // Some writers pad the beginning with more zeros than others.
            let zeros = behind.iter().take_while(|byte| **byte == 0).count();
            Stream::open(file, length, (MAGIC.len() + zeros) as u64, fields, Some(what))
        }
    }
}

fn damaged(what: impl std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_string())
}

/// The bytes of the footer, which are the blocks and the schema.
fn footer(file: &mut File, length: u64) -> Result<Vec<u8>, String> {
    let mut end = [0; 10];
    let behind = length.checked_sub(MAGIC.len() as u64 + end.len() as u64).ok_or("the file is cut")?;
    let mut read = || -> io::Result<usize> {
        file.seek(SeekFrom::End(-(end.len() as i64)))?;
        file.read_exact(&mut end)?;
        read_footer_length(end).map_err(damaged)
    };
    let size = read().map_err(|error| format!("the file is cut, or its footer damaged: {error}"))?;
    let start = (MAGIC.len() as u64 + behind).checked_sub(size as u64).ok_or("the length of the footer is wrong")?;
    let bytes = bytes(file, length, start, size as u64).map_err(|error| error.to_string())?;
    let footer = root_as_footer(&bytes).map_err(|error| format!("the footer is damaged: {error}"))?;
    match footer.schema().and(footer.recordBatches()) {
        Some(_) => Ok(bytes),
        None => Err("the footer has no schema or no batches".into()),
    }
}

/// Some bytes of a file of this length.
fn bytes(file: &mut File, length: u64, start: u64, size: u64) -> io::Result<Vec<u8>> {
    if start.checked_add(size).is_none_or(|end| end > length) {
        return Err(damaged("a block ends behind the end of the file"));
    }
    let mut bytes = vec![0; size as usize];
    file.seek(SeekFrom::Start(start))?;
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// The bytes of a block: its head and its body.
fn block_bytes(file: &mut File, length: u64, block: &Block) -> io::Result<Vec<u8>> {
    let number = |number: i64| u64::try_from(number).map_err(|_| damaged("a block has a negative length or place"));
    let (start, head) = (number(block.offset())?, number(block.metaDataLength().into())?);
    let bytes = bytes(file, length, start, head.saturating_add(number(block.bodyLength())?))?;
    let (head, body) = bytes.split_at(head as usize);
    let prefix = if head.starts_with(&MARKER) { 8 } else { 4 };
    check(head.get(prefix..).ok_or_else(|| damaged("a block has no head"))?, body)?;
    Ok(bytes)
}

/// Errors if the head of a message claims buffers that are not in its body, or that are too large when unpacked.
fn check(head: &[u8], body: &[u8]) -> io::Result<()> {
    /// The most bytes of an unpacked buffer.
    const UNPACKED: i64 = 1 << 32;
    let message = root_as_message(head).map_err(damaged)?;
    let batch = message.header_as_record_batch().or_else(|| message.header_as_dictionary_batch()?.data());
    let Some(batch) = batch else { return Ok(()) };
    for buffer in batch.buffers().iter().flatten() {
        let (start, size) = (usize::try_from(buffer.offset()), usize::try_from(buffer.length()));
        let bytes = start.ok().zip(size.ok()).and_then(|(start, size)| body.get(start..start.checked_add(size)?));
        let bytes = bytes.ok_or_else(|| damaged("a buffer is not in the body of its message"))?;
        if batch.compression().is_some()
            && let Some(unpacked) = bytes.first_chunk()
            && i64::from_le_bytes(*unpacked) > UNPACKED
        {
            return Err(damaged("a buffer is too large when unpacked"));
        }
    }
    Ok(())
}

/// The batches of a file, in the order of its footer.
struct Blocks {
    file: File,
    length: u64,
    decoder: FileDecoder,
    blocks: Vec<Block>,
    /// Number of the next block, and of its first row if no block before it was damaged.
    next: usize,
    row: u64,
}

impl Blocks {
    fn open(mut file: File, length: u64, footer: &[u8], fields: &Fields) -> io::Result<Self> {
        let footer = root_as_footer(footer).map_err(damaged)?;
        let schema = footer.schema().ok_or_else(|| damaged("no schema"))?;
        if schema.endianness() != arrow_ipc::Endianness::Little {
            return Err(damaged("the numbers are big-endian"));
        }
        let schema: SchemaRef = Arc::new(guarded(|| Ok(arrow_ipc::convert::fb_to_schema(schema)))?);
        let columns = wanted(&schema, fields)?;
        let mut decoder = FileDecoder::new(schema, footer.version()).with_projection(columns);
        for block in footer.dictionaries().iter().flatten() {
            let bytes = block_bytes(&mut file, length, block)?;
            guarded(|| decoder.read_dictionary(block, &bytes.into()).map_err(damaged))?;
        }
        let blocks = footer.recordBatches().iter().flatten().copied().collect();
        Ok(Self { file, length, decoder, blocks, next: 0, row: 0 })
    }

    fn read(&mut self, block: &Block) -> io::Result<Option<RecordBatch>> {
        let bytes = block_bytes(&mut self.file, self.length, block)?;
        guarded(|| self.decoder.read_record_batch(block, &bytes.into()).map_err(damaged))
    }
}

impl Iterator for Blocks {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        loop {
            let block = *self.blocks.get(self.next)?;
            self.next += 1;
            match self.read(&block) {
                Ok(Some(batch)) => {
                    let first = self.row;
                    self.row += batch.num_rows() as u64;
                    return Some(Piece::Batch(first, batch));
                }
                Ok(None) => {}
                Err(error) => {
                    return Some(Piece::Bad(Bad { place: format!("batch {}", self.next), what: error.to_string() }));
                }
            }
        }
    }
}

/// The batches of a stream.
struct Stream {
    file: BufReader<File>,
    /// Number of bytes that are not read yet.
    rest: u64,
    decoder: StreamDecoder,
    row: u64,
    /// Why the rest cannot be read. It is named behind the last batch.
    damage: Option<String>,
    over: bool,
}

impl Stream {
    /// A stream from `start` on. `damage` is what was found before.
    fn open(
        mut file: File,
        length: u64,
        start: u64,
        fields: &Fields,
        damage: Option<String>,
    ) -> io::Result<Box<dyn Iterator<Item = Piece> + Send>> {
        file.seek(SeekFrom::Start(start))?;
        let (file, rest) = (BufReader::with_capacity(1 << 18, file), length - start);
        let mut stream = Self { file, rest, decoder: StreamDecoder::new(), row: 0, damage, over: false };
        let first = stream.batch();
        match stream.decoder.schema() {
            Some(schema) => wanted(&schema, fields)?,
            None => return Err(damaged(stream.damage.unwrap_or_else(|| "no Arrow file or stream".into()))),
        };
        let first = first.map(|batch| stream.piece(batch));
        Ok(Box::new(first.into_iter().chain(stream)))
    }

    fn piece(&mut self, batch: RecordBatch) -> Piece {
        let first = self.row;
        self.row += batch.num_rows() as u64;
        Piece::Batch(first, batch)
    }

    /// The next batch; `None` at the end, or if the rest cannot be read.
    fn batch(&mut self) -> Option<RecordBatch> {
        while !self.over {
            let decoded = self.message().and_then(|message| {
                let Some(message) = message else {
                    self.over = true;
                    return Ok(None);
                };
                let mut message = message.into();
                guarded(|| self.decoder.decode(&mut message).map_err(damaged))
            });
            match decoded {
                Ok(None) => {}
                Ok(batch) => return batch,
                Err(error) => {
                    self.over = true;
                    // What was found before is the cause.
                    self.damage.get_or_insert(error.to_string());
                }
            }
        }
        None
    }

    /// The bytes of the next message; `None` at the end of the stream.
    fn message(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut message = Vec::new();
        if self.rest == 0 {
            return Ok(None);
        }
        self.take(4, &mut message)?;
        // Old writers leave the marker out.
        if message == MARKER {
            self.take(4, &mut message)?;
        }
        let prefix = message.len();
        let size = message.last_chunk().map_or(0, |size| u32::from_le_bytes(*size));
        if size == 0 {
            return match self.rest {
                0 => Ok(None),
                rest => Err(damaged(format_args!("{rest} bytes behind the end of the stream"))),
            };
        }
        self.take(size.into(), &mut message)?;
        let head = message.len();
        let body = root_as_message(&message[prefix..]).map_err(damaged)?.bodyLength();
        self.take(u64::try_from(body).map_err(damaged)?, &mut message)?;
        check(&message[prefix..head], &message[head..])?;
        Ok(Some(message))
    }

    /// Reads this many bytes to the end of `bytes`.
    fn take(&mut self, size: u64, bytes: &mut Vec<u8>) -> io::Result<()> {
        self.rest = self.rest.checked_sub(size).ok_or_else(|| damaged("the stream is cut"))?;
        let start = bytes.len();
        bytes.resize(start + size as usize, 0);
        self.file.read_exact(&mut bytes[start..])
    }
}

impl Iterator for Stream {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        if let Some(batch) = self.batch() {
            return Some(self.piece(batch));
        }
        let what = self.damage.take()?;
        Some(Piece::Bad(Bad { place: format!("after row {}", self.row), what }))
    }
}
