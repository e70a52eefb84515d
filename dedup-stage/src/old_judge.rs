//! The verdict on a page: a cascade of checks against every page accepted before, each step explainable.
//!
//! 1. Guards: what is no page, an error page or cut short is not judged.
//! 2. Exact: the SHA-256 of the body was seen before.
//! 3. Near: an accepted fingerprint lies within the Hamming distance (exact recall, by [`crate::hamming`]) …
//! 4. … and passes the second look at its sketch: same text with other out-links is acquitted.
//!
//! The twin of a duplicate is the nearest accepted page, ties to the earliest. A page fetched again is not its own
//! duplicate: twins with the page's own key are passed over.

use std::ops::ControlFlow;

use crate::accepted::{Accepted, Entry};
use crate::hamming::Index;
use crate::page::Page;
use crate::signature::{self, Signature};
use crate::spaces;
use crate::store::{Error, Result, Session, Space};
use crate::url::KeySet;

/// Number of a page in the order of judging.
pub type Row = u64;

/// What a page is to the pages before it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// Says something new.
    Unique,
    /// Has the same bytes as an earlier page.
    Exact {
        /// That page.
        of: Row,
    },
    /// Says what an earlier page said.
    Near {
        /// That page.
        of: Row,
        /// Hamming distance of the fingerprints.
        distance: u32,
        /// Estimated resemblance of the texts, 0..1.
        resemblance: f32,
    },
    /// Not compared.
    Unjudged,
}

impl Verdict {
    /// The word used in outputs.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Unique => "unique",
            Verdict::Exact { .. } => "exact",
            Verdict::Near { .. } => "near",
            Verdict::Unjudged => "unjudged",
        }
    }

    /// Hamming distance and resemblance of a duplicate to its twin, as outputs write them: to three decimals, which is
    /// more than an estimate can promise.
    pub fn nearness(&self) -> Option<(u32, f32)> {
        match *self {
            Verdict::Exact { .. } => Some((0, 1.0)),
            Verdict::Near { distance, resemblance, .. } => Some((distance, (resemblance * 1000.0).round() / 1000.0)),
            Verdict::Unique | Verdict::Unjudged => None,
        }
    }

    /// The page this one repeats.
    pub fn duplicate_of(&self) -> Option<Row> {
        match *self {
            Verdict::Exact { of } | Verdict::Near { of, .. } => Some(of),
            Verdict::Unique | Verdict::Unjudged => None,
        }
    }
}

/// A verdict and what follows from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// How much of the page is new, 0..1: 1 for a unique page, 0 for an exact copy, and for a near-duplicate
    /// `1 - resemblance * (1 + links) / 2`, where `links` is the share of out-links it has in common with its twin.
    pub novelty: f32,
    /// Whether a unique page has the text of an earlier one, and other links: a page of a list.
    pub acquitted: bool,
}

/// What is said of a page that nobody judges.
pub const UNJUDGED: Judgement = Judgement { verdict: Verdict::Unjudged, novelty: 0.5, acquitted: false };

/// A page before the judge.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// Its number; rows never repeat, and grow.
    pub row: Row,
    /// Hash of its URL key.
    pub key: u64,
    /// Whether it may be judged at all: a complete body with a 2xx status.
    pub judgeable: bool,
    /// What was read from it.
    pub page: &'a Page,
}

/// Compares pages with all pages before them; one owner, pages in order.
#[derive(Debug)]
pub struct Judge {
    digests: KeySet,
    index: Index,
    accepted: Accepted,
    near: Vec<(u64, u32)>,
}

impl Judge {
    /// Resemblance from which two texts are as good as equal.
    pub const SAME_TEXT: f32 = 0.9;

    /// A judge that remembers what `session` has accepted. Errors where the state was made by another recipe.
    pub fn open(distance: u32, session: &mut Session) -> Result<Self> {
        match session.get(Space::META, b"recipe")? {
            None => session.put(Space::META, *b"recipe", signature::RECIPE),
            Some(recipe) if recipe == signature::RECIPE.as_bytes() => {}
            Some(recipe) => {
                return Err(Error::Damaged(format!(
                    "its fingerprints are of recipe {:?}, this program makes {:?}",
                    String::from_utf8_lossy(&recipe),
                    signature::RECIPE
                )));
            }
        }
        let mut digests = KeySet::default();
        session.scan(spaces::DIGESTS, &[], &[], &mut |digest, _| {
            digests.insert(prefix(digest));
            ControlFlow::Continue(())
        })?;
        let mut index = Index::new(distance);
        let accepted = Accepted::open(session, &mut |fingerprint| index.insert_new(fingerprint))?;
        Ok(Self { digests, index, accepted, near: Vec::new() })
    }

