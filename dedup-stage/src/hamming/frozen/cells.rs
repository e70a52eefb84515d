//! The directory of a table: where the entries of each bucket are.

/// Buckets that share a directory cell.
pub const GROUP: usize = 8;

/// A directory cell: where the entries of [`GROUP`] buckets start, and how far after that each bucket ends, a byte each. If the
/// group has more than 255 entries, the top bit of the start is set, and instead of the bytes there is the number of a list of ends.
pub type Cell = [u64; 2];

/// Marks a cell whose ends are in a list.
pub const LARGE: u64 = 1 << 63;
