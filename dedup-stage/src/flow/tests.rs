//! The fate of the links of a page, for each verdict and each mode.

use crate::corpus::CorpusMatch;
use crate::flow::{Counterpart, Fate, Held, OnDuplicate};
use crate::judge::{Judgement, OutLink, Shown, UniqueBy, Verdict};
use crate::testing::{Web, html, keys, links, words};
use crate::url::PageId;

use super::gate::gate;

#[test]
fn who_passes_the_gate() {
    let page = |visit| PageId { visit, ..PageId::default() };
    let near = Verdict::Near { of: page(1), distance: 3, resemblance: 0.9 };
    let unchanged = |of| Verdict::Unchanged { bytes: true, of, known: None };
    let document = CorpusMatch { row: 1, exact: false, distance: 3, resemblance: 0.75 };
    for (verdict, is_duplicate) in [
        (Verdict::Unique, false),
        (Verdict::Unjudged, false),
        (unchanged(None), false),
        (unchanged(Some(page(1))), true),
        (Verdict::Exact { of: page(1) }, true),
        (near, true),
        (Verdict::Known { corpus: 0, document }, true),
    ] {
        let judgement = Judgement { verdict, novelty: 0.25, unique_by: None };
        let [drop, demote, keep] =
            [OnDuplicate::Drop, OnDuplicate::Demote, OnDuplicate::Keep].map(|mode| gate(&judgement, mode));
        assert_eq!(drop, (!is_duplicate).then_some(1.0), "{verdict:?}");
        assert_eq!(demote, Some(if is_duplicate { 0.25 } else { 1.0 }), "{verdict:?}");
        assert_eq!(keep, Some(1.0), "{verdict:?}");
    }
}

fn link(url: &str) -> OutLink {
    OutLink::new(url::Url::parse(url).unwrap(), true, &keys())
}

fn held(fate: Fate) -> Held {
    match fate {
        Fate::Hold(held) => held,
        other => panic!("they are not held for a twin's: {other:?}"),
    }
}

#[test]
fn no_link_of_a_duplicate_passes_in_drop() {
    for (mode, expected) in
        [(OnDuplicate::Drop, None), (OnDuplicate::Demote, Some(0.0)), (OnDuplicate::Keep, Some(1.0))]
    {
        let mut web = Web::new(mode);
        let text = words(1, 60);
        let page = html(&text, &links("/#", 1..=5));
        let first = web.show("http://a.test/1", &page).fate;
        assert!(matches!(first, Fate::Follow(1.0)));
        for body in [page.clone(), page.replace("<p>", "<p >")] {
            let factor = match web.show(&format!("http://a.test/{}", body.len()), &body).fate {
                Fate::Follow(factor) => Some(factor),
                Fate::Hold(_) | Fate::HoldKnown(_) | Fate::Try(_) => None,
            };
            assert_eq!(factor, expected, "{mode:?}");
        }
    }
}

#[test]
fn each_link_is_held_for_its_counterpart() {
    let mut web = Web::new(OnDuplicate::Drop);
    let text = words(1, 60);
    let mut first = links("/docs/14/#", 1..=9);
    first.extend(["/about".into(), "http://c.test/x".into(), "/docs/14/next?s=1".into()]);
    web.show("http://a.test/docs/14/list", &html(&text, &first));
    let mut second = links("/docs/15/#", 1..=9);
    second.extend(["/about".into(), "http://c.test/x".into(), "/docs/15/new".into()]);
    let held = held(web.show("http://b.test/docs/15/list", &html(&text, &second)).fate);
    assert_eq!(held.twin(), web.id("http://a.test/docs/14/list", 1));
    let of = |url: &str| Counterpart::Of(web.id(url, 1).url);
    for (url, counterpart) in [
        ("http://b.test/docs/15/3", of("http://a.test/docs/14/3")),
        ("http://b.test/about", of("http://a.test/about")),
        ("http://c.test/x", Counterpart::Same),
        ("http://a.test/about", Counterpart::Same),
        ("http://b.test/docs/15/new", Counterpart::News),
        ("http://b.test/docs/15/next", Counterpart::News),
        ("http://c.test/y", Counterpart::News),
    ] {
        assert_eq!(held.counterpart(&link(url)), counterpart, "{url}");
    }
}

