//! The directory of a table. It tells where the entries of each bucket are.

/// Buckets that share a directory cell.
pub const GROUP: usize = 8;

/// A cell of the directory. It has the position at which the entries of [`GROUP`] buckets start. It also has one byte
/// for each bucket: the distance from this start to the end of the bucket. If the group has more than 255 entries, a
/// byte is too small: then the top bit of the start is set, and the number of a list of ends takes the place of the
/// bytes.
pub type Cell = [u64; 2];

/// This bit marks a cell whose ends are in a list.
pub const LARGE: u64 = 1 << 63;
