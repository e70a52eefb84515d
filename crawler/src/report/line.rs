//! Lines of `pages.jsonl` and `skipped.jsonl`, borrowed from the text where it needs no unescaping.

use std::borrow::Cow;

use serde::Deserialize;

/// A string of a line. (A newtype, since serde borrows no `Option<Cow<str>>`.)
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
    /// Says something new.
    Unique,
    /// Same bytes as an earlier page.
    Exact,
    /// Says what an earlier page said.
    Near,
    /// Says what the same URL said at its last visit.
    Unchanged,
    /// Not compared.
    #[default]
    #[serde(other)]
    Unjudged,
}

impl Word {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Word; 5] = [Word::Unique, Word::Near, Word::Exact, Word::Unchanged, Word::Unjudged];

    /// The word.
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

/// What the report reads of a line of `pages.jsonl`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct PageLine<'a> {
    /// As fetched.
    #[serde(borrow)]
    pub url: Str<'a>,
    /// Number of the visit to the URL, from 1.
    pub visit: u32,
    /// HTTP status; none where the fetch failed.
    pub status: Option<u16>,
    /// Links from a seed.
    pub depth: u32,
    /// RFC 3339.
    #[serde(borrow)]
    pub fetched_at: Str<'a>,
    /// As HTTP gave it.
    #[serde(borrow)]
    pub content_type: Option<Str<'a>>,
    /// Of the decoded body.
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
    /// 16 hex digits.
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
    /// What changed since the last visit: `no`, `bytes` or `content`.
    #[serde(borrow)]
    pub changed: Option<Str<'a>>,
    /// Estimated resemblance to what the URL showed at its last visit, 0..1.
    pub resemblance_before: Option<f64>,
    /// Links found.
    pub links: u64,
    /// Links kept from the frontier.
    pub links_dropped: u64,
    /// In focused crawls, 0..1.
    pub relevance: Option<f64>,
    /// Target of a redirect.
    #[serde(borrow)]
    pub redirect_to: Option<Str<'a>>,
    /// Why there is no whole page.
    #[serde(borrow)]
    pub error: Option<Str<'a>>,
}

impl<'a> PageLine<'a> {
    /// From a line; `None` where it is none.
    pub fn parse(line: &'a [u8]) -> Option<Self> {
        serde_json::from_slice(line).ok()
    }

    /// The fingerprint.
    pub fn fingerprint(&self) -> Option<u64> {
        u64::from_str_radix(self.simhash.as_deref()?, 16).ok()
    }
}

/// What the report reads of a line of `skipped.jsonl`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct SkipLine<'a> {
    /// As written.
    #[serde(borrow)]
    pub url: Str<'a>,
    /// Why.
    #[serde(borrow)]
    pub reason: Str<'a>,
    /// The page that linked to it.
    #[serde(borrow)]
    pub source: Option<Str<'a>>,
    /// The rule that stopped it.
    #[serde(borrow)]
    pub rule: Option<Str<'a>>,
    /// What can be said beside the reason.
    #[serde(borrow)]
    pub detail: Option<Str<'a>>,
}

/// The host and port of a URL, as text between `//` and the next slash.
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
