//! Rules that choose which document of a group is kept.

use std::cmp::Ordering;

use crate::corpus::record::NO_DATE;
use crate::corpus::{Error, Signatures};

/// The rule that chooses which document of a group is kept. Among equal documents, the first is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Keep {
    /// The first in the input
    #[default]
    First,
    /// The one with the most words
    Longest,
    /// The one with the earliest date; those without a date come last
    Earliest,
    /// The one with the shortest URL; among equally long URLs, the first in byte order
    SmallestUrl,
}

impl Keep {
    /// Compares two documents. The lesser one is preferred. They are equal if the rule does not decide between them.
    pub fn order(self, (a, x): (&Signatures, u64), (b, y): (&Signatures, u64)) -> Result<Ordering, Error> {
        Ok(match self {
            Keep::First => Ordering::Equal,
            Keep::Longest => b.words(y).cmp(&a.words(x)),
            Keep::Earliest => {
                let date = |date: i64| if date == NO_DATE { i64::MAX } else { date };
                date(a.date(x)).cmp(&date(b.date(y)))
            }
            Keep::SmallestUrl => {
                let (one, other) = (url(a, x)?, url(b, y)?);
                // A document without a URL comes after all documents with one.
                let key = |url: &str| (url.is_empty(), url.len());
                key(&one).cmp(&key(&other)).then_with(|| one.cmp(&other))
            }
        })
    }
}

/// The URL of a document; empty if it has none. [`Signatures::url`] may give the id instead, which counts only if it is
/// a URL.
fn url(signatures: &Signatures, row: u64) -> Result<String, Error> {
    let url = signatures.url(row)?;
    Ok(if url.contains("://") { url } else { String::new() })
}
