//! Pages with equal text. Their links decide the verdict.

use super::*;
use crate::flow::{Counterpart, Fate};
use crate::testing::keys;

/// The verdict on a page with the text of an earlier one: whether its links make it unique.
fn is_unique(first: (&str, &[String]), second: (&str, &[String])) -> bool {
    let mut web = web();
    let text = words(1, 600);
    assert_eq!(web.verdict(first.0, &html(&text, first.1)), Verdict::Unique);
    let judgement = web.show(second.0, &html(&text, second.1)).judgement;
    match judgement.verdict {
        Verdict::Unique => assert!(judgement.unique_by.is_some()),
        Verdict::Near { of, distance, .. } => assert_eq!((of, distance), (web.id(first.0, 1), 0)),
        Verdict::Exact { of } => assert_eq!(of, web.id(first.0, 1)),
        other => panic!("{other:?}"),
    }
    judgement.verdict == Verdict::Unique
}

#[test]
fn four_links_that_the_twin_has_not_and_more_than_half_of_all_make_a_page_unique() {
    for (first, second, unique) in [
        (1..=8, 9..=11, false),
        (1..=8, 9..=12, true),
        (1..=8, 5..=12, false),
        (1..=8, 6..=13, true),
        (1..=8, 6..=12, true),
        (1..=8, 5..=11, false),
        (1..=20, 1..=8, false),
        (1..=1, 1..=3, false),
        (1..=1, 2..=5, true),
    ] {
        let (own, others) = (link_list("/item/#", second.clone()), link_list("/item/#", first.clone()));
        let found = is_unique(("http://a.test/list?p=1", &others), ("http://a.test/list?p=2", &own));
        assert_eq!(found, unique, "{first:?} {second:?}");
    }
}

#[test]
fn a_page_without_links_has_none_in_common_with_one_that_has() {
    let list = link_list("/item/#", 1..=9);
    assert!(is_unique(("http://a.test/1", &[]), ("http://a.test/2", &list)));
    assert!(!is_unique(("http://a.test/1", &list), ("http://a.test/2", &[])), "a part is a copy");
}

#[test]
fn copies_under_other_hosts_folders_and_parameters_have_counterparts() {
    for (first, second, pattern, other_pattern) in [
        ("http://a.test/x/list", "http://b.test/x/list", "/item/#", "/item/#"),
        ("http://a.test/x/list", "http://b.test/y/z/list", "/item/#", "/item/#"),
        ("http://a.test/list", "http://b.test/mirror/list", "/item/#", "/mirror/item/#"),
        ("http://a.test/mirror/list", "https://b.test:8443/list", "/mirror/item/#", "/item/#"),
        ("http://a.test/14/list", "http://a.test/15/list", "/14/item/#", "/15/item/#"),
        ("http://a.test/14/list", "http://a.test/15/list", "/14/item/#", "/14/item/#"),
        ("http://a.test/list?l=de", "http://a.test/list?l=en", "/item/#?l=de", "/item/#?l=en"),
        ("http://a.test/1", "http://a.test/2", "/item/#?tok=1", "/item/#?tok=2"),
        ("http://a.test/1", "http://a.test/2", "/item/#", "/item/#?tok=2"),
        ("http://a.test/1", "http://a.test/2", "/item/#?tok=1", "/item/#"),
        ("http://a.test/1", "http://b.test/1", "http://c.test/item/#", "http://c.test/item/#"),
        ("http://a.test/1", "http://b.test/1", "/item/#", "http://a.test/item/#"),
        ("http://a.test/1", "http://b.test/1", "http://b.test/item/#", "/item/#"),
    ] {
        let (first_links, second_links) = (link_list(pattern, 1..=9), link_list(other_pattern, 1..=9));
        assert!(!is_unique((first, &first_links), (second, &second_links)), "{pattern} {other_pattern}");
        // The control: the same number of other links makes the page unique.
        let others = link_list(other_pattern, 11..=19);
        assert!(is_unique((first, &first_links), (second, &others)), "{pattern} {other_pattern}");
    }
}

#[test]
fn links_in_navigation_make_no_page_unique_but_may_be_counterparts() {
    let mut web = web();
    let text = words(1, 60).join(" ");
    let items = |numbers| link_list("<a href=/item/#>go</a> ", numbers).concat();
    web.show("http://a.test/1", &format!("<main><p>{text}</p></main><nav>{}</nav>", items(1..=9)));
    let nav = format!("<main><p>{text}</p></main><nav>{}</nav>", items(11..=19));
    assert!(matches!(web.verdict("http://a.test/2", &nav), Verdict::Near { .. }));
    let main = format!("<main><p>{text}</p><p>{}</p></main>", items(1..=9));
    assert!(matches!(web.verdict("http://a.test/3", &main), Verdict::Near { .. }));
    let control = format!("<main><p>{text}</p><p>{}</p></main>", items(21..=29));
    assert_eq!(web.verdict("http://a.test/4", &control), Verdict::Unique);
}

#[test]
fn equal_text_with_much_of_it_new_is_unique_without_the_word() {
    // A page is unique by its links or media only where its text is known. Here a sixth of the text is not known.
    let mut web = web();
    let mut text = words(1, 300);
    web.show("http://a.test/1", &html(&text, &link_list("/item/#", 1..=9)));
    text[..25].clone_from_slice(&words(2, 25));
    let judgement = web.show("http://a.test/2", &html(&text, &link_list("/item/#", 11..=19))).judgement;
    assert_eq!((judgement.verdict, judgement.unique_by), (Verdict::Unique, None));
}

#[test]
fn a_copy_of_one_page_of_a_long_list_is_found() {
    let mut web = web();
    let text = words(1, 60);
    let page = |number: u32| html(&text, &link_list("/item/#", number * 10..number * 10 + 10));
    for number in 1..=100 {
        assert_eq!(web.verdict(&format!("http://a.test/{number}"), &page(number)), Verdict::Unique);
    }
    for number in [1, 50, 100] {
        let copy = page(number).replace("<p>", "<p >");
        let verdict = web.verdict(&format!("http://b.test/{number}"), &copy);
        // At most 64 pages with one fingerprint are visited.
        let expected = (number <= 64).then(|| web.id(&format!("http://a.test/{number}"), 1));
        assert_eq!(verdict.duplicate_of(), expected, "{number}");
    }
}

#[test]
fn links_of_a_twin_with_thousands_are_judged_by_a_sample() {
    let mut web = web();
    let text = words(1, 60);
    let page = |pattern: &str, numbers| html(&text, &link_list(pattern, numbers));
    web.show("http://a.test/1", &page("/item/#", 1..=3000));
    let other = web.show("http://a.test/2", &page("/other/#", 1..=3000));
    assert_eq!(other.judgement.verdict, Verdict::Unique);
    let some = web.show("http://a.test/3", &page("/item/#", 1500..=4000));
    assert!(matches!(some.judgement.verdict, Verdict::Near { .. }), "two fifths are news");
    let mirror = web.show("http://b.test/1", &page("/item/#", 1..=2900));
    let Fate::Hold(held) = mirror.fate else { panic!("not held") };
    let link = |url: &str| OutLink::new(Url::parse(url).unwrap(), true, &keys());
    for number in 1..=2900 {
        let here = web.id(&format!("http://a.test/item/{number}"), 1).url;
        let counterpart = held.counterpart(&link(&format!("http://b.test/item/{number}")));
        assert_eq!(counterpart, Counterpart::Of(here), "{number}");
    }
}
