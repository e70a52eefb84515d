//! The history of one URL before and since a moment, from the lines of `pages.jsonl`.

use std::collections::HashMap;
use std::io;

use xxhash_rust::xxh3::xxh3_64;

use crate::fetch::Truncation;
use crate::report::line::{PageLine, Word};
use crate::report::source::Lines;

/// The change of a URL since a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UrlChange {
    /// It was fetched for the first time.
    New,
    /// Its content has changed.
    Changed,
    /// It is missing at two visits in a row.
    Gone,
    /// It is missing for the first time.
    Missing,
    /// It is there again.
    Back,
    /// It redirects elsewhere.
    Moved,
    /// It is answered with another error than 404 and 410, or with a broken body, or not at all.
    Failing,
    /// It may not be used any more.
    Withheld,
    /// It was visited, and its content has not changed.
    Unchanged,
}

/// The kind of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Answer {
    /// A page, or 304.
    There,
    /// 404 or 410.
    Missing,
    /// A redirect.
    Moved,
    /// A page that may not be used for the purpose of the crawl.
    Withheld,
    /// Another status, a broken body, or no answer. This is also the value before the first visit.
    #[default]
    Failing,
}

impl Answer {
    fn of(page: &PageLine<'_>) -> Self {
        match page.status {
            _ if page.is_withheld() => Answer::Withheld,
            Some(200..300) if page.error.as_deref().is_some_and(Truncation::is_broken_name) => Answer::Failing,
            Some(200..300 | 304) => Answer::There,
            Some(404 | 410) => Answer::Missing,
            // A redirect to the URL itself leads nowhere.
            Some(300..400) if page.redirect_to.as_deref() == Some(&*page.url) => Answer::Failing,
            Some(300..400) => Answer::Moved,
            _ => Answer::Failing,
        }
    }

    /// Whether a page that is there after this answer is back.
    fn is_away(self) -> bool {
        matches!(self, Answer::Missing | Answer::Moved | Answer::Withheld)
    }
}

/// The history of one URL, from its lines so far. A line is given by its place in the file.
#[derive(Clone, Debug, Default)]
pub(super) struct Track {
    /// The last line with a page before the moment.
    pub base: Option<u64>,
    /// The last line that has a title. (The line of a 304 has none.)
    pub titled: Option<u64>,
    /// The first 64 bits of the digest of that page.
    base_digest: Option<u64>,
    /// The last line, and (below) whether there was a visit since the moment.
    pub last: u64,
    was_visited: bool,
    /// The answers of the last line, and of the last line before the moment.
    answer: Answer,
    answer_before: Answer,
    /// The digest of the last page.
    digest: Option<u64>,
    /// Whether the first line is one of a later visit. If so, the lines before it are in a part that is missing.
    lacks_first: bool,
    has_line: bool,
    /// The smallest resemblance between a visit since the moment and the visit before it.
    pub resemblance: Option<f64>,
    /// The number of visits in a row at which it was missing, up to the last line, and up to the moment.
    misses: u32,
    misses_before: u32,
    /// Whether it was missing, redirected elsewhere, or withheld, at some visit since the moment.
    was_away: bool,
    /// Whether it is so since the last visit that showed a page, up to the last line, and up to the moment. Errors of
    /// the server change nothing.
    is_away: bool,
    away_before: bool,
    /// If the last line is a redirect: `was_away` before that line.
    before_redirect: Option<bool>,
    /// Whether some visit since the moment showed another content.
    changed: bool,
    /// The lines of visits since the moment that showed other bytes.
    pub visits: Vec<u64>,
    /// The URL of which it is a copy.
    pub twin: Option<u64>,
    /// The URL of which it was a copy at the moment.
    twin_before: Option<u64>,
    /// The last line that has a verdict of its own, and does not say that the page is as it was.
    pub judged: Option<u64>,
    /// Whether the last page could be compared with others.
    is_judged: bool,
}

/// Reads all lines.
pub(super) fn read(lines: &Lines, since: &str) -> io::Result<HashMap<u64, Track>> {
    let mut tracks: HashMap<u64, Track> = HashMap::new();
    lines.each(&mut |offset, line| {
        if let Some(page) = PageLine::parse(line) {
            tracks.entry(key(&page.url)).or_default().add(offset, &page, since);
        }
    })?;
    Ok(tracks)
}

