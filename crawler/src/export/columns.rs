//! What the columns of each export hold, for formats whose columns have types.

/// What a column holds. Every value may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text; anything but a text as JSON.
    Text,
    /// A whole number.
    Integer,
    /// A number.
    Float,
    /// True or false.
    Bool,
    /// A time: in lines RFC 3339, in tables milliseconds since 1970 in UTC.
    Time,
    /// Texts.
    Texts,
}

/// A column: name, and what it holds.
pub type Column = (&'static str, Kind);

use Kind::{Bool, Float, Integer, Text, Texts, Time};

/// Of `--what pages`.
pub const PAGES: [Column; 36] = [
    ("url", Text),
    ("visit", Integer),
    ("status", Integer),
    ("depth", Integer),
    ("fetched_at", Time),
    ("content_type", Text),
    ("bytes", Integer),
    ("charset", Text),
    ("language", Text),
    ("title", Text),
    ("words", Integer),
    ("sha256", Text),
    ("simhash", Text),
    ("verdict", Text),
    ("duplicate_of", Text),
    ("distance", Integer),
    ("resemblance", Float),
    ("changed", Text),
    ("label", Text),
    ("known", Text),
    ("links", Integer),
    ("links_new", Integer),
    ("links_admitted", Integer),
    ("links_dropped", Integer),
    ("priority", Float),
    ("merits", Text),
    ("via", Text),
    ("relevance", Float),
    ("redirect_to", Text),
    ("canonical", Text),
    ("error", Text),
    ("noindex", Bool),
    ("truncated", Bool),
    ("unchanged", Bool),
    ("session", Bool),
    ("permissions", Text),
];

/// Of `--what links`.
pub const LINKS: [Column; 5] = [("source", Text), ("url", Text), ("state", Text), ("status", Integer), ("rel", Text)];

/// Of `--what skipped`.
pub const SKIPPED: [Column; 6] =
    [("url", Text), ("reason", Text), ("source", Text), ("rule", Text), ("detail", Text), ("known", Text)];

/// Of `--what text`.
pub const TEXT: [Column; 8] = texts("text");

/// Of `--what markdown`.
pub const MARKDOWN: [Column; 8] = texts("markdown");

/// Of `--what clusters`.
pub const CLUSTERS: [Column; 2] = [("representative", Text), ("pages", Texts)];

const fn texts(form: &'static str) -> [Column; 8] {
    [
        ("url", Text),
        ("visit", Integer),
        ("fetched_at", Time),
        ("language", Text),
        ("title", Text),
        (form, Text),
        ("verdict", Text),
        ("duplicate_of", Text),
    ]
}
