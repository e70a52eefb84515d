//! Known corpora: finds whether a page is in a corpus that exists already.
//!
//! A signature file and the index of its fingerprints are mapped, not read. So a program with a billion known documents
//! starts at once, and several programs share one copy in memory. For each document, the index takes about 11 bytes (at
//! distance 3). Sketches, digests and ids stay on disk until a page is near.
//!
//! # For a judge
//!
//! [`Corpora::open`] maps the files, and [`crate::judge::Judge::know`] hands them to a judge. If the judge finds no
//! earlier page that says the same, it asks [`Corpora::find`]. A [`CorpusMatch`] becomes a verdict `exact` or `near`.
//! Its twin is the document with the id [`Known::id`] of [`CorpusMatch::row`] in the corpus [`Known::name`]. A
//! signature file has no links, so the links of such a page have no counterparts: they are held as `known`.
//!
//! [`Corpora::open`]: super::Corpora::open
//! [`Corpora::find`]: super::Corpora::find

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::Error;
use super::crowd::Crowd;
use super::file::Signatures;
use super::format::DIGEST;
use super::lower_bound::lower_bound;
use crate::hamming::Design;
use crate::hamming::frozen::{self, Frozen, IndexSpec, Load, Reader};
use crate::signature::{RECIPE, Sketch};

/// The most sketches of one fingerprint that are compared with a page. A document with the bytes or the sketch of the
/// page is found among any number of documents.
const MOST: usize = 64;

/// The last words of the message about a damaged index.
const REMEDY: &str = "without that index file, a new one is built";

/// A signature file, with the index of its fingerprints.
#[derive(Debug)]
pub struct Known {
    name: String,
    signatures: Signatures,
    index: Frozen,
    index_path: PathBuf,
    distance: u32,
    /// The documents of each fingerprint that has more than `MOST` and was asked for.
    crowds: Mutex<HashMap<u64, Arc<Crowd>>>,
    /// See [`Known::compared_in_part`].
    in_part: AtomicU64,
}

/// The document that a page repeats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CorpusMatch {
    /// The row of the document in the signature file.
    pub row: u64,
    /// Whether the bytes of page and document are the same.
    pub exact: bool,
    /// The Hamming distance of the fingerprints.
    pub distance: u32,
    /// The estimated resemblance of the texts, 0..1.
    pub resemblance: f32,
}

impl Known {
    /// A signature file or index of at most this many bytes is checked as a whole each time it is opened.
    pub const CHECKED: u64 = 256 << 20;

    /// The path of the index for a distance. It is beside the signature file.
    pub fn index_path(signatures: &Path, distance: u32) -> PathBuf {
        let mut name = signatures.file_name().unwrap_or_default().to_owned();
        name.push(format!(".d{distance}"));
        signatures.with_file_name(name)
    }

    /// Opens a signature file with its index for `distance`. An index that is missing, or belongs to another file, is
    /// built on `threads` threads. Errors if a file cannot be read or written, or is damaged.
    ///
    /// A signature file or index of at most [`Known::CHECKED`] bytes is checked as a whole. A larger signature file is
    /// checked only when its index is built, so that a program with a billion documents starts at once. A larger index
    /// is checked where it is read: see [`Finder::find`].
    pub fn open(path: &Path, distance: u32, threads: usize) -> Result<Self, Error> {
        let signatures = Signatures::open(path)?;
        if signatures.bytes() <= Self::CHECKED {
            signatures.check().map_err(|error| error.about(path))?;
        }
        let (place, recipe) = (Self::index_path(path, distance), index_recipe(&signatures));
        let open = || match std::fs::metadata(&place) {
            Ok(metadata) if metadata.len() <= Self::CHECKED => Frozen::open(&place, &recipe, Load::Map),
            _ => Frozen::map(&place, &recipe),
        };
        let index = match open() {
            Ok(index) => index,
            // There is no index, or that of a signature file that was here before.
            Err(Error::Io { .. } | Error::Recipe { .. }) => {
                Self::build_index(path, distance, threads, &|_| {})?;
                open()?
            }
            Err(Error::Damaged(what)) => {
                return Err(Error::Damaged(format!("{what}; {REMEDY}")));
            }
            Err(error) => return Err(error),
        };
        signatures.advise_random();
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let (crowds, in_part) = (Mutex::default(), AtomicU64::new(0));
        Ok(Self { name, signatures, index, index_path: place, distance, crowds, in_part })
    }

