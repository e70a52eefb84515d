//! `pages/pages.jsonl`: the pages that a reader lists, one JSON object a line.

use std::io::{self, Write};

use dedup_stage::warc::rfc3339;
use serde::Serialize;
use serde_json::json;

/// A page with a capture in the archive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// Its URL, as in the index.
    pub url: String,
    /// Date of its capture, in milliseconds since the Unix epoch.
    pub date: u64,
    /// Its title; the URL stands in for an empty one.
    pub title: String,
    /// Its text, for readers that search; `None` leaves the page out of the search.
    pub text: Option<String>,
}

/// Writes the list; returns the number of pages.
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
