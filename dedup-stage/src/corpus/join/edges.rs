//! Files of edges. `pairs` writes them, and `cluster` reads them in one pass.
//!
//! ```text
//! head    JSON on the first line: format, the signature files that rows belong to, distance, whether candidates had to
//!         pass the second look, whether near pieces of sketches made candidates, whether it is a forest; for a forest,
//!         which pairs of the files were compared
//! edges   three little-endian 64-bit words each: two nodes, and a word with three parts: bits 0 to 7 are the
//!         distance, bit 8 says whether the signatures are the same, bits 32 to 63 are the resemblance as a 32-bit float
//! end     8 bytes: XXH3-64 of the edges
//! ```
//!
//! The nodes are the rows of all files of the head, numbered through, one file after the other.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use super::{Edge, NearCriterion};
use crate::corpus::{Error, Signatures};

const FORMAT: &str = "dedup-stage edges 1";

/// Bytes of an edge.
const EDGE: usize = 24;

/// The signature files whose rows are the nodes, in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nodes(Vec<Rows>);

/// The rows of a signature file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Rows {
    /// The path of the file when it was read. Bytes that are no UTF-8 are replaced: the path only helps to tell files
    /// with the same content apart, and is shown in messages.
    file: String,
    /// [`Signatures::identity`] in hex, because JSON numbers are no 64-bit integers everywhere.
    identity: String,
    rows: u64,
}

impl Nodes {
    /// The rows of these files, one file after the other.
    pub fn of<'a>(files: impl IntoIterator<Item = (&'a Path, &'a Signatures)>) -> Self {
        let rows = |(path, signatures): (&Path, &Signatures)| Rows {
            file: path.to_string_lossy().into_owned(),
            identity: format!("{:016x}", signatures.identity()),
            rows: signatures.rows(),
        };
        Self(files.into_iter().map(rows).collect())
    }

    /// Number of nodes.
    pub fn len(&self) -> u64 {
        self.0.iter().map(|file| file.rows).sum()
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The first node of each file.
    pub fn starts(&self) -> Vec<u64> {
        self.0.iter().scan(0, |next, file| Some(std::mem::replace(next, *next + file.rows))).collect()
    }

    /// For each file of `other`, its first node here, and its number of rows. Errors if a file is not among these.
    fn map(&self, other: &Nodes) -> Result<Vec<(u64, u64)>, Error> {
        let starts = self.starts();
        let place = |(file, here): (&Rows, Option<usize>)| {
            here.map(|i| (starts[i], file.rows)).ok_or_else(|| {
                Error::Damaged(format!("the edges are of {}, which is not among the files, or has changed", file.file))
            })
        };
        other.0.iter().zip(self.places(other)).map(place).collect()
    }

    /// For each file of `other`, the number of the same file here. Several files may have the same content: then the
    /// one with the same path is taken, otherwise one with the same name, and each only once as long as there are
    /// others.
    fn places(&self, other: &Nodes) -> Vec<Option<usize>> {
        let name = |file: &Rows| Path::new(&file.file).file_name().map(ToOwned::to_owned);
        let mut uses = vec![0; self.0.len()];
        let place = |file: &Rows| {
            let same = (0..self.0.len()).filter(|i| {
                let own = &self.0[*i];
                own.identity == file.identity && own.rows == file.rows
            });
            let rank = |i: &usize| (uses[*i], self.0[*i].file != file.file, name(&self.0[*i]) != name(file), *i);
            let best = same.min_by_key(rank)?;
            uses[best] += 1;
            Some(best)
        };
        other.0.iter().map(place).collect()
    }
}

#[derive(Serialize, Deserialize)]
struct Head {
    format: String,
    nodes: Nodes,
    distance: u32,
    look: bool,
    /// Whether documents with near pieces of their sketches were candidates, too. Absent in files of older programs,
    /// which had no such candidates.
    #[serde(default)]
    pieces: bool,
    /// Whether the edges are those of a forest: at most one for each document. They only tell which documents belong
    /// together.
    #[serde(default)]
    forest: bool,
    /// For a forest: the pairs of files that were compared, as numbers of files. Absent in files of older programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    compared: Option<Vec<(usize, usize)>>,
}

/// Writes a file of edges.
pub struct EdgeWriter<'a> {
    out: BufWriter<&'a File>,
    hash: Xxh3,
    length: u64,
}

impl<'a> EdgeWriter<'a> {
    /// Begins a file of all edges.
    pub fn new(file: &'a File, nodes: &Nodes, criterion: NearCriterion) -> Result<Self, Error> {
        Self::begin(file, nodes, criterion, None)
    }

    /// Begins a file of the edges of a forest. `compared` has the pairs of files whose documents were compared, as
    /// numbers of files in `nodes`.
    pub fn forest(
        file: &'a File,
        nodes: &Nodes,
        criterion: NearCriterion,
        compared: impl IntoIterator<Item = (usize, usize)>,
    ) -> Result<Self, Error> {
        Self::begin(file, nodes, criterion, Some(compared.into_iter().collect()))
    }

