//! A journal that a power cut tore in the middle of a value.
//!
//! In a power cut, any block that was not synced may be missing on disk. If the last batch of a journal ends too early
//! or cannot be read, fjall ignores it and opens the state as of the commit before. But if the missing block lies
//! inside one large value, the batch can be read and has both its ends, and only its checksum is wrong. Then fjall
//! refuses the whole journal. Such a batch was never reported as durable, so the journal may end where the missing
//! block begins. After this cut, fjall finds a batch that ends too early.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use memchr::memmem;

/// The number of bytes that reach the disk together.
const BLOCK: usize = 4096;
/// The last bytes of each batch in a journal of fjall 3.
const END: &[u8] = b"FJL\x03";

/// Cuts the newest journal in `dir` where a block is missing, if at most one batch ends after this block. Returns false
/// if no block is missing, or if several batches end after it. Those batches were synced, so the block was lost later,
/// and this is damage.
pub fn cut(dir: &Path) -> io::Result<bool> {
    let Some(path) = newest(dir)? else { return Ok(false) };
    let bytes = fs::read(&path)?;
    // A journal is allocated ahead, so the part that is not written yet is zero, too.
    let written = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let blocks = bytes[..written].chunks_exact(BLOCK);
    let missing = blocks.enumerate().rfind(|(_, block)| block.iter().all(|byte| *byte == 0));
    let Some(at) = missing.map(|(number, _)| number * BLOCK) else { return Ok(false) };
    if memmem::find_iter(&bytes[at..written], END).nth(1).is_some() {
        return Ok(false);
    }
    let file = OpenOptions::new().write(true).open(&path)?;
    file.set_len(at as u64)?;
    file.sync_all()?;
    Ok(true)
}

/// The journal that was written to last: the one with the highest number.
fn newest(dir: &Path) -> io::Result<Option<PathBuf>> {
    let mut newest = None;
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let number = path.file_stem().and_then(|stem| stem.to_str()?.parse::<u64>().ok());
        if path.extension().is_some_and(|end| end == "jnl") {
            newest = newest.max(number.map(|number| (number, path)));
        }
    }
    Ok(newest.map(|(_, path)| path))
}
