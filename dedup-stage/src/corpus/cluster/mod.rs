//! Groups of near-duplicates, and which document of each is kept.

mod complete;
mod forest;
mod keep;

use super::{Error, Signatures};
use crate::signature::Sketch;

pub use complete::complete;
pub use forest::Forest;
pub use keep::Keep;

/// Documents of several signature files, numbered through: nodes.
#[derive(Clone, Copy, Debug)]
pub struct Documents<'a> {
    files: &'a [Signatures],
}

/// What became of a document.
#[derive(Clone, Debug, PartialEq)]
pub struct Member<'a> {
    /// The document's id, as JSON.
    pub id: &'a str,
    /// Number of its group, from 0, in the order of their first members.
    pub cluster: u64,
    /// The id of the one that is kept, as JSON.
    pub representative: &'a str,
    /// Whether this is the one.
    pub keep: bool,
    /// Hamming distance to the representative; `None` where there is no fingerprint.
    pub distance: Option<u32>,
    /// Estimated resemblance to the representative.
    pub resemblance: f32,
}

/// Which documents are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum List {
    /// Members of groups of two or more
    Clusters,
    /// Every document to keep: representatives, and those in no group
    Kept,
    /// Every document to drop: members that are not representatives
    Dropped,
    /// Every document
    All,
}

impl<'a> Documents<'a> {
    /// The documents of these files; those of an earlier file come earlier.
    pub fn new(files: &'a [Signatures]) -> Self {
        Self { files }
    }

    /// Number of documents.
    pub fn len(&self) -> u64 {
        self.files.iter().map(Signatures::rows).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The file of a node, its number among the files, and the row in it.
    fn at(&self, mut node: u64) -> (usize, &'a Signatures, u64) {
        for (i, file) in self.files.iter().enumerate() {
            if node < file.rows() {
                return (i, file, node);
            }
            node -= file.rows();
        }
        panic!("node {node} is beyond the last document")
    }

    /// Where a node stands in the input: by file, then by place.
    pub fn position(&self, node: u64) -> (usize, u64) {
        let (i, file, row) = self.at(node);
        (i, file.places()[row as usize])
    }

    fn id(&self, node: u64) -> Result<&'a str, Error> {
        let (_, file, row) = self.at(node);
        file.id(row)
    }

    /// Distance and resemblance of two documents.
    fn compare(&self, a: u64, b: u64) -> (Option<u32>, f32) {
        let ((_, one, x), (_, other, y)) = (self.at(a), self.at(b));
        match (one.fingerprints().get(x as usize), other.fingerprints().get(y as usize)) {
            _ if a == b => (Some(0), 1.0),
            (Some(f), Some(g)) => {
                let look = Sketch::compare(&one.sketch(x), &other.sketch(y));
                (Some((f ^ g).count_ones()), look.resemblance)
            }
            _ => (None, 1.0),
        }
    }

    /// Chooses a representative for each group, and tells what became of the documents, in the order of the input.
    ///
    /// # Complexity
    ///
    /// 16 bytes of memory for each document, 16 for each that is listed of a file, and a sort of these.
    pub fn members(
        &self,
        groups: &mut Forest,
        keep: Keep,
        list: List,
        visit: &mut dyn FnMut(Member<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let best = self.representatives(groups, keep)?;
        // Of each group's root: the number that it was given when its first member was listed.
        let mut numbers: Vec<u64> = vec![NONE; best.len()];
        let (mut next, mut first) = (0, 0);
        for file in self.files {
            let mut listed: Vec<(u64, u64)> = Vec::new();
            for (node, &place) in (first..).zip(file.places()) {
                let representative = best[groups.root(node) as usize];
                let wanted = match list {
                    List::Clusters => representative != NONE,
                    List::Kept => representative == NONE || representative == node,
                    List::Dropped => representative != NONE && representative != node,
                    List::All => true,
                };
                if wanted {
                    listed.push((place, node));
                }
            }
            listed.sort_unstable();
            for (_, node) in listed {
                let root = groups.root(node) as usize;
                if numbers[root] == NONE {
                    numbers[root] = next;
                    next += 1;
                }
                let representative = if best[root] == NONE { node } else { best[root] };
                let (distance, resemblance) = self.compare(node, representative);
                visit(Member {
                    id: self.id(node)?,
                    cluster: numbers[root],
                    representative: self.id(representative)?,
                    keep: node == representative,
                    distance,
                    resemblance,
                })?;
            }
            first += file.rows();
        }
        Ok(())
    }

    /// Of each group's root the member that is kept; `NONE` for nodes that are no root, or a group of one.
    fn representatives(&self, groups: &mut Forest, keep: Keep) -> Result<Vec<u64>, Error> {
        let mut best: Vec<u64> = vec![NONE; self.len() as usize];
        for node in 0..self.len() {
            let root = groups.root(node);
            if root != node {
                let held = &mut best[root as usize];
                *held = self.better(keep, if *held == NONE { root } else { *held }, node)?;
            }
        }
        Ok(best)
    }

    /// The one of two members that is rather kept.
    fn better(&self, keep: Keep, a: u64, b: u64) -> Result<u64, Error> {
        let ((_, one, x), (_, other, y)) = (self.at(a), self.at(b));
        let order = keep.order((one, x), (other, y))?;
        Ok(if order.then_with(|| self.position(a).cmp(&self.position(b))).is_le() { a } else { b })
    }
}

const NONE: u64 = u64::MAX;