    fn begin(
        file: &'a File,
        nodes: &Nodes,
        criterion: NearCriterion,
        compared: Option<Vec<(usize, usize)>>,
    ) -> Result<Self, Error> {
        let mut out = BufWriter::with_capacity(1 << 20, file);
        let NearCriterion { distance, look, pieces } = criterion;
        let forest = compared.is_some();
        let head = Head { format: FORMAT.into(), nodes: nodes.clone(), distance, look, pieces, forest, compared };
        let mut line = serde_json::to_vec(&head).expect("numbers and strings serialise");
        line.push(b'\n');
        out.write_all(&line)?;
        Ok(Self { out, hash: Xxh3::new(), length: line.len() as u64 })
    }

    /// Writes an edge between two nodes.
    pub fn push(&mut self, edge: &Edge) -> Result<(), Error> {
        let third = u64::from(edge.distance) | u64::from(edge.same) << 8 | u64::from(edge.resemblance.to_bits()) << 32;
        let mut bytes = [0; EDGE];
        for (place, word) in bytes.chunks_exact_mut(8).zip([edge.a, edge.b, third]) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        self.hash.update(&bytes);
        self.length += EDGE as u64;
        Ok(self.out.write_all(&bytes)?)
    }

    /// Ends the file; returns its length.
    pub fn finish(mut self) -> Result<u64, Error> {
        self.out.write_all(&self.hash.digest().to_le_bytes())?;
        self.out.flush()?;
        Ok(self.length + 8)
    }
}

/// A file of edges, to be read from beginning to end.
#[derive(Debug)]
pub struct EdgeFile {
    path: PathBuf,
    input: BufReader<File>,
    /// Bytes of all edges.
    length: u64,
    nodes: Nodes,
    criterion: NearCriterion,
    is_forest: bool,
    compared: Option<Vec<(usize, usize)>>,
}

impl EdgeFile {
    /// Opens a file. Errors if it cannot be read, or is no file of edges.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let file = File::open(path).map_err(Error::io(path))?;
        let length = file.metadata().map_err(Error::io(path))?.len();
        let mut input = BufReader::with_capacity(1 << 20, file);
        let mut line = Vec::new();
        (&mut input).take(1 << 24).read_until(b'\n', &mut line).map_err(Error::io(path))?;
        let damaged = |what: &str| Error::Damaged(format!("{}: {what}", path.display()));
        let head: Head = serde_json::from_slice(&line).map_err(|_| damaged("not a file of edges"))?;
        if head.format != FORMAT {
            return Err(damaged(&format!("its format is {:?}; this program reads {FORMAT:?}", head.format)));
        }
        let length = length.checked_sub(line.len() as u64 + 8).filter(|length| length.is_multiple_of(EDGE as u64));
        let length = length.ok_or_else(|| damaged("the file of edges is cut short"))?;
        let criterion = NearCriterion { distance: head.distance, look: head.look, pieces: head.pieces };
        let (nodes, is_forest, compared) = (head.nodes, head.forest, head.compared);
        Ok(Self { path: path.to_owned(), input, length, nodes, criterion, is_forest, compared })
    }

    /// The criterion by which the edges were found.
    pub fn criterion(&self) -> NearCriterion {
        self.criterion
    }

    /// The pairs of files whose documents were compared for these edges, as numbers of files in `here`. The forest of
    /// an older program does not tell them: all pairs of its files count as compared.
    pub fn compared(&self, here: &Nodes) -> Vec<(usize, usize)> {
        let places = here.places(&self.nodes);
        let count = places.len();
        let pairs = match &self.compared {
            Some(pairs) => pairs.clone(),
            None if self.is_forest || count > 2 => (0..count).flat_map(|i| (0..count).map(move |j| (i, j))).collect(),
            None => vec![(0, count.saturating_sub(1))],
        };
        let pair = |(i, j): (usize, usize)| {
            let (x, y) = ((*places.get(i)?)?, (*places.get(j)?)?);
            Some((x.min(y), x.max(y)))
        };
        pairs.into_iter().filter_map(pair).collect()
    }

    /// Number of edges.
    pub fn edges(&self) -> u64 {
        self.length / EDGE as u64
    }

    /// Calls `visit` with every edge, in the nodes of `here`. Errors if the file is damaged, or is about other
    /// signature files. Some edges may have been visited by then.
    pub fn read(mut self, here: &Nodes, visit: &mut dyn FnMut(Edge)) -> Result<(), Error> {
        let starts = here.map(&self.nodes).map_err(|error| error.about(&self.path))?;
        let node = |mut node: u64| {
            for (start, rows) in &starts {
                if node < *rows {
                    return Some(start + node);
                }
                node -= rows;
            }
            None
        };
        let damaged = || Error::Damaged(format!("{}: the file of edges is damaged", self.path.display()));
        let mut hash = Xxh3::new();
        let mut bytes = [0; EDGE];
        for _ in 0..self.length / EDGE as u64 {
            self.input.read_exact(&mut bytes).map_err(Error::io(&self.path))?;
            hash.update(&bytes);
            let (words, _) = bytes.as_chunks::<8>();
            let [a, b, third] = [words[0], words[1], words[2]].map(u64::from_le_bytes);
            let (Some(a), Some(b)) = (node(a), node(b)) else { return Err(damaged()) };
            let resemblance = f32::from_bits((third >> 32) as u32);
            visit(Edge { a, b, distance: third as u32 & 255, resemblance, same: third >> 8 & 1 == 1 });
        }
        let mut end = [0; 8];
        self.input.read_exact(&mut end).map_err(Error::io(&self.path))?;
        if u64::from_le_bytes(end) != hash.digest() {
            return Err(damaged());
        }
        Ok(())
    }
}
