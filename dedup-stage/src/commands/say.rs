//! Writes messages for people to stderr. If stderr is closed or full, `eprintln!` would end the program. `say!` does not.

use std::fmt::Arguments;
use std::io::{self, Write};

/// Writes a line. If this fails, there is no way to report it.
pub fn line(text: Arguments<'_>) {
    let _ = io::stderr().write_all(format!("{text}\n").as_bytes());
}

/// Like `eprintln!`, but never fails.
macro_rules! say {
    ($($words:tt)*) => { $crate::commands::say::line(format_args!($($words)*)) };
}
pub(crate) use say;
