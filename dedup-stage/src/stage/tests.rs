//! Tests the answers of the stage, and its state across runs: what counts, and what is undone.

use std::ops::ControlFlow;

use ::url::Url;
use fastrand::Rng;
use serde_json::value::to_raw_value;

use super::*;
use crate::flow::OnDuplicate;
use crate::spaces;
use crate::store::{Double, Error, Space};
use crate::testing::{html, links as link_list, words};
use crate::url::KeyHasher;

fn open(disk: &Double) -> Stage {
    open_as(disk, OnDuplicate::Drop)
}

fn open_as(disk: &Double, on_duplicate: OnDuplicate) -> Stage {
    let dedup = config::Dedup { distance: 3, on_duplicate, ..config::Settings::default().dedup };
    let mut session = Session::new(Box::new(disk.clone()));
    // With a random secret, two links have the same place in a small filter now and then, and a verdict is another one.
    if session.get(Space::META, b"secret").unwrap().is_none() {
        session.put(Space::META, b"secret", [7; KeyHasher::SECRET]);
    }
    Stage::open(session, &dedup, Canonicalizer::default()).unwrap()
}

fn send(stage: &mut Stage, url: &str, status: u16, body: &str, given: Option<&[&str]>) -> StageOutput {
    let parsed = Url::parse(url).unwrap();
    let page = Preparer::new(stage.keys().clone()).prepare(&Source {
        url: &parsed,
        status,
        content_type: Some("text/html"),
        body: body.as_bytes(),
        whole: true,
        links: given,
    });
    let id = to_raw_value(&stage.counts().pages).unwrap();
    stage.judge(page, &PageName { url: url.into(), id: Some(id) }, 1.0).unwrap()
}

#[test]
fn a_page_that_was_cut_is_not_judgeable_and_nofollow_gives_no_links() {
    let url = Url::parse("http://a.test/").unwrap();
    let mut preparer = Preparer::new(crate::testing::keys());
    let mut prepare = |body: &str, status, whole| {
        let body = body.as_bytes();
        let page =
            preparer.prepare(&Source { url: &url, status, content_type: Some("text/html"), body, whole, links: None });
        (page.judgeable, page.links.len(), page.follow.len())
    };
    let page = "<a href=/1>one</a><a href=/2 rel=nofollow>two</a>";
    assert_eq!(prepare(page, 200, true), (true, 2, 1));
    assert_eq!(prepare(page, 200, false), (false, 2, 1));
    assert_eq!(prepare(page, 404, true), (false, 2, 1));
    assert_eq!(prepare(&format!("<meta name=robots content=nofollow>{page}"), 200, true), (true, 2, 0));
}

fn show(stage: &mut Stage, url: &str, body: &str) -> StageOutput {
    send(stage, url, 200, body, None)
}

fn urls(links: &[NextLink]) -> Vec<&str> {
    links.iter().map(|next| next.link.url.as_str()).collect()
}

/// The number that the caller gave to a page.
fn number(name: Option<&PageName>) -> Option<u64> {
    name.and_then(|name| name.id.as_ref()).and_then(|id| id.get().parse().ok())
}

/// Page number `n` of a small web in which pages repeat, come again and change.
fn judge(stage: &mut Stage, n: u64) -> String {
    let mut random = Rng::with_seed(n);
    let (url, text) = (random.u64(..25), random.u64(..9));
    let body = match random.u8(..8) {
        0 => format!("<p>too short: {text}"),
        1 => "broken".into(),
        _ => html(&words(text, 80), &link_list("/item/#", text as u32..text as u32 + random.u32(..7))),
    };
    let status = if body == "broken" { 500 } else { 200 };
    let output = send(stage, &format!("http://a.test/page/{url}"), status, &body, None);
    // The identities in a verdict are hashes with a secret of the state.
    let verdict = output.judgement.verdict;
    let unchanged = if let Verdict::Unchanged { bytes, .. } = verdict { Some(bytes) } else { None };
    let names = [output.twin.as_ref(), output.earlier.as_ref()].map(number);
    let news: Vec<_> = output.links_news.iter().map(|link| link.url.as_str()).collect();
    format!(
        "{} {:?} {unchanged:?} {} {names:?} {:?} {} {news:?}",
        verdict.name(),
        verdict.nearness(),
        output.judgement.novelty,
        urls(&output.links),
        output.links_dropped
    )
}

/// The entries of the state. Their hashes depend on the secret, which is left out.
fn contents(stage: &Stage) -> Vec<(Space, Vec<u8>, Vec<u8>)> {
    let mut all = Vec::new();
    for space in [spaces::DIGESTS, spaces::ACCEPTED, spaces::LINKS, spaces::STAGE_PAGES, spaces::STAGE_URLS] {
        let mut visit = |key: &[u8], value: &[u8]| {
            all.push((space, key.to_vec(), value.to_vec()));
            ControlFlow::Continue(())
        };
        stage.session.scan(space, &[], &[], &mut visit).unwrap();
    }
    all
}

