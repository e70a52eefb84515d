//! A few lines at the bottom of the terminal, drawn again in place and taken away without a trace.
//!
//! A library would do, but for one thing: those at hand count the rows they drew by the width the window had then, so that
//! a window made narrower keeps remains. Here rows are counted by the width the window has when they are taken away.
//!
//! There is one screen to a process, as there is one stderr: the progress draws on it, log lines and signals push it aside.

use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use console::Term;

static SCREEN: Mutex<Block> = Mutex::new(Block { drawn: Vec::new() });

/// Lines on the screen now; the cursor stands at the end of the last.
#[derive(Debug)]
struct Block {
    drawn: Vec<Drawn>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Drawn {
    text: String,
    width: usize,
}

/// A line to draw: with its escape sequences, and its width without them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// With escape sequences.
    pub text: String,
    /// Columns.
    pub width: usize,
}

impl Block {
    /// Bytes that take the block away; `columns` is the width of the window now.
    fn erase(&mut self, columns: usize) -> Vec<u8> {
        let rows: usize = self.drawn.iter().map(|line| line.width.div_ceil(columns.max(1)).max(1)).sum();
        self.drawn.clear();
        let mut out = Vec::new();
        if rows > 0 {
            out.push(b'\r');
            if rows > 1 {
                // Writing to a Vec cannot fail.
                let _ = write!(out, "\x1b[{}A", rows - 1);
            }
            out.extend(b"\x1b[J");
        }
        out
    }

    /// Bytes that put `lines` in place of the block; none where nothing has changed.
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

/// Rows and columns of the window.
pub fn size() -> (usize, usize) {
    let (rows, columns) = Term::stderr().size();
    (rows.into(), columns.into())
}

/// Draws `lines`, none wider than the window, in place of what was drawn before.
pub fn draw(lines: &[Line]) {
    let mut block = lock();
    let bytes = block.replace(lines, size().1);
    // Nobody can be told that stderr is gone.
    let _ = io::stderr().lock().write_all(&bytes);
}

/// Leaves nothing on the screen.
pub fn clear() {
    let mut block = lock();
    let bytes = block.erase(size().1);
    let _ = io::stderr().lock().write_all(&bytes);
}

/// Writes lines to stderr above the block, which is drawn again with the next tick.
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
        // 79 columns fold into two rows of 40, 40 columns into one: three rows, two up.
        assert_eq!(block.erase(40), b"\r\x1b[2A\x1b[J");
    }
}
