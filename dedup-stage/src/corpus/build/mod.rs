//! Makes a signature file from many inputs, on all cores and with bounded memory. An interrupted build goes on where it
//! stopped.
//!
//! A split is one input file, or many files that are one document each. Each split becomes one or more sorted parts
//! beside the output, in the folder `OUT.parts`. When a split is complete, a note is written there. A build that
//! follows an interrupted one finds the notes, and does only the splits that have none. When all splits are done, their
//! parts are merged into the output, and the folder is removed. Only one build at a time has the folder.

mod lock;
mod parts;
mod split;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::Error;
use super::input::{Bad, Fields, Format, Piece, Split};
use super::merge::merge;
use super::output::{temporary, write};
use super::writer::FileShape;
use parts::{Parts, Sorted};

/// The settings of a build.
#[derive(Clone, Debug)]
pub struct SigningOptions {
    /// Names of the fields and columns of documents.
    pub fields: Fields,
    /// Number of threads that sign documents.
    pub threads: usize,
    /// The bytes of rows that are held before they are sorted and written. Documents that are being signed need some
    /// MiB more for each thread.
    pub memory: usize,
}

/// The counts of one split, or the sums over all splits.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Tally {
    /// Number of documents that were signed.
    pub documents: u64,
    /// Number of these documents that have a fingerprint.
    pub judged: u64,
    /// Number of records that are no documents: they are of another kind, have another status, or are neither text nor
    /// HTML.
    pub passed_over: u64,
    /// Number of documents that are too long to be read to their ends. They have no fingerprint.
    #[serde(default)]
    pub cut: u64,
    /// Number of documents with a date that could not be read. They have none.
    #[serde(default)]
    pub unread_dates: u64,
    /// Number of records that could not be read.
    pub bad: u64,
    /// The fields that documents with fields have; `None` if there are no such documents.
    #[serde(default)]
    pub seen: Option<SeenFields>,
    /// The first records that could not be read, at most [`Tally::NAMED`] of each split.
    pub named: Vec<Bad>,
}

/// The fields of [`Fields`] that have a value in any document. (A body is not looked for where there is a text, so it is
/// not known whether any document has one.)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[allow(clippy::struct_excessive_bools, reason = "one for each field")]
pub struct SeenFields {
    /// The id.
    pub id: bool,
    /// The text.
    pub text: bool,
    /// The URL.
    pub url: bool,
    /// A date, even if it could not be read.
    pub date: bool,
}

impl SeenFields {
    /// The fields that documents of either have.
    fn or(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        let (Some(a), Some(b)) = (one, other) else { return one.or(other) };
        Some(Self { id: a.id || b.id, text: a.text || b.text, url: a.url || b.url, date: a.date || b.date })
    }
}

impl Tally {
    /// The most bad records of a split that are named. The others are only counted.
    pub const NAMED: usize = 20;

    /// Adds a bad record.
    pub fn add_bad(&mut self, bad: Bad) {
        self.bad += 1;
        if self.named.len() < Self::NAMED {
            self.named.push(bad);
        }
    }
}

/// Receives the progress of a build. The calls come from several threads.
pub trait Watch: Sync {
    /// Says that `n` more documents were read.
    fn documents(&self, n: u64);
    /// Says that a split is done. `again` is false if an earlier build had done it.
    fn split(&self, name: &str, tally: &Tally, again: bool);
    /// Says that `n` more rows were merged.
    fn merged(&self, n: u64);
}

/// Divides inputs into splits: one file each, or up to 4,096 successive files that are one document each.
pub fn splits(inputs: &[PathBuf], format: Option<Format>) -> Result<Vec<Split>, String> {
    const TOGETHER: usize = 1 << 12;
    let mut splits: Vec<Split> = Vec::new();
    for path in inputs {
        let known = format.or_else(|| Format::of(path));
        let format = match known {
            Some(format) => format,
            None if path.as_os_str() == "-" => Format::Jsonl,
            None if !path.exists() => return Err(format!("{}: no such file", path.display())),
            None => return Err(format!("{}: its name does not tell its format; say --format", path.display())),
        };
        match splits.last_mut() {
            Some(last) if format.is_single() && last.format == format && last.paths.len() < TOGETHER => {
                last.paths.push(path.clone());
            }
            _ => splits.push(Split { paths: vec![path.clone()], format }),
        }
    }
    Ok(splits)
}

/// The first of these paths at which a build of `output` writes before the output is complete, or that lies in its
/// folder of parts. Such a file cannot be an input.
pub fn written_meanwhile<'a>(output: &Path, inputs: impl IntoIterator<Item = &'a Path>) -> Option<&'a Path> {
    let ours = [Parts::folder(output), temporary(output)];
    let ours: Vec<PathBuf> = ours.iter().filter_map(|path| fs::canonicalize(path).ok()).collect();
    let is_ours = |path: &Path| fs::canonicalize(path).is_ok_and(|path| ours.iter().any(|our| path.starts_with(our)));
    inputs.into_iter().find(|input| !ours.is_empty() && is_ours(input))
}

