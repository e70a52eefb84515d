//! The latest version of each URL: whether its page is alive, and which pages have the same content. This is read from
//! the lines of `pages.jsonl`. It takes about a hundred bytes of memory for each URL.
//!
//! A line names its twin by URL, and a twin may change later. So each content that a URL has shown has a number. A
//! duplicate gets the number of the content that its twin shows, and keeps it when the twin changes. Pages with the
//! same number are a cluster.

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_64;

use crate::report::line::{PageLine, Word};

/// The key of a URL while lines are read.
pub(super) fn key(url: &str) -> u64 {
    xxh3_64(url.as_bytes())
}

/// The contents of all URLs.
#[derive(Debug, Default)]
pub(super) struct Latest {
    pages: HashMap<u64, Page>,
    /// The parent of each content, in a union-find forest. Two contents are united if the lines do not come in the
    /// order of the visits (pages of several workers).
    parents: Vec<u32>,
}

/// The contents of one URL.
#[derive(Debug, Default)]
struct Page {
    /// Whether a line of the URL was read. Otherwise, only another line has named it.
    has_line: bool,
    /// Whether the last answer was a page that may be used. A server error does not change this; 404, 410 and a
    /// redirect do.
    is_alive: bool,
    /// The visit at which the content of now was first shown, after other content; `None` if the line of that visit is
    /// not there.
    visit: Option<u32>,
    /// All contents that the URL has shown. `now` is the index of the latest one.
    shown: Vec<ShownVersion>,
    now: usize,
}

/// One content of a URL.
#[derive(Clone, Copy, Debug)]
struct ShownVersion {
    content: u32,
    /// The first 64 bits of the digest of the bytes.
    digest: Option<u64>,
    simhash: Option<u64>,
}

impl Latest {
    /// Adds the next line.
    pub fn add(&mut self, line: &PageLine<'_>) {
        let url = key(&line.url);
        let page = self.pages.entry(url).or_default();
        let is_first = !page.has_line;
        page.has_line = true;
        if line.is_withheld() {
            // What was kept at an earlier visit may not be used any more.
            page.is_alive = false;
            return;
        }
        match line.status {
            // A page that was not received whole changes nothing, unless it is the first.
            Some(200..300) if line.error.is_some() && !is_first => {}
            Some(200..300 | 304) => {
                page.is_alive = true;
                self.show(url, line, is_first);
            }
            Some(300..400 | 404 | 410) => page.is_alive = false,
            _ => {}
        }
    }

    /// Records that a page shows the content of a line.
    fn show(&mut self, url: u64, line: &PageLine<'_>, is_first: bool) {
        let hex = |text: &str| u64::from_str_radix(text.get(..16)?, 16).ok();
        let digest = line.sha256.as_deref().and_then(hex);
        let simhash = line.simhash.as_deref().and_then(hex);
        let says_the_same = line.verdict == Word::Unchanged || line.status == Some(304);
        let page = self.pages.entry(url).or_default();
        if says_the_same && let Some(shown) = page.shown.get_mut(page.now) {
            // The content is the same, but the bytes may have changed.
            *shown = ShownVersion {
                content: shown.content,
                digest: digest.or(shown.digest),
                simhash: simhash.or(shown.simhash),
            };
            return;
        }
        let earlier = page.shown.iter().position(|shown| shown.is(digest, simhash));
        // Another page has named this one as its twin before this page's own line came.
        let named = page.shown.first().map(|shown| shown.content).filter(|_| is_first);
        let content = match (line.verdict, &line.duplicate_of) {
            (Word::Exact | Word::Near, Some(twin)) => {
                let content = self.content_of_twin(key(twin), digest, simhash, line.distance);
                named.map_or(content, |named| self.unite(content, named))
            }
            _ => match (earlier, named) {
                (Some(place), _) => self.pages[&url].shown[place].content,
                (None, Some(named)) => named,
                (None, None) => self.new_content(),
            },
        };
        let page = self.pages.entry(url).or_default();
        page.visit = (!says_the_same).then_some(line.visit);
        let shown = ShownVersion { content, digest, simhash };
        match earlier.or(named.map(|_| 0)) {
            Some(place) => (page.now, page.shown[place]) = (place, shown),
            None => {
                page.now = page.shown.len();
                page.shown.push(shown);
            }
        }
    }

