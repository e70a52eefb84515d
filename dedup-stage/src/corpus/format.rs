//! The layout of a signature file.
//!
//! ```text
//! head      64 bytes: magic, format version, place, length and checksum of the header, checksum of the head itself
//! sections  columns of little-endian values, each at a multiple of 64 bytes
//! header    JSON: recipe, counts, the place and checksum (XXH3-64) of every section
//! ```
//!
//! The length of the file is never a multiple of 8. So a signature file whose magic is damaged cannot be taken for a
//! file of raw fingerprints.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::Error;

/// First bytes of every signature file.
pub const MAGIC: [u8; 8] = *b"\x89SIGNAT\n";

/// Version of the layout.
pub const VERSION: u64 = 1;

/// Bytes of the head.
pub const HEAD: usize = 64;

/// Bytes of a SHA-256 digest.
pub const DIGEST: usize = 32;

/// The lower bits of a place have the number of the document in its split: this many bits. The bits above have the
/// number of the split.
pub const SPLIT_SHIFT: u32 = 40;

/// A range of bytes and its checksum.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    /// The place of the first byte in the file.
    pub start: u64,
    /// Number of bytes.
    pub length: u64,
    /// The XXH3-64 of the bytes.
    pub checksum: u64,
}

/// The header of a signature file: everything but the columns themselves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignatureHeader {
    /// The recipe of the fingerprints and sketches. Those of different recipes cannot be compared.
    pub recipe: String,
    /// Number of documents.
    pub rows: u64,
    /// Number of documents with a fingerprint. Their rows come first.
    pub judged: u64,
    /// Number of splits from which the documents came.
    pub splits: u64,
    /// Number of documents whose id is no integer.
    pub text_ids: u64,
    /// The section of each column.
    pub columns: Columns<Section>,
}

/// One value for each column. All columns but `fingerprints` and `sketches` have an entry for every row.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Columns<T> {
    /// Fingerprints: 8 bytes for each row that has one, ascending.
    pub fingerprints: T,
    /// Sketches: 64 bytes for each row that has a fingerprint.
    pub sketches: T,
    /// SHA-256 digests of the bytes of documents, 32 bytes.
    pub digests: T,
    /// Numbers of words, 4 bytes.
    pub words: T,
    /// Places of the documents in the input, 8 bytes: the number of the split above, the number in the split below.
    pub places: T,
    /// Dates in milliseconds since 1970, 8 bytes; `i64::MIN` = none. The column is empty if no document has a date.
    pub dates: T,
    /// The place in `ids` where each id ends, 8 bytes.
    pub id_ends: T,
    /// The ids as JSON, one after another.
    pub ids: T,
    /// The place in `urls` where each URL ends, 8 bytes. The column is empty if no document has a URL besides its id.
    pub url_ends: T,
    /// The URLs, one after another.
    pub urls: T,
}

impl<T> Columns<T> {
    /// All columns, in the order in which they stand in the file.
    pub fn each(&self) -> [(&'static str, &T); 10] {
        [
            ("fingerprints", &self.fingerprints),
            ("sketches", &self.sketches),
            ("digests", &self.digests),
            ("words", &self.words),
            ("places", &self.places),
            ("dates", &self.dates),
            ("id_ends", &self.id_ends),
            ("ids", &self.ids),
            ("url_ends", &self.url_ends),
            ("urls", &self.urls),
        ]
    }

    /// The same columns, with the values that `f` makes from the old ones.
    pub fn map<U>(self, mut f: impl FnMut(T) -> U) -> Columns<U> {
        Columns {
            fingerprints: f(self.fingerprints),
            sketches: f(self.sketches),
            digests: f(self.digests),
            words: f(self.words),
            places: f(self.places),
            dates: f(self.dates),
            id_ends: f(self.id_ends),
            ids: f(self.ids),
            url_ends: f(self.url_ends),
            urls: f(self.urls),
        }
    }
}

impl SignatureHeader {
    /// Reads the header of a file, and checks that it fits the file's length. Columns are not read. Also returns the
    /// checksum of the header, by which other files refer to this one.
    pub fn read(bytes: &[u8]) -> Result<(Self, u64), Error> {
        let damaged = |what: &str| Error::Damaged(format!("the signature file is damaged: {what}"));
        if bytes.get(..8) != Some(&MAGIC) {
            return Err(Error::Damaged("not a signature file".into()));
        }
        if bytes.len() < HEAD {
            return Err(damaged("it is cut short"));
        }
        let (words, _) = bytes[..HEAD].as_chunks::<8>();
        let [_, version, start, length, checksum, _, _, own]: [u64; 8] =
            std::array::from_fn(|i| u64::from_le_bytes(words[i]));
        if xxh3_64(&bytes[..HEAD - 8]) != own {
            return Err(damaged("its head does not add up"));
        }
        if version != VERSION {
            return Err(Error::Damaged(format!(
                "the signature file has format {version}; this program reads {VERSION}"
            )));
        }
        if start.checked_add(length) != Some(bytes.len() as u64) {
            return Err(damaged("its length is not what it was"));
        }
        let json = &bytes[start as usize..];
        if xxh3_64(json) != checksum {
            return Err(damaged("its header does not add up"));
        }
        let header: Self = serde_json::from_slice(json).map_err(|error| damaged(&format!("its header: {error}")))?;
        if !header.is_consistent(start) {
            return Err(damaged("its header contradicts itself"));
        }
        Ok((header, checksum))
    }

    /// The bytes of the header and of the head, for a header that begins at `start`. Also the checksum of the header,
    /// by which other files refer to this one.
    pub fn write(&self, start: u64) -> (Vec<u8>, [u8; HEAD], u64) {
        let mut json = serde_json::to_vec(self).expect("numbers and strings serialise");
        while (start + json.len() as u64).is_multiple_of(8) {
            json.push(b' ');
        }
        let checksum = xxh3_64(&json);
        let mut head = [0; HEAD];
        head[..8].copy_from_slice(&MAGIC);
        for (i, word) in [VERSION, start, json.len() as u64, checksum].into_iter().enumerate() {
            head[8 * (i + 1)..8 * (i + 2)].copy_from_slice(&word.to_le_bytes());
        }
        let own = xxh3_64(&head[..HEAD - 8]);
        head[HEAD - 8..].copy_from_slice(&own.to_le_bytes());
        (json, head, checksum)
    }

    /// Whether the sections lie within the file, and have the lengths that the counts require.
    fn is_consistent(&self, end: u64) -> bool {
        let columns = &self.columns;
        let within =
            |s: &Section| s.start.is_multiple_of(64) && s.start.checked_add(s.length).is_some_and(|e| e <= end);
        let length = |s: &Section, rows: u64, each: usize| rows.checked_mul(each as u64) == Some(s.length);
        let optional = |s: &Section, each: usize| s.length == 0 || length(s, self.rows, each);
        self.judged <= self.rows
            && columns.each().iter().all(|(_, section)| within(section))
            && length(&columns.fingerprints, self.judged, 8)
            && length(&columns.sketches, self.judged, crate::signature::Sketch::BYTES)
            && length(&columns.digests, self.rows, DIGEST)
            && length(&columns.words, self.rows, 4)
            && length(&columns.places, self.rows, 8)
            && optional(&columns.dates, 8)
            && length(&columns.id_ends, self.rows, 8)
            && optional(&columns.url_ends, 8)
    }
}
