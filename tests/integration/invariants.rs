//! The invariants of a crawl, each on a whole crawl of a synthetic web in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use crawler::demo::web::Web;
use crawler::engine::EngineError;
use crawler::record::PageRecord;
use crawler::spaces::PAGES;
use dedup_stage::judge::{Case, Judge, OutLink};
use dedup_stage::page::{Input, Reader};
use dedup_stage::store::{Batch, Double, Fault, Memory, Result as StoreResult, Session, Space, Store, Visitor};
use dedup_stage::url::{Canonicalizer, KeyHasher, Keys, PageId};
use frontier::Via;
use tests::crawl::{crawl, lines, settings, text};
use url::Url;

/// A store that fails once, at its n-th commit.
struct FailsAt {
    store: Double,
    commit: u64,
    fault: Fault,
    commits: u64,
}

impl Store for FailsAt {
    fn get(&self, space: Space, key: &[u8]) -> StoreResult<Option<Vec<u8>>> {
        self.store.get(space, key)
    }

    fn scan(&self, space: Space, from: &[u8], to: &[u8], visit: &mut Visitor<'_>) -> StoreResult<()> {
        self.store.scan(space, from, to, visit)
    }

    fn commit(&mut self, batch: &Batch) -> StoreResult<()> {
        self.commits += 1;
        if self.commits == self.commit {
            self.store.fail(self.fault);
        }
        self.store.commit(batch)
    }
}

#[test]
fn in_drop_mode_nothing_is_fetched_for_the_sake_of_a_duplicate() -> anyhow::Result<()> {
    let (web, dir) = (Arc::new(Web::demo(7)), tempfile::tempdir()?);
    let store = Double::default();
    let (_, stats) = crawl(&web, dir.path(), store.clone(), &settings(&[("limits.max-pages", "2500")])?)??;
    let pages = lines(dir.path(), "pages.jsonl")?;
    let duplicate = |line: &serde_json::Value| matches!(text(line, "verdict"), "exact" | "near");
    assert!(stats.links_dropped > 0 && pages.iter().any(duplicate), "the web has duplicates: {stats:?}");
    for line in pages.iter().filter(|line| duplicate(line)) {
        assert_eq!(line["links_admitted"], 0, "{line}");
        assert!(!text(line, "duplicate_of").is_empty(), "{line}");
    }
    let duplicates: BTreeSet<&str> =
        pages.iter().filter(|line| duplicate(line)).map(|line| text(line, "url")).collect();
    let session = Session::new(Box::new(store));
    let (mut records, mut tried) = (Vec::new(), 0);
    session.scan(PAGES, &[], &[], &mut |_, record| {
        records.push(PageRecord::decode(record).expect("a record"));
        ControlFlow::Continue(())
    })?;
    assert_eq!(records.len(), pages.len(), "a record for each line");
    for page in records {
        let Some(source) = page.source else { continue };
        let source = PageRecord::get(source, &session)?.expect("a record for each source");
        if duplicates.contains(source.url.as_str()) {
            // A link of a duplicate is fetched only to see whether it is a copy, or because it turned out to be none.
            let named = matches!(page.via, Via::Trial | Via::Rescue | Via::Released { .. });
            assert!(named, "{} was found on {} and is there as {:?}", page.url, source.url, page.via);
            tried += 1;
        }
    }
    assert!(tried * 5 < pages.len(), "{tried} of {} pages were fetched for the sake of duplicates", pages.len());
    Ok(())
}