#[test]
fn what_was_not_flushed_never_was() {
    const PAGES: u64 = 150;
    let mut stage = open(&Double::default());
    let expected: Vec<String> = (0..PAGES).map(|n| judge(&mut stage, n)).collect();
    for word in ["unique", "exact", "near", "unchanged", "unjudged"] {
        assert!(expected.iter().any(|answer| answer.starts_with(word)), "no page is {word}");
    }
    let mut random = Rng::with_seed(1);
    for round in 0..60 {
        let (mut flushed, mut crashed) = (random.u64(..PAGES), random.u64(..PAGES));
        if flushed > crashed {
            std::mem::swap(&mut flushed, &mut crashed);
        }
        let disk = Double::default();
        let mut stage = open(&disk);
        let mut kept = contents(&stage);
        for n in 0..crashed {
            if n == flushed || n == flushed / 2 {
                stage.flush().unwrap();
                kept = contents(&stage);
            }
            assert_eq!(judge(&mut stage, n), expected[n as usize]);
            if random.u8(..3) < round % 4 {
                stage.spill().unwrap();
            }
        }
        if flushed == crashed {
            stage.flush().unwrap();
            kept = contents(&stage);
        }
        drop(stage);
        let mut stage = open(&disk);
        assert_eq!(stage.counts().pages, flushed);
        assert_eq!(contents(&stage), kept, "flushed at {flushed}, crashed at {crashed}");
        for n in flushed..PAGES {
            assert_eq!(judge(&mut stage, n), expected[n as usize], "flushed at {flushed}, crashed at {crashed}");
        }
    }
}

#[test]
fn a_crash_while_the_state_is_taken_back_does_no_harm() {
    let disk = Double::default();
    let mut stage = open(&disk);
    (0..40).for_each(|n| _ = judge(&mut stage, n));
    stage.flush().unwrap();
    let kept = contents(&stage);
    (40..120).for_each(|n| _ = judge(&mut stage, n));
    stage.spill().unwrap();
    drop(stage);
    // The first commit of the opening fails, then the second, and so on.
    for attempt in 0.. {
        let (before, _) = disk.commits();
        let mut session = Session::new(Box::new(Failing { disk: disk.clone(), left: attempt }));
        let opened = state::open(&mut session).is_ok();
        let (after, _) = disk.commits();
        if opened {
            assert!(attempt > 2, "there was something to take back");
            break;
        }
        assert_eq!(after - before, attempt);
    }
    let stage = open(&disk);
    assert_eq!(contents(&stage), kept);
}

/// A store whose commits fail after the first `left`.
struct Failing {
    disk: Double,
    left: u64,
}

impl crate::store::Store for Failing {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.disk.get(space, key)
    }

    fn scan(&self, space: Space, from: &[u8], to: &[u8], visit: &mut crate::store::Visitor<'_>) -> Result<()> {
        self.disk.scan(space, from, to, visit)
    }

    fn commit(&mut self, batch: &crate::store::Batch) -> Result<()> {
        match self.left.checked_sub(1) {
            Some(left) => self.left = left,
            None => return Err(Error::Engine("no more".into())),
        }
        self.disk.commit(batch)
    }
}

#[test]
fn the_undo_log_is_emptied() {
    let disk = Double::default();
    let mut stage = open(&disk);
    for n in 0..300 {
        judge(&mut stage, n);
        match n % 10 {
            3 | 6 => stage.spill().unwrap(),
            9 => stage.flush().unwrap(),
            _ => {}
        }
    }
    stage.flush().unwrap();
    stage.flush().unwrap();
    let mut left = 0;
    let mut count = |_: &[u8], _: &[u8]| {
        left += 1;
        ControlFlow::Continue(())
    };
    stage.session.scan(spaces::STAGE_UNDO, &[], &[], &mut count).unwrap();
    assert_eq!(left, 0);
}