/// Makes the signature file `output`. Returns the sums over all splits. If no document could be read, nothing
/// is written. Errors if a file cannot be written, a part
/// cannot be read, this program cannot read the format of an input, another build makes the same file, or there is a
/// folder of someone else in the place of the folder of parts. An input that cannot be opened, and a signature
/// file that is damaged or has another recipe, count as a bad record.
pub fn build(splits: &[Split], options: &SigningOptions, output: &Path, watch: &dyn Watch) -> Result<Tally, Error> {
    let parts = Parts::open(output)?;
    let lanes = options.threads.min(splits.len()).max(1);
    let each =
        SigningOptions { threads: options.threads.div_ceil(lanes), memory: options.memory / lanes, ..options.clone() };
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..lanes {
            scope.spawn(|| {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let Some(split) = splits.get(i) else { break };
                    let result = one(split, &each, &parts, watch);
                    let failed = result.is_err();
                    results.lock().expect("no thread panicked").push((i, result));
                    if failed {
                        // The other threads finish the splits that they have begun, and stop.
                        next.store(splits.len(), Ordering::Relaxed);
                        break;
                    }
                }
            });
        }
    });
    let mut results = results.into_inner().expect("no thread panicked");
    results.sort_unstable_by_key(|(i, _)| *i);
    let (mut sum, mut inputs) = (Tally::default(), Vec::new());
    for (i, result) in results {
        let (tally, files) = result?;
        sum.documents += tally.documents;
        sum.judged += tally.judged;
        sum.passed_over += tally.passed_over;
        sum.bad += tally.bad;
        sum.cut += tally.cut;
        sum.unread_dates += tally.unread_dates;
        sum.seen = SeenFields::or(sum.seen, tally.seen);
        for file in files {
            inputs.push((i, file.open()?));
        }
    }
    if sum.documents == 0 && sum.bad > 0 {
        // An output that stands there is likely to be worth more than an empty one.
        drop(inputs);
        parts.remove()?;
        return Ok(sum);
    }
    write(output, |file| Ok(merge(&mut inputs, file, &|n| watch.merged(n))?.1))?;
    drop(inputs);
    parts.remove()?;
    Ok(sum)
}

/// Does one split, or takes what an earlier build made of it. Returns the counts and the files with the rows.
fn one(
    split: &Split,
    options: &SigningOptions,
    parts: &Parts,
    watch: &dyn Watch,
) -> Result<(Tally, Vec<Sorted>), Error> {
    if split.format == Format::Signatures {
        let path = split.paths[0].clone();
        let (tally, files) = match checked(&path) {
            Ok((shape, file)) => {
                (Tally { documents: shape.rows, judged: shape.judged, ..Tally::default() }, vec![file])
            }
            Err(error) => {
                let mut tally = Tally::default();
                let (text, name) = (error.to_string(), format!("{}: ", path.display()));
                let what = text.strip_prefix(&name).unwrap_or(&text).to_owned();
                tally.add_bad(Bad { place: "the file".into(), what });
                (tally, Vec::new())
            }
        };
        watch.split(&split.name(), &tally, true);
        return Ok((tally, files));
    }
    let key = parts.key(split, options);
    if let Some((tally, files)) = key.as_deref().and_then(|key| parts.done(key)) {
        watch.split(&split.name(), &tally, false);
        return Ok((tally, files));
    }
    let pieces: Box<dyn Iterator<Item = Piece> + Send> = match split.pieces(&options.fields) {
        Ok(pieces) => pieces,
        // This program cannot read any file of this format, so there is no use in going on.
        Err(error) if error.kind() == io::ErrorKind::Unsupported => {
            return Err(Error::Damaged(format!("{}: {error}", split.name())));
        }
        Err(error) => {
            let bad = Bad { place: "the file".into(), what: error.to_string() };
            Box::new(std::iter::once(Piece::Bad(bad)))
        }
    };
    let done = split::sign(split, pieces, options, parts, watch)?;
    if let Some(key) = key {
        parts.note(&key, &done.0, &done.1)?;
    }
    watch.split(&split.name(), &done.0, true);
    Ok(done)
}

/// The shape of a signature file, which is read once to see that it is undamaged.
fn checked(path: &Path) -> Result<(FileShape, Sorted), Error> {
    let file = Sorted::of(path.to_owned())?;
    let signatures = file.open()?;
    signatures.check()?;
    Ok((signatures.shape(), file))
}
