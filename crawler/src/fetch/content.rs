//! What is worth a body, by the kind of job and the content type.

use frontier::JobKind;
use http::HeaderMap;
use http::header::CONTENT_TYPE;

/// Whether the content type promises something to read. Without a type there is hope. robots.txt and sitemaps are read
/// whatever their servers call them.
pub(super) fn is_worth_a_body(kind: JobKind, headers: &HeaderMap) -> bool {
    if kind != JobKind::Page {
        return true;
    }
    let Some(value) = headers.get(CONTENT_TYPE) else { return true };
    let Ok(value) = value.to_str() else { return true };
    let essence = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match essence.split_once('/') {
        Some(("text", kind)) => {
            !matches!(kind, "css" | "javascript" | "ecmascript" | "event-stream" | "vcard" | "calendar")
        }
        Some(("application", "xhtml+xml" | "xml" | "rss+xml" | "atom+xml" | "rdf+xml")) => true,
        Some(_) => false,
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn page(content_type: &str) -> bool {
        let value = HeaderValue::from_str(content_type).expect("a header value");
        is_worth_a_body(JobKind::Page, &HeaderMap::from_iter([(CONTENT_TYPE, value)]))
    }

    #[test]
    fn pages_and_text_are_read_and_the_rest_is_not() {
        for yes in
            ["text/html", "TEXT/HTML; charset=x", " application/xhtml+xml ", "text/plain", "text/xml", "html", ""]
        {
            assert!(page(yes), "{yes}");
        }
        for no in
            ["image/png", "application/pdf", "video/mp4", "text/css", "application/json", "application/octet-stream"]
        {
            assert!(!page(no), "{no}");
        }
        assert!(is_worth_a_body(JobKind::Page, &HeaderMap::new()));
    }
}
