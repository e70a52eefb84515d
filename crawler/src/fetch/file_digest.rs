//! Files: pictures, sound, films, documents and archives, which the crawl does not read. Their first bytes tell them
//! apart, so that a page that leads to another file is not taken for a copy of a page that leads to this one.

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The number of bytes at the beginning of a file that are read.
pub const HEAD: usize = 1024;

/// Whether an answer of this type is a file that somebody publishes. Styles, scripts, fonts and data are none: they are
/// parts of pages, or are made for each request.
pub fn is_file(content_type: Option<&str>) -> bool {
    const PARTS_OF_PAGES: [&str; 7] = ["json", "xml", "script", "font", "manifest", "cbor", "form"];
    const NO_TEXTS: [&str; 6] = ["css", "calendar", "vcard", "event-stream", "html", "plain"];
    let essence = content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let (kind, rest) = essence.split_once('/').unwrap_or_default();
    let is_part = PARTS_OF_PAGES.iter().any(|part| rest.contains(part));
    match kind {
        "image" | "audio" | "video" => true,
        "application" => !is_part,
        "text" => !is_part && !NO_TEXTS.contains(&rest),
        _ => false,
    }
}

/// Identifies a file by its first bytes, of which at most [`HEAD`] count, and by the length that the server gives.
pub fn digest(head: &[u8], length: Option<u64>) -> u64 {
    xxh3_64_with_seed(&head[..head.len().min(HEAD)], length.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_from_parts_of_pages() {
        for content_type in
            ["image/jpeg", "audio/mpeg", "video/mp4; codecs=x", "application/zip", "application/pdf", "text/csv"]
        {
            assert!(is_file(Some(content_type)), "{content_type}");
        }
        for content_type in [
            "text/html",
            "text/calendar",
            "text/css",
            "application/json",
            "application/ld+json",
            "application/atom+xml",
            "application/x-javascript",
            "application/vnd.ms-fontobject",
            "font/woff2",
            "",
        ] {
            assert!(!is_file(Some(content_type)), "{content_type}");
        }
        assert!(!is_file(None));
    }

    #[test]
    fn files_that_differ_in_length_or_at_their_beginning_differ() {
        let (head, mut other) = ([7; 2 * HEAD], [7; 2 * HEAD]);
        other[HEAD] = 8;
        assert_eq!(digest(&head, None), digest(&other, None), "only the beginning is read");
        assert_ne!(digest(&head, Some(5_000)), digest(&head, Some(5_001)));
        other[HEAD - 1] = 8;
        assert_ne!(digest(&head, None), digest(&other, None));
    }
}
