//! The changes on the web between two moments of a crawl, read from its outputs: pages new, changed, gone, back, moved,
//! failing and withheld.
//!
//! `pages.jsonl` is read once, with some tens of bytes in memory for each URL (`track`). The lines of the pages in the
//! result are read again. If the archive has both bodies of a changed page, the result has the sentences that changed
//! (`sentences`), and `edit` shows an edited sentence in one line.

pub mod edit;
mod present;
mod sentences;
mod track;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io;
use std::path::Path;

use dedup_stage::url::PageId;
use frontier::{Millis, SkipReason};
use serde::{Deserialize, Serialize};

use crate::clock::{self, rfc3339};
use crate::record::PageRecord;
use crate::report::bodies::Bodies;
use crate::report::line::{PageLine, Word};
use crate::report::source::Lines;
use crate::sink::PagesJsonl;
use crate::unvisited::Records;
use track::{Track, UrlChange};

pub use present::Present;
pub use sentences::{Sentences, TextDifference};

/// The changes since a moment. Pages are sorted by URL, except changed pages: of these, the ones that changed most come
/// first.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Diff {
    /// The moment, as RFC 3339.
    pub since: String,
    /// Pages fetched for the first time.
    pub new: Vec<Page>,
    /// Pages whose content has changed.
    pub changed: Vec<Page>,
    /// Pages missing (404 or 410) at two visits in a row.
    pub gone: Vec<Page>,
    /// Pages missing at the last visit, and not at the one before.
    pub missing: Vec<Page>,
    /// Pages that were missing or gone, redirected elsewhere, or withheld, and are there again.
    pub back: Vec<Page>,
    /// URLs that had a page, and now redirect elsewhere.
    pub moved: Vec<Page>,
    /// URLs that had a page, and are now answered with another error than 404 and 410, or not at all.
    pub failing: Vec<Page>,
    /// Pages that may not be used any more for the purpose of the crawl, or that robots.txt forbids now
    /// ([`Page::reason`]).
    pub withheld: Vec<Page>,
    /// Pages whose content has not changed, and which say something else about themselves ([`Page::restated`]).
    pub restated: Vec<Page>,
    /// Hosts that could not be asked when the last round ended.
    pub unreachable: Vec<Host>,
    /// The number of new pages that are proven copies of earlier pages ([`Page::is_copy`]).
    pub new_copies: u64,
    /// The number of pages that were visited and have not changed. (Pages in `restated` are not among them.)
    pub unchanged: u64,
    /// The number of pages that were visited and not compared: their bodies were cut at a limit, or not read (files
    /// without an archive, for example). They may have changed.
    pub not_compared: u64,
    /// The names of parts of `pages.jsonl` that are missing. What they said is not in the result.
    pub parts_gone: Vec<String>,
}

/// A host that could not be asked.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Host {
    /// Its name.
    pub host: String,
    /// The number of its pages that were to be visited and could not be.
    pub pages: u64,
    /// The end of the first round that could not ask it, as RFC 3339.
    pub since: String,
}

/// What a page says about itself, and what it said before.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Restated {
    /// Whether it asks search engines not to list it.
    pub noindex: bool,
    /// The same at the moment.
    pub noindex_before: bool,
    /// The URL that it names as its own, if it is another one.
    pub canonical: Option<String>,
    /// The same at the moment.
    pub canonical_before: Option<String>,
}

