//! A URL that is visited again.

use super::*;
use crate::flow::{Fate, FlowResult};

#[test]
fn five_hundred_visits_to_an_unchanged_page_leave_one_entry() {
    let mut web = web();
    let page = html(&words(1, 60), &link_list("/#", 1..=5));
    assert_eq!(web.verdict("http://a.test/", &page), Verdict::Unique);
    for _ in 1..500 {
        let result = web.show("http://a.test/", &page);
        assert_eq!(result.judgement.verdict, Verdict::Unchanged { bytes: false, of: None, known: None });
        assert!(matches!(result.fate, Fate::Follow(1.0)));
    }
    assert_eq!([spaces::DIGESTS, spaces::ACCEPTED, spaces::LINKS].map(|space| web.entries(space)), [1, 1, 0]);
    assert_eq!(web.flow.judge().fingerprints(), 1);
}

#[test]
fn other_bytes_with_the_same_words_are_unchanged_and_their_copies_are_known() {
    let mut web = web();
    let page = |comment: u32| format!("{}<!-- {comment} -->", html(&words(1, 60), &[]));
    web.show("http://a.test/", &page(1));
    assert_eq!(web.verdict("http://a.test/", &page(2)), Verdict::Unchanged { bytes: true, of: None, known: None });
    assert_eq!(web.verdict("http://a.test/", &page(2)), Verdict::Unchanged { bytes: false, of: None, known: None });
    assert_eq!([spaces::DIGESTS, spaces::ACCEPTED].map(|space| web.entries(space)), [1; 2]);
    assert_eq!(web.verdict("http://b.test/", &page(2)), Verdict::Exact { of: web.id("http://a.test/", 1) });
    assert!(matches!(web.verdict("http://c.test/", &page(1)), Verdict::Near { distance: 0, .. }));
}

#[test]
fn a_few_other_words_are_no_change_and_many_are() {
    let mut web = web();
    let text = words(1, 300);
    let edited = |words: usize| {
        let mut text = text.clone();
        text[..words].fill("edited".into());
        html(&text, &[])
    };
    web.show("http://a.test/", &edited(0));
    assert_eq!(web.verdict("http://a.test/", &edited(5)), Verdict::Unchanged { bytes: true, of: None, known: None });
    // Small changes add up: each visit is compared with the accepted content.
    assert_eq!(web.verdict("http://a.test/", &edited(10)), Verdict::Unchanged { bytes: true, of: None, known: None });
    assert_eq!(web.verdict("http://a.test/", &edited(60)), Verdict::Unique);
    assert_eq!(web.entries(spaces::ACCEPTED), 1);
}

#[test]
fn new_links_under_the_same_words_are_a_change() {
    let mut web = web();
    let page = |numbers| html(&words(1, 60), &link_list("/item/#", numbers));
    web.show("http://a.test/new", &page(1..=10));
    assert_eq!(
        web.verdict("http://a.test/new", &page(3..=12)),
        Verdict::Unchanged { bytes: true, of: None, known: None }
    );
    // Five of ten links are news, compared with the last visit. Compared with the first visit, seven would be.
    assert_eq!(
        web.verdict("http://a.test/new", &page(8..=17)),
        Verdict::Unchanged { bytes: true, of: None, known: None }
    );
    assert_eq!(web.verdict("http://a.test/new", &page(14..=23)), Verdict::Unique);
    assert_eq!(web.entries(spaces::ACCEPTED), 1);
}

#[test]
fn other_links_beside_much_text_are_no_change() {
    let mut web = web();
    let page = |numbers| html(&words(1, 600), &link_list("/item/#", numbers));
    web.show("http://a.test/", &page(1..=10));
    assert_eq!(
        web.verdict("http://a.test/", &page(21..=30)),
        Verdict::Unchanged { bytes: true, of: None, known: None }
    );
}

/// Catches a box of related pages that changes a short page at each visit.
#[test]
fn links_to_pages_that_were_met_are_no_change() {
    let mut web = web();
    let page = |numbers| html(&words(1, 60), &link_list("/item/#", numbers));
    web.show("http://a.test/new", &page(1..=10));
    let before = web.shown("http://a.test/new").unwrap();
    let mut again = web.prepare("http://a.test/new", 200, &page(21..=30));
    again.links.iter_mut().skip(1).for_each(|link| link.met = true);
    let verdict = web.pass(&again, 2, Some(&before)).judgement.verdict;
    assert_eq!(verdict, Verdict::Unchanged { bytes: true, of: None, known: None });
    let mut fresh = web.prepare("http://a.test/new", 200, &page(41..=50));
    fresh.links.iter_mut().skip(2).for_each(|link| link.met = true);
    assert_eq!(web.pass(&fresh, 3, Some(&before)).judgement.verdict, Verdict::Unique);
}

