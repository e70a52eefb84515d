//! The links that a page has at its last visit, from the link graph. A line of `pages.jsonl` says which links went and
//! which came. But it does not name a link that came back if the crawl knows the URL from elsewhere.

use std::collections::HashSet;
use std::io;
use std::path::Path;

use dedup_stage::store::Session;
use dedup_stage::url::{Keys, PageId, UrlId};
use url::Url;

use crate::graph::edges_at;
use crate::record::PageRecord;

/// The state of the crawl, which knows the links of pages.
#[derive(Clone, Copy, Debug)]
pub struct Present<'a> {
    /// The crawl directory.
    pub dir: &'a Path,
    /// The code that computes the keys of URLs.
    pub keys: &'a Keys,
    /// The state.
    pub session: &'a Session,
}

/// The links of one page.
#[derive(Debug)]
pub(super) struct PresentLinks<'a> {
    keys: &'a Keys,
    targets: HashSet<UrlId>,
}

impl<'a> Present<'a> {
    /// The links of a page at a visit; `None` if they are not known.
    pub(super) fn links(&self, page: &str, visit: u32) -> io::Result<Option<PresentLinks<'a>>> {
        let Ok(url) = Url::parse(page) else { return Ok(None) };
        let id = self.keys.id(&url);
        let record = PageRecord::get(PageId { url: id, visit }, self.session).map_err(io::Error::other)?;
        let Some(at) = record.and_then(|record| record.graph) else { return Ok(None) };
        let edges = edges_at(self.dir, at, id)?;
        let keys = self.keys;
        Ok(edges.map(|edges| PresentLinks { keys, targets: edges.iter().map(|edge| edge.target).collect() }))
    }
}

impl PresentLinks<'_> {
    /// Whether the page links to a URL.
    pub(super) fn has(&self, url: &str) -> bool {
        Url::parse(url).is_ok_and(|url| self.targets.contains(&self.keys.id(&url)))
    }
}

#[cfg(test)]
mod tests {
    use config::Settings;
    use dedup_stage::page::Rels;
    use dedup_stage::store::Memory;
    use dedup_stage::url::{Canonicalizer, KeyHasher};
    use frontier::Via;
    use serde_json::json;

    use super::*;
    use crate::clock;
    use crate::diff::Diff;
    use crate::fetch::Validators;
    use crate::graph::{Edge, Kind, LinksGraph, encode};
    use crate::record::VerdictKind;
    use crate::sink::PagesJsonl;

    #[test]
    fn a_link_that_vanished_and_came_back_is_neither_gone_nor_new() {
        let dir = tempfile::tempdir().unwrap();
        let hasher = KeyHasher::new([0; KeyHasher::SECRET]);
        let keys = Keys { canonicalizer: Canonicalizer::new(&Settings::default().urls), hasher };
        let mut session = Session::new(Box::new(Memory::default()));
        let url = |name: &str| format!("http://a.test/{name}");
        let id = |name: &str| keys.id(&Url::parse(&url(name)).unwrap());

        // At the last visit, the page links to `back` and `came`, and no longer to `left` and `short`.
        let page = PageId { url: id("p"), visit: 3 };
        let edges =
            ["back", "came"].map(|name| Edge { target: id(name), kind: Kind::Link(Rels::default()), may_follow: true });
        std::fs::write(dir.path().join(LinksGraph::NAME), encode(page, edges.into_iter())).unwrap();
        let record = PageRecord {
            verdict: VerdictKind::Unique,
            status: 200,
            depth: 0,
            offset: 0,
            graph: Some(0),
            source: None,
            via: Via::Again,
            fetched_at: 0,
            url: url("p"),
            validators: Validators::default(),
            payload: None,
            content: None,
            shown: None,
        };
        record.put(page, &mut session);
        let line = |visit: u32, new: &[&str], gone: &[&str]| {
            let urls = |names: &[&str]| names.iter().map(|name| url(name)).collect::<Vec<_>>();
            json!({"url": url("p"), "visit": visit, "status": 200, "fetched_at": format!("2026-01-0{visit}T00:00:00.000Z"),
                "verdict": "unique", "changed": (visit > 1).then_some("content"), "sha256": format!("{visit}").repeat(64),
                "links": 2, "new_links": urls(new), "gone_links": urls(gone)})
            .to_string()
                + "\n"
        };
        let lines = [line(1, &[], &[]), line(2, &["came", "short"], &["back", "left"]), line(3, &[], &["short"])];
        std::fs::write(dir.path().join(PagesJsonl::NAME), lines.concat()).unwrap();

        let since = clock::parse("2026-01-02").unwrap();
        let present = Present { dir: dir.path(), keys: &keys, session: &session };
        let diff = Diff::read(dir.path(), since, Some(present)).unwrap();
        let [page] = &diff.changed[..] else { panic!("{diff:?}") };
        assert_eq!(
            (page.new_links.iter().collect::<Vec<_>>(), page.gone_links.iter().collect::<Vec<_>>()),
            (vec![&url("came")], vec![&url("left")])
        );
    }
}
