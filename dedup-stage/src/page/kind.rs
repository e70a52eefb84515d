//! The kinds of content that the web serves, and what happens to each. Fetching and reading use the same table.
//!
//! | kind | content types | body fetched | read |
//! |---|---|---|---|
//! | [`Html`](Kind::Html) | `text/html`, `application/xhtml+xml` | yes | text, links, media, fingerprint |
//! | [`Text`](Kind::Text) | `text/plain`, `text/markdown` | yes | text, fingerprint |
//! | [`Xml`](Kind::Xml) | feeds, sitemaps and other XML | yes | a sitemap, if one was asked for |
//! | [`OtherText`](Kind::OtherText) | the rest of `text/…`, except styles, scripts, cards and calendars | yes | only the digest |
//! | [`Unknown`](Kind::Unknown) | no type at all | yes | as HTML or text, if its first bytes look like that |
//! | [`Binary`](Kind::Binary) | `application/octet-stream` | no | the same, if another crawler fetched it |
//! | [`Other`](Kind::Other) | PDF, office files, archives, images, audio, video, fonts, styles, scripts, data | no | nothing |
//!
//! A crawler may fetch more than this table says: ours reads PDF files, and looks at the first bytes of an answer whose
//! type says little, such as `application/octet-stream`, to find feeds.

/// The kind of content that a content type promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A page.
    Html,
    /// Plain text.
    Text,
    /// A feed, a sitemap or other XML.
    Xml,
    /// Text of another kind.
    OtherText,
    /// The server gives no type.
    Unknown,
    /// The server says only that the content is bytes.
    Binary,
    /// Content that is not read.
    Other,
}

impl Kind {
    /// The kind by the value of a `Content-Type` header; `None` is a missing header.
    pub fn of(content_type: Option<&str>) -> Self {
        let essence =
            content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match essence.as_str() {
            "text/html" | "application/xhtml+xml" | "application/vnd.wap.xhtml+xml" => Kind::Html,
            "text/plain" | "text/markdown" => Kind::Text,
            "text/xml" | "application/xml" | "application/rss+xml" | "application/atom+xml" | "application/rdf+xml" => {
                Kind::Xml
            }
            "application/octet-stream" | "unknown/unknown" | "*/*" => Kind::Binary,
            other => match other.split_once('/') {
                Some(("text", "css" | "javascript" | "ecmascript" | "event-stream" | "vcard" | "calendar")) => {
                    Kind::Other
                }
                Some(("text", _)) => Kind::OtherText,
                Some(_) => Kind::Other,
                // There is no type, or the value is no type.
                None => Kind::Unknown,
            },
        }
    }

    /// Whether a body of this kind is worth fetching for its own sake.
    pub fn is_fetched(self) -> bool {
        match self {
            Kind::Html | Kind::Text | Kind::Xml | Kind::OtherText | Kind::Unknown => true,
            Kind::Binary | Kind::Other => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_content_type_has_a_kind() {
        for (content_type, kind) in [
            (None, Kind::Unknown),
            (Some(""), Kind::Unknown),
            (Some("html"), Kind::Unknown),
            (Some("text/html"), Kind::Html),
            (Some("TEXT/HTML; charset=x"), Kind::Html),
            (Some(" application/xhtml+xml "), Kind::Html),
            (Some("text/plain"), Kind::Text),
            (Some("text/xml"), Kind::Xml),
            (Some("application/rss+xml"), Kind::Xml),
            (Some("text/csv"), Kind::OtherText),
            (Some("text/css"), Kind::Other),
            (Some("text/calendar"), Kind::Other),
            (Some("application/octet-stream"), Kind::Binary),
            (Some("application/pdf"), Kind::Other),
            (Some("application/json"), Kind::Other),
            (Some("image/png"), Kind::Other),
        ] {
            assert_eq!(Kind::of(content_type), kind, "{content_type:?}");
        }
    }

    #[test]
    fn pages_and_text_are_fetched_and_the_rest_is_not() {
        let fetched = [Kind::Html, Kind::Text, Kind::Xml, Kind::OtherText, Kind::Unknown];
        assert!(fetched.into_iter().all(Kind::is_fetched));
        assert!(![Kind::Binary, Kind::Other].into_iter().any(Kind::is_fetched));
    }
}