/// Catches a box of related pages that changes a page of links at each visit, and a front page whose new links do not
/// change it.
#[test]
fn known_links_in_place_of_others_do_not_change_a_page_of_links() {
    let same = Verdict::Unchanged { bytes: true, of: None, known: None };
    let entry = |number: u64| format!("<li><a href='/item/{number}'>{}</a></li>", words(number, 7).join(" "));
    let entries = |numbers: &mut dyn Iterator<Item = u64>| -> String { numbers.map(entry).collect() };
    let index = |seed: u64, related: std::ops::Range<u64>| {
        let (index, related) = (entries(&mut (1_000..1_020)), entries(&mut { related }));
        format!("<h1>All pages</h1><p>{}</p><ul>{index}</ul><ul>{related}</ul>", words(7_000 + seed, 30).join(" "))
    };
    let visit = |html: &str, is_met: &dyn Fn(usize) -> bool| {
        let mut web = web();
        web.show("http://a.test/", &index(1, 1..6));
        let before = web.shown("http://a.test/").unwrap();
        let mut again = web.prepare("http://a.test/", 200, html);
        again.links.iter_mut().enumerate().for_each(|(number, link)| link.met = is_met(number));
        web.pass(&again, 2, Some(&before)).judgement.verdict
    };
    assert_eq!(visit(&index(1, 11..16), &|_| true), same);
    assert_eq!(visit(&index(1, 4..9), &|_| true), same);
    // The first link of the box is the 20th of the page.
    assert_eq!(visit(&index(1, 11..16), &|number| number != 22), Verdict::Unique, "a link to a page that is new");
    assert_eq!(visit(&index(2, 11..16), &|_| true), Verdict::Unique, "the paragraph is another one");
    assert_eq!(visit(&index(1, 11..30), &|_| true), Verdict::Unique, "many more links");
    assert_eq!(visit(&index(1, 0..0), &|_| true), Verdict::Unique, "the box is gone");
}

#[test]
fn what_a_url_showed_before_condemns_nobody() {
    let mut web = web();
    let (old, new) = (html(&words(1, 60), &link_list("/#", 1..=5)), html(&words(2, 60), &link_list("/#", 1..=5)));
    web.show("http://a.test/", &old);
    assert_eq!(web.verdict("http://a.test/", &new), Verdict::Unique);
    assert_eq!([spaces::DIGESTS, spaces::ACCEPTED, spaces::LINKS].map(|space| web.entries(space)), [1, 1, 0]);
    assert_eq!(web.verdict("http://b.test/", &old), Verdict::Unique, "nobody shows this any more");
    assert_eq!(web.verdict("http://c.test/", &new), Verdict::Exact { of: web.id("http://a.test/", 2) });
    assert_eq!(web.verdict("http://a.test/", &old), Verdict::Exact { of: web.id("http://b.test/", 1) });
    assert_eq!(web.verdict("http://d.test/", &new), Verdict::Unique, "a.test shows it no more, c.test was no first");
}

#[test]
fn an_error_in_between_is_no_change() {
    let mut web = web();
    let page = html(&words(1, 60), &[]);
    web.show("http://a.test/", &page);
    assert_eq!(web.answer("http://a.test/", 503, "busy").judgement, Judgement::UNJUDGED);
    assert_eq!(web.verdict("http://a.test/", &page), Verdict::Unchanged { bytes: false, of: None, known: None });
}

#[test]
fn an_unchanged_duplicate_remains_one_as_long_as_its_twin_does() {
    let mut web = web();
    let text = words(1, 60);
    let first = html(&text, &link_list("/#", 1..=5));
    for second in [first.clone(), first.replace("<p>", "<p >")] {
        web.show("http://a.test/", &first);
        let twin = web.id("http://a.test/", 1);
        assert!(web.verdict("http://b.test/", &second).duplicate_of().is_some());
        for _ in 0..2 {
            let again = web.show("http://b.test/", &second);
            assert_eq!(again.judgement.verdict, Verdict::Unchanged { bytes: false, of: Some(twin), known: None });
            assert!(matches!(again.fate, Fate::Hold(held) if held.twin() == twin));
        }
        web.show("http://a.test/", &html(&words(2, 60), &[]));
        let alone = web.show("http://b.test/", &second);
        assert_eq!(alone.judgement.verdict, Verdict::Unchanged { bytes: false, of: None, known: None });
        assert!(matches!(alone.fate, Fate::Follow(1.0)));
        // Now other pages can be duplicates of this one.
        let copy = web.verdict("http://c.test/", &second);
        assert_eq!(copy.duplicate_of().map(|of| of.url), Some(web.id("http://b.test/", 1).url));
        assert_eq!(web.verdict("http://b.test/", &second), Verdict::Unchanged { bytes: false, of: None, known: None });
        assert_eq!(web.entries(spaces::ACCEPTED), 2);
        web = self::web();
    }
}

#[test]
fn what_is_gone_condemns_nobody() {
    let mut web = web();
    let page = html(&words(1, 60), &link_list("/#", 1..=5));
    web.show("http://a.test/", &page);
    let shown = web.shown("http://a.test/").unwrap();
    let url = web.id("http://a.test/", 1).url;
    web.flow.judge_mut().forget(&shown, url, &mut web.session).unwrap();
    assert_eq!([spaces::DIGESTS, spaces::ACCEPTED, spaces::LINKS].map(|space| web.entries(space)), [0; 3]);
    assert_eq!(web.verdict("http://b.test/", &page), Verdict::Unique);
    // Forgetting twice does not harm other pages: the bytes are those of another URL now.
    web.flow.judge_mut().forget(&shown, url, &mut web.session).unwrap();
    let by_b = Verdict::Exact { of: web.id("http://b.test/", 1) };
    assert_eq!(web.verdict("http://c.test/", &page), by_b);
}

