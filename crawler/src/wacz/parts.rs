//! The members of the ZIP, and the description that lists them with their digests.

use std::io::{self, Seek, SeekFrom, Write};

use dedup_stage::warc::rfc3339;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// The version of the format that is written.
const VERSION: &str = "1.1.1";

/// A ZIP that is being written, and the content of its description.
pub struct Parts<W: Write + Seek> {
    zip: ZipWriter<UntilError<W>>,
    resources: Vec<Value>,
}

impl<W: Write + Seek> Parts<W> {
    /// Makes an empty ZIP.
    pub fn new(out: W) -> Self {
        Self { zip: ZipWriter::new(UntilError { out, has_failed: false }), resources: Vec::new() }
    }

    /// Adds a member, whose bytes `fill` writes.
    pub fn add(&mut self, path: &str, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        let (hash, bytes) = self.member(path, fill)?;
        let name = path.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
        self.resources.push(json!({"name": name, "path": path, "hash": hash, "bytes": bytes}));
        Ok(())
    }

    /// Adds the description and its digest, and ends the ZIP.
    pub fn finish(mut self, title: &str, created: u64) -> io::Result<()> {
        let package = json!({
            "profile": "data-package",
            "wacz_version": VERSION,
            "title": title,
            "created": rfc3339(created),
            "software": concat!("crawler/", env!("CARGO_PKG_VERSION")),
            "resources": std::mem::take(&mut self.resources),
        });
        let package = serde_json::to_vec_pretty(&package)?;
        let (hash, _) = self.member("datapackage.json", |out| out.write_all(&package))?;
        let names = json!({"path": "datapackage.json", "hash": hash});
        self.member("datapackage-digest.json", |out| out.write_all(names.to_string().as_bytes()))?;
        self.zip.finish()?.flush()
    }

    /// Writes a member. Returns its digest and its size.
    fn member(&mut self, path: &str, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<(String, u64)> {
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored).large_file(true);
        self.zip.start_file(path, options)?;
        let mut tee = Tee { out: &mut self.zip, hasher: Sha256::new(), bytes: 0 };
        fill(&mut tee)?;
        Ok((digest(tee.hasher.finalize().as_ref()), tee.bytes))
    }
}

/// A digest as text: `sha256:` and lower-case hex digits.
pub fn digest(hash: &[u8]) -> String {
    hash.iter().fold(String::from("sha256:"), |text, byte| text + &format!("{byte:02x}"))
}

/// Writes until an error, and then discards everything. So the error is reported once. Otherwise a [`ZipWriter`] that
/// is dropped after an error would try to end the ZIP, fail again, and report that on stderr.
#[derive(Debug)]
struct UntilError<W> {
    out: W,
    has_failed: bool,
}

impl<W> UntilError<W> {
    fn act<T>(&mut self, otherwise: T, act: impl FnOnce(&mut W) -> io::Result<T>) -> io::Result<T> {
        if self.has_failed {
            return Ok(otherwise);
        }
        act(&mut self.out).inspect_err(|error| self.has_failed = error.kind() != io::ErrorKind::Interrupted)
    }
}

impl<W: Write> Write for UntilError<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.act(bytes.len(), |out| out.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.act((), W::flush)
    }
}

impl<W: Seek> Seek for UntilError<W> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.act(0, |out| out.seek(to))
    }
}

/// Hashes the bytes that it passes on.
struct Tee<W> {
    out: W,
    hasher: Sha256,
    bytes: u64,
}

impl<W: Write> Write for Tee<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