#[test]
fn the_number_of_workers_changes_no_verdict() -> anyhow::Result<()> {
    let (web, dir) = (Arc::new(Web::demo(9)), tempfile::tempdir()?);
    let settings = settings(&[("dedup.threads", "8"), ("limits.max-pages", "900"), ("dedup.on-duplicate", "keep")])?;
    crawl(&web, dir.path(), Memory::default(), &settings)??;
    // One reader, one judge, the same order of arrival.
    let mut session = Session::new(Box::new(Memory::default()));
    let keys =
        Keys { canonicalizer: Canonicalizer::new(&settings.urls), hasher: KeyHasher::new([7; KeyHasher::SECRET]) };
    let mut judge = Judge::open(settings.dedup.distance, keys.clone(), &mut session)?;
    let mut reader = Reader::default();
    let (mut urls, mut seen) = (BTreeMap::<PageId, Url>::new(), BTreeMap::new());
    for (order, line) in (1..).zip(lines(dir.path(), "pages.jsonl")?) {
        let url: Url = text(&line, "url").parse()?;
        let target = &url[url::Position::BeforePath..url::Position::AfterQuery];
        let answer = web.answer(url.host_str().unwrap_or_default(), target).expect("it was answered before");
        let input = Input {
            url: &url,
            status: answer.status,
            content_type: Some(answer.content_type),
            body: answer.body.as_bytes(),
        };
        let mut page = reader.read(&input);
        let mut met = BTreeSet::new();
        let found = std::mem::take(&mut page.links).into_iter();
        let links = found.map(|link| OutLink::new(link.url, link.content, &keys));
        let links: Vec<OutLink> = links.filter(|link| met.insert(link.id)).collect();
        let judgeable = (200..300).contains(&answer.status);
        let id = PageId { url: keys.identify(&url).0, visit: 1 };
        let case = Case { order, id, url: &url, before: None, judgeable, page: &page, links: &links };
        let url_of = |page: PageId, _: &Session| Ok(urls.get(&page).cloned());
        let verdict = judge.judge(&case, &url_of, &mut session)?.verdict;
        assert_eq!(verdict.name(), text(&line, "verdict"), "{line}");
        let twin = verdict.duplicate_of().map_or("", |of| urls[&of].as_str());
        assert_eq!(twin, text(&line, "duplicate_of"), "{line}");
        *seen.entry(verdict.name()).or_insert(0) += 1;
        urls.insert(id, url);
    }
    assert!(seen.len() >= 3, "every kind of verdict was there: {seen:?}");
    Ok(())
}

#[test]
fn a_crawl_that_loses_its_store_at_any_commit_loses_no_page_and_writes_none_twice() -> anyhow::Result<()> {
    let web = Arc::new(Web::demo(10));
    let settings = settings(&[("dedup.on-duplicate", "keep"), ("scope.max-depth", "3")])?;
    let undisturbed = tempfile::tempdir()?;
    let store = Double::default();
    crawl(&web, undisturbed.path(), store.clone(), &settings)??;
    let want: BTreeSet<String> =
        lines(undisturbed.path(), "pages.jsonl")?.iter().map(|line| text(line, "url").to_owned()).collect();
    let commits = store.commits().0;
    assert!(commits >= 3, "there is more than a beginning and an end: {commits}");
    let mut failed = 0;
    for fault in [Fault::Refuse, Fault::Forget] {
        for commit in 2..=commits {
            let (dir, store) = (tempfile::tempdir()?, Double::default());
            let failing = FailsAt { store: store.clone(), commit, fault, commits: 0 };
            match crawl(&web, dir.path(), failing, &settings)? {
                Err(EngineError::Store(_)) => failed += 1,
                // Commits are also a matter of time: this crawl had fewer.
                Ok(_) if store.commits().0 < commit => {}
                other => anyhow::bail!("{fault:?} at commit {commit}: {other:?}"),
            }
            crawl(&web, dir.path(), store, &settings)??;
            let urls: Vec<String> =
                lines(dir.path(), "pages.jsonl")?.iter().map(|line| text(line, "url").to_owned()).collect();
            let distinct: BTreeSet<String> = urls.iter().cloned().collect();
            assert_eq!(distinct.len(), urls.len(), "{fault:?} at commit {commit}: a page was written twice");
            assert_eq!(distinct, want, "{fault:?} at commit {commit}: other pages");
        }
    }
    assert!(failed >= 2, "the store failed under {failed} crawls");
    Ok(())
}

#[test]
fn what_drop_held_back_is_fetched_when_the_crawl_goes_on_with_demote() -> anyhow::Result<()> {
    let (web, dir, store) = (Arc::new(Web::demo(11)), tempfile::tempdir()?, Double::default());
    let limit = ("limits.max-pages", "4000");
    crawl(&web, dir.path(), store.clone(), &settings(&[limit])?)??;
    let held = lines(dir.path(), "skipped.jsonl")?;
    let held: Vec<&str> =
        held.iter().filter(|line| line["reason"] == "duplicate_source").map(|line| text(line, "url")).collect();
    assert!(!held.is_empty());
    crawl(&web, dir.path(), store, &settings(&[limit, ("dedup.on-duplicate", "demote")])?)??;
    let pages = lines(dir.path(), "pages.jsonl")?;
    let fetched: BTreeSet<&str> = pages.iter().map(|line| text(line, "url")).collect();
    assert_eq!(fetched.len(), pages.len(), "each URL once");
    let missing = held.iter().filter(|url| !fetched.contains(*url)).count();
    // What is queued behind the page limit is not lost; without the limit the calendar would have no end.
    assert!(pages.len() as u64 >= 4000 || missing * 20 < held.len(), "{missing} of {} missing", held.len());
    Ok(())
}
