//! The invariants of a crawl, each on a whole crawl of a synthetic web in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use crawler::demo::web::Web;
use crawler::engine::{EngineError, StopReason};
use crawler::record::PageRecord;
use crawler::spaces::PAGES;
use dedup_stage::judge::{Case, Judge, OutLink};
use dedup_stage::page::{Input, Reader};
use dedup_stage::store::{Double, Fault, Memory, Session};
use dedup_stage::url::{Canonicalizer, KeyHasher, Keys, PageId};
use frontier::{Release, Via};
use tests::crawl::{crawl, lines, settings, text};
use url::Url;

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
            // A link of a duplicate is fetched only as a trial or for the rescue, or because it was released.
            let named = matches!(page.via, Via::Trial | Via::Rescue | Via::Released { .. });
            assert!(named, "{} was found on {} and is there as {:?}", page.url, source.url, page.via);
            // What the rescue fetches depends on the URLs that it draws, and has a bound of its own.
            let is_of_rescue = matches!(page.via, Via::Rescue | Via::Released { why: Release::Fallen });
            tried += usize::from(!is_of_rescue);
        }
    }
    assert!(tried * 8 < pages.len(), "{tried} of {} pages were fetched for the sake of duplicates", pages.len());
    Ok(())
}

#[test]
fn the_number_of_workers_changes_no_verdict() -> anyhow::Result<()> {
    let (web, dir) = (Arc::new(Web::demo(9)), tempfile::tempdir()?);
    let settings = settings(&[("dedup.threads", "8"), ("limits.max-pages", "900"), ("dedup.on-duplicate", "keep")])?;
    crawl(&web, dir.path(), Memory::default(), &settings)??;
    // One reader and one judge, with the same order of arrival.
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
        let case = Case { order, id, url: &url, before: None, judgeable, page: &page, links: &links, ahead: None };
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
            store.fail_behind(commit - 1, fault);
            match crawl(&web, dir.path(), store.clone(), &settings)? {
                Err(EngineError::Store(_)) => failed += 1,
                // Commits also depend on the time, and this crawl had fewer.
                Ok(_) if store.commits().0 < commit => {}
                other => anyhow::bail!("{fault:?} at commit {commit}: {other:?}"),
            }
            store.heal();
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
    // There is no limit of pages. Only the depth bounds the crawl, so that it ends in both modes.
    let crawl = |mode: &str| -> anyhow::Result<()> {
        let settings = settings(&[("scope.max-depth", "3"), ("dedup.rescue", "0%"), ("dedup.on-duplicate", mode)])?;
        let (reason, stats) = crawl(&web, dir.path(), store.clone(), &settings)??;
        assert_eq!((reason, stats.frontier), (StopReason::Done, 0));
        Ok(())
    };
    let of_duplicates = || -> anyhow::Result<BTreeSet<String>> {
        let skipped = lines(dir.path(), "skipped.jsonl")?;
        let held = skipped.iter().filter(|line| line["reason"] == "duplicate_source");
        Ok(held.map(|line| text(line, "url").to_owned()).collect())
    };
    crawl("drop")?;
    let held = of_duplicates()?;
    assert!(held.len() > 20, "{held:?}");
    crawl("drop")?;
    assert_eq!(of_duplicates()?, held, "in the same mode they stay");
    crawl("demote")?;
    assert_eq!(of_duplicates()?, BTreeSet::new());
    let pages = lines(dir.path(), "pages.jsonl")?;
    let fetched: BTreeSet<&str> = pages.iter().map(|line| text(line, "url")).collect();
    assert_eq!(fetched.len(), pages.len(), "each URL once");
    let skipped = lines(dir.path(), "skipped.jsonl")?;
    let refused: BTreeSet<&str> = skipped.iter().map(|line| text(line, "url")).collect();
    for url in &held {
        assert!(fetched.contains(&**url) || refused.contains(&**url), "{url} is lost");
    }
    let missing = held.iter().filter(|url| !fetched.contains(&***url)).count();
    assert!(missing * 5 < held.len(), "{missing} of {} were refused for another reason", held.len());
    Ok(())
}