    /// Builds the index beside a signature file. Returns its number of bytes. `done` gets the share of the work that
    /// was done.
    pub fn build_index(path: &Path, distance: u32, threads: usize, done: &(dyn Fn(f64) + Sync)) -> Result<u64, Error> {
        let signatures = Signatures::open(path)?;
        signatures.advise_sequential();
        signatures.check().map_err(|error| error.about(path))?;
        let fingerprints = signatures.fingerprints();
        let spec = IndexSpec {
            design: Design::for_size(distance, fingerprints.len() as u64),
            recipe: index_recipe(&signatures),
            with_rows: false,
            threads,
            part: IndexSpec::PART,
        };
        super::output::write(&Self::index_path(path, distance), |mut file| {
            let mut out = std::io::BufWriter::with_capacity(1 << 20, &mut file);
            frozen::build(fingerprints, &spec, &mut out, done)
        })
    }

    /// The name of the corpus, which is the name of the signature file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The signatures.
    pub fn signatures(&self) -> &Signatures {
        &self.signatures
    }

    /// Bytes of the tables of the index, which are read in searches.
    pub fn index_bytes(&self) -> u64 {
        self.index.bytes().0
    }

    /// The id of a document, as JSON. Errors if the file is damaged.
    pub fn id(&self, row: u64) -> Result<&str, Error> {
        self.signatures.id(row)
    }

    /// A finder of pages among the documents. Each thread needs its own.
    pub fn finder(&self) -> Finder<'_> {
        Finder { known: self, reader: self.index.reader(), near: Vec::new() }
    }

    fn damaged_index(&self) -> Error {
        let what = "the index file is damaged: it contradicts itself or the signature file";
        Error::Damaged(format!("{}: {what}; {REMEDY}", self.index_path.display()))
    }

    /// How often a page was compared with the first 64 sketches of a fingerprint that has more, and was found among
    /// none of them. So the corpus may have near-duplicates of such pages that were not found.
    pub fn compared_in_part(&self) -> u64 {
        self.in_part.load(Ordering::Relaxed)
    }

    /// The documents of a fingerprint, from this row on, in order; `None` if they are at most `MOST`.
    fn crowd(&self, fingerprint: u64, first: usize) -> Option<Arc<Crowd>> {
        let fingerprints = &self.signatures.fingerprints()[first..];
        if fingerprints.get(MOST) != Some(&fingerprint) {
            return None;
        }
        let mut crowds = self.crowds.lock().unwrap_or_else(PoisonError::into_inner);
        let crowd = crowds.entry(fingerprint).or_insert_with(|| {
            let count = fingerprints.partition_point(|other| *other <= fingerprint);
            Arc::new(Crowd::of(&self.signatures, first..first + count, MOST))
        });
        Some(Arc::clone(crowd))
    }

    /// The first row with this fingerprint, if it is in the file.
    fn first_row(&self, fingerprint: u64) -> usize {
        let fingerprints = self.signatures.fingerprints();
        lower_bound(fingerprints.len(), fingerprint, |i| fingerprints[i])
    }
}

/// The recipe of the index of a signature file. It has the identity of the file, so an index of another file is
/// refused.
fn index_recipe(signatures: &Signatures) -> String {
    format!("{RECIPE} of {:016x}", signatures.identity())
}

/// Finds pages among the documents of a [`Known`].
#[derive(Debug)]
pub struct Finder<'a> {
    known: &'a Known,
    reader: Reader<'a>,
    near: Vec<(u32, u64)>,
}

