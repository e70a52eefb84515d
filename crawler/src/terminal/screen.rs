//! A few lines at the bottom of the terminal. They are drawn again in place, and removed without a trace.
//!
//! Libraries for this count the rows of the display by the width that the window had when they drew them. So they leave
//! remains if the window is made narrower. Here rows are counted by the width that the window has when they are
//! removed.
//!
//! A process has one stderr, so it has one screen. The progress display draws on it. Log lines and signals push it
//! aside.

use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use console::Term;

static SCREEN: Mutex<Block> = Mutex::new(Block { drawn: Vec::new() });

/// The lines on the screen. The cursor stands at the end of the last one.
#[derive(Debug)]
struct Block {
    drawn: Vec<Drawn>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Drawn {
    text: String,
    width: usize,
}

/// A line to draw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// The text with its escape sequences.
    pub text: String,
    /// Its width in columns, without escape sequences.
    pub width: usize,
}

impl Block {
    /// The bytes that remove the block. `columns` is the present width of the window.
    fn erase(&mut self, columns: usize) -> Vec<u8> {
        let rows: usize = self.drawn.iter().map(|line| line.width.div_ceil(columns.max(1)).max(1)).sum();
        self.drawn.clear();
        let mut out = Vec::new();
        if rows > 0 {
            out.push(b'\r');
            if rows > 1 {
                // Writing to a Vec never fails.
                let _ = write!(out, "\x1b[{}A", rows - 1);
            }
            out.extend(b"\x1b[J");
        }
        out
    }

    /// The bytes that replace the block by `lines`; no bytes if nothing has changed.
    fn replace(&mut self, lines: &[Line], columns: usize) -> Vec<u8> {
        let lines: Vec<_> = lines.iter().map(|line| Drawn { text: line.text.clone(), width: line.width }).collect();
        if lines == self.drawn {
            return Vec::new();
        }
        let mut out = self.erase(columns);
        for (at, line) in lines.iter().enumerate() {
            if at > 0 {
                out.push(b'\n');
            }
            out.extend(line.text.as_bytes());
        }
        self.drawn = lines;
        out
    }
}

fn lock() -> MutexGuard<'static, Block> {
    SCREEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The number of rows and columns of the window.
pub fn size() -> (usize, usize) {
    let (rows, columns) = Term::stderr().size();
    (rows.into(), columns.into())
}

/// Draws `lines` in place of the lines that were drawn before. No line may be wider than the window.
pub fn draw(lines: &[Line]) {
    let mut block = lock();
    let bytes = block.replace(lines, size().1);
    // If stderr is closed, there is no way to report it.
    let _ = io::stderr().lock().write_all(&bytes);
}

/// Removes everything from the screen.
pub fn clear() {
    let mut block = lock();
    let bytes = block.erase(size().1);
    let _ = io::stderr().lock().write_all(&bytes);
}

/// Writes lines to stderr above the block. The block is drawn again at the next tick.
#[derive(Clone, Copy, Debug)]
pub struct Above;

impl Write for Above {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut block = lock();
        let erase = block.erase(size().1);
        let mut stderr = io::stderr().lock();
        stderr.write_all(&erase)?;
        stderr.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Line {
        Line { text: text.into(), width: text.chars().count() }
    }

    #[test]
    fn what_has_not_changed_is_not_drawn_again() {
        let mut block = Block { drawn: Vec::new() };
        assert_eq!(block.replace(&[line("ab"), line("c")], 80), b"ab\nc");
        assert_eq!(block.replace(&[line("ab"), line("c")], 80), b"");
        assert_eq!(block.replace(&[line("x")], 80), b"\r\x1b[1A\x1b[Jx");
        assert_eq!(block.erase(80), b"\r\x1b[J");
        assert_eq!(block.erase(80), b"");
    }

    #[test]
    fn a_narrower_window_has_folded_the_lines() {
        let mut block = Block { drawn: Vec::new() };
        block.replace(&[line(&"x".repeat(79)), line(&"y".repeat(40))], 80);
        // 79 columns take two rows of 40, and 40 columns take one. That makes three rows, so the cursor moves up two.
        assert_eq!(block.erase(40), b"\r\x1b[2A\x1b[J");
    }
}