    /// The content that the twin of a page showed when it was the twin. Of all contents of the twin, this is the one
    /// whose distance from the page fits the line best.
    fn content_of_twin(&mut self, twin: u64, digest: Option<u64>, simhash: Option<u64>, distance: Option<u32>) -> u32 {
        let page = self.pages.entry(twin).or_default();
        if page.shown.is_empty() {
            let content = self.new_content();
            let page = self.pages.entry(twin).or_default();
            page.shown.push(ShownVersion { content, digest: None, simhash: None });
            // The twin counts as alive, unless its own line says otherwise.
            page.is_alive |= !page.has_line;
            return content;
        }
        let off = |shown: &ShownVersion| match (shown.simhash, simhash) {
            _ if digest.is_some() && shown.digest == digest => 0,
            (Some(its), Some(own)) => 1 + (its ^ own).count_ones().abs_diff(distance.unwrap_or(0)),
            _ => 65,
        };
        let latest = page.shown[page.now];
        page.shown.iter().copied().chain([latest]).rev().min_by_key(off).unwrap_or(latest).content
    }

    fn new_content(&mut self) -> u32 {
        let content = u32::try_from(self.parents.len()).unwrap_or(u32::MAX);
        self.parents.push(content);
        content
    }

    /// Unites two contents.
    fn unite(&mut self, a: u32, b: u32) -> u32 {
        let (a, b) = (self.root(a), self.root(b));
        let (first, later) = (a.min(b), a.max(b));
        self.parents[later as usize] = first;
        first
    }

    fn root(&self, mut content: u32) -> u32 {
        while self.parents[content as usize] != content {
            content = self.parents[content as usize];
        }
        content
    }

    /// The cluster of a URL, if its page is alive. Also `None` if no line names the URL.
    pub fn cluster(&self, url: u64) -> Option<u32> {
        let page = self.pages.get(&url).filter(|page| page.is_alive)?;
        page.shown.get(page.now).map(|shown| self.root(shown.content))
    }

    /// Whether a line of `pages.jsonl` is about this URL, or names it.
    pub fn has(&self, url: u64) -> bool {
        self.pages.contains_key(&url)
    }

    /// Whether the content that a URL shows now was first shown at this visit. If the line of that visit is missing,
    /// any visit may be it.
    pub fn is_of_visit(&self, url: u64, visit: u32) -> bool {
        self.pages.get(&url).and_then(|page| page.visit).is_none_or(|shown| shown == visit)
    }
}

impl ShownVersion {
    /// Whether this content has the same bytes or the same fingerprint.
    fn is(&self, digest: Option<u64>, simhash: Option<u64>) -> bool {
        digest.is_some() && self.digest == digest || simhash.is_some() && self.simhash == simhash
    }
}

/// Makes lines of `pages.jsonl` for the tests of the exports.
#[cfg(test)]
pub(super) mod lines {
    use serde_json::json;

    /// One visit to a URL: the URL, the visit, the status, the verdict, the twin, and a number that stands for the
    /// text. A page with status 200 that is unjudged may not be used.
    pub struct Seen(pub &'static str, pub u32, pub u16, pub &'static str, pub Option<&'static str>, pub u64);

    /// The line of a visit.
    pub fn line(Seen(url, visit, status, verdict, twin, text): &Seen) -> String {
        let digits = (*status == 200).then(|| format!("{text:016x}"));
        let distance = twin.map(|_| 0);
        json!({"url": url, "visit": visit, "status": status, "verdict": verdict, "duplicate_of": twin, "distance": distance,
            "error": (*verdict == "unjudged" && *status == 200).then_some("not stored: noai (header)"),
            "sha256": digits.as_ref().map(|digits| format!("{digits}{url:0>48}")), "simhash": digits})
        .to_string()
            + "\n"
    }

    /// A crawl, then a visit that finds `p` changed and `q` missing, then a visit that finds both as they were at
    /// first. In between, `n` comes and goes. At the end, `s` answers with a server error.
    pub const ROUNDS: [Seen; 14] = [
        Seen("p", 1, 200, "unique", None, 1),
        Seen("q", 1, 200, "unique", None, 2),
        Seen("p/copy", 1, 200, "near", Some("p"), 1),
        Seen("q/copy", 1, 200, "near", Some("q"), 2),
        Seen("s", 1, 200, "unique", None, 3),
        Seen("p", 2, 200, "unique", None, 4),
        Seen("p/copy", 2, 200, "unchanged", None, 1),
        Seen("q", 2, 404, "unjudged", None, 0),
        Seen("n", 1, 200, "unique", None, 5),
        Seen("q", 3, 200, "near", Some("q/copy"), 2),
        Seen("p", 3, 200, "near", Some("p/copy"), 1),
        Seen("p/copy", 3, 304, "unchanged", None, 1),
        Seen("n", 2, 404, "unjudged", None, 0),
        Seen("s", 2, 503, "unjudged", None, 0),
    ];
}
