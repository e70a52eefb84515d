//! Pages with little text. Their pictures decide the verdict.

use super::*;

fn page(text: &[String], pictures: impl IntoIterator<Item = u32>) -> String {
    let pictures: String = pictures.into_iter().map(|picture| format!("<img src=/photos/{picture}.jpg>")).collect();
    format!("<main><p>{}</p>{pictures}<a href=next>Next</a></main>", text.join(" "))
}

/// Whether its pictures make a page unique beside another page with as many words.
fn is_unique(words_of_text: usize, first: std::ops::Range<u32>, second: std::ops::Range<u32>) -> bool {
    let mut web = web();
    let text = words(1, words_of_text);
    web.show("http://a.test/album/1", &page(&text, first));
    let judgement = web.show("http://a.test/album/2", &page(&text, second)).judgement;
    match judgement.verdict {
        Verdict::Unique => assert!(judgement.unique_by.is_some()),
        Verdict::Near { of, .. } | Verdict::Exact { of } => assert_eq!(of, web.id("http://a.test/album/1", 1)),
        other => panic!("{other:?}"),
    }
    judgement.verdict == Verdict::Unique
}

#[test]
fn other_pictures_beside_little_text_make_a_page_unique() {
    for (first, second, unique) in [
        (0..1, 1..2, true),
        (0..0, 1..2, true),
        (0..1, 0..1, false),
        (0..4, 2..6, false),
        (0..4, 3..6, true),
        (0..5, 2..7, false),
        (0..9, 3..5, false),
        (0..9, 0..0, false),
    ] {
        assert_eq!(is_unique(60, first.clone(), second.clone()), unique, "{first:?} {second:?}");
    }
}

#[test]
fn beside_much_text_pictures_do_not_matter() {
    assert!(is_unique(250, 0..1, 1..2));
    assert!(!is_unique(251, 0..1, 1..2));
    assert!(!is_unique(600, 0..9, 10..20));
}

#[test]
fn a_gallery_is_unique_and_its_copy_is_not() {
    let mut web = web();
    let text = words(1, 40);
    for picture in 1..=30 {
        let url = format!("http://a.test/album/{picture}");
        assert_eq!(web.verdict(&url, &page(&text, picture..=picture)), Verdict::Unique, "{picture}");
    }
    for picture in [1, 15, 30] {
        let copy = page(&text, picture..=picture).replace("<p>", "<p >");
        let verdict = web.verdict(&format!("http://b.test/album/{picture}"), &copy);
        assert_eq!(verdict.duplicate_of(), Some(web.id(&format!("http://a.test/album/{picture}"), 1)));
    }
}

#[test]
fn another_picture_under_the_same_url_is_a_change() {
    let mut web = web();
    let text = words(1, 40);
    web.show("http://a.test/today", &page(&text, 1..2));
    assert_eq!(web.verdict("http://a.test/today", &page(&text, 2..3)), Verdict::Unique);
    assert!(web.verdict("http://b.test/today", &page(&text, 2..3)).duplicate_of().is_some());
    assert_eq!(web.verdict("http://c.test/today", &page(&text, 1..2)), Verdict::Unique);
}
