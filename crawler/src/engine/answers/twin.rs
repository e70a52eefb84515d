//! The page that a duplicate repeats, as far as the engine must know it. The judgement has read its URL with its links.
//! So mostly the record of the page need not be read.

use dedup_stage::flow::FlowResult;
use dedup_stage::judge::Verdict;
use frontier::rules::Content;

use crate::engine::error::Result;
use crate::engine::ledger::Ledger;
use crate::record::PageRecord;

/// The page that a duplicate repeats.
#[derive(Debug)]
pub(in crate::engine) struct TwinPage {
    /// Its URL, as it was fetched.
    pub url: String,
    /// What it shows ([`Content::shows`]). `None` if it has no content for learned rules.
    pub shows: Option<u64>,
    /// Its record, if it was read.
    pub record: Option<PageRecord>,
}

impl TwinPage {
    /// The twin of a page; `None` if the page has none. `needs_record` says that its URL is not enough.
    pub(in crate::engine) fn of(result: &FlowResult, needs_record: bool, ledger: &Ledger) -> Result<Option<Self>> {
        let Some(of) = result.judgement.verdict.twin() else { return Ok(None) };
        if let (Verdict::Near { .. }, Some(url), false) = (result.judgement.verdict, result.url_of_twin(), needs_record)
        {
            // The page was accepted, so it shows its own content.
            return Ok(Some(Self { url: url.to_owned(), shows: Some(of.url.url), record: None }));
        }
        Ok(ledger.page(of)?.map(|record| Self {
            url: record.url.clone(),
            shows: record.content.map(|content| content.shows),
            record: Some(record),
        }))
    }

    /// Whether it shows this content.
    pub(in crate::engine) fn agrees(&self, content: Content) -> bool {
        match self.record.as_ref().map(|record| record.content) {
            Some(own) => own.is_some_and(|own| own.agrees(content)),
            // If the words of both pages were the same, they would show the same.
            None => self.shows == Some(content.shows),
        }
    }
}
