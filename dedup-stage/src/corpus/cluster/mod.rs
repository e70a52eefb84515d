//! Groups of near-duplicates, and which document of each is kept.

mod complete;
mod forest;
mod joined;
mod keep;

use super::join::{NearCriterion, Signature};
use super::{Error, Signatures};
use crate::signature::Sketch;

pub use complete::complete;
pub use forest::Forest;
pub use joined::JoinedForest;
pub use keep::Keep;

/// The documents of several signature files, numbered through over all files. The numbers are the nodes of a
/// [`Forest`].
#[derive(Clone, Copy, Debug)]
pub struct Documents<'a> {
    files: &'a [Signatures],
}

/// The result for one document.
#[derive(Clone, Debug, PartialEq)]
pub struct Member<'a> {
    /// The document's id, as JSON.
    pub id: &'a str,
    /// The number of the document's group, from 0, in the order in which the listing meets the groups.
    pub cluster: u64,
    /// The id of the document of the group that is kept (the representative), as JSON.
    pub representative: &'a str,
    /// Whether this document is the representative.
    pub keep: bool,
    /// The Hamming distance to the representative; `None` if one of the two has no fingerprint.
    pub distance: Option<u32>,
    /// The estimated resemblance to the representative, 0 to 1.
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
    /// The documents of these files. Those of an earlier file have lower numbers.
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

    /// The number of the file that has a node, this file, and the row of the node in it.
    fn at(&self, mut node: u64) -> (usize, &'a Signatures, u64) {
        for (i, file) in self.files.iter().enumerate() {
            if node < file.rows() {
                return (i, file, node);
            }
            node -= file.rows();
        }
        panic!("node {node} is beyond the last document")
    }

    /// The position of a node in the input: the number of its file, then its place.
    pub fn position(&self, node: u64) -> (usize, u64) {
        let (i, file, row) = self.at(node);
        (i, file.places()[row as usize])
    }

    /// What the document has that a criterion compares; `None` if it has no fingerprint.
    fn signature(&self, node: u64, criterion: NearCriterion) -> Option<Signature> {
        let (_, file, row) = self.at(node);
        let fingerprint = *file.fingerprints().get(row as usize)?;
        let sketch = if criterion.look { file.stored_sketch(row) } else { [0; Sketch::BYTES] };
        Some(Signature { fingerprint, sketch })
    }

    fn id(&self, node: u64) -> Result<&'a str, Error> {
        let (_, file, row) = self.at(node);
        file.id(row)
    }

    /// Hamming distance and resemblance of two documents. Documents of one group without fingerprints have the same
    /// bytes.
    fn compare(&self, a: u64, b: u64) -> (Option<u32>, f32) {
        let ((_, one, x), (_, other, y)) = (self.at(a), self.at(b));
        match (one.fingerprints().get(x as usize), other.fingerprints().get(y as usize)) {
            (Some(_), Some(_)) if a == b => (Some(0), 1.0),
            (Some(f), Some(g)) => {
                let look = Sketch::compare(&one.sketch(x), &other.sketch(y));
                (Some((f ^ g).count_ones()), look.resemblance)
            }
            _ => (None, 1.0),
        }
    }

    /// Chooses a representative for each group, and calls `visit` with the result for each document of `list`, in the
    /// order of the input.
    ///
    /// # Complexity
    ///
    /// 16 bytes of memory for each document, 16 bytes for each listed document of one file, and a sort of these.
    pub fn members(
        &self,
        groups: &mut Forest,
        keep: Keep,
        list: List,
        visit: &mut dyn FnMut(Member<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let best = self.representatives(groups, keep)?;
        // For the root of each group: the number that the group got when its first member was listed.
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

    /// For the root of each group, the member that is kept. `NONE` for nodes that are no root, and for groups of one.
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

    /// The preferred one of two members.
    fn better(&self, keep: Keep, a: u64, b: u64) -> Result<u64, Error> {
        let ((_, one, x), (_, other, y)) = (self.at(a), self.at(b));
        let order = keep.order((one, x), (other, y))?;
        Ok(if order.then_with(|| self.position(a).cmp(&self.position(b))).is_le() { a } else { b })
    }
}

const NONE: u64 = u64::MAX;
