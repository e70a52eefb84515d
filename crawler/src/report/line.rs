//! Lines of `pages.jsonl` and `skipped.jsonl`. Texts without escapes are borrowed from the line.

use std::borrow::Cow;

use serde::Deserialize;

use crate::permissions::NOT_STORED;

/// A text of a line. (It is a type of its own because serde cannot borrow `Option<Cow<str>>`.)
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(transparent)]
pub struct Str<'a>(#[serde(borrow)] pub Cow<'a, str>);

impl std::ops::Deref for Str<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

/// The word of a verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Word {
    /// The page says something new.
    Unique,
    /// The page has the same bytes as an earlier page.
    Exact,
    /// The page says what an earlier page said.
    Near,
    /// The page says what the same URL said at its last visit.
    Unchanged,
    /// The page was not compared.
    #[default]
    #[serde(other)]
    Unjudged,
}

impl Word {
    /// All verdicts, in the order in which they are shown.
    pub const ALL: [Word; 5] = [Word::Unique, Word::Near, Word::Exact, Word::Unchanged, Word::Unjudged];

    /// The word in outputs.
    pub fn name(self) -> &'static str {
        match self {
            Word::Unique => "unique",
            Word::Near => "near",
            Word::Exact => "exact",
            Word::Unchanged => "unchanged",
            Word::Unjudged => "unjudged",
        }
    }
}

/// The fields of a line of `pages.jsonl` that the report needs.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct PageLine<'a> {
    /// The URL, as it was fetched.
    #[serde(borrow)]
    pub url: Str<'a>,
    /// Number of the visit to the URL, from 1.
    pub visit: u32,
    /// HTTP status; `None` if the fetch failed.
    pub status: Option<u16>,
    /// The number of links from a seed.
    pub depth: u32,
    /// Time of the answer, RFC 3339.
    #[serde(borrow)]
    pub fetched_at: Str<'a>,
    /// Value of the `Content-Type` header.
    #[serde(borrow)]
    pub content_type: Option<Str<'a>>,
    /// Bytes of the decoded body.
    pub bytes: u64,
    /// Language tag.
    #[serde(borrow)]
    pub language: Option<Str<'a>>,
    /// Title.
    #[serde(borrow)]
    pub title: Option<Str<'a>>,
    /// Words of visible text.
    pub words: u64,
    /// SHA-256 of the body, in hex digits.
    #[serde(borrow)]
    pub sha256: Option<Str<'a>>,
    /// Fingerprint, 16 hex digits.
    #[serde(borrow)]
    pub simhash: Option<Str<'a>>,
    /// Verdict.
    pub verdict: Word,
    /// URL of the twin.
    #[serde(borrow)]
    pub duplicate_of: Option<Str<'a>>,
    /// Hamming distance to the twin.
    pub distance: Option<u32>,
    /// Estimated resemblance to the twin, 0..1.
    pub resemblance: Option<f64>,
    /// The change since the last visit: `no`, `bytes` or `content`.
    #[serde(borrow)]
    pub changed: Option<Str<'a>>,
    /// Estimated resemblance to what the URL showed at its last visit, 0..1.
    pub resemblance_before: Option<f64>,
    /// The number of links found.
    pub links: u64,
    /// Links that did not go to the frontier because the page is a duplicate.
    pub links_dropped: u64,
    /// Relevance, 0..1, in a focused crawl.
    pub relevance: Option<f64>,
    /// How the URL came to be fetched.
    #[serde(borrow)]
    pub via: Option<Str<'a>>,
    /// Target of a redirect.
    #[serde(borrow)]
    pub redirect_to: Option<Str<'a>>,
    /// The URL that the page names as its own, if it is another one.
    #[serde(borrow)]
    pub canonical: Option<Str<'a>>,
    /// Whether the page asks search engines not to list it.
    pub noindex: bool,
    /// The reason for which there is no whole page.
    #[serde(borrow)]
    pub error: Option<Str<'a>>,
}

impl<'a> PageLine<'a> {
    /// Parses a line; `None` if it is no line of `pages.jsonl`.
    pub fn parse(line: &'a [u8]) -> Option<Self> {
        serde_json::from_slice(line).ok()
    }

    /// Whether the page may not be used for the purpose of the crawl, so that nothing of it was kept.
    pub fn is_withheld(&self) -> bool {
        self.error.as_deref().is_some_and(|error| error.starts_with(NOT_STORED))
    }

    /// The fingerprint as a number.
    pub fn fingerprint(&self) -> Option<u64> {
        u64::from_str_radix(self.simhash.as_deref()?, 16).ok()
    }
}

/// The fields of a line of `skipped.jsonl` that the report needs.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct SkipLine<'a> {
    /// The URL as it was written on the page.
    #[serde(borrow)]
    pub url: Str<'a>,
    /// The reason for which it was not fetched.
    #[serde(borrow)]
    pub reason: Str<'a>,
    /// The page that linked to it.
    #[serde(borrow)]
    pub source: Option<Str<'a>>,
    /// The rule that stopped it.
    #[serde(borrow)]
    pub rule: Option<Str<'a>>,
    /// More about the reason.
    #[serde(borrow)]
    pub detail: Option<Str<'a>>,
}

/// The host and port of a URL: the text between `//` and the next slash.
pub fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())];
    authority.rsplit_once('@').map_or(authority, |(_, host)| host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_borrowed_and_unknown_or_missing_fields_do_no_harm() {
        let line = br#"{"url":"http://a.test/x","status":200,"title":"a \"b\"","verdict":"near","new_field":[1],"distance":2}"#;
        let page = PageLine::parse(line).unwrap();
        assert!(matches!(page.url.0, Cow::Borrowed("http://a.test/x")));
        assert_eq!((page.title.as_deref(), page.verdict, page.distance), (Some("a \"b\""), Word::Near, Some(2)));
        assert_eq!(PageLine::parse(br#"{"verdict":"marvellous"}"#).unwrap().verdict, Word::Unjudged);
        assert!(PageLine::parse(br#"{"url":"http://a.te"#).is_none());
    }

    #[test]
    fn a_host_is_what_stands_before_the_path() {
        let cases = [
            ("http://a.test/x", "a.test"),
            ("https://a.test:81?q=//b", "a.test:81"),
            ("http://[::1]:80/", "[::1]:80"),
            ("http://user:p@a.test/", "a.test"),
            ("nonsense", "nonsense"),
        ];
        for (url, expected) in cases {
            assert_eq!(host(url), expected);
        }
    }
}