impl Finder<'_> {
    /// The document that a page repeats: one with the same bytes, otherwise the nearest that is a duplicate at the
    /// second look. Among equally near ones, the first in the corpus is taken. `signature` is the fingerprint and
    /// sketch of the page. A page without them is found only by its bytes, among documents without a fingerprint.
    ///
    /// # Errors
    ///
    /// If the index is seen to be damaged: it points to entries that are not there, or has a fingerprint that the
    /// signature file does not have. Other damage to an index larger than [`Known::CHECKED`] can hide a document.
    pub fn find(
        &mut self,
        digest: &[u8; DIGEST],
        signature: Option<(u64, &Sketch)>,
    ) -> Result<Option<CorpusMatch>, Error> {
        let Some((fingerprint, sketch)) = signature else { return Ok(self.equal_bytes(digest)) };
        let (known, mut near) = (self.known, std::mem::take(&mut self.near));
        near.clear();
        self.reader.within(&[fingerprint], &mut |_, found, distance| {
            if distance <= known.distance {
                near.push((distance, found));
            }
        });
        if known.index.is_damaged() {
            return Err(known.damaged_index());
        }
        near.sort_unstable();
        let mut best: Option<(CorpusMatch, u64)> = None;
        for &(distance, found) in &near {
            if best.is_some_and(|(document, _)| document.distance < distance) {
                break;
            }
            if let Some((document, place)) = self.look(found, distance, digest, sketch)?
                && best.is_none_or(|(held, earlier)| (!document.exact, place) < (!held.exact, earlier))
            {
                best = Some((document, place));
            }
        }
        self.near = near;
        Ok(best.map(|(document, _)| document))
    }

    /// The document with this fingerprint that the page repeats, and its place: one with the same bytes, otherwise the
    /// first that is a duplicate. Errors if no document has this fingerprint.
    fn look(
        &self,
        fingerprint: u64,
        distance: u32,
        digest: &[u8; DIGEST],
        sketch: &Sketch,
    ) -> Result<Option<(CorpusMatch, u64)>, Error> {
        let signatures = &self.known.signatures;
        let first = self.known.first_row(fingerprint);
        if signatures.fingerprints().get(first) != Some(&fingerprint) {
            return Err(self.known.damaged_index());
        }
        let document = |row: usize, exact, resemblance| {
            (CorpusMatch { row: row as u64, exact, distance, resemblance }, signatures.places()[row])
        };
        let near = |row: usize| {
            let look = sketch.compare(&signatures.sketch(row as u64));
            look.is_duplicate_document().then(|| document(row, false, look.resemblance))
        };
        let Some(crowd) = self.known.crowd(fingerprint, first) else {
            let of_file = &signatures.fingerprints()[first..];
            let rows = || (first..).zip(of_file).take_while(|(_, other)| **other == fingerprint).map(|(row, _)| row);
            let exact = rows().find(|row| signatures.digests()[*row] == *digest).map(|row| document(row, true, 1.0));
            return Ok(exact.or_else(|| rows().find_map(near)));
        };
        if let Some(row) = crowd.with_digest(signatures, digest) {
            return Ok(Some(document(row, true, 1.0)));
        }
        let found = crowd.heads().find_map(near);
        let found = found.or_else(|| near(crowd.with_sketch(signatures, &sketch.to_bytes())?));
        if found.is_none() && crowd.has_more() {
            self.known.in_part.fetch_add(1, Ordering::Relaxed);
        }
        Ok(found)
    }

    /// The document without a fingerprint that has these bytes.
    fn equal_bytes(&self, digest: &[u8; DIGEST]) -> Option<CorpusMatch> {
        let signatures = &self.known.signatures;
        let judged = signatures.fingerprints().len();
        let tail = &signatures.digests()[judged..];
        let at = tail.partition_point(|other| other < digest);
        (tail.get(at) == Some(digest)).then(|| CorpusMatch {
            row: (judged + at) as u64,
            exact: true,
            distance: 0,
            resemblance: 1.0,
        })
    }
}
