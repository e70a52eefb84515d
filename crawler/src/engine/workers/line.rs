//! The beginning of a line of `pages.jsonl`: everything that does not depend on the verdict. Page workers make it, so
//! that the engine only appends it.

use std::io::Write;

use dedup_stage::page::Page;
use frontier::{Job, Millis};
use url::Url;

use crate::clock::rfc3339;

/// The fields of a line that stand before the verdict.
pub(in crate::engine) struct Facts<'a> {
    pub job: &'a Job,
    pub ended_at: Millis,
    /// The HTTP status; `None` if no answer came.
    pub status: Option<u16>,
    pub content_type: Option<&'a str>,
    /// Bytes of the decoded body.
    pub bytes: u64,
    pub page: &'a Page,
    /// Links found, one per identity.
    pub links: usize,
    pub redirect_to: Option<&'a Url>,
    /// The canonical URL that the page names.
    pub canonical: Option<&'a Url>,
    pub error: Option<&'a str>,
    pub truncated: bool,
    /// Whether the answer is a 304.
    pub unchanged: bool,
    /// Whether there is a whole body, so that the line has a digest.
    pub has_body: bool,
    /// Whether the request showed an account.
    pub is_private: bool,
    /// The statements about the use of the page, as a JSON object.
    pub permissions: Option<&'a str>,
}

/// The beginning of the line: everything but the fields that depend on the verdict, and the closing brace.
pub(in crate::engine) fn line(facts: &Facts<'_>) -> Vec<u8> {
    let Facts { job, page, .. } = facts;
    let mut out = Vec::with_capacity(768);
    out.extend(b"{\"url\":");
    text(&mut out, Some(job.url.as_str()));
    out.extend(b",\"visit\":");
    number(&mut out, u64::from(job.page.visit));
    out.extend(b",\"status\":");
    match facts.status {
        Some(status) => number(&mut out, u64::from(status)),
        None => out.extend(b"null"),
    }
    out.extend(b",\"depth\":");
    number(&mut out, u64::from(job.depth));
    out.extend(b",\"fetched_at\":\"");
    out.extend(rfc3339(facts.ended_at).as_bytes());
    out.extend(b"\",\"content_type\":");
    text(&mut out, facts.content_type);
    out.extend(b",\"bytes\":");
    number(&mut out, facts.bytes);
    out.extend(b",\"charset\":");
    text(&mut out, known(page.charset));
    out.extend(b",\"language\":");
    text(&mut out, known(&page.language));
    out.extend(b",\"title\":");
    text(&mut out, known(&page.title));
    out.extend(b",\"words\":");
    number(&mut out, u64::from(page.words));
    out.extend(b",\"sha256\":");
    digits(&mut out, facts.has_body.then_some(&page.sha256));
    out.extend(b",\"simhash\":");
    let simhash = page.signature.as_ref().map(|signature| signature.simhash.to_be_bytes());
    digits(&mut out, simhash.as_ref().map(|bytes| &bytes[..]));
    out.extend(b",\"links\":");
    number(&mut out, facts.links as u64);
    out.extend(b",\"priority\":");
    // Writing to a Vec cannot fail.
    let _ = write!(out, "{:.3}", job.priority);
    let [novelty, in_links, hint, relevance] = job.merits.to_bytes();
    let _ = write!(out, ",\"merits\":[{novelty},{in_links},{hint},{relevance}]");
    let _ = write!(out, ",\"via\":\"{}\"", job.via.name());
    out.extend(b",\"redirect_to\":");
    text(&mut out, facts.redirect_to.map(Url::as_str));
    out.extend(b",\"canonical\":");
    text(&mut out, facts.canonical.map(Url::as_str));
    out.extend(b",\"error\":");
    text(&mut out, facts.error);
    let _ = write!(
        out,
        ",\"noindex\":{},\"truncated\":{},\"unchanged\":{}",
        page.noindex, facts.truncated, facts.unchanged
    );
    let _ = write!(out, ",\"session\":{},\"permissions\":", facts.is_private);
    out.extend(facts.permissions.unwrap_or("null").as_bytes());
    out
}

fn known(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

fn text(out: &mut Vec<u8>, text: Option<&str>) {
    match text {
        // Writing to a Vec cannot fail.
        Some(text) => drop(serde_json::to_writer(out, text)),
        None => out.extend(b"null"),
    }
}

fn number(out: &mut Vec<u8>, number: u64) {
    let _ = write!(out, "{number}");
}

/// Bytes as lower-case hex digits in quotes, or `null`.
fn digits<B: AsRef<[u8]> + ?Sized>(out: &mut Vec<u8>, bytes: Option<&B>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let Some(bytes) = bytes else { return out.extend(b"null") };
    out.push(b'"');
    for byte in bytes.as_ref() {
        out.push(DIGITS[usize::from(byte >> 4)]);
        out.push(DIGITS[usize::from(byte & 15)]);
    }
    out.push(b'"');
}