impl Track {
    /// Adds the next line. Times are written so that their texts sort in the order of time.
    pub fn add(&mut self, offset: u64, page: &PageLine<'_>, since: &str) {
        let is_since = *page.fetched_at >= *since;
        let answer = Answer::of(page);
        let is_there = answer == Answer::There;
        self.lacks_first |= !self.has_line && page.visit > 1;
        (self.last, self.has_line) = (offset, true);
        self.was_visited |= is_since;
        self.misses = if answer == Answer::Missing { self.misses + 1 } else { 0 };
        let is_end_of_redirects = is_there && page.via.as_deref() == Some("redirect");
        if let Some(was_away) = self.before_redirect.filter(|_| is_end_of_redirects) {
            // The redirect has led back to this URL (with a cookie, say), so the page was not elsewhere.
            self.was_away = was_away;
        }
        self.before_redirect = (answer == Answer::Moved).then_some(self.was_away);
        match answer {
            Answer::There => self.is_away = false,
            Answer::Missing | Answer::Moved | Answer::Withheld => self.is_away = true,
            Answer::Failing => {}
        }
        if is_since {
            self.was_away |= answer.is_away();
            self.changed |= page.changed.as_deref() == Some("content");
            let both = self.resemblance.into_iter().chain(page.resemblance_before);
            self.resemblance = both.min_by(f64::total_cmp);
            if matches!(page.changed.as_deref(), Some("bytes" | "content")) {
                self.visits.push(offset);
            }
        } else {
            (self.misses_before, self.answer_before, self.away_before) = (self.misses, answer, self.is_away);
        }
        self.answer = answer;
        if !is_there {
            return;
        }
        if page.title.is_some() {
            self.titled = Some(offset);
        }
        // A 304 has no digest: the page is as it was.
        let digest = page.sha256.as_deref().and_then(|digits| u64::from_str_radix(digits.get(..16)?, 16).ok());
        // A file that was not read has no digest either, but it is not as it was.
        let is_unread = page.changed.as_deref() == Some("content") && digest.is_none();
        self.digest = if is_unread { None } else { digest.or(self.digest) };
        if !is_since {
            (self.base, self.base_digest) = (Some(offset), self.digest);
        }
        self.is_judged = page.verdict != Word::Unjudged;
        if page.verdict != Word::Unchanged {
            self.twin = page.duplicate_of.as_deref().map(key);
            self.judged = Some(offset);
        }
        if !is_since {
            self.twin_before = self.twin;
        }
    }

    /// The URL of which it was a copy at the moment, if a visit since then does not say that it shows what that URL
    /// shows now. `own`: the key of this URL.
    pub fn left(&self, own: u64, tracks: &HashMap<u64, Self>) -> Option<u64> {
        let of = self.twin_before.filter(|_| self.was_visited && self.answer == Answer::There)?;
        let original = tracks.get(&of)?;
        // After the change, the URL of the two that was visited first was judged first. So it has no twin, or another
        // one.
        let same = |one: Option<u64>, other: Option<u64>| one.is_some() && one == other;
        let agrees = self.twin == Some(of)
            || original.twin == Some(own)
            || same(original.twin, self.twin)
            || same(original.digest, self.digest);
        (!(agrees && self.changed)).then_some(of)
    }

    /// Whether the last answer was a page that could be compared with others.
    pub fn is_comparable(&self) -> bool {
        self.answer == Answer::There && self.is_judged
    }

    /// Whether the last answer was a page.
    pub fn is_there(&self) -> bool {
        self.answer == Answer::There
    }

    /// The change of the URL since the moment; `None` if it was not visited, or if nothing can be said.
    pub fn change(&self) -> Option<UrlChange> {
        if !self.was_visited {
            return None;
        }
        let was_away = self.was_away || self.away_before;
        if self.answer == Answer::There {
            return Some(match self.base {
                // The crawl had met the URL before the moment, but it never had a page then. So the page cannot be
                // back.
                None if !self.lacks_first => UrlChange::New,
                _ if was_away => UrlChange::Back,
                None if self.lacks_first && self.changed => UrlChange::Changed,
                None => UrlChange::Unchanged,
                Some(_) if self.changed && self.digest != self.base_digest => UrlChange::Changed,
                Some(_) => UrlChange::Unchanged,
            });
        }
        // If there was no page before the moment, nothing has changed.
        self.base?;
        match (self.answer, self.misses) {
            // This was already so before the moment.
            (Answer::Missing, _) if self.misses_before >= 2 => None,
            (Answer::Moved | Answer::Withheld | Answer::Failing, _) if self.answer_before == self.answer => None,
            // There was no page right before the moment.
            (Answer::Failing, _) if self.away_before => None,
            (Answer::Moved, _) => Some(UrlChange::Moved),
            (Answer::Withheld, _) => Some(UrlChange::Withheld),
            (Answer::Missing, 1) => Some(UrlChange::Missing),
            (Answer::Missing, _) => Some(UrlChange::Gone),
            _ => Some(UrlChange::Failing),
        }
    }
}

