//! The lines of the verdicts: one JSON object for each page.

use std::io::{self, Write};

use serde::Serialize;

/// A line of the verdicts. `PROTOCOL.md` describes the fields.
#[derive(Serialize)]
pub(super) struct VerdictLine<'a> {
    pub(super) url: &'a str,
    pub(super) record: &'a str,
    pub(super) file: &'a str,
    pub(super) offset: u64,
    pub(super) verdict: &'a str,
    pub(super) changed: Option<&'a str>,
    pub(super) duplicate_of: Option<&'a str>,
    pub(super) duplicate_record: Option<&'a str>,
    pub(super) known: Option<&'a str>,
    pub(super) known_row: Option<u64>,
    pub(super) distance: Option<u32>,
    pub(super) resemblance: Option<f32>,
    pub(super) novelty: f32,
    pub(super) sha256: Option<String>,
    pub(super) simhash: Option<String>,
    pub(super) action: &'a str,
}

impl VerdictLine<'_> {
    pub(super) fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        serde_json::to_writer(&mut *out, self)?;
        out.write_all(b"\n")
    }
}
