//! The evaluation harness: every signature scheme on the same labelled pairs, in one pass over them.

pub mod edits;
mod measure;
mod pairs;
mod svg;

pub use measure::{Interval, Measure, Report, Tally, evaluate};
pub use pairs::{Pair, PairError, read_pairs};
pub use svg::plot;