#[test]
fn a_state_of_another_kind_is_refused_with_what_to_do() {
    for (format, by) in [("crawl-1", "another program"), ("stage-2", "another version")] {
        let disk = Double::default();
        disk.damage(Space::META, b"format", format.as_bytes());
        let dedup = config::Settings::default().dedup;
        let refused = Stage::open(Session::new(Box::new(disk)), &dedup, Canonicalizer::default());
        match refused {
            Err(Error::Foreign(reason)) => {
                for part in [by, format, "empty directory"] {
                    assert!(reason.contains(part), "{reason}");
                }
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_state_of_the_version_before_is_read() {
    let disk = Double::default();
    let mut stage = open(&disk);
    let page = html(&words(1, 60), &link_list("/#", 1..=5));
    show(&mut stage, "http://a.test/", &page);
    stage.flush().unwrap();
    disk.damage(Space::META, b"format", b"stage-4");
    let mut stage = open(&disk);
    assert!(matches!(show(&mut stage, "http://b.test/", &page).judgement.verdict, Verdict::Exact { .. }));
    stage.flush().unwrap();
    let format = Session::new(Box::new(disk)).get(Space::META, b"format").unwrap();
    assert_eq!(format.as_deref(), Some(&b"stage-5"[..]), "the version before would not read its new records");
}

#[test]
fn the_same_page_again_is_unchanged_and_counted_so() {
    let disk = Double::default();
    let mut stage = open(&disk);
    let page = html(&words(1, 60), &link_list("/#", 1..=5));
    assert_eq!(urls(&show(&mut stage, "http://a.test/", &page).links).len(), 5);
    for opened_again in [false, true] {
        if opened_again {
            stage.flush().unwrap();
            stage = open(&disk);
        }
        let again = show(&mut stage, "http://a.test/", &page);
        assert_eq!(again.judgement.verdict, Verdict::Unchanged { bytes: false, of: None, known: None });
        assert_eq!((number(again.earlier.as_ref()), again.twin.is_some()), (Some(0), false));
        assert!(again.links.is_empty(), "they were met before");
    }
    let other_bytes = format!("{page}<!-- -->");
    let third = show(&mut stage, "http://a.test/", &other_bytes);
    assert_eq!(third.judgement.verdict, Verdict::Unchanged { bytes: true, of: None, known: None });
    let fourth = show(&mut stage, "http://a.test/", &other_bytes);
    assert_eq!(number(fourth.earlier.as_ref()), Some(3), "named by the page that had these bytes first");
    let counts = Counts { pages: 5, unique: 1, unchanged: 4, links_admitted: 5, ..Counts::default() };
    assert_eq!(stage.counts(), counts);
    assert_eq!((stage.urls_seen(), stage.fingerprints()), (6, 1));
}

#[test]
fn news_of_duplicates_are_told_in_every_mode_and_followed_as_the_mode_says() {
    for (mode, followed, dropped) in [(OnDuplicate::Drop, 0, 3), (OnDuplicate::Demote, 3, 0), (OnDuplicate::Keep, 3, 0)]
    {
        let mut stage = open_as(&Double::default(), mode);
        let text = words(1, 60);
        let page = |numbers, more: &str| format!("{}{more}", html(&text, &link_list("/#", numbers)));
        show(&mut stage, "http://a.test/first", &page(1..=9, ""));
        show(&mut stage, "http://a.test/other", &html(&words(2, 60), &link_list("/#", [10])));
        // Of the links of `http://a.test/second`, 8 to 10 were met before. 11, 12 and the one in the navigation are
        // news.
        let more = "<nav><a href=http://b.test/9>9</a></nav>";
        let near = show(&mut stage, "http://b.test/first", &page(9..=9, more));
        let control: Vec<_> = near.links_news.iter().map(|link| link.url.as_str()).collect();
        assert_eq!(control, [""; 0], "{mode:?}");
        let near = show(&mut stage, "http://a.test/second", &page(8..=12, "<nav><a href=//c.test/x>x</a></nav>"));
        assert!(matches!(near.judgement.verdict, Verdict::Near { .. }));
        let news: Vec<_> = near.links_news.iter().map(|link| link.url.as_str()).collect();
        assert_eq!(news, ["http://a.test/11", "http://a.test/12", "http://c.test/x"], "{mode:?}");
        assert_eq!((near.links.len(), near.links_dropped), (followed, dropped), "{mode:?}");
    }
}

#[test]
fn links_that_the_caller_gives_are_compared_too() {
    let mut stage = open(&Double::default());
    let page = html(&words(1, 60), &[]);
    let given: Vec<String> = link_list("/#", 1..=9);
    let given: Vec<&str> = given.iter().map(String::as_str).collect();
    send(&mut stage, "http://a.test/1", 200, &page, Some(&given));
    let others = link_list("/#", 11..=19);
    let others: Vec<&str> = others.iter().map(String::as_str).collect();
    let second = send(&mut stage, "http://a.test/2", 200, &format!("{page}<!-- -->"), Some(&others));
    assert_eq!(second.judgement.verdict, Verdict::Unique);
    assert!(second.judgement.unique_by.is_some() && second.links.len() == 9);
    let third = send(&mut stage, "http://a.test/3", 200, &format!("{page}<!--  -->"), Some(&given));
    assert!(matches!(third.judgement.verdict, Verdict::Near { .. }));
}
