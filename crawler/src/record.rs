//! What the state keeps of each fetched page: enough to name a twin, to answer `why`, and to ask again conditionally.
//!
//! Layout: `verdict u8 · status u16 · depth u32 · key hash u64 · offset u64 · source u64 · fetched u64 · four strings (length u16, bytes)`, numbers
//! big-endian; the strings are the URL, the ETag, Last-Modified, and the SHA-256 of the payload in the archive (or none). Of a judged
//! page `text u64 · row u64` follow: what it shows.

use dedup_stage::judge::{Row, Verdict};
use dedup_stage::store::{Error, Result, Session};

use frontier::Millis;
use frontier::rules::Content;

use crate::fetch::Validators;
use crate::spaces;

/// One fetched page in the state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageRecord {
    /// Whether it was judged new: the word of its verdict as a small number.
    pub verdict: VerdictKind,
    /// HTTP status; 0 where the fetch failed.
    pub status: u16,
    /// Links from a seed.
    pub depth: u32,
    /// Hash of its URL key.
    pub hash: u64,
    /// Where its line begins in `pages.jsonl`.
    pub offset: u64,
    /// The page that carried it first; `None` for seeds.
    pub source: Option<Row>,
    /// When it was fetched.
    pub fetched_at: Millis,
    /// As fetched.
    pub url: String,
    /// For a conditional request.
    pub validators: Validators,
    /// SHA-256 of the payload as received, where an archive is kept.
    pub payload: Option<[u8; 32]>,
    /// What it shows, if it was judged.
    pub content: Option<Content>,
}

/// A verdict without its twin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum VerdictKind {
    /// New.
    Unique = 0,
    /// Same bytes as an earlier page.
    Exact = 1,
    /// Near-duplicate of an earlier page.
    Near = 2,
    /// Not compared.
    Unjudged = 3,
}

impl From<Verdict> for VerdictKind {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Unique => VerdictKind::Unique,
            Verdict::Exact { .. } => VerdictKind::Exact,
            Verdict::Near { .. } => VerdictKind::Near,
            Verdict::Unjudged => VerdictKind::Unjudged,
        }
    }
}

impl PageRecord {
    /// Writes the record of `row`.
    pub fn put(&self, row: Row, session: &mut Session) {
        let mut out = Vec::with_capacity(64 + self.url.len());
        out.push(self.verdict as u8);
        out.extend(self.status.to_be_bytes());
        out.extend(self.depth.to_be_bytes());
        out.extend(self.hash.to_be_bytes());
        out.extend(self.offset.to_be_bytes());
        out.extend(self.source.unwrap_or(Row::MAX).to_be_bytes());
        out.extend(self.fetched_at.to_be_bytes());
        let etag = self.validators.etag.as_deref().unwrap_or_default();
        let modified = self.validators.last_modified.as_deref().unwrap_or_default();
        let payload = self.payload.as_ref().map_or(&[][..], |digest| digest);
        for text in [self.url.as_bytes(), etag.as_bytes(), modified.as_bytes(), payload] {
            let text = &text[..text.len().min(usize::from(u16::MAX))];
            out.extend((text.len() as u16).to_be_bytes());
            out.extend(text);
        }
        if let Some(Content { text, row }) = self.content {
            out.extend(text.to_be_bytes());
            out.extend(row.to_be_bytes());
        }
        session.put(spaces::PAGES, row.to_be_bytes(), out);
    }

    /// Reads the record of `row`.
    pub fn get(row: Row, session: &Session) -> Result<Option<Self>> {
        session.get(spaces::PAGES, &row.to_be_bytes())?.map(|bytes| Self::decode(&bytes)).transpose()
    }

    /// From its stored form.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        Self::parse(bytes).ok_or_else(|| Error::Damaged("a page record cannot be read".into()))
    }

    fn parse(mut bytes: &[u8]) -> Option<Self> {
        fn take<'a>(bytes: &mut &'a [u8], n: usize) -> Option<&'a [u8]> {
            let (head, tail) = bytes.split_at_checked(n)?;
            *bytes = tail;
            Some(head)
        }
        fn number<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
            take(bytes, N)?.try_into().ok()
        }
        fn string<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
            let length = u16::from_be_bytes(number(bytes)?);
            take(bytes, usize::from(length))
        }
        fn text(bytes: &mut &[u8]) -> Option<String> {
            String::from_utf8(string(bytes)?.to_vec()).ok()
        }
        let bytes = &mut bytes;
        let verdict = match take(bytes, 1)?[0] {
            0 => VerdictKind::Unique,
            1 => VerdictKind::Exact,
            2 => VerdictKind::Near,
            3 => VerdictKind::Unjudged,
            _ => return None,
        };
        let present = |text: String| (!text.is_empty()).then_some(text);
        Some(Self {
            verdict,
            status: u16::from_be_bytes(number(bytes)?),
            depth: u32::from_be_bytes(number(bytes)?),
            hash: u64::from_be_bytes(number(bytes)?),
            offset: u64::from_be_bytes(number(bytes)?),
            source: Some(Row::from_be_bytes(number(bytes)?)).filter(|row| *row != Row::MAX),
            fetched_at: Millis::from_be_bytes(number(bytes)?),
            url: text(bytes)?,
            validators: Validators { etag: present(text(bytes)?), last_modified: present(text(bytes)?) },
            payload: match string(bytes)? {
                [] => None,
                digest => Some(digest.try_into().ok()?),
            },
            content: match bytes {
                [] => None,
                _ => {
                    Some(Content { text: u64::from_be_bytes(number(bytes)?), row: Row::from_be_bytes(number(bytes)?) })
                }
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use dedup_stage::store::Memory;

    use super::*;

    #[test]
    fn a_record_comes_back_as_it_went_in_and_a_cut_one_is_damage() {
        let record = PageRecord {
            verdict: VerdictKind::Near,
            status: 200,
            depth: 7,
            hash: 0x0123_4567_89ab_cdef,
            offset: 1 << 40,
            source: Some(2),
            fetched_at: 3,
            url: "http://a.test/ä".into(),
            validators: Validators { etag: Some("\"x\"".into()), last_modified: None },
            payload: Some([7; 32]),
            content: Some(Content { text: 8, row: 9 }),
        };
        let mut session = Session::new(Box::new(Memory::default()));
        record.put(3, &mut session);
        assert_eq!(PageRecord::get(3, &session).unwrap(), Some(record));
        let bytes = session.get(spaces::PAGES, &3u64.to_be_bytes()).unwrap().unwrap();
        // Without its content it is a record as well: of a page that was not judged.
        for cut in (0..bytes.len()).filter(|cut| *cut != bytes.len() - 16) {
            assert!(PageRecord::decode(&bytes[..cut]).is_err(), "cut at {cut}");
        }
    }
}
