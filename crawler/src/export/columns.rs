//! The columns of each export, and their types, for formats whose columns have types.

/// The type of a column. Every value may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text. A value that is no text is written as JSON.
    Text,
    /// A whole number.
    Integer,
    /// A number.
    Float,
    /// True or false.
    Bool,
    /// A time: RFC 3339 in lines, milliseconds since 1970 in UTC in tables.
    Time,
    /// A list of texts.
    Texts,
}

/// A column: its name and its type.
pub type Column = (&'static str, Kind);

use Kind::{Bool, Float, Integer, Text, Texts, Time};

/// The columns of `--what pages`.
pub const PAGES: [Column; 40] = [
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
    ("resemblance_before", Float),
    ("new_links", Texts),
    ("links_gone", Integer),
    ("gone_links", Texts),
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

/// The columns of `--what links`.
pub const LINKS: [Column; 5] = [("source", Text), ("url", Text), ("state", Text), ("status", Integer), ("rel", Text)];

/// The columns of `--what skipped`.
pub const SKIPPED: [Column; 6] =
    [("url", Text), ("reason", Text), ("source", Text), ("rule", Text), ("detail", Text), ("known", Text)];

/// The columns of `--what text`.
pub const TEXT: [Column; 8] = texts("text");

/// The columns of `--what markdown`.
pub const MARKDOWN: [Column; 8] = texts("markdown");

/// The columns of `--what clusters`.
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The fields in the first table under a heading of OUTPUT.md. The first cell of each row names one or more.
    fn documented(heading: &str) -> BTreeSet<&'static str> {
        let text = include_str!("../../OUTPUT.md");
        let section = text.split_once(&format!("\n## {heading}\n")).expect("the heading").1;
        let rows =
            section.lines().skip_while(|line| !line.starts_with("| `")).take_while(|line| line.starts_with("| `"));
        let cells = rows.filter_map(|row| row.split('|').nth(1));
        cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect()
    }

    /// Catches a field of the lines that the tables lack.
    #[test]
    fn tables_have_all_documented_fields() {
        let names = |columns: &[Column]| columns.iter().map(|(name, _)| *name).collect::<BTreeSet<_>>();
        assert_eq!(names(&PAGES), documented("Fields of `pages.jsonl`"));
        assert_eq!(names(&LINKS), documented("Links"));
        assert_eq!(names(&SKIPPED), documented("Fields of `skipped.jsonl`"));
    }
}
