//! The protocol of `dedup-stage run`, version 1: JSON Lines. Pages come in, verdicts go out.
//!
//! The program writes exactly one line for each line that it reads (blank lines are passed over), in the same order.
//! Each answer is flushed before the program has to wait for the next line. So a caller may wait for every answer, or
//! send many lines at once. No line stops the program. A line that cannot be understood is answered with an error
//! ([`Code`]), which has the `id` of the line if there is one.
//!
//! [`Lines`] cuts the input into lines. A [`Parser`] makes a [`Request`] of each line, on a worker thread. [`serve`]
//! passes the requests to a [`crate::stage::Stage`], and writes the answers. `PROTOCOL.md` describes the protocol for
//! callers.

mod answer;
mod lines;
mod request;
mod serve;

pub use answer::{Code, Failure};
pub use lines::{Line, Lines};
pub use request::{Operation, PageRequest, Parser, Request};
pub use serve::{Greeting, ServeEnd, serve};

/// The version of the protocol.
pub const VERSION: u32 = 1;

/// The longest line that is read, in bytes, without its line end.
pub const MAX_LINE: usize = 64 << 20;

#[cfg(test)]
mod tests;