/// A page in the result.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Page {
    /// The URL.
    pub url: String,
    /// The title. For a missing page, it is the last title that is known.
    pub title: Option<String>,
    /// The time of the last visit.
    pub fetched_at: String,
    /// The time at which its earlier content was seen.
    pub before: Option<String>,
    /// The status of the answer at the last visit.
    pub status: Option<u16>,
    /// The URL to which the last answer redirects, if it does.
    pub redirect_to: Option<String>,
    /// For a new page: a URL that had a page, and redirects to this one now.
    pub moved_from: Option<String>,
    /// The error at the last visit, if there was one.
    pub error: Option<String>,
    /// For a withheld page: `purpose` or `robots`.
    pub reason: Option<&'static str>,
    /// For a withheld page that was not asked for: when the next visit was refused first, as RFC 3339.
    pub since: Option<String>,
    /// The verdict on what it shows now, as in `pages.jsonl` at the visit that showed it first.
    pub verdict: Option<String>,
    /// The URL of the earlier page that it repeats, if the verdict is `exact` or `near`.
    pub duplicate_of: Option<String>,
    /// Whether it is a proven copy of that page: it has the same words.
    pub is_copy: bool,
    /// For a page that changed or came back: the share of word sequences that it has in common with its content at the
    /// visit before, 0..1. If there were several visits since the moment, it is the smallest share.
    pub resemblance_before: Option<f64>,
    /// For a changed page: the number of copies that were not visited, because they are trusted to have changed with
    /// it.
    pub copies: u64,
    /// For a changed page: some of the links that the crawl had not met before.
    pub new_links: BTreeSet<String>,
    /// For a changed page: some of the links that it showed before and does not show any more.
    pub gone_links: BTreeSet<String>,
    /// What it says about itself, for a page that is there and says something else than before.
    pub restated: Option<Restated>,
    /// For a changed page whose bodies are in the archive: the sentences that changed.
    pub sentences: Option<Sentences>,
}

impl Diff {
    /// The most changed pages whose bodies are looked up in the archive.
    const COMPARED: usize = 1_000;

    /// Reads the outputs of the crawl in `dir`. With `present`, links that came back, or that went again, are left out.
    pub fn read(dir: &Path, since: Millis, present: Option<Present<'_>>) -> io::Result<Self> {
        let lines = Lines::open(dir, PagesJsonl::NAME, None)?;
        let tracks = track::read(&lines, &rfc3339(since))?;
        let parts_gone = lines.gone()?.into_iter().map(|part| part.name).collect();
        let mut diff = Self { since: rfc3339(since), parts_gone, ..Self::default() };
        let (refused, returned) = diff.take_unvisited(&tracks, &lines, since, present)?;
        let mut told: Vec<(&u64, &Track, UrlChange)> = Vec::new();
        for (url, track) in tracks.iter().filter(|(url, _)| !refused.contains(url)) {
            match track.change() {
                Some(change) if change.is_of_a_page() && returned.contains(url) => {
                    told.push((url, track, UrlChange::Back));
                }
                // No page is at the end of these redirects.
                Some(UrlChange::Moved) if track.leads_round(*url, &tracks) => {
                    told.push((url, track, UrlChange::Failing));
                }
                Some(UrlChange::Unchanged) => diff.unchanged += 1,
                Some(UrlChange::NotCompared) => diff.not_compared += 1,
                Some(change) => told.push((url, track, change)),
                None => {}
            }
        }
        let copies = copies(&tracks, &told);
        for (url, track, change) in told {
            let mut page = page(&lines, track, present)?;
            page.copies = copies.get(url).copied().unwrap_or(0);
            let group = match change {
                UrlChange::New => &mut diff.new,
                UrlChange::Changed => &mut diff.changed,
                UrlChange::Gone => &mut diff.gone,
                UrlChange::Missing => &mut diff.missing,
                UrlChange::Back => &mut diff.back,
                UrlChange::Moved => &mut diff.moved,
                UrlChange::Failing => &mut diff.failing,
                UrlChange::Withheld => {
                    page.reason = Some(SkipReason::Purpose.name());
                    &mut diff.withheld
                }
                UrlChange::Restated => &mut diff.restated,
                UrlChange::Unchanged | UrlChange::NotCompared => continue,
            };
            if change == UrlChange::New {
                // There was no page before.
                page.new_links.clear();
                page.gone_links.clear();
            } else {
                page.resemblance_before = track.resemblance;
            }
            group.push(page);
        }
        diff.new_copies = diff.new.iter().filter(|page| page.is_copy).count() as u64;
        diff.sort();
        diff.pair_moved();
        diff.compare(dir)?;
        Ok(diff)
    }