#[test]
fn a_copy_of_a_page_whose_links_nobody_kept_is_held_for_what_its_twin_must_have() {
    let mut web = Web::new(OnDuplicate::Drop);
    let page = html(&words(1, 60), &[]);
    web.show("http://o.test/", &page);
    // The links of near-duplicates are not stored.
    let page = format!("{page}<a href=x></a> <a href=/y></a> <a href=http://c.test/z></a>");
    assert!(matches!(web.show("http://a.test/1/", &page).judgement.verdict, Verdict::Near { .. }));
    let held = held(web.show("http://b.test/2/", &page).fate);
    let of = |url: &str| Counterpart::Of(web.id(url, 1).url);
    for (url, counterpart) in [
        ("http://b.test/2/x", of("http://a.test/1/x")),
        ("http://b.test/y", of("http://a.test/y")),
        ("http://c.test/z", Counterpart::Same),
    ] {
        assert_eq!(held.counterpart(&link(url)), counterpart, "{url}");
    }
}

#[test]
fn what_is_held_is_told_in_every_mode() {
    for mode in [OnDuplicate::Drop, OnDuplicate::Demote, OnDuplicate::Keep] {
        let mut web = Web::new(mode);
        let text = words(1, 60);
        let prepare = |web: &mut Web, url, numbers| web.prepare(url, 200, &html(&text, &links("/#", numbers)));
        web.show("http://a.test/first", &html(&text, &links("/#", 1..=9)));
        let second = prepare(&mut web, "http://a.test/second", 2..=10);
        let result = web.pass(&second, 1, None);
        let held = web.held(&second, result).expect("a duplicate");
        assert_eq!(held.counterpart(&link("http://a.test/5")), Counterpart::Same);
        assert_eq!(held.counterpart(&link("http://a.test/10")), Counterpart::News);
        let other = web.prepare("http://a.test/other", 200, &html(&words(2, 60), &[]));
        let result = web.pass(&other, 1, None);
        assert!(web.held(&other, result).is_none());
    }
}

#[test]
fn the_stored_form_of_what_was_shown_stays_what_it_is() {
    // This form must not change: the records of crawls have it.
    let shown = Shown {
        visit: 3,
        order: 300,
        sha256: [1; 32],
        simhash: Some(5),
        text: 6,
        odd: None,
        statement: None,
        sketch: None,
        accepted: true,
        of: None,
    };
    let bytes = crate::store::codec::encode(&shown);
    let expected = [&[3, 0xac, 2][..], &[1; 32], &[1, 5, 6, 0, 0, 0, 1, 0]].concat();
    assert_eq!(bytes, expected);
    assert_eq!(crate::store::codec::decode::<Shown>(&bytes, "test").unwrap(), shown);
}

#[test]
fn links_of_a_page_that_is_unique_by_its_links_are_tried_in_drop_only() {
    for mode in [OnDuplicate::Drop, OnDuplicate::Demote, OnDuplicate::Keep] {
        let mut web = Web::new(mode);
        let text = words(1, 60);
        web.show("http://a.test/1", &html(&text, &links("/#", 1..=5)));
        let list = web.show("http://a.test/2", &html(&text, &links("/other/#", 1..=5)));
        assert_eq!(list.judgement.unique_by, Some(UniqueBy::Links), "{mode:?}");
        match list.fate {
            Fate::Try(_) => assert_eq!(mode, OnDuplicate::Drop),
            fate => assert!(matches!(fate, Fate::Follow(1.0)) && mode != OnDuplicate::Drop, "{mode:?}"),
        }
    }
}
