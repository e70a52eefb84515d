//! The life of a URL: one record, one table of transitions, and the only code that writes either.

mod counters;
mod life;

pub use counters::Counters;
pub use life::{Cause, End, Kept, State, Visit};
