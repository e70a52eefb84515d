//! Text and links of PDF files.
//!
//! In the PDF format, a file of a kilobyte can unpack to gigabytes, refer to itself without end, or nest deeper than
//! any stack. No library withstands all of that. A thread cannot be stopped, and its memory cannot be bounded: if its
//! stack overflows or an allocation fails, the whole process ends. So each file is read by a child process, which is
//! this program again with [`ARGUMENT`]. Before the child reads a byte, it limits its own memory, processor time and
//! open files. Its parent ends it at a deadline. So a hostile file costs only its own text, and a slot for that time. A
//! child costs some milliseconds, less than reading most files does.
//!
//! `main` calls [`child_main`] before anything else, and ends with the code that it returns, if any. A page worker
//! calls [`read`] with the body of a PDF. Text and title are judged like those of any page, and links are followed.
//! `read` takes a [`Program`] so that tests can name another one.

mod child;
mod parent;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use child::child_main;
pub use parent::{Program, read};

/// The argument that makes this program a child process.
pub const ARGUMENT: &str = "--pdf-child";

/// The content of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// The title; empty if the file has none.
    pub title: String,
    /// The text. Empty lines separate its pages.
    pub text: String,
    /// The addresses to which its pages link, each once, as they are written.
    pub links: Vec<String>,
    /// The number of further addresses, which are too many or too long.
    pub links_cut: usize,
    /// The number of pages.
    pub pages: usize,
    /// The number of pages that could not be read, or were not read because there was enough text.
    pub pages_cut: usize,
}

/// The limits of reading one file.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The address space of the child, in bytes.
    pub memory: u64,
    /// The processor time of the child, in whole seconds.
    pub seconds: u64,
    /// The time after which the child is ended.
    pub deadline: Duration,
    /// The most bytes of text that are kept.
    pub text: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory: config::bounds::PDF_MEMORY,
            seconds: 10,
            deadline: Duration::from_secs(20),
            text: config::bounds::TEXT,
        }
    }
}

/// The longest title that is kept, in bytes.
const MAX_TITLE: usize = 1_000;
/// The most links of a file that are kept.
const MAX_LINKS: usize = config::bounds::LINKS;
/// The most bytes of the links of a file that are kept.
const MAX_LINK_BYTES: usize = config::bounds::LINK_BYTES;

impl Document {
    /// The bytes of its title, text and links.
    pub fn bytes(&self) -> usize {
        self.title.len()
            + self.text.len()
            + self.links.iter().map(|link| size_of::<String>() + link.len()).sum::<usize>()
    }
}

/// The reasons why a file has no text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PdfError {
    /// The library could not read the file.
    #[error("not a readable PDF: {0}")]
    Unreadable(String),
    /// The child was ended at the deadline or by one of its limits, or it crashed.
    #[error("reading the PDF took too much time or memory")]
    TooMuch,
    /// No child could be started.
    #[error("no process to read the PDF: {0}")]
    NoChild(String),
}

/// The reply of the child: its last line, in JSON.
#[derive(Debug, Serialize, Deserialize)]
enum Reply {
    Read(Document),
    Unreadable(String),
}
