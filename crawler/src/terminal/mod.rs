//! The terminal: messages on stderr, and the lines at its bottom that are drawn again in place.

pub(crate) mod say;
pub(crate) mod screen;
