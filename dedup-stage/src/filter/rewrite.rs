//! Makes the records that take the place of a duplicate, or follow it.

use std::io;

use serde::{Deserialize, Serialize};

use crate::warc::read::Record;
use crate::warc::sha256;
use crate::warc::write::{IDENTICAL_PAYLOAD, MetadataRecord, member, metadata_member};
use crate::warc::{Fields, RecordId, now};

/// The facts about a record that the filter remembers, as the id of the page in the stage.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Origin {
    pub(super) id: String,
    pub(super) date: String,
    /// The digest of the stored payload, computed by this program.
    pub(super) payload: String,
    /// The digest of the stored payload, as the field of the record has it.
    pub(super) digest: Option<String>,
}

/// The revisit record that takes the place of a record. It keeps the id of the record, because other records may refer
/// to it.
pub(super) fn revisit(record: &Record, head: &[u8], twin: &str, of: &Origin, own: &Origin) -> Vec<u8> {
    let version = record.head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let version = String::from_utf8_lossy(version.trim_ascii()).into_owned();
    let profile = match version.as_str() {
        "WARC/1.0" => "http://netpreserve.org/warc/1.0/revisit/identical-payload-digest",
        _ => IDENTICAL_PAYLOAD,
    };
    let replaced =
        ["WARC-Type", "WARC-Payload-Digest", "WARC-Block-Digest", "Content-Length", "WARC-Truncated", "WARC-Profile"];
    let mut fields = Fields::default();
    fields.push("WARC-Type", "revisit");
    for (name, value) in record.fields.iter() {
        if !replaced.iter().any(|other| other.eq_ignore_ascii_case(name)) {
            fields.push(name, value);
        }
    }
    // The payloads are equal, so the digest of either holds for both. The digest of the twin comes first, because
    // indexes know its spelling.
    let digest = of.digest.as_ref().or(own.digest.as_ref()).unwrap_or(&own.payload);
    fields.push("WARC-Profile", profile);
    fields.push("WARC-Payload-Digest", digest.as_str());
    fields.push("WARC-Refers-To", of.id.as_str());
    fields.push("WARC-Refers-To-Target-URI", twin);
    fields.push("WARC-Refers-To-Date", of.date.as_str());
    fields.push("WARC-Block-Digest", sha256(head).to_string());
    fields.push("Content-Length", head.len().to_string());
    member(&version, &fields, &[head])
}

/// The metadata record that names the twin of a near-duplicate.
pub(super) fn mark(record: &Record, twin: &str, of: &Origin, distance: u32, resemblance: f32) -> io::Result<Vec<u8>> {
    Ok(metadata_member(&MetadataRecord {
        id: RecordId::random()?,
        url: record.url().unwrap_or_default(),
        date: now(),
        concurrent_to: record.id(),
        facts: &[
            ("verdict", "near"),
            ("duplicate-of", twin),
            ("duplicate-of-record", &of.id),
            ("duplicate-of-date", &of.date),
            ("distance", &distance.to_string()),
            ("resemblance", &resemblance.to_string()),
        ],
    }))
}
