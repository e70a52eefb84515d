//! Text and links of PDF files.
//!
//! PDF is a format in which a file of a kilobyte can unpack to gigabytes, refer to itself without end, or nest deeper than
//! any stack. No library is proof against all of that, and a thread cannot be stopped, nor its memory be bounded: an
//! overflow of its stack or a failed allocation ends the whole process. So each file is read by a child process, which is
//! this program again with [`ARGUMENT`]; before it reads a byte it gives itself limits of memory, processor time and open
//! files, and its parent ends it at a deadline. A hostile file costs its own text and a slot for that long. A child costs
//! some milliseconds, less than reading most files does.
//!
//! `main` calls [`child_main`] before anything else and ends with what that returns, if anything. A page worker calls [`read`]
//! with the body of a PDF; text and title are judged like those of any page, links are followed. `read` takes a [`Program`] so
//! that tests can name another.

mod child;
mod parent;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use child::child_main;
pub use parent::{Program, read};

/// The argument that makes this program a child.
pub const ARGUMENT: &str = "--pdf-child";

/// What a file says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// Its title, where it has one.
    pub title: String,
    /// Its text; paragraphs are parted by empty lines.
    pub text: String,
    /// Addresses that its pages link to, each once, as written.
    pub links: Vec<String>,
    /// Number of its pages.
    pub pages: usize,
    /// Pages that could not be read, or were not since there was enough.
    pub pages_cut: usize,
}

/// What one file may cost.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Address space of the child, in bytes.
    pub memory: u64,
    /// Processor time of the child, in whole seconds.
    pub seconds: u64,
    /// Time until the child is ended.
    pub deadline: Duration,
    /// Bytes of text that are kept.
    pub text: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { memory: 512 << 20, seconds: 10, deadline: Duration::from_secs(20), text: 4 << 20 }
    }
}

/// Links of a file that are kept.
const MAX_LINKS: usize = 10_000;
/// Longest link that is kept, in bytes.
const MAX_LINK: usize = 4_096;

/// Why a file has no text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PdfError {
    /// The library could not read it.
    #[error("not a readable PDF: {0}")]
    Unreadable(String),
    /// The child was ended, at the deadline or by one of its limits, or it crashed.
    #[error("reading the PDF took too much time or memory")]
    TooMuch,
    /// There was no child.
    #[error("no process to read the PDF: {0}")]
    NoChild(String),
}

/// What the child writes: one line of JSON, its last.
#[derive(Debug, Serialize, Deserialize)]
enum Reply {
    Read(Document),
    Unreadable(String),
}
