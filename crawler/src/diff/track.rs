//! What the lines of `pages.jsonl` tell of one URL, before and since a moment.

use std::collections::HashMap;
use std::io;

use crate::report::line::{PageLine, Word};
use crate::report::source::Lines;

/// How a URL has changed since a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UrlChange {
    /// Fetched for the first time.
    New,
    /// Says something else.
    Changed,
    /// Missing at two visits in a row.
    Gone,
    /// Missing for the first time.
    Missing,
    /// There again.
    Back,
    /// Visited, and says what it said.
    Unchanged,
}

/// The lines of one URL so far. Lines are named by their places in the file.
#[derive(Clone, Debug, Default)]
pub(super) struct Track {
    /// The last line with a page before the moment.
    pub base: Option<u64>,
    /// Digest of that page, as far as it fits.
    base_digest: Option<u64>,
    /// The last line, and whether it is of a visit since the moment.
    pub last: u64,
    was_visited: bool,
    /// Whether the last line is one with a page, and its digest.
    is_there: bool,
    digest: Option<u64>,
    /// How often in a row it was missing in the end, and how often it was before the moment.
    misses: u32,
    misses_before: u32,
    /// Whether it was missing at some visit since the moment.
    was_missing: bool,
    /// Whether some visit since the moment showed another content.
    changed: bool,
    /// Lines of visits since the moment that showed other bytes.
    pub visits: Vec<u64>,
    /// The URL of which it is a copy.
    pub twin: Option<u64>,
}

/// Reads all lines.
pub(super) fn read(lines: &Lines, since: &str) -> io::Result<HashMap<u64, Track>> {
    let mut tracks: HashMap<u64, Track> = HashMap::new();
    lines.each(&mut |offset, line| {
        if let Some(page) = PageLine::parse(line) {
            tracks.entry(super::key(&page.url)).or_default().add(offset, &page, since);
        }
    })?;
    Ok(tracks)
}

impl Track {
    /// Takes the next line. Times are written so that they sort as they follow each other.
    pub fn add(&mut self, offset: u64, page: &PageLine<'_>, since: &str) {
        let is_since = *page.fetched_at >= *since;
        let is_there = matches!(page.status, Some(200..300 | 304));
        let is_missing = matches!(page.status, Some(404 | 410));
        self.last = offset;
        self.was_visited |= is_since;
        self.misses = if is_missing { self.misses + 1 } else { 0 };
        if is_since {
            self.was_missing |= is_missing;
            self.changed |= page.changed.as_deref() == Some("content");
            if matches!(page.changed.as_deref(), Some("bytes" | "content")) {
                self.visits.push(offset);
            }
        } else {
            self.misses_before = self.misses;
        }
        self.is_there = is_there;
        if !is_there {
            return;
        }
        // A 304 has no digest: the page is what it was.
        let digest = page.sha256.as_deref().and_then(|digits| u64::from_str_radix(digits.get(..16)?, 16).ok());
        self.digest = digest.or(self.digest);
        if !is_since {
            (self.base, self.base_digest) = (Some(offset), self.digest);
        }
        let twin = page.duplicate_of.as_deref().map(super::key);
        if page.verdict != Word::Unchanged {
            self.twin = twin;
        }
    }

    /// What became of it since the moment; `None` where it was not visited, or where nothing can be said.
    pub fn change(&self) -> Option<UrlChange> {
        if !self.was_visited {
            return None;
        }
        if self.is_there {
            return Some(match self.base {
                _ if self.misses_before > 0 || self.was_missing => UrlChange::Back,
                None => UrlChange::New,
                Some(_) if self.changed && self.digest != self.base_digest => UrlChange::Changed,
                Some(_) => UrlChange::Unchanged,
            });
        }
        match self.misses {
            0 => None,
            // It was so before.
            _ if self.misses_before >= 2 => None,
            1 => self.base.map(|_| UrlChange::Missing),
            _ => self.base.map(|_| UrlChange::Gone),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Visits as (day, status, changed, digest), all before day 5 counting as before.
    fn change(visits: &[(u32, u16, Option<&str>, u32)]) -> Option<UrlChange> {
        let mut track = Track::default();
        for (at, (day, status, changed, digest)) in visits.iter().enumerate() {
            let line = json!({
                "url": "http://a.test/", "status": status, "fetched_at": format!("2026-01-{day:02}T00:00:00.000Z"),
                "changed": changed, "sha256": (*status == 200).then(|| format!("{digest:064x}").chars().rev().collect::<String>()),
                "verdict": "unique",
            })
            .to_string();
            track.add(at as u64, &PageLine::parse(line.as_bytes()).unwrap(), "2026-01-05T00:00:00.000Z");
        }
        track.change()
    }

    #[test]
    fn every_fate_is_told_from_the_lines() {
        let (no, content) = (Some("no"), Some("content"));
        let first = (1, 200, None, 1);
        let cases = [
            (vec![first], None),
            (vec![(6, 200, None, 1)], Some(UrlChange::New)),
            (vec![first, (6, 200, no, 1)], Some(UrlChange::Unchanged)),
            (vec![first, (6, 304, no, 0)], Some(UrlChange::Unchanged)),
            (vec![first, (6, 200, content, 2)], Some(UrlChange::Changed)),
            (vec![first, (6, 200, content, 2), (7, 304, no, 0)], Some(UrlChange::Changed)),
            (vec![first, (6, 200, content, 2), (7, 200, content, 1)], Some(UrlChange::Unchanged)),
            (vec![first, (2, 200, content, 2), (7, 200, no, 2)], Some(UrlChange::Unchanged)),
            (vec![first, (6, 404, None, 0)], Some(UrlChange::Missing)),
            (vec![first, (4, 404, None, 0), (6, 410, None, 0)], Some(UrlChange::Gone)),
            (vec![first, (6, 404, None, 0), (7, 404, None, 0)], Some(UrlChange::Gone)),
            (vec![first, (3, 404, None, 0), (4, 404, None, 0), (6, 404, None, 0)], None),
            (vec![first, (6, 404, None, 0), (7, 200, no, 1)], Some(UrlChange::Back)),
            (vec![first, (3, 404, None, 0), (4, 404, None, 0), (6, 200, None, 1)], Some(UrlChange::Back)),
            (vec![(1, 404, None, 0), (6, 404, None, 0)], None),
            (vec![first, (6, 500, None, 0)], None),
        ];
        for (visits, expected) in cases {
            assert_eq!(change(&visits), expected, "{visits:?}");
        }
    }
}
