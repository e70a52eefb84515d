//! The history of one URL before and since a moment, from the lines of `pages.jsonl`.

#[cfg(test)]
mod tests;

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
    /// It was visited, its content has not changed, and it says something else about itself.
    Restated,
    /// It was visited, and nobody compared it with what it showed before: its body was cut or not read, for example.
    NotCompared,
}

impl UrlChange {
    /// Whether the URL had a page at the moment, and has one now.
    pub fn is_of_a_page(self) -> bool {
        matches!(self, Self::Unchanged | Self::NotCompared | Self::Restated | Self::Changed)
    }
}

/// At most this many redirects are followed.
const MOST_HOPS: usize = 10;

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

/// What a page says about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stated {
    noindex: bool,
    /// The canonical URL, if it is another one.
    canonical: Option<u64>,
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
    /// The last answer that tells whether the URL has a page, up to the last line, and up to the moment. An error of
    /// the server does not tell that.
    settled: Answer,
    settled_before: Answer,
    /// If the last line is a redirect, its target; the same at the moment.
    target: Option<u64>,
    target_before: Option<u64>,
    /// If the last line is a redirect: `was_away` before it, and before the redirects that led to it.
    before_redirect: Option<bool>,
    /// Whether some visit since the moment showed another content, and the number of such visits.
    changed: bool,
    changes: u32,
    /// The content of the last page, as its fingerprint and its number of words tell it; the same at the moment.
    content: Option<(u64, u64)>,
    content_before: Option<(u64, u64)>,
    /// Whether the last page was compared with the one before. A 304 is a comparison that the server made.
    was_compared: bool,
    /// What the last page said about itself, and what it said at the moment, each with its line. (A 304 does not repeat
    /// it.)
    stated: Option<(u64, Stated)>,
    stated_before: Option<(u64, Stated)>,
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
        let before = self.before_redirect.filter(|_| page.via.as_deref() == Some("redirect"));
        if let Some(was_away) = before.filter(|_| is_there) {
            // The redirects have led back to this URL (with a cookie, say), so the page was not elsewhere.
            self.was_away = was_away;
        }
        self.before_redirect = (answer == Answer::Moved).then_some(before.unwrap_or(self.was_away));
        if answer != Answer::Failing {
            self.settled = answer;
        }
        self.target = page.redirect_to.as_deref().filter(|_| answer == Answer::Moved).map(key);
        if is_since {
            self.was_away |= answer.is_away();
            let is_change = page.changed.as_deref() == Some("content");
            self.changed |= is_change;
            self.changes += u32::from(is_change);
            let both = self.resemblance.into_iter().chain(page.resemblance_before);
            self.resemblance = both.min_by(f64::total_cmp);
            if matches!(page.changed.as_deref(), Some("bytes" | "content")) {
                self.visits.push(offset);
            }
        } else {
            (self.misses_before, self.answer_before) = (self.misses, answer);
            (self.settled_before, self.target_before) = (self.settled, self.target);
        }
        self.answer = answer;
        if !is_there {
            return;
        }
        self.was_compared = page.changed.is_some() || page.status == Some(304) && page.verdict != Word::Unjudged;
        if page.status != Some(304) {
            let stated = Stated { noindex: page.noindex, canonical: page.canonical.as_deref().map(key) };
            self.stated = Some((offset, stated));
        }
        if page.title.is_some() {
            self.titled = Some(offset);
        }
        // A 304 has no digest: the page is as it was.
        let digest = page.sha256.as_deref().and_then(|digits| u64::from_str_radix(digits.get(..16)?, 16).ok());
        // A file that was not read has no digest either, but it is not as it was.
        let is_unread = page.changed.as_deref() == Some("content") && digest.is_none();
        self.digest = if is_unread { None } else { digest.or(self.digest) };
        if let Some(simhash) = page.simhash.as_deref() {
            self.content = Some((key(simhash), page.words));
        } else if is_unread || page.changed.as_deref() == Some("content") {
            self.content = None;
        }
        if !is_since {
            (self.base, self.base_digest, self.stated_before) = (Some(offset), self.digest, self.stated);
            self.content_before = self.content;
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

    /// If the page says something else about itself than at the moment: the line that said it then, and the line that
    /// says it now.
    pub fn restated(&self) -> Option<[u64; 2]> {
        let ((before, then), (last, now)) = (self.stated_before?, self.stated?);
        (self.is_there() && then != now).then_some([before, last])
    }

    /// Whether the page shows again what it showed at the moment: the same bytes, or, after two changes or more, the same
    /// content.
    fn is_as_before(&self) -> bool {
        let has_same_content = self.content.is_some() && self.content == self.content_before;
        self.digest == self.base_digest || self.changes > 1 && has_same_content
    }

    /// Whether redirects lead from this URL, whose key is `own`, back to it.
    pub fn leads_round(&self, own: u64, tracks: &HashMap<u64, Self>) -> bool {
        let mut at = self.target;
        for _ in 0..MOST_HOPS {
            match at {
                Some(url) if url == own => return true,
                Some(url) => at = tracks.get(&url).and_then(|track| track.target),
                None => return false,
            }
        }
        false
    }

    /// The change of the URL since the moment; `None` if it was not visited, or if nothing can be said.
    pub fn change(&self) -> Option<UrlChange> {
        if !self.was_visited {
            return None;
        }
        let was_away = self.was_away || self.settled_before.is_away();
        if self.answer == Answer::There {
            return Some(match self.base {
                // The crawl had met the URL before the moment, but it never had a page then. So the page cannot be
                // back.
                None if !self.lacks_first => UrlChange::New,
                _ if was_away => UrlChange::Back,
                None if self.lacks_first && self.changed => UrlChange::Changed,
                Some(_) if self.changed && !self.is_as_before() => UrlChange::Changed,
                _ if self.restated().is_some() => UrlChange::Restated,
                _ if self.was_compared => UrlChange::Unchanged,
                _ => UrlChange::NotCompared,
            });
        }
        // If there was no page before the moment, nothing has changed.
        self.base?;
        match (self.answer, self.misses) {
            // This was already so before the moment.
            (Answer::Missing, _) if self.misses_before >= 2 => None,
            (Answer::Missing, 1) if self.settled_before == Answer::Missing => None,
            (Answer::Moved, _) if self.target != self.target_before => Some(UrlChange::Moved),
            (Answer::Moved | Answer::Withheld | Answer::Failing, _) if self.answer_before == self.answer => None,
            // There was no page right before the moment.
            (Answer::Failing, _) if self.settled_before.is_away() => None,
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