    /// Takes the records of visits that could not be made. Returns the keys of pages that are withheld since the moment,
    /// and of those that were withheld and have been fetched again since the moment.
    fn take_unvisited(
        &mut self,
        tracks: &HashMap<u64, Track>,
        lines: &Lines,
        since: Millis,
        present: Option<Present<'_>>,
    ) -> io::Result<(HashSet<u64>, HashSet<u64>)> {
        let (mut keys, mut returned) = (HashSet::new(), HashSet::new());
        let Some(Present { session, .. }) = present else { return Ok((keys, returned)) };
        let Records { refused, back, unreachable } = Records::read(session).map_err(io::Error::other)?;
        let is_withheld = |reason| matches!(reason, SkipReason::Robots | SkipReason::Purpose);
        for (id, refused) in refused {
            if !is_withheld(refused.reason) || refused.since < since {
                continue;
            }
            let record =
                PageRecord::get(PageId { url: id, visit: refused.visit }, session).map_err(io::Error::other)?;
            let Some(key) = record.map(|record| track::key(&record.url)) else { continue };
            let Some(track) = tracks.get(&key).filter(|track| track.is_there()) else { continue };
            let (reason, since) = (Some(refused.reason.name()), Some(rfc3339(refused.since)));
            self.withheld.push(Page { reason, since, ..page(lines, track, None)? });
            keys.insert(key);
        }
        for (id, refused) in
            back.into_iter().filter(|(_, refused)| is_withheld(refused.reason) && refused.back >= since)
        {
            let record =
                PageRecord::get(PageId { url: id, visit: refused.visit }, session).map_err(io::Error::other)?;
            returned.extend(record.map(|record| track::key(&record.url)));
        }
        let hosts = unreachable.into_iter().map(|(_, host)| host).filter(|host| host.last >= since);
        self.unreachable =
            hosts.map(|host| Host { host: host.host, pages: host.pages, since: rfc3339(host.since) }).collect();
        self.unreachable.sort_by(|a, b| a.host.cmp(&b.host));
        Ok((keys, returned))
    }

    fn sort(&mut self) {
        let Self { new, changed, gone, missing, back, moved, failing, withheld, restated, .. } = self;
        for group in [new, changed, gone, missing, back, moved, failing, withheld, restated] {
            group.sort_by(|a, b| a.url.cmp(&b.url));
        }
        let alike = |page: &Page| page.resemblance_before.unwrap_or(0.0);
        self.changed.sort_by(|a, b| alike(a).total_cmp(&alike(b)));
    }

    /// For each new page to which a moved page redirects, stores the URL of the moved page.
    fn pair_moved(&mut self) {
        let targets = self.moved.iter().filter_map(|page| Some((page.redirect_to.as_deref()?, &page.url)));
        let from: HashMap<&str, &String> = targets.collect();
        for page in &mut self.new {
            page.moved_from = from.get(page.url.as_str()).map(|url| (*url).clone());
        }
    }

    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        let Self { new, changed, gone, missing, back, moved, failing, withheld, restated, .. } = self;
        self.unreachable.is_empty()
            && [new, changed, gone, missing, back, moved, failing, withheld, restated]
                .iter()
                .all(|pages| pages.is_empty())
    }

    /// Finds the sentences that changed.
    fn compare(&mut self, dir: &Path) -> io::Result<()> {
        let some = &mut self.changed[..];
        let most = some.len().min(Self::COMPARED);
        let urls: HashSet<String> = some[..most].iter().map(|page| page.url.clone()).collect();
        let bodies = Bodies::find(dir, &urls.iter().map(String::as_str).collect())?;
        for page in &mut some[..most] {
            page.sentences = sentences(&bodies, page);
        }
        Ok(())
    }
}

fn sentences(bodies: &Bodies, page: &Page) -> Option<Sentences> {
    let (then, before) = bodies.content_as_of(&page.url, clock::parse(page.before.as_deref()?)?)?;
    let (now, after) = bodies.content_as_of(&page.url, clock::parse(&page.fetched_at)?)?;
    // If a page came back without its body (304, say), the archive has nothing new.
    (now > then).then(|| Sentences::of(&before, &after))
}

