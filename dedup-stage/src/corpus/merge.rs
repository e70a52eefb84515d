//! Merges many sorted signature files into one.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::Error;
use super::file::Signatures;
use super::format::SPLIT_SHIFT;
use super::record::Row;
use super::writer::{Output, Shape, SignatureWriter};
use crate::signature::RECIPE;

/// Writes the rows of all inputs to `out`, in the order of a signature file. Returns `out` and the length written. Each
/// input has the number of its group. The inputs of one group are parts of the same sequence of splits. The documents
/// of an earlier group come earlier in the input. `done` gets the number of rows that were written since its last call.
pub fn merge<O: Output>(inputs: &[(usize, Signatures)], out: O, done: &dyn Fn(u64)) -> Result<(O, u64), Error> {
    /// Number of rows between two calls of `done`.
    const SAID: u64 = 1 << 14;
    let groups = inputs.iter().map(|(group, _)| group + 1).max().unwrap_or(0);
    let mut splits = vec![0; groups];
    for (group, input) in inputs {
        splits[*group] = splits[*group].max(input.shape().splits);
    }
    let mut first_split = vec![0; groups];
    for group in 1..groups {
        first_split[group] = first_split[group - 1] + splits[group - 1];
    }
    let mut shape = inputs.iter().fold(Shape::default(), |shape, (_, input)| shape.plus(input.shape()));
    shape.splits = splits.iter().sum();
    let mut writer = SignatureWriter::new(out, RECIPE, shape);
    let mut heads = BinaryHeap::new();
    let head = |input: usize, at: u64| -> Result<Option<Head<'_>>, Error> {
        let (group, signatures) = &inputs[input];
        if at == signatures.rows() {
            return Ok(None);
        }
        let mut row = signatures.row(at)?;
        row.place += first_split[*group] << SPLIT_SHIFT;
        Ok(Some(Head { row, input, at }))
    };
    for (i, (_, input)) in inputs.iter().enumerate() {
        input.advise_sequential();
        heads.extend(head(i, 0)?);
    }
    let mut said = 0;
    while let Some(Head { row, input, at }) = heads.pop() {
        writer.push(&row)?;
        heads.extend(head(input, at + 1)?);
        said += 1;
        if said == SAID {
            done(said);
            said = 0;
        }
    }
    done(said);
    writer.finish()
}

/// The next row of an input.
struct Head<'a> {
    row: Row<'a>,
    input: usize,
    at: u64,
}

impl Ord for Head<'_> {
    /// The greatest is the one to be written next.
    fn cmp(&self, other: &Self) -> Ordering {
        other.row.order(&self.row).then(other.input.cmp(&self.input))
    }
}

impl PartialOrd for Head<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Head<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Head<'_> {}
