//! The index in two levels, as in ZipNum: blocks of CDXJ lines, each of them one gzip member, and a list of the places
//! where the blocks begin. So a reader finds a URL with two small reads.

use std::io::{self, BufRead, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::parts::digest;

/// The number of lines in a block. Other programs that write WACZ have the same number.
const LINES: usize = 1024;

/// Writes the blocks of `lines` to `out`, and the list of blocks to `list`. Returns the number of lines. It is an error
/// of kind `InvalidData` if a line is smaller than the one before it.
pub fn compress(mut lines: impl BufRead, out: &mut dyn Write, list: &mut Vec<u8>) -> io::Result<u64> {
    writeln!(list, "!meta 0 {}", json!({"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}))?;
    let (mut offset, mut total) = (0, 0);
    let (mut last, mut line) = (String::new(), String::new());
    loop {
        let mut block = GzEncoder::new(Vec::new(), Compression::default());
        let (mut first, mut count) = (String::new(), 0);
        while count < LINES {
            line.clear();
            if lines.read_line(&mut line)? == 0 {
                break;
            }
            let text = line.trim_end_matches('\n');
            if text.is_empty() {
                continue;
            }
            if text < last.as_str() {
                return Err(io::Error::new(io::ErrorKind::InvalidData, format!("the index is not sorted at {text}")));
            }
            if count == 0 {
                first.push_str(text.split('{').next().unwrap_or_default().trim_end());
            }
            block.write_all(text.as_bytes())?;
            block.write_all(b"\n")?;
            count += 1;
            last.replace_range(.., text);
        }
        if count == 0 {
            return Ok(total);
        }
        let member = block.finish()?;
        let place =
            json!({"offset": offset, "length": member.len(), "digest": digest(Sha256::digest(&member).as_ref())});
        writeln!(list, "{first} {place}")?;
        out.write_all(&member)?;
        offset += member.len();
        total += count as u64;
    }
}