/// The key of a URL while lines are read.
pub(super) fn key(url: &str) -> u64 {
    xxh3_64(url.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Stands for the digest of a page that may not be used.
    const WITHHELD: u32 = u32::MAX;

    /// Makes a history of visits, given as (day, status, changed, digest). Days before day 5 are before the moment. The
    /// lines of the first `gone` visits are missing.
    fn track(visits: &[(u32, u16, Option<&str>, u32)], gone: usize) -> Track {
        let mut track = Track::default();
        for (at, (day, status, changed, digest)) in visits.iter().enumerate().skip(gone) {
            let line = json!({
                "url": "http://a.test/", "visit": at + 1, "resemblance_before": changed.map(|_| f64::from(10 - day) / 10.0),
                "status": status, "fetched_at": format!("2026-01-{day:02}T00:00:00.000Z"),
                "changed": changed, "sha256": (*status == 200).then(|| format!("{digest:064x}").chars().rev().collect::<String>()),
                "verdict": "unique", "title": (*status == 200).then_some("a title"),
                "error": (*digest == WITHHELD).then_some("not stored: noai (header)"),
            })
            .to_string();
            track.add(at as u64, &PageLine::parse(line.as_bytes()).unwrap(), "2026-01-05T00:00:00.000Z");
        }
        track
    }

    fn change(visits: &[(u32, u16, Option<&str>, u32)]) -> Option<UrlChange> {
        track(visits, 0).change()
    }

    #[test]
    fn a_later_visit_is_no_new_page_where_the_first_one_is_in_a_part_that_is_gone() {
        let visits = [(1, 200, None, 1), (6, 200, Some("no"), 1), (7, 200, Some("content"), 2)];
        assert_eq!(track(&visits[..2], 1).change(), Some(UrlChange::Unchanged));
        assert_eq!(track(&visits, 1).change(), Some(UrlChange::Changed));
    }

    #[test]
    fn the_resemblance_is_the_smallest_since_the_moment() {
        let visits = |days: [u32; 3]| {
            let [a, b, c] = days.map(|day| (day, 200, Some("content"), day));
            track(&[(1, 200, None, 1), a, b, c], 0).resemblance
        };
        // The later the day, the less the page resembles the page before.
        assert_eq!((visits([4, 5, 9]), visits([9, 9, 6])), (Some(0.1), Some(0.1)));
        assert_eq!(visits([3, 4, 4]), None, "before the moment");
    }

    /// Catches a page without a title because its last line before the moment is that of a 304.
    #[test]
    fn the_last_line_with_a_title_is_known() {
        let visits = [(1, 200, None, 1), (2, 304, Some("no"), 1), (6, 404, None, 0)];
        assert_eq!(track(&visits, 0).titled, Some(0));
        assert_eq!(track(&visits[1..], 0).titled, None);
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
            (vec![(1, 404, None, 0), (6, 200, None, 1)], Some(UrlChange::New)),
            (vec![(6, 200, None, 1), (7, 404, None, 0), (8, 200, no, 1)], Some(UrlChange::New)),
            (vec![first, (6, 200, None, WITHHELD)], Some(UrlChange::Withheld)),
            (vec![first, (6, 304, None, WITHHELD)], Some(UrlChange::Withheld)),
            (vec![first, (4, 200, None, WITHHELD), (6, 304, None, WITHHELD)], None),
            (vec![first, (4, 200, None, WITHHELD), (6, 200, no, 1)], Some(UrlChange::Back)),
            (vec![(6, 200, None, WITHHELD)], None),
            (vec![first, (6, 500, None, 0)], Some(UrlChange::Failing)),
            (vec![first, (6, 403, None, 0)], Some(UrlChange::Failing)),
            (vec![first, (4, 403, None, 0), (6, 503, None, 0)], None),
            (vec![first, (3, 404, None, 0), (4, 404, None, 0), (6, 503, None, 0)], None),
            (vec![first, (4, 503, None, 0), (6, 200, no, 1)], Some(UrlChange::Unchanged)),
            (vec![first, (6, 301, None, 0)], Some(UrlChange::Moved)),
            (vec![first, (4, 301, None, 0), (6, 302, None, 0)], None),
            (vec![first, (4, 301, None, 0), (6, 200, no, 1)], Some(UrlChange::Back)),
            (vec![first, (4, 301, None, 0), (6, 404, None, 0)], Some(UrlChange::Missing)),
            (vec![first, (3, 404, None, 0), (4, 500, None, 0), (6, 200, no, 1)], Some(UrlChange::Back)),
            (vec![first, (3, 301, None, 0), (4, 503, None, 0), (6, 200, content, 2)], Some(UrlChange::Back)),
            (vec![first, (3, 301, None, 0), (4, 200, no, 1), (6, 200, no, 1)], Some(UrlChange::Unchanged)),
            (vec![first, (4, 301, None, 0), (6, 503, None, 0)], None),
            (vec![(6, 301, None, 0)], None),
        ];
        for (visits, expected) in cases {
            assert_eq!(change(&visits), expected, "{visits:?}");
        }
    }

    /// Catches a page behind a redirect that sets a cookie, which is told as one that was elsewhere.
    #[test]
    fn a_redirect_that_leads_back_is_no_move() {
        let of = |changed: &str, target: &str, end: Option<&str>| {
            let mut track = Track::default();
            let mut line = |visit: u32, day: u32, more: serde_json::Value| {
                let mut line = json!({"url": "http://a.test/", "visit": visit, "verdict": "unique",
                    "fetched_at": format!("2026-01-{day:02}T00:00:00.000Z"), "sha256": format!("{visit:x}").repeat(64)});
                line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
                let line = line.to_string();
                track.add(visit.into(), &PageLine::parse(line.as_bytes()).unwrap(), "2026-01-05T00:00:00.000Z");
            };
            line(1, 1, json!({"status": 200}));
            line(2, 6, json!({"status": 302, "via": "again", "redirect_to": target}));
            if let Some(via) = end {
                line(3, 6, json!({"status": 200, "via": via, "changed": changed}));
            }
            track.change()
        };
        for target in ["http://a.test/", "http://a.test/cookie"] {
            assert_eq!(of("content", target, Some("redirect")), Some(UrlChange::Changed), "{target}");
            assert_eq!(of("no", target, Some("redirect")), Some(UrlChange::Unchanged), "{target}");
        }
        assert_eq!(of("no", "http://a.test/cookie", Some("again")), Some(UrlChange::Back));
        assert_eq!(of("", "http://a.test/cookie", None), Some(UrlChange::Moved));
        assert_eq!(of("", "http://a.test/", None), Some(UrlChange::Failing), "a loop");
    }

    #[test]
    fn a_copy_that_did_not_change_with_its_page_has_left_it() {
        let (page, copy) = ("http://a.test/p", "http://a.test/c");
        let history = |url: &str, visits: &[(u32, Option<&str>, &str, Option<&str>)]| {
            let mut track = Track::default();
            for (at, (day, changed, verdict, of)) in visits.iter().enumerate() {
                let line = json!({
                    "url": url, "visit": at + 1, "status": 200, "fetched_at": format!("2026-01-{day:02}T00:00:00.000Z"),
                    "changed": changed, "verdict": verdict, "duplicate_of": of,
                })
                .to_string();
                track.add(at as u64, &PageLine::parse(line.as_bytes()).unwrap(), "2026-01-05T00:00:00.000Z");
            }
            track
        };
        let content = Some("content");
        let cases = [
            ((content, "unique", None), None, false),
            ((content, "unique", None), Some((Some("no"), "unchanged", None)), true),
            ((content, "unique", None), Some((content, "exact", Some(page))), false),
            ((content, "exact", Some(copy)), Some((content, "unique", None)), false),
            ((content, "unique", None), Some((content, "unique", None)), true),
        ];
        for (of_page, of_copy, left) in cases {
            let later = |(changed, verdict, of)| (6, changed, verdict, of);
            let of_page = history(page, &[(1, None, "unique", None), later(of_page)]);
            let visits: Vec<_> = [(1, None, "exact", Some(page))].into_iter().chain(of_copy.map(later)).collect();
            let tracks = HashMap::from([(key(page), of_page), (key(copy), history(copy, &visits))]);
            assert_eq!(tracks[&key(copy)].left(key(copy), &tracks), left.then_some(key(page)), "{of_copy:?}");
        }
    }
}
