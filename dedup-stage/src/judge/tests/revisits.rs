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
        assert!(matches!(result.links, Fate::Follow(1.0)));
    }
    assert_eq!([spaces::DIGESTS, spaces::ACCEPTED, spaces::LINKS].map(|space| web.entries(space)), [1; 3]);
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
    assert_eq!(web.entries(spaces::LINKS), 1);
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

/// A page of `own` words, with a footer that no element marks as a footer.
fn with_footer(own: &[String], footer: &[String]) -> String {
    format!("<main><p>{}</p></main><p>{}</p>", own.join(" "), footer.join(" "))
}

#[test]
fn a_new_template_changes_one_page_and_not_all() {
    let mut web = web();
    let footers = [100, 101, 102].map(|seed| words(seed, 60));
    let own = |page: u64, at: usize| words(if page == 7 && at == 2 { 50 } else { page }, 200);
    let url = |page: u64| format!("http://a.test/{page}");
    let mut changed = Vec::new();
    for (at, footer) in footers.iter().enumerate() {
        for page in 0..20 {
            let verdict = web.verdict(&url(page), &with_footer(&own(page, at), footer));
            if at > 0 && !matches!(verdict, Verdict::Unchanged { bytes: true, .. }) {
                changed.push((at, page));
            }
        }
    }
    assert_eq!(changed, [(1, 0), (2, 0), (2, 7)], "the first page of each template, and one that says something else");
    assert_eq!(web.entries(spaces::TEMPLATES), 1);
    // The same bytes are unchanged. A page of another host with its own text is unique, even under a known footer.
    let last = with_footer(&own(3, 2), &footers[2]);
    assert_eq!(web.verdict(&url(3), &last), Verdict::Unchanged { bytes: false, of: None, known: None });
    assert_eq!(web.verdict("http://b.test/3", &with_footer(&words(60, 200), &footers[0])), Verdict::Unique);
}

/// Catches differences without a direction: a text that one page loses, and another page gets, would be a template of
/// both.
#[test]
fn pages_that_swap_their_texts_and_a_paragraph_that_moves_are_changes() {
    let mut web = web();
    for count in [60, 300, 900] {
        let text = |seed| html(&words(count as u64 * 10 + seed, count), &[]);
        let [one, other] = [1, 2].map(|page| format!("http://swap.test/{count}/{page}"));
        web.show(&one, &text(1));
        web.show(&other, &text(2));
        assert_eq!(web.verdict(&one, &text(2)).name(), "exact", "the other one still shows it");
        assert_eq!(web.verdict(&other, &text(1)), Verdict::Unique, "{count} words");
    }
    let paragraph = words(999, 60);
    let page = |seed, has: bool| [words(seed, 300), if has { paragraph.clone() } else { Vec::new() }].concat();
    let [from, to] = ["http://move.test/upcoming", "http://move.test/past"];
    web.show(from, &html(&page(71, true), &[]));
    web.show(to, &html(&page(72, false), &[]));
    assert_eq!(web.verdict(from, &html(&page(71, false), &[])), Verdict::Unique);
    assert_eq!(web.verdict(to, &html(&page(72, true), &[])), Verdict::Unique);
}

#[test]
fn texts_that_take_turns_on_all_pages_are_a_template() {
    let mut web = web();
    let mut random = fastrand::Rng::with_seed(5);
    let texts: Vec<Vec<String>> = (200..206).map(|seed| words(seed, 25)).collect();
    let (mut changed, mut visits) = (0, 0);
    for visit in 0..30 {
        for page in 0..20 {
            let html = with_footer(&words(page, 200), &texts[random.usize(..6)]);
            let verdict = web.verdict(&format!("http://a.test/{page}"), &html);
            if visit > 0 {
                visits += 1;
                changed += usize::from(!matches!(verdict, Verdict::Unchanged { .. }));
            }
        }
    }
    assert!(changed <= visits / 50, "{changed} of {visits}");
}

