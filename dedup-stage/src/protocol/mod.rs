//! The protocol of `dedup-stage run`, version 1: JSON Lines, pages in on one side, verdicts out on the other.
//!
//! Exactly one line comes out for each line in (blank lines are passed over), in the same order, and each is flushed
//! before the program has to wait for the next line: a caller may wait for every answer, or send in bulk. No line stops
//! the program: what cannot be understood is answered with an error line ([`Code`]) that bears the line's `id` where it
//! has one.
//!
//! [`Lines`] cuts the input, a [`Parser`] makes a [`Request`] of each line (on a worker thread), and [`serve`] joins both
//! around a [`crate::stage::Stage`] and spells the answers. For callers it is all in `PROTOCOL.md`.

mod answer;
mod lines;
mod request;
mod serve;

pub use answer::{Code, Failure};
pub use lines::{Line, Lines};
pub use request::{Operation, PageRequest, Parser, Request};
pub use serve::{Ended, Greeting, serve};

/// The version of the protocol.
pub const VERSION: u32 = 1;

/// Longest line in, in bytes, without its line end.
pub const MAX_LINE: usize = 64 << 20;

#[cfg(test)]
mod tests;
