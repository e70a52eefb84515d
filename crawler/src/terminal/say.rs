//! Writes messages for people to stderr. If stderr is closed or full, `eprintln!` would end the program. These
//! functions do not.

use std::fmt::Arguments;
use std::io::Write;

use super::screen;

/// Writes a line above the progress display. If this fails, there is no way to report it.
pub fn line(text: Arguments<'_>) {
    let _ = screen::Above.write_all(format!("{text}\n").as_bytes());
}

/// Like `eprintln!`, but never fails.
macro_rules! say {
    ($($words:tt)*) => { $crate::terminal::say::line(format_args!($($words)*)) };
}
pub(crate) use say;
