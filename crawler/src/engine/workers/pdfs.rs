//! Reads PDF files in child processes, before the answer gets its number. While a file is read, its job keeps its slot.
//! So a file that takes all of its time and memory costs one slot. No page worker and no other answer waits for it.

use std::sync::Arc;

use tokio::sync::Semaphore;
use url::Url;

use crate::feeds::{self, Kind};
use crate::fetch::Response;
use crate::pdf::{self, Document, Limits, PdfError, Program};

/// Reads PDF files, a few at once.
#[derive(Debug)]
pub struct Pdfs {
    program: Arc<Program>,
    /// At most [`config::bounds::PDFS`] children run at once, because each may take the memory of [`Limits`].
    slots: Semaphore,
}

impl Pdfs {
    /// Reads files with this program, at most a given number of them at once.
    pub fn new(program: Program, at_once: usize) -> Self {
        Self { program: Arc::new(program), slots: Semaphore::new(at_once.clamp(1, config::bounds::PDFS)) }
    }

    /// The text and links of a file; `None` if the answer is no PDF file, or an error page.
    pub async fn read(&self, url: &Url, response: &mut Response) -> Option<Result<Document, PdfError>> {
        let content_type = response.headers.get("content-type").and_then(|value| value.to_str().ok());
        let is_good = (200..300).contains(&response.status) && !response.body.is_empty();
        if !is_good || feeds::kind(content_type, url, &response.body) != Kind::Pdf {
            return None;
        }
        let _slot = self.slots.acquire().await.ok()?;
        let (program, body) = (Arc::clone(&self.program), std::mem::take(&mut response.body));
        let read = tokio::task::spawn_blocking(move || {
            let document = pdf::read(&program, &body, &Limits::default());
            (body, document)
        });
        Some(match read.await {
            Ok((body, document)) => {
                response.body = body;
                document
            }
            Err(_) => Err(PdfError::TooMuch),
        })
    }
}
