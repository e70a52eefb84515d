//! Makes the row of a document.

use ::url::Url;

use super::input::Date;
use super::record::Record;
use crate::page::{Input, Reader};

/// A document as it came from an input.
#[derive(Clone, Debug)]
pub struct Document<'a> {
    /// The number of the document in its split.
    pub index: u64,
    /// The id of the document, as JSON.
    pub id: Box<str>,
    /// The URL of the document; empty if it has none.
    pub url: &'a str,
    /// The date of the document.
    pub date: Date,
    /// The content type, as in HTTP; `None` if it is not known.
    pub content_type: Option<&'a str>,
    /// The bytes of the document.
    pub body: &'a [u8],
}

/// The content type of plain text.
pub const TEXT: &str = "text/plain; charset=utf-8";

/// Signs documents. It remembers no document.
#[derive(Debug)]
pub struct Signing {
    reader: Reader,
    /// The URL for documents that have none.
    nowhere: Url,
}

impl Default for Signing {
    fn default() -> Self {
        let nowhere = Url::parse("http://localhost/").expect("a URL");
        Self { reader: Reader::default(), nowhere }
    }
}

impl Signing {
    /// The row of a document; `None` if the document is neither text nor HTML. A document of which only the beginning
    /// is read gets no fingerprint, because nothing is known of its end.
    pub fn sign(&mut self, document: &Document<'_>) -> Option<Record> {
        let url = Url::parse(document.url).ok();
        let page = self.reader.read(&Input {
            url: url.as_ref().unwrap_or(&self.nowhere),
            status: 200,
            content_type: document.content_type,
            body: document.body,
        });
        if !page.is_text {
            return None;
        }
        let is_id = document.id.strip_prefix('"').and_then(|id| id.strip_suffix('"')) == Some(document.url);
        let is_whole = page.text_cut == 0 && document.body.len() <= Reader::MAX_BODY;
        Some(Record {
            is_whole,
            signature: page
                .signature
                .filter(|_| is_whole)
                .map(|signature| (signature.simhash, signature.sketch.to_bytes())),
            digest: page.sha256,
            words: page.words,
            place: document.index,
            date: document.date.millis(),
            id: document.id.clone(),
            url: if is_id { "".into() } else { document.url.into() },
        })
    }
}