#[test]
fn a_near_copy_condemns_nobody() {
    let mut web = web();
    let text = words(1, 60);
    web.show("http://a.test/", &html(&text, &[]));
    let copy = [&text[..], &words(2, 1)].concat();
    assert!(matches!(web.verdict("http://b.test/", &html(&copy, &[])), Verdict::Near { .. }));
    let accepted = |web: &mut Web, url| web.shown(url).unwrap().accepted;
    assert_eq!((accepted(&mut web, "http://a.test/"), accepted(&mut web, "http://b.test/")), (true, false));
    assert_eq!(web.entries(spaces::ACCEPTED), 1);
}

#[test]
fn an_answer_without_a_body_says_what_the_last_one_said() {
    let mut web = web();
    let page = html(&words(1, 60), &[]);
    web.show("http://a.test/", &page);
    web.show("http://b.test/", &page);
    let of = |web: &mut Web, url| Judgement::not_modified(&web.shown(url).unwrap()).verdict;
    assert_eq!(of(&mut web, "http://a.test/"), Verdict::Unchanged { bytes: false, of: None, known: None });
    let twin = Some(web.id("http://a.test/", 1));
    assert_eq!(of(&mut web, "http://b.test/"), Verdict::Unchanged { bytes: false, of: twin, known: None });
}

/// Shows a file with these bytes at a URL. Returns the result, and the change since `before`.
fn show_file(web: &mut Web, visit: u32, before: Option<&Shown>, bytes: &str) -> (FlowResult, Option<Changed>) {
    let mut prepared = web.prepare("http://a.test/1", 200, bytes);
    let page = &mut prepared.page;
    (page.is_text, page.text, page.signature, page.odd, page.statement) = (false, 0, None, None, None);
    let result = web.pass(&prepared, visit, before);
    let changed = result.judgement.changed(before, result.shown.as_ref());
    (result, changed)
}

/// Catches two mistakes. A file takes the place of a page, and copies of the page are still called copies. And a file
/// changes, but no change is reported.
#[test]
fn a_file_in_place_of_a_page_is_a_change_and_so_are_other_bytes_of_a_file() {
    let mut web = web();
    let page = html(&words(1, 60), &[]);
    let first = web.show("http://a.test/1", &page).shown;
    let (file, changed) = show_file(&mut web, 2, first.as_ref(), "file");
    assert_eq!((file.judgement, changed), (Judgement::UNJUDGED, Some(Changed::Content)));
    assert_eq!(web.verdict("http://a.test/2", &page), Verdict::Unique, "nobody else shows it now");
    let unchanged = Verdict::Unchanged { bytes: false, of: None, known: None };
    let (again, changed) = show_file(&mut web, 3, file.shown.as_ref(), "file");
    assert_eq!((again.judgement.verdict, changed), (unchanged, Some(Changed::No)));
    assert_eq!(again.shown, file.shown);
    let (other, changed) = show_file(&mut web, 4, again.shown.as_ref(), "other file");
    assert_eq!((other.judgement.verdict, changed), (Verdict::Unjudged, Some(Changed::Content)));
    let prepared = web.prepare("http://a.test/1", 200, &page);
    let back = web.pass(&prepared, 5, other.shown.as_ref());
    let changed = back.judgement.changed(other.shown.as_ref(), back.shown.as_ref());
    assert_eq!((back.judgement.verdict.name(), changed), ("exact", Some(Changed::Content)));
}

/// If no body was read at two visits, nobody knows whether anything has changed. Here, the first of the two replaces a
/// page.
#[test]
fn an_empty_body_says_nothing_of_another_empty_body() {
    let mut web = web();
    let page = html(&words(1, 60), &[]);
    let first = web.show("http://a.test/1", &page).shown;
    let (empty, changed) = show_file(&mut web, 2, first.as_ref(), "");
    assert_eq!((empty.judgement, changed), (Judgement::UNJUDGED, Some(Changed::Content)));
    let (again, changed) = show_file(&mut web, 3, empty.shown.as_ref(), "");
    assert_eq!((again.judgement, changed), (Judgement::UNJUDGED, None));
}

/// Catches a page that scripts fill, and that is called changed: its bytes are others at each visit, but it never says
/// anything.
#[test]
fn a_page_without_words_and_media_still_says_nothing_when_its_bytes_are_others() {
    let mut web = web();
    assert_eq!(web.verdict("http://a.test/1", "<title>app</title><script src=1.js></script>"), Verdict::Unjudged);
    let unchanged = Verdict::Unchanged { bytes: true, of: None, known: None };
    assert_eq!(web.verdict("http://a.test/1", "<title>app</title><script src=2.js></script>"), unchanged);
    assert_eq!(web.verdict("http://a.test/1", &html(&words(1, 60), &[])), Verdict::Unique);
}
