//! Parts that `pairs`, `search` and `cluster` share for signature files: opening them, the second look, tables of
//! edges.

use std::collections::HashSet;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::progress::Progress;
use super::rows::{self, WrongUsage};
use super::say::say;
use super::table::{Cell, Column, Kind, Table, TableFormat};
use crate::corpus::Signatures;
use crate::corpus::join::{self, Collected, Edge, Effort, NearCriterion};

/// The flags that say how near-duplicates are found.
#[derive(Clone, Debug, clap::Args)]
pub struct Looking {
    /// Hamming distance of candidates [default for signature files: that of the crawl; and documents with near sketches
    /// are candidates, too]
    #[arg(long, short, value_name = "K", value_parser = clap::value_parser!(u32).range(..=64))]
    pub distance: Option<u32>,
    /// Compare the sketches of candidates, as the crawl does: the default for signature files
    #[arg(long, conflicts_with = "fingerprints_only")]
    look: bool,
    /// Compare only fingerprints: documents within the distance are near-duplicates
    #[arg(long)]
    fingerprints_only: bool,
    /// Threads [default: one for each core]
    #[arg(long, value_name = "N", value_parser = rows::threads)]
    pub threads: Option<usize>,
}

impl Looking {
    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.threads.unwrap_or_else(rows::cores).max(1)
    }

    /// The criterion for signature files.
    pub fn criterion(&self) -> NearCriterion {
        NearCriterion::new(self.distance, !self.fingerprints_only)
    }

    /// The threads and the memory that a join uses.
    pub fn effort(&self) -> Effort {
        Effort { threads: self.threads(), block: Effort::BLOCK }
    }

    /// The distance for files of raw fingerprints, which have no sketches. An error says what is wrong with the command
    /// line.
    pub fn of_raw(&self) -> Result<u32, &'static str> {
        if self.look {
            return Err(
                "--look needs signature files (see `dedup-stage signatures`): raw fingerprints have no sketches",
            );
        }
        self.distance.ok_or("say --distance K")
    }
}

/// Opens signature files, and reads each once to see that it is undamaged. Of all their sketches together, at most
/// `MAPPED` bytes stay in memory.
pub fn open<P: AsRef<Path>>(paths: &[P]) -> anyhow::Result<Vec<Signatures>> {
    const MAPPED: u64 = 2 << 30;
    let open = |path: &P| {
        let signatures = Signatures::open(path.as_ref())?;
        signatures.check().map_err(|error| error.about(path.as_ref()))?;
        anyhow::Ok(signatures.map_sketches(MAPPED / paths.len() as u64))
    };
    paths.iter().map(open).collect()
}

/// Whether these files are signature files. Errors if some are and others are not, or if one is stdin.
pub fn are_signatures(paths: &[&PathBuf]) -> anyhow::Result<bool> {
    let mut kinds = Vec::new();
    for path in paths {
        if path.as_os_str() == "-" && !path.exists() {
            return Err(WrongUsage("signatures and fingerprints are not read from stdin; name a file".into()).into());
        }
        kinds.push(Signatures::is_signatures(path)?);
    }
    if kinds.iter().any(|kind| *kind != kinds[0]) {
        return Err(WrongUsage("signature files and other files cannot be compared".into()).into());
    }
    Ok(kinds.first() == Some(&true))
}

/// Refuses a file that holds text or is packed: most likely, these are documents that were not signed. Raw fingerprints
/// are random bytes.
pub fn refuse_documents(path: &Path) -> anyhow::Result<()> {
    let mut head = Vec::new();
    File::open(path)?.take(256).read_to_end(&mut head)?;
    // The last character may be cut.
    let is_utf8 = std::str::from_utf8(&head).map_or_else(|error| error.error_len().is_none(), |_| true);
    let is_text = head.len() >= 32 && is_utf8 && !head.iter().any(|byte| *byte < b'\t' || *byte == 0x7F);
    let is_packed = [&[0x1f, 0x8b, 8][..], &[0x28, 0xb5, 0x2f, 0xfd]].iter().any(|magic| head.starts_with(magic));
    if is_text || is_packed {
        let path = path.display();
        let what = format!(
            "{path} holds neither signatures nor fingerprints; `dedup-stage signatures {path} -o FILE` signs documents"
        );
        return Err(WrongUsage(what).into());
    }
    Ok(())
}

/// The first of these files that was named before.
pub fn repeated<P: AsRef<Path>>(paths: &[P]) -> Option<&Path> {
    let mut seen = HashSet::new();
    let is_repeated = |path: &&Path| path.canonicalize().is_ok_and(|path| !seen.insert(path));
    paths.iter().map(AsRef::as_ref).find(is_repeated)
}

/// The kind of an id column: it has integers if the ids of all files are integers.
pub fn id_kind<'a>(files: impl IntoIterator<Item = &'a Signatures>) -> Kind {
    Kind::Id { integers: files.into_iter().all(|file| file.shape().text_ids == 0) }
}

/// Says on stderr that pairs were not compared, if that is so.
pub fn say_uncompared(pairs: u64) {
    if pairs > 0 {
        let pairs = rows::count(pairs, "pair");
        say!(
            "not compared: up to {pairs}, because more than 64 documents share a fingerprint or a part of their sketches; \
             copies among them were found, some near-duplicates may be missing"
        );
    }
}

/// Finds all edges and writes them as a table, sorted by the places of the documents in the input. Returns their
/// number.
pub fn write_edges(
    a: &Signatures,
    b: Option<&Signatures>,
    names: [&'static str; 2],
    looking: &Looking,
    (format, output): (Option<TableFormat>, Option<&Path>),
) -> anyhow::Result<u64> {
    let columns: Vec<Column> = vec![
        (names[0], id_kind([a])),
        (names[1], id_kind([b.unwrap_or(a)])),
        ("distance", Kind::Distance),
        ("resemblance", Kind::Share),
    ];
    let mut table = Table::create(columns, Table::format(format, output)?, output)?;
    let mut edges = {
        let progress = Progress::new("pairs", a.rows() as usize, "documents");
        let found = Collected::default();
        join::join(a, b, looking.criterion(), looking.effort(), &found, &|share| progress.add(share));
        drop(progress);
        let (edges, uncompared) = found.into_edges();
        say_uncompared(uncompared);
        if b.is_some() { join::with_copies(a, looking.criterion(), edges) } else { edges }
    };
    let other = b.unwrap_or(a);
    let place = |edge: &Edge| (a.places()[edge.a as usize], other.places()[edge.b as usize]);
    if b.is_none() {
        // The earlier of the two comes first.
        for edge in &mut edges {
            let (x, y) = place(edge);
            if y < x {
                (edge.a, edge.b) = (edge.b, edge.a);
            }
        }
    }
    edges.sort_unstable_by_key(place);
    for edge in &edges {
        table.row(&[
            Cell::Id(a.id(edge.a)?),
            Cell::Id(other.id(edge.b)?),
            Cell::Distance(Some(edge.distance)),
            Cell::Share(edge.resemblance),
        ])?;
    }
    table.finish()?;
    Ok(edges.len() as u64)
}
