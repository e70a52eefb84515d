//! Merges many sorted signature files into one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Error;
use super::file::Signatures;
use super::format::{DIGEST, SPLIT_SHIFT};
use super::record::Row;
use super::writer::{FileShape, Output, SignatureWriter};
use crate::signature::RECIPE;

/// Writes the rows of all inputs to `out`, in the order of a signature file. Returns `out` and the length written. Each
/// input has the number of its group. The inputs of one group are parts of the same sequence of splits. The documents
/// of an earlier group come earlier in the input. `done` gets the number of rows that were written since its last call.
///
/// # Complexity
///
/// Of the inputs, about 512 MiB are in memory at a time, or 1 MiB of each if there are more than 512.
pub fn merge<O: Output>(inputs: &mut [(usize, Signatures)], out: O, done: &dyn Fn(u64)) -> Result<(O, u64), Error> {
    const HELD: u64 = 512 << 20;
    const HELD_EACH: u64 = 1 << 20;
    let held = HELD.max(HELD_EACH * inputs.len() as u64);
    merge_within(inputs, held, out, done)
}

/// Does the work of [`merge`]. When about `held` bytes of the inputs were read, their memory is released.
pub(super) fn merge_within<O: Output>(
    inputs: &mut [(usize, Signatures)],
    held: u64,
    out: O,
    done: &dyn Fn(u64),
) -> Result<(O, u64), Error> {
    /// Number of rows between two calls of `done`.
    const SAID: u64 = 1 << 14;
    let groups = inputs.iter().map(|(group, _)| group + 1).max().unwrap_or(0);
    let mut splits = vec![0; groups];
    for (group, input) in inputs.iter() {
        splits[*group] = splits[*group].max(input.shape().splits);
    }
    let mut first_split = vec![0; groups];
    for group in 1..groups {
        first_split[group] = first_split[group - 1] + splits[group - 1];
    }
    let mut shape = inputs.iter().fold(FileShape::default(), |shape, (_, input)| shape.plus(input.shape()));
    shape.splits = splits.iter().sum();
    let held = held / (shape.bytes() / shape.rows.max(1)).max(1);
    let mut writer = SignatureWriter::new(out, RECIPE, shape);
    let mut heads = BinaryHeap::new();
    for (i, input) in inputs.iter().enumerate() {
        input.1.advise_sequential();
        if input.1.rows() > 0 {
            heads.push(Reverse((Key::of(&row(input, 0, &first_split)?), i, 0)));
        }
    }
    let (mut said, mut read) = (0, 0);
    while let Some(Reverse((_, i, at))) = heads.pop() {
        let input = &inputs[i];
        writer.push(&row(input, at, &first_split)?)?;
        if at + 1 < input.1.rows() {
            heads.push(Reverse((Key::of(&row(input, at + 1, &first_split)?), i, at + 1)));
        }
        said += 1;
        if said == SAID {
            done(said);
            said = 0;
        }
        read += 1;
        if read >= held {
            read = 0;
            for (_, input) in inputs.iter_mut() {
                input.release();
                input.advise_sequential();
            }
        }
    }
    done(said);
    writer.finish()
}

/// A row of an input, with its place in the whole.
fn row<'a>((group, input): &'a (usize, Signatures), at: u64, first_split: &[u64]) -> Result<Row<'a>, Error> {
    let mut row = input.row(at)?;
    row.place += first_split[*group] << SPLIT_SHIFT;
    Ok(row)
}

/// What [`Row::order`] compares: whether there is no fingerprint, the fingerprint, otherwise the digest; the place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key(bool, u64, [u8; DIGEST], u64);

impl Key {
    fn of(row: &Row<'_>) -> Self {
        match row.signature {
            Some((fingerprint, _)) => Self(false, fingerprint, [0; DIGEST], row.place),
            None => Self(true, 0, *row.digest, row.place),
        }
    }
}
