//! Tests whether visits are judged correctly: with pages that change, and with pages on which only parts change that
//! are not their content.
//!
//! [`Site`] shows pages to the judge as a crawl does, visit after visit, without a network. [`noise`] has pages with
//! changing dates, counters, advertisements and the like, and [`docs`] has documentation and its next version.

pub mod docs;
pub mod noise;

use std::collections::{HashMap, HashSet};

use config::Settings;
use dedup_stage::flow::Flow;
use dedup_stage::judge::{Case, Changed, Shown};
use dedup_stage::stage::{Preparer, Source};
use dedup_stage::store::{Memory, Session};
use dedup_stage::url::{Canonicalizer, KeyHasher, Keys, PageId, UrlId};
use url::Url;

/// The pages of one host, and the judge that sees them.
pub struct Site {
    flow: Flow,
    session: Session,
    preparer: Preparer,
    order: u64,
    known: HashMap<UrlId, Known>,
    /// URLs that were visited, or to which visited pages link.
    met: HashSet<UrlId>,
}

/// The data that is kept about a URL.
struct Known {
    url: Url,
    visits: u32,
    shown: Option<Shown>,
}

fn keys() -> Keys {
    Keys { canonicalizer: Canonicalizer::default(), hasher: KeyHasher::new([7; KeyHasher::SECRET]) }
}

impl Site {
    /// A site without visits.
    pub fn new() -> anyhow::Result<Self> {
        let mut session = Session::new(Box::new(Memory::default()));
        let flow = Flow::open(&Settings::default().dedup, keys(), &mut session)?;
        let (known, met) = (HashMap::new(), HashSet::new());
        Ok(Self { flow, session, preparer: Preparer::new(keys()), order: 0, known, met })
    }

    /// Shows the judge a page at a path. Returns whether its content has changed since the last visit, or `None` for
    /// the first visit.
    pub fn show(&mut self, path: &str, html: &str) -> anyhow::Result<Option<bool>> {
        let url = Url::parse("http://a.test/")?.join(path)?;
        let content_type = Some("text/html; charset=utf-8");
        let source = Source { url: &url, status: 200, content_type, body: html.as_bytes(), whole: true, links: None };
        let mut page = self.preparer.prepare(&source);
        for link in &mut page.links {
            link.met = self.met.contains(&link.id);
        }
        self.met.extend(page.links.iter().map(|link| link.id).chain([page.id]));
        self.order += 1;
        let before = self.known.get(&page.id);
        let visits = before.map_or(0, |before| before.visits) + 1;
        let before = before.and_then(|before| before.shown.clone());
        let case = Case {
            order: self.order,
            id: PageId { url: page.id, visit: visits },
            url: &page.url,
            before: before.as_ref(),
            judgeable: page.judgeable,
            page: &page.page,
            links: &page.links,
            ahead: None,
        };
        let known = &self.known;
        let url_of = |page: PageId, _: &Session| Ok(known.get(&page.url).map(|known| known.url.clone()));
        let result = self.flow.page(&case, &url_of, &mut self.session)?;
        let changed = result.judgement.changed(before.as_ref(), result.shown.as_ref());
        let changed = changed.map(|changed| changed == Changed::Content);
        self.known.insert(page.id, Known { url, visits, shown: result.shown });
        Ok(changed)
    }
}

/// Counts of visits, and of those that were said to show new content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Called {
    /// The number of visits.
    pub visits: u32,
    /// The number of those that were said to show new content.
    pub content: u32,
}

impl Called {
    /// Counts a visit.
    pub fn count(&mut self, content: bool) {
        self.visits += 1;
        self.content += u32::from(content);
    }

    /// The sum of these counts and others.
    pub fn and(self, other: Self) -> Self {
        Self { visits: self.visits + other.visits, content: self.content + other.content }
    }

    /// The share of the visits that were said to show new content; 0 if there are no visits.
    pub fn share(self) -> f64 {
        if self.visits == 0 { 0.0 } else { f64::from(self.content) / f64::from(self.visits) }
    }
}
