//! PDF files are read while their job still has its slot, before the answer gets its number: a file that takes its whole time
//! and memory costs that slot, and neither a page worker nor the place of any other answer.

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
    /// Children that may run at once: each may take the memory of [`Limits`].
    slots: Semaphore,
}

impl Pdfs {
    /// With this program, so many files at once.
    pub fn new(program: Program, at_once: usize) -> Self {
        Self { program: Arc::new(program), slots: Semaphore::new(at_once.max(1)) }
    }

    /// What a file says; `None` where the answer is no PDF file, or an error.
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
