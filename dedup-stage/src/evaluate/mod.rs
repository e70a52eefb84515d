//! The evaluation harness: every signature scheme on the same labelled pairs, in one pass over them.

mod chart;
pub mod edits;
mod folds;
mod matrix;
mod measure;
mod pairs;
pub mod polynomial;
pub mod schemes;
mod svg;
mod table;
mod tally;
#[cfg(test)]
mod tests;

pub use folds::HeldOut;
pub use matrix::matrix;
pub use measure::{Effort, Evaluation, Interval, Measure, evaluate};
pub use pairs::{Pair, PairError, Pairs, read_pairs};
pub use svg::plot;
pub use table::table;
pub use tally::Tally;
