//! Finds the response in the archive that has the content of a URL. A visit that brings nothing new leaves a revisit
//! record, which refers to an earlier record. That record must be a response: a program that replays the archive
//! follows one such reference, and not a chain of them.

use dedup_stage::store::codec;
use dedup_stage::url::UrlId;
use frontier::{Job, Millis};
use serde::{Deserialize, Serialize};

use crate::engine::error::Result;
use crate::engine::state::EngineState;
use crate::record::PageRecord;
use crate::sink::{Earlier, PageOut};
use crate::spaces;

/// A response in the archive, as it is stored in [`spaces::ARCHIVED`].
#[derive(Debug, Serialize, Deserialize)]
struct Archived {
    url: String,
    fetched_at: Millis,
    payload: [u8; 32],
}

impl EngineState<'_> {
    /// The page to which a revisit record must refer if it repeats the page of this URL with this `record`.
    pub(in crate::engine) fn archived(&self, url: UrlId, record: &PageRecord) -> Result<Earlier> {
        let own = Earlier::of(record);
        let Some(payload) = record.payload else { return Ok(own) };
        let bytes = self.ledger.session.get(spaces::ARCHIVED, &url.to_bytes())?;
        let archived = bytes.map(|bytes| codec::decode::<Archived>(&bytes, "a response in the archive")).transpose()?;
        // The response to a later visit may have other bytes.
        Ok(match archived.filter(|archived| archived.payload == payload) {
            Some(Archived { url, fetched_at, .. }) => Earlier { url, fetched_at, ..own },
            None => own,
        })
    }

    /// Stores which response has the payload of a page, if it is not the response to the first visit.
    pub(super) fn note_archived(&mut self, job: &Job, out: &PageOut<'_>) {
        let Some(exchange) = out.exchange else { return };
        let archived = match out.revisits() {
            Some(Earlier { url, fetched_at, payload: Some(payload) }) => {
                Archived { url: url.clone(), fetched_at: *fetched_at, payload: *payload }
            }
            None if job.page.visit > 1 => Archived {
                url: exchange.url.as_str().to_owned(),
                fetched_at: exchange.date,
                payload: exchange.payload.0,
            },
            _ => return,
        };
        self.ledger.session.put(spaces::ARCHIVED, job.page.url.to_bytes(), codec::encode(&archived));
    }
}
