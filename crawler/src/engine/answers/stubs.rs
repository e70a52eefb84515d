//! Labels pages that many URLs of a host show in place of the requested page: walls, and soft 404s.
//!
//! A *stub* is a page with little text of which the judge has found duplicates on its host. There are two other kinds
//! of stubs. If pages with hardly any text say something else each time, none is a duplicate of another; then all such
//! pages with the same title are one stub, if the title says what they are. The judge does not compare pages without
//! words; those whose bytes differ are one stub if they have the same title. The state has one small record for each
//! stub of each host, and nothing is kept in memory. OUTPUT.md explains the rule.

use dedup_stage::judge::{Judgement, Verdict};
use dedup_stage::store::codec;
use dedup_stage::url::UrlId;
use frontier::Job;
use frontier::rules::Content;
use serde::{Deserialize, Serialize};
use url::Url;
use xxhash_rust::xxh3::xxh3_64;

use super::twin::TwinPage;
use crate::engine::error::Result;
use crate::engine::message::PageFinding;
use crate::engine::state::EngineState;
use crate::spaces;
use crate::stub::{Label, Stub};

/// The record of a stub of one host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct StubRecord {
    /// The number of URLs that have shown it.
    urls: u32,
    /// The first segments of their paths, by a hash of six bits: a set of bits.
    folders: u64,
    /// The numbers of segments of their paths, up to seven: a set of bits.
    depths: u8,
    /// The label of the last page that got one.
    label: Option<Label>,
}

impl StubRecord {
    /// This many URLs show a stub before its pages get a label.
    const MANY: u32 = 10;
    /// A page that does not describe itself is a soft 404 if at least this many URLs show it.
    const UNLIKE_URLS: u32 = 20;
    /// These URLs must be in at least this many folders.
    const UNLIKE_FOLDERS: u32 = 8;
    /// Their paths must have at least this many different numbers of segments.
    const UNLIKE_DEPTHS: u32 = 3;

    /// Counts a URL that has shown the stub.
    fn add(&mut self, url: &Url) {
        self.urls = self.urls.saturating_add(1);
        let segments = url.path_segments().map(|all| all.filter(|segment| !segment.is_empty()).collect::<Vec<_>>());
        let segments = segments.unwrap_or_default();
        self.folders |= 1 << (xxh3_64(segments.first().copied().unwrap_or_default().as_bytes()) % 64);
        self.depths |= 1 << segments.len().min(7);
    }

    /// The label of one more page of the stub.
    fn label(&self, stub: Stub) -> Option<Label> {
        if self.urls <= Self::MANY {
            return None;
        }
        let unlike = stub.is_tiny
            && self.urls >= Self::UNLIKE_URLS
            && self.folders.count_ones() >= Self::UNLIKE_FOLDERS
            && self.depths.count_ones() >= Self::UNLIKE_DEPTHS;
        stub.says.or(self.label).or(unlike.then_some(Label::Soft404))
    }
}

impl EngineState<'_> {
    /// The label of a page. At the first visit to its URL, the page counts for its stub.
    pub(in crate::engine) fn label(
        &mut self,
        job: &Job,
        finding: &PageFinding,
        judgement: &Judgement,
        content: Option<Content>,
        twin: Option<&TwinPage>,
    ) -> Result<Option<Label>> {
        let Some(stub) = finding.stub else { return Ok(None) };
        let site = job.page.url.site;
        let page = &finding.page;
        // The page has no words, but its title or a field for a password shows what it is.
        let is_bare = page.words == 0 && stub.says.is_some() && !finding.is_feed;
        let key = match judgement.verdict {
            Verdict::Exact { of } | Verdict::Near { of, .. } => {
                let shows = twin.and_then(|twin| twin.shows);
                // A twin without words was not judged, and has no content. Its URL takes the place of its content.
                shows.or(is_bare.then_some(of.url.url))
            }
            Verdict::Unchanged { .. } => content.map(|own| own.shows),
            Verdict::Unique if stub.in_title && stub.is_tiny => {
                Some(xxh3_64(format!("title of a stub\0{}", page.title).as_bytes()))
            }
            // The bytes differ between URLs, because of a token against forgery, say.
            Verdict::Unjudged if is_bare => Some(xxh3_64(format!("title of a bare stub\0{}", page.title).as_bytes())),
            Verdict::Unique | Verdict::Known { .. } | Verdict::Unjudged => None,
        };
        let Some(key) = key.map(|url| UrlId { site, url }.to_bytes()) else { return Ok(None) };
        let session = &mut self.ledger.session;
        let known = session.get(spaces::STUBS, &key)?;
        let known = known.map(|bytes| codec::decode::<StubRecord>(&bytes, "a stub")).transpose()?;
        if job.page.visit > 1 {
            return Ok(known.and_then(|shown| shown.label.and(shown.label(stub))));
        }
        let mut shown = known.unwrap_or_default();
        if shown.urls == 0
            && let Some(first) = twin.filter(|_| judgement.verdict.is_duplicate())
            && judgement.verdict.duplicate_of().is_some_and(|of| of.url.site == site)
            && let Ok(first) = Url::parse(&first.url)
        {
            // The first page of a stub was no duplicate, and so was not counted.
            shown.add(&first);
        }
        shown.add(&job.url);
        let label = shown.label(stub);
        if let Some(label) = label {
            let earlier = if shown.label.is_none() { u64::from(shown.urls) - 1 } else { 0 };
            *self.ledger.stats.labels.entry(label.name().to_owned()).or_default() += 1 + earlier;
            shown.label = Some(label);
        }
        session.put(spaces::STUBS, key, codec::encode(&shown));
        Ok(label)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(urls: impl Iterator<Item = String>) -> StubRecord {
        let mut shown = StubRecord::default();
        urls.for_each(|url| shown.add(&Url::parse(&url).unwrap()));
        shown
    }

    #[test]
    fn a_page_is_labelled_when_many_urls_have_shown_it() {
        let wall = Stub { says: Some(Label::Wall), is_tiny: true, in_title: true };
        let silent = Stub { says: None, ..wall };
        let few = shown((0..10).map(|n| format!("http://a.test/login?next={n}")));
        assert_eq!((few.label(wall), few.label(silent)), (None, None));
        let many = shown((0..11).map(|n| format!("http://a.test/login?next={n}")));
        assert_eq!((many.label(wall), many.label(silent)), (Some(Label::Wall), None));
        let labelled = StubRecord { label: Some(Label::Wall), ..many };
        assert_eq!(labelled.label(silent), Some(Label::Wall), "as the stub was labelled");
    }

    #[test]
    fn a_silent_page_under_unlike_paths_is_a_soft_404() {
        let silent = Stub { says: None, is_tiny: true, in_title: false };
        let unlike = (0..30).map(|n| format!("http://a.test/f{n}/{}", "x/".repeat(n % 4)));
        assert_eq!(shown(unlike).label(silent), Some(Label::Soft404));
        let sessions = (0..30).map(|n| format!("http://a.test/session{n}/home"));
        assert_eq!(shown(sessions).label(silent), None, "one shape of paths");
        let calendar = (0..30).map(|n| format!("http://a.test/calendar/{}", "1/".repeat(n % 4)));
        assert_eq!(shown(calendar).label(silent), None, "one folder");
        let unlike = (0..30).map(|n| format!("http://a.test/f{n}/{}", "x/".repeat(n % 4)));
        assert_eq!(shown(unlike).label(Stub { is_tiny: false, ..silent }), None, "too much text");
    }
}