    /// Number of distinct accepted fingerprints.
    pub fn fingerprints(&self) -> usize {
        self.index.len()
    }

    /// Judges one page and remembers it.
    pub fn judge(&mut self, case: &Case<'_>, session: &mut Session) -> Result<Judgement> {
        if !case.judgeable || !case.page.is_text {
            return Ok(UNJUDGED);
        }
        if let Some(of) = self.exact(case, session)? {
            return Ok(Judgement { verdict: Verdict::Exact { of }, novelty: 0.0, acquitted: false });
        }
        let Some(signature) = &case.page.signature else {
            return Ok(UNJUDGED);
        };
        let judgement = self.look(case.key, signature, session)?;
        if judgement.verdict == Verdict::Unique {
            // The look has just told whether there is one with this fingerprint.
            let is_first = self.near.first().is_none_or(|(_, distance)| *distance > 0);
            if is_first {
                self.index.insert_new(signature.simhash);
            }
            let entry = Entry { row: case.row, key: case.key, sketch: signature.sketch };
            self.accepted.insert(signature.simhash, is_first, entry, session);
        }
        Ok(judgement)
    }

    /// The first page with these very bytes, if it is another page; else this page is remembered as the first.
    fn exact(&mut self, case: &Case<'_>, session: &mut Session) -> Result<Option<Row>> {
        let digest = &case.page.sha256;
        if !self.digests.insert(prefix(digest))
            && let Some(value) = session.get(spaces::DIGESTS, digest)?
        {
            let (row, key) = two_words(&value)?;
            return Ok((key != case.key).then_some(row));
        }
        let mut value = case.row.to_be_bytes().to_vec();
        value.extend(case.key.to_be_bytes());
        session.put(spaces::DIGESTS, *digest, value);
        Ok(None)
    }

    /// Looks for the nearest accepted page that is no other page at the second look; a page without one is unique.
    fn look(&mut self, key: u64, signature: &Signature, session: &Session) -> Result<Judgement> {
        let mut near = std::mem::take(&mut self.near);
        near.clear();
        self.index.within(signature.simhash, &mut near);
        near.sort_unstable_by_key(|(_, distance)| *distance);
        let (mut found, mut acquitted) = (None, false);
        let mut start = 0;
        while found.is_none() && start < near.len() {
            let distance = near[start].1;
            let end = start + near[start..].iter().take_while(|(_, d)| *d == distance).count();
            let mut best: Option<(Row, Judgement)> = None;
            for (fingerprint, _) in &near[start..end] {
                self.accepted.visit(*fingerprint, session, &mut |entry| {
                    if entry.key == key || best.is_some_and(|(earlier, _)| earlier < entry.row) {
                        return ControlFlow::Continue(());
                    }
                    let look = signature.sketch.compare(&entry.sketch);
                    acquitted |= !look.duplicate && look.resemblance >= Self::SAME_TEXT;
                    if !look.duplicate {
                        return ControlFlow::Continue(());
                    }
                    let verdict = Verdict::Near { of: entry.row, distance, resemblance: look.resemblance };
                    let novelty = (1.0 - look.resemblance * (1.0 + look.links) / 2.0).clamp(0.0, 1.0);
                    best = Some((entry.row, Judgement { verdict, novelty, acquitted: false }));
                    ControlFlow::Break(())
                })?;
            }
            found = best.map(|(_, judgement)| judgement);
            start = end;
        }
        self.near = near;
        Ok(found.unwrap_or(Judgement { verdict: Verdict::Unique, novelty: 1.0, acquitted }))
    }
}

/// The first eight bytes, as a number; missing bytes are zero.
fn prefix(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    let n = bytes.len().min(8);
    word[..n].copy_from_slice(&bytes[..n]);
    u64::from_be_bytes(word)
}

fn two_words(value: &[u8]) -> Result<(u64, u64)> {
    if value.len() != 16 {
        return Err(Error::Damaged("a digest entry has the wrong length".into()));
    }
    Ok((prefix(value), prefix(&value[8..])))
}
