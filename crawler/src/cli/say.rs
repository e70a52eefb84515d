//! Words for people, on stderr. A stderr that is closed or full is no reason to end a crawl, as `eprintln!` would.

use std::fmt::Arguments;
use std::io::Write;

use super::screen;

/// Writes a line above what the progress display has drawn. Nobody can be told where this fails.
pub fn line(text: Arguments<'_>) {
    let _ = screen::Above.write_all(format!("{text}\n").as_bytes());
}

/// As `eprintln!`, but it never fails.
macro_rules! say {
    ($($words:tt)*) => { $crate::cli::say::line(format_args!($($words)*)) };
}
pub(crate) use say;
