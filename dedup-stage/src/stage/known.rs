//! The part of an answer about the document of a known corpus that a page repeats.

use serde_json::value::RawValue;

use crate::corpus::Corpora;
use crate::judge::Verdict;

/// The document of a known corpus that a page repeats.
#[derive(Clone, Debug)]
pub struct KnownDocument {
    /// The name of the corpus, which is that of its signature file.
    pub corpus: Box<str>,
    /// The row of the document in the corpus; `None` for an unchanged page, which names no twin.
    pub row: Option<u64>,
    /// The id of the document; `None` if the file cannot tell it any more.
    pub id: Option<Box<RawValue>>,
}

impl KnownDocument {
    /// The document that a verdict names, if it names one.
    pub(super) fn of(verdict: Verdict, corpora: &Corpora) -> Option<Self> {
        let corpus = corpora.get(verdict.known()?);
        let row = if let Verdict::Known { document, .. } = verdict { Some(document.row) } else { None };
        let id = row.and_then(|row| RawValue::from_string(corpus.id(row).ok()?.to_owned()).ok());
        Some(Self { corpus: corpus.name().into(), row, id })
    }
}
