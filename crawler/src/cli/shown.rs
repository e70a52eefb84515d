//! Text from the web on a terminal. Characters that would steer the terminal, or change the direction of other text,
//! are shown as their code points.

use std::fmt::{self, Display, Formatter, Write};

use crate::report::html::is_hidden;

/// A text from the web.
#[derive(Clone, Copy, Debug)]
pub struct Printable<'a>(pub &'a str);

impl Display for Printable<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| match is_hidden(c) {
            true => write!(f, "<U+{:04X}>", u32::from(c)),
            false => f.write_char(c),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_steers_the_terminal() {
        let hostile = "a\u{1b}]0;owned\u{7}\r\n\u{9b}2J\u{202e}z é";
        assert_eq!(Printable(hostile).to_string(), "a<U+001B>]0;owned<U+0007><U+000D><U+000A><U+009B>2J<U+202E>z é");
    }
}
