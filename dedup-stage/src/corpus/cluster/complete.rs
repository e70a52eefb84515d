//! Groups without chains: each member of a group is near all other members.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Documents, Forest};
use crate::corpus::join::{NearCriterion, Signature};

/// Splits connected components into groups in which every two documents are near. In the order of the input, each
/// document joins the earliest group of its component all of whose members are near it. Documents with the same
/// signature count as one.
///
/// Members are compared with each other, so no list of pairs is needed. `done` gets the share of the work that was
/// done since its last call.
///
/// # Complexity
///
/// For each component, at most the square of its different signatures. About 250 bytes of memory for each document
/// of the largest component, and 48 for each document that is near another one.
pub fn complete(
    documents: Documents<'_>,
    components: &mut Forest,
    criterion: NearCriterion,
    threads: usize,
    done: &dyn Fn(f64),
) -> Forest {
    let mut nodes: Vec<(u64, u64)> = components.edges().collect();
    // The edges of a forest lead to all members but the roots.
    let mut roots: Vec<u64> = nodes.iter().map(|(root, _)| *root).collect();
    roots.sort_unstable();
    roots.dedup();
    nodes.extend(roots.into_iter().map(|root| (root, root)));
    nodes.sort_by_cached_key(|(root, node)| (*root, documents.position(*node)));
    let mut groups = Forest::new(components.len());
    for component in nodes.chunk_by(|one, other| one.0 == other.0) {
        let mut split = Split { criterion, threads, first: component[0].1, groups: Vec::new(), copies: HashMap::new() };
        for block in component.chunks(BLOCK) {
            let signed: Vec<Signed> =
                block.iter().map(|(_, node)| (*node, documents.signature(*node, criterion))).collect();
            split.add(&signed, &mut groups);
            done(block.len() as f64 / nodes.len() as f64);
        }
    }
    groups
}

/// Documents whose groups are looked for at the same time.
const BLOCK: usize = 256;
/// If a component has fewer members, they are compared by one thread: it would take longer to start others.
const FEW: usize = 2_000;

/// A document, and what is compared of it.
type Signed = (u64, Option<Signature>);

/// The groups of one component.
struct Split {
    criterion: NearCriterion,
    threads: usize,
    /// The first document of the component.
    first: u64,
    groups: Vec<Group>,
    /// The group of each signature.
    copies: HashMap<Signature, usize>,
}

/// A group: its first document, and the different signatures of its members.
struct Group {
    first: u64,
    members: Vec<Signature>,
}

/// How far the groups were compared with a document: it fits into none of the groups before `group`, and the first
/// `members` members of this group are near it.
#[derive(Clone, Copy, Default)]
struct Compared {
    group: usize,
    members: usize,
}

impl Split {
    /// Adds documents to the groups, in order. Those of one component that have no signature have the same bytes.
    fn add(&mut self, block: &[Signed], forest: &mut Forest) {
        for ((node, signature), compared) in block.iter().zip(self.compare(block)) {
            let Some(signature) = signature else {
                forest.join(self.first, *node);
                continue;
            };
            let group = match self.copies.get(signature) {
                Some(group) => *group,
                None => self.place(*node, signature, compared),
            };
            forest.join(self.groups[group].first, *node);
        }
    }

    /// Compares the documents with the groups as they are now, on all threads.
    fn compare(&self, block: &[Signed]) -> Vec<Compared> {
        let of = |signature: &Option<Signature>| match signature {
            Some(signature) if !self.copies.contains_key(signature) => self.first_fit(signature, Compared::default()),
            _ => Compared::default(),
        };
        if self.threads == 1 || self.copies.len() < FEW {
            return vec![Compared::default(); block.len()];
        }
        let next = AtomicUsize::new(0);
        let work = || {
            let mut found = Vec::new();
            while let at = next.fetch_add(1, Ordering::Relaxed)
                && let Some((_, signature)) = block.get(at)
            {
                found.push((at, of(signature)));
            }
            found
        };
        let mut all = vec![Compared::default(); block.len()];
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..self.threads).map(|_| scope.spawn(work)).collect();
            for thread in threads {
                thread.join().expect("no thread panicked").into_iter().for_each(|(at, compared)| all[at] = compared);
            }
        });
        all
    }

    /// The first group all of whose members are near. If there is none, it is the one after the last.
    fn first_fit(&self, signature: &Signature, compared: Compared) -> Compared {
        let is_near = |member: &Signature| self.criterion.is_near(signature, member);
        for (at, group) in self.groups.iter().enumerate().skip(compared.group) {
            let known = if at == compared.group { compared.members } else { 0 };
            if group.members[known..].iter().all(is_near) {
                return Compared { group: at, members: group.members.len() };
            }
        }
        Compared { group: self.groups.len(), members: 0 }
    }

    /// Puts a document with a new signature into its group, which is returned.
    fn place(&mut self, node: u64, signature: &Signature, compared: Compared) -> usize {
        let group = self.first_fit(signature, compared).group;
        if group == self.groups.len() {
            self.groups.push(Group { first: node, members: Vec::new() });
        }
        self.groups[group].members.push(*signature);
        self.copies.insert(*signature, group);
        group
    }
}
