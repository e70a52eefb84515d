//! `pages/pages.jsonl`: the pages that a reader lists, as one JSON object in each line.

use std::io::{self, Write};

use dedup_stage::warc::rfc3339;
use serde::Serialize;
use serde_json::json;

/// A page with a capture in the archive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The URL, as in the index.
    pub url: String,
    /// The date of its capture, in milliseconds since the Unix epoch.
    pub date: u64,
    /// The title. If it is empty, the URL is written instead.
    pub title: String,
    /// The text, for readers with a search. With `None`, the search does not find the page.
    pub text: Option<String>,
}

/// Writes the list. Returns the number of pages.
pub fn list(pages: impl IntoIterator<Item = io::Result<Page>>, out: &mut dyn Write) -> io::Result<u64> {
    #[derive(Serialize)]
    struct Line<'a> {
        id: String,
        url: &'a str,
        ts: String,
        title: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        text: Option<&'a str>,
    }
    writeln!(out, "{}", json!({"format": "json-pages-1.0", "id": "pages", "title": "All pages"}))?;
    let mut count = 0;
    for page in pages {
        let page = page?;
        count += 1;
        let line = Line {
            id: format!("page-{count}"),
            url: &page.url,
            ts: rfc3339(page.date),
            title: if page.title.is_empty() { &page.url } else { &page.title },
            text: page.text.as_deref(),
        };
        serde_json::to_writer(&mut *out, &line)?;
        out.write_all(b"\n")?;
    }
    Ok(count)
}