/// Catches a memory in which the changes of single pages take the place of the texts that take turns on all of them.
#[test]
fn pages_that_change_by_themselves_do_not_hide_texts_that_take_turns() {
    let mut web = web();
    let mut random = fastrand::Rng::with_seed(6);
    let texts: Vec<Vec<String>> = (200..220).map(|seed| words(seed, 25)).collect();
    let mut own: Vec<u64> = (0..60).collect();
    let (mut changed, mut visits) = (0, 0);
    for visit in 0..30 {
        for (page, own) in own.iter_mut().enumerate() {
            let is_equal = visit == 0 || random.usize(..10) > 0;
            *own += if is_equal { 0 } else { 1_000 };
            let words = [words(page as u64, 160), words(10_000 + *own, 30)].concat();
            let html = with_footer(&words, &texts[random.usize(..20)]);
            let verdict = web.verdict(&format!("http://a.test/{page}"), &html);
            if visit > 0 && is_equal {
                visits += 1;
                changed += usize::from(!matches!(verdict, Verdict::Unchanged { .. }));
            }
        }
    }
    assert!(changed <= visits / 12, "{changed} of {visits}");
}

#[test]
fn what_a_page_alone_changes_and_takes_back_is_a_change_each_time() {
    let mut web = web();
    let texts = [words(1, 100), words(2, 100)].map(|text| html(&text, &[]));
    web.show("http://a.test/", &texts[0]);
    for at in 1..6 {
        assert_eq!(web.verdict("http://a.test/", &texts[at % 2]), Verdict::Unique, "visit {at}");
    }
}

#[test]
fn copies_that_change_alike_are_no_template() {
    let mut web = web();
    let urls = ["http://a.test/1", "http://a.test/2", "http://a.test/3"];
    for version in 1..4 {
        for (at, url) in urls.iter().enumerate() {
            let verdict = web.verdict(url, &html(&words(version, 100), &[]));
            match (version, at) {
                (_, 0) => assert_eq!(verdict, Verdict::Unique, "{version}"),
                _ => assert!(matches!(verdict, Verdict::Exact { .. }), "{version}, {url}: {verdict:?}"),
            }
        }
    }
}

/// Catches copies that count as changed whenever the advertisement of their site is another one.
#[test]
fn a_copy_with_a_new_template_has_not_changed_and_one_that_follows_its_twin_has() {
    let mut web = web();
    let footers = [100, 101].map(|seed| words(seed, 40));
    let page = |own: u64, at: usize| with_footer(&words(own, 300), &footers[at]);
    let urls = ["http://a.test/1", "http://a.test/2", "http://a.test/3"];
    for (own, url) in urls.iter().enumerate() {
        web.show(url, &page(own as u64, 0));
    }
    let copy = "http://a.test/copy/1";
    assert!(web.verdict(copy, &page(0, 0)).duplicate_of().is_some());
    for (own, url) in urls.iter().enumerate() {
        web.show(url, &page(own as u64, 1));
    }
    let verdict = web.verdict(copy, &page(0, 1));
    assert!(matches!(verdict, Verdict::Unchanged { of: Some(_), .. }), "{verdict:?}");
    web.show(urls[0], &page(10, 1));
    let verdict = web.verdict(copy, &page(10, 1));
    assert!(verdict.duplicate_of().is_some() && !matches!(verdict, Verdict::Unchanged { .. }), "{verdict:?}");
    // It is the same where the twin keeps most of its text.
    let edited = with_footer(&[&words(10, 300)[..240], &words(20, 60)[..]].concat(), &footers[1]);
    web.show(urls[0], &edited);
    assert!(
        !matches!(web.verdict(copy, &edited), Verdict::Unchanged { .. }),
        "a change that two pages share, both copies"
    );
}

#[test]
fn what_a_url_showed_before_condemns_nobody() {
    let mut web = web();
    let (old, new) = (html(&words(1, 60), &link_list("/#", 1..=5)), html(&words(2, 60), &link_list("/#", 1..=5)));
    web.show("http://a.test/", &old);
    assert_eq!(web.verdict("http://a.test/", &new), Verdict::Unique);
    assert_eq!([spaces::DIGESTS, spaces::ACCEPTED, spaces::LINKS].map(|space| web.entries(space)), [1; 3]);
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
            assert!(matches!(again.links, Fate::Hold(held) if held.twin() == twin));
        }
        web.show("http://a.test/", &html(&words(2, 60), &[]));
        let alone = web.show("http://b.test/", &second);
        assert_eq!(alone.judgement.verdict, Verdict::Unchanged { bytes: false, of: None, known: None });
        assert!(matches!(alone.links, Fate::Follow(1.0)));
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
