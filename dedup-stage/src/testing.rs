//! Helpers that the tests of this crate share: a small web whose pages are judged one after the other.

use std::collections::HashMap;
use std::ops::ControlFlow;

use ::url::Url;

use crate::flow::{Fate, Flow, FlowResult, Held, OnDuplicate};
use crate::judge::{Case, Evidence, Proposal, Shown, Verdict};
use crate::stage::{Prepared, Preparer, Source};
use crate::store::{Memory, Result, Session, Space};
use crate::url::{Canonicalizer, KeyHasher, Keys, PageId, UrlId};

/// Keys with a secret that is the same in every run.
pub fn keys() -> Keys {
    let secret = std::array::from_fn(|place| (place * 7 + 13) as u8);
    Keys { canonicalizer: Canonicalizer::default(), hasher: KeyHasher::new(secret) }
}

/// This many words, drawn with this seed.
pub fn words(seed: u64, count: usize) -> Vec<String> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut syllables = || ["ba", "ko", "ri", "mu", "ten", "sal", "vo", "din"][random.usize(..8)];
    (0..count).map(|_| (0..4).map(|_| syllables()).collect()).collect()
}

/// A page with these words and the links in its content.
pub fn html(words: &[String], links: &[String]) -> String {
    let links: String = links.iter().map(|link| format!("<a href=\"{link}\"></a>")).collect();
    format!("<main><p>{}</p><p>{links}</p></main>", words.join(" "))
}

/// Links that follow a pattern with `#` for each number.
pub fn links(pattern: &str, numbers: impl IntoIterator<Item = u32>) -> Vec<String> {
    numbers.into_iter().map(|number| pattern.replace('#', &number.to_string())).collect()
}

/// A small web: its pages pass a flow, and it keeps the records that a crawler would keep.
pub struct Web {
    pub flow: Flow,
    pub session: Session,
    pub order: u64,
    /// Whether the crawl has met all URLs before.
    pub has_met_all: bool,
    preparer: Preparer,
    records: HashMap<UrlId, Record>,
}

struct Record {
    url: Url,
    visits: u32,
    shown: Option<Shown>,
}

impl Web {
    pub fn new(on_duplicate: OnDuplicate) -> Self {
        let dedup = config::Dedup { on_duplicate, ..config::Settings::default().dedup };
        let mut session = Session::new(Box::new(Memory::default()));
        let flow = Flow::open(&dedup, keys(), &mut session).unwrap();
        Self { flow, session, order: 0, has_met_all: false, preparer: Preparer::new(keys()), records: HashMap::new() }
    }

    pub fn prepare(&mut self, url: &str, status: u16, body: &str) -> Prepared {
        let url = Url::parse(url).unwrap();
        let content_type = Some("text/html; charset=utf-8");
        let body = body.as_bytes();
        let source = Source { url: &url, status, content_type, body, whole: true, links: None };
        let mut prepared = self.preparer.prepare(&source);
        prepared.links.iter_mut().for_each(|link| link.met = self.has_met_all);
        prepared
    }

    /// Shows a page at a URL.
    pub fn show(&mut self, url: &str, body: &str) -> FlowResult {
        self.answer(url, 200, body)
    }

    /// Shows a page at a URL. Returns the verdict.
    pub fn verdict(&mut self, url: &str, body: &str) -> Verdict {
        self.show(url, body).judgement.verdict
    }

    /// A URL answers with this status.
    pub fn answer(&mut self, url: &str, status: u16, body: &str) -> FlowResult {
        let prepared = self.prepare(url, status, body);
        let mut record = self.records.remove(&prepared.id);
        let visits = record.as_ref().map_or(1, |record| record.visits + 1);
        let before = record.as_mut().and_then(|record| record.shown.take());
        let result = self.pass(&prepared, visits, before.as_ref());
        let shown = result.shown.clone();
        self.records.insert(prepared.id, Record { url: prepared.url, visits, shown });
        result
    }

    /// The proposal that other webs need about a page that this URL is about to show.
    pub fn propose(&mut self, url: &str, body: &str) -> Option<Proposal> {
        let prepared = self.prepare(url, 200, body);
        let record = self.records.get(&prepared.id);
        let visit = record.map_or(1, |record| record.visits + 1);
        let before = record.and_then(|record| record.shown.as_ref());
        Proposal::of(&case(&prepared, self.order + 1, visit, before), 0)
    }

    /// Follows pages that other webs show, as a group. Each comes with its order. Returns the pages that the judge does
    /// not keep.
    pub fn follow(&mut self, pages: Vec<(u64, Proposal)>) -> Vec<Evidence> {
        for (_, proposal) in &pages {
            let page = proposal.evidence().unwrap();
            let url = Url::parse(&page.url).unwrap();
            self.records.insert(page.id().url, Record { url, visits: page.id().visit, shown: None });
        }
        let records = &self.records;
        self.flow.judge_mut().follow(pages, &|page, _| url_of(records, page), &mut self.session).unwrap()
    }

    /// Opens the judge again, with the state that it has written.
    pub fn reopen(&mut self) {
        self.session.commit().unwrap();
        self.session.forget_derived();
        let dedup = config::Dedup { on_duplicate: OnDuplicate::Drop, ..config::Settings::default().dedup };
        self.flow = Flow::open(&dedup, keys(), &mut self.session).unwrap();
    }

    /// Passes a prepared page to the flow, at this visit.
    pub fn pass(&mut self, prepared: &Prepared, visit: u32, before: Option<&Shown>) -> FlowResult {
        self.order += 1;
        let case = case(prepared, self.order, visit, before);
        let records = &self.records;
        self.flow.page(&case, &|page, _| url_of(records, page), &mut self.session).unwrap()
    }

    /// Compares the links of a duplicate with those of its twin.
    pub fn held(&self, prepared: &Prepared, result: FlowResult) -> Option<Held> {
        let case = case(prepared, self.order, 1, None);
        let of = |page, _: &Session| url_of(&self.records, page);
        if let Fate::Hold(held) = result.fate {
            return Some(held);
        }
        result.twin.map(|twin| self.flow.held(&case, twin, &of, &self.session).unwrap())
    }

    /// The record of what a URL showed last.
    pub fn shown(&mut self, url: &str) -> Option<Shown> {
        let id = self.id(url, 1).url;
        self.records.get(&id).and_then(|record| record.shown.clone())
    }

    /// The identity of a page.
    pub fn id(&self, url: &str, visit: u32) -> PageId {
        PageId { url: keys().identify(&Url::parse(url).unwrap()).0, visit }
    }

    /// The URL of a page.
    pub fn url(&self, page: PageId) -> Option<Url> {
        self.records.get(&page.url).map(|record| record.url.clone())
    }

    /// Number of entries in a space.
    pub fn entries(&self, space: Space) -> usize {
        let mut entries = 0;
        self.session
            .scan(space, &[], &[], &mut |_, _| {
                entries += 1;
                ControlFlow::Continue(())
            })
            .unwrap();
        entries
    }
}

fn case<'a>(prepared: &'a Prepared, order: u64, visit: u32, before: Option<&'a Shown>) -> Case<'a> {
    Case {
        order,
        id: PageId { url: prepared.id, visit },
        url: &prepared.url,
        before,
        judgeable: prepared.judgeable,
        page: &prepared.page,
        links: &prepared.links,
        ahead: None,
    }
}

fn url_of(records: &HashMap<UrlId, Record>, page: PageId) -> Result<Option<Url>> {
    Ok(records.get(&page.url).map(|record| record.url.clone()))
}
