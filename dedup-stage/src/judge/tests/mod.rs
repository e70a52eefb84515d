//! The judge through its public functions: pages of a small web, and pages that consist only of signatures.

mod asides;
mod cut;
mod follow;
mod links;
mod media;
mod nearest;
mod records;
mod revisits;
mod short;
mod template;

use super::*;
use crate::flow::OnDuplicate;
use crate::spaces;
use crate::store::Memory;
use crate::testing::{Web, html, links as link_list, words};

fn web() -> Web {
    Web::new(OnDuplicate::Drop)
}

#[test]
fn the_same_bytes_are_an_exact_copy_of_the_earliest_page_that_has_them() {
    let mut web = web();
    let page = html(&words(1, 60), &[]);
    assert_eq!(web.verdict("http://a.test/1", &page), Verdict::Unique);
    for url in ["http://a.test/2", "http://b.test/1", "http://a.test/1?x=1"] {
        assert_eq!(web.verdict(url, &page), Verdict::Exact { of: web.id("http://a.test/1", 1) }, "{url}");
    }
    assert_eq!([web.entries(spaces::DIGESTS), web.entries(spaces::ACCEPTED)], [1, 1]);
}

#[test]
fn nearly_the_same_text_is_a_near_copy() {
    let mut web = web();
    let mut text = words(1, 200);
    assert_eq!(web.verdict("http://a.test/1", &html(&text, &[])), Verdict::Unique);
    text[100] = "other".into();
    let Verdict::Near { of, distance, resemblance } = web.verdict("http://a.test/2", &html(&text, &[])) else {
        panic!("not near")
    };
    assert_eq!(of, web.id("http://a.test/1", 1));
    assert!(distance <= 7 && (0.8..1.0).contains(&resemblance), "{distance} {resemblance}");
    assert_eq!(web.verdict("http://a.test/3", &html(&words(2, 200), &[])), Verdict::Unique);
    // A near-duplicate is no twin by its text. It is one by its bytes.
    assert_eq!(web.entries(spaces::ACCEPTED), 2);
    let copy = web.verdict("http://a.test/4", &html(&text, &[]));
    assert_eq!(copy, Verdict::Exact { of: web.id("http://a.test/2", 1) });
}

#[test]
fn a_page_is_never_the_twin_of_its_own_url() {
    // The record of the first visit is not passed in, as if it had not been kept.
    let mut web = web();
    let text = words(1, 60);
    let first = web.prepare("http://a.test/", 200, &html(&text, &[]));
    let other_bytes = web.prepare("http://a.test/", 200, &format!("{}<!-- 2 -->", html(&text, &[])));
    assert_eq!(web.pass(&first, 1, None).judgement.verdict, Verdict::Unique);
    assert_eq!(web.pass(&first, 2, None).judgement.verdict, Verdict::Unique);
    assert_eq!(web.pass(&other_bytes, 3, None).judgement.verdict, Verdict::Unique);
}

#[test]
fn what_is_no_page_is_not_judged_and_leaves_no_trace() {
    let mut web = web();
    let page = html(&words(1, 60), &[]);
    assert_eq!(web.answer("http://a.test/404", 404, &page).judgement, Judgement::UNJUDGED);
    let mut cut = web.prepare("http://a.test/cut", 200, &page);
    cut.judgeable = false;
    assert_eq!(web.pass(&cut, 1, None).judgement, Judgement::UNJUDGED);
    let mut image = web.prepare("http://a.test/image", 200, &page);
    image.page.is_text = false;
    assert_eq!(web.pass(&image, 1, None).judgement, Judgement::UNJUDGED);
    assert!(web.shown("http://a.test/404").is_none());
    assert_eq!([spaces::DIGESTS, spaces::ACCEPTED, spaces::LINKS].map(|space| web.entries(space)), [0; 3]);
    assert_eq!(web.verdict("http://a.test/", &page), Verdict::Unique);
}

#[test]
fn a_page_that_says_nothing_is_compared_by_its_bytes_alone() {
    let mut web = web();
    let page = html(&[], &[]);
    assert_eq!(web.verdict("http://a.test/1", &page), Verdict::Unjudged);
    assert_eq!(web.verdict("http://a.test/2", &page), Verdict::Exact { of: web.id("http://a.test/1", 1) });
    assert_eq!(web.verdict("http://a.test/3", &page.replace("<p>", "<p >")), Verdict::Unjudged);
    assert_eq!(web.verdict("http://a.test/1", &page), Verdict::Unchanged { bytes: false, of: None, known: None });
}

#[test]
fn novelty_falls_from_unique_to_near_to_exact() {
    let mut web = web();
    let mut text = words(1, 200);
    let list = link_list("/#", 1..=8);
    let unique = web.show("http://a.test/1", &html(&text, &list)).judgement;
    text[100] = "other".into();
    let near = web.show("http://a.test/2", &html(&text, &list)).judgement;
    let Verdict::Near { resemblance, .. } = near.verdict else { panic!("{near:?}") };
    // The twin has all links.
    assert!((near.novelty - (1.0 - resemblance)).abs() < 1e-6, "{near:?}");
    let fewer = web.show("http://a.test/3", &html(&text, &link_list("/#", 6..=11))).judgement;
    // The twin has half of the links.
    assert!((fewer.novelty - (1.0 - resemblance * 0.75)).abs() < 1e-6, "{fewer:?}");
    let exact = web.show("http://a.test/4", &html(&words(1, 200), &list)).judgement;
    assert_eq!([unique.novelty, exact.novelty], [1.0, 0.0]);
}

#[test]
fn a_state_of_another_recipe_is_refused_with_what_to_do() {
    let mut session = Session::new(Box::new(Memory::default()));
    session.put(Space::META, *b"recipe", *b"other-1");
    match Judge::open(7, crate::testing::keys(), &mut session) {
        Err(Error::Foreign(reason)) => assert!(reason.contains("other-1") && reason.contains("empty"), "{reason}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_judge_opened_again_remembers() {
    let mut web = web();
    let page = html(&words(1, 60), &link_list("/#", 1..=5));
    web.show("http://a.test/1", &page);
    let dedup = config::Settings::default().dedup;
    web.flow = crate::flow::Flow::open(&dedup, crate::testing::keys(), &mut web.session).unwrap();
    assert_eq!(web.flow.judge().fingerprints(), 1);
    assert_eq!(web.verdict("http://a.test/2", &page), Verdict::Exact { of: web.id("http://a.test/1", 1) });
    let spaced = page.replace("<p>", "<p >");
    assert!(matches!(web.verdict("http://a.test/3", &spaced), Verdict::Near { distance: 0, resemblance: 1.0, .. }));
}