/// The number of URLs that were not visited and are trusted to show what a changed page shows now, for each changed
/// page. If the page cannot be compared any more (it is empty, say), or if a visit to another copy has shown that this
/// copy has not changed with the page, no copy is trusted to have done so.
fn copies(tracks: &HashMap<u64, Track>, told: &[(&u64, &Track, UrlChange)]) -> HashMap<u64, u64> {
    let against: HashSet<u64> = tracks.iter().filter_map(|(url, track)| track.left(*url, tracks)).collect();
    let changed = told.iter().filter(|(.., change)| *change == UrlChange::Changed);
    let changed = changed.filter(|(url, track, _)| track.is_comparable() && !against.contains(url));
    let mut copies: HashMap<u64, u64> = changed.map(|(url, ..)| (**url, 0)).collect();
    for twin in tracks.values().filter(|track| track.change().is_none()).filter_map(|track| track.twin) {
        if let Some(count) = copies.get_mut(&twin) {
            *count += 1;
        }
    }
    copies
}

/// Makes a page from its lines.
fn page(lines: &Lines, track: &Track, present: Option<Present<'_>>) -> io::Result<Page> {
    let (mut page, mut visit, mut has_links) = (Page::default(), 0, true);
    for line in lines.at(track.titled)? {
        page.title = PageLine::parse(&line).and_then(|line| Some(line.title?.to_string()));
    }
    let offsets = track.base.iter().chain([&track.last]).copied();
    for line in lines.at(offsets)? {
        let Some(line) = PageLine::parse(&line) else { continue };
        page.before = Some(std::mem::take(&mut page.fetched_at)).filter(|time| !time.is_empty());
        page.url = line.url.to_string();
        page.fetched_at = line.fetched_at.to_string();
        (page.redirect_to, page.error) =
            (line.redirect_to.as_deref().map(str::to_owned), line.error.as_deref().map(str::to_owned));
        page.status = line.status;
        visit = line.visit;
        // The graph has the last links that were known.
        has_links = line.links > 0 || !matches!(line.status, Some(200..300));
    }
    page.restated = track.restated().map(|places| restated(lines, places)).transpose()?;
    for line in lines.at(track.judged)? {
        let Some(line) = PageLine::parse(&line).filter(|_| track.is_there()) else { continue };
        page.verdict = Some(line.verdict.name().to_owned());
        page.duplicate_of = line.duplicate_of.as_deref().map(str::to_owned);
        let has_same_words = line.distance == Some(0) && line.resemblance == Some(1.0);
        page.is_copy = page.duplicate_of.is_some() && (line.verdict == Word::Exact || has_same_words);
    }
    for line in lines.at(track.visits.iter().copied())? {
        let Ok(links) = serde_json::from_slice::<Links>(&line) else { continue };
        let (new, gone) = (links.new_links.unwrap_or_default(), links.gone_links.unwrap_or_default());
        // A link that came at one visit may go at the next.
        for url in gone {
            if !page.new_links.remove(&url) {
                page.gone_links.insert(url);
            }
        }
        page.gone_links.retain(|url| !new.contains(url));
        page.new_links.extend(new);
    }
    if !has_links {
        page.new_links.clear();
    } else if (!page.new_links.is_empty() || !page.gone_links.is_empty())
        && let Some(present) = present
        && let Some(links) = present.links(&page.url, visit)?
    {
        page.new_links.retain(|url| links.has(url));
        page.gone_links.retain(|url| !links.has(url));
    }
    Ok(page)
}

/// What two lines of a page say about it.
fn restated(lines: &Lines, places: [u64; 2]) -> io::Result<Restated> {
    let mut restated = Restated::default();
    for line in lines.at(places)? {
        let Some(line) = PageLine::parse(&line) else { continue };
        let canonical = line.canonical.as_deref().map(str::to_owned);
        restated.noindex_before = std::mem::replace(&mut restated.noindex, line.noindex);
        restated.canonical_before = std::mem::replace(&mut restated.canonical, canonical);
    }
    Ok(restated)
}

/// The links that a line of `pages.jsonl` names.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Links {
    new_links: Option<Vec<String>>,
    gone_links: Option<Vec<String>>,
}
