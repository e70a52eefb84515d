//! Pages with little text. Their pictures decide the verdict.

use super::*;

fn page(text: &[String], pictures: impl IntoIterator<Item = u32>) -> String {
    let pictures: String = pictures.into_iter().map(|picture| format!("<img src=/photos/{picture}.jpg>")).collect();
    format!("<main><p>{}</p>{pictures}<a href=next>Next</a></main>", text.join(" "))
}

/// Whether its pictures make a page unique, compared with another page with as many words.
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

/// The pages of a gallery: the text is the same, and the picture is `element` with the number of the page.
fn gallery(element: &str, count: u32) -> (usize, Web) {
    let mut web = web();
    let text = words(1, 60).join(" ");
    let unique = (0..count).filter(|number| {
        let picture = element.replace("{}", &number.to_string());
        let body = format!("<main><p>{text}</p><img src=/logo.png>{picture}<a href=next>Next</a></main>");
        web.verdict(&format!("http://a.test/album/{number}"), &body) == Verdict::Unique
    });
    (unique.count(), web)
}

#[test]
fn a_gallery_is_unique_however_it_shows_its_pictures() {
    for element in [
        "<img src='/image.php?id={}'><img src='/image.php?id=x{}'>",
        "<img src='https://cdn.test/{}.jpg'>",
        "<img src='https://cdn.test/{}/x/large.jpg'>",
        "<img src='/photos/{}/w600/large.jpg'><img src='/photos/x{}/w600/large.jpg'>",
        "<img src=/blank.gif data-src='https://cdn.test/{}.jpg'>",
        "<div style='background-image:url(/img/{}.jpg)'></div><div style='background-image:url(/img/x{}.jpg)'></div>",
    ] {
        assert_eq!(gallery(element, 20).0, 20, "{element}");
    }
}

#[test]
fn what_changes_at_each_visit_makes_no_page_unique() {
    for element in [
        "<img src='/image.php?id=7&cb={}'><img src='/image.php?r=0.{}'>",
        "<img src='https://cdn.test/7.jpg?v={}'>",
        "<img src='https://ads.test/{}.gif'>",
        "<a href='https://shop.test/'><img src='https://cdn.test/{}.jpg'></a>",
        "<a rel=sponsored href='/out'><img src='/img/{}.jpg'><img src='/img/{}0.jpg'></a>",
        "<img src='https://stats.test/p?url=http://a.test/album/{}'>",
        "<img src='/counter.php?page={}'><img src='/counter.php?page={}0'>",
    ] {
        assert_eq!(gallery(element, 20).0, 1, "{element}");
    }
}

#[test]
fn a_page_that_shows_the_pictures_of_its_original_is_a_copy() {
    let (_, mut web) = gallery("<img src='/photos/album/{}.jpg'>", 1);
    let text = words(1, 60).join(" ");
    let copy = format!(
        "<main><p>{text}</p><img src='http://a.test/logo.png'><img src='http://a.test/photos/album/0.jpg'><a href=next>Next</a></main>"
    );
    assert_eq!(web.verdict("http://b.test/album/0", &copy).duplicate_of(), Some(web.id("http://a.test/album/0", 1)));
    let print = format!("<main><p>{text}</p><a href=next>Next</a></main>");
    assert!(web.verdict("http://a.test/print/0", &print).duplicate_of().is_some());
}

/// A page with a picture that all pages of its host show, and one of its own.
fn beside(shared: &[&str], own: &str) -> String {
    let shared: String = shared.iter().map(|picture| format!("<img src='{picture}'>")).collect();
    let text = words(1, 60).join(" ");
    format!("<main><p>{text}</p>{shared}<img src='{own}'><a href=next>Next</a></main>")
}

#[test]
fn a_gallery_whose_pages_share_pictures_is_unique() {
    for shared in [&["/logo.png"][..], &["/logo.png", "/author.jpg"], &["/a.png", "/b.png", "/c.png", "/d.png"]] {
        let mut web = web();
        let verdicts = (1..=20).map(|number| {
            let page = beside(shared, &format!("/photos/{number}.jpg"));
            web.verdict(&format!("http://a.test/album/{number}"), &page) == Verdict::Unique
        });
        let unique: Vec<bool> = verdicts.collect();
        // The second page shows which pictures are shared.
        assert!(unique[0] && unique[2..].iter().all(|unique| *unique), "{shared:?} {unique:?}");
        assert!(!unique[1], "{shared:?}");
    }
}

#[test]
fn a_copy_of_such_a_gallery_is_none() {
    let mut web = web();
    for number in 1..=20 {
        web.show(&format!("http://a.test/album/{number}"), &beside(&["/logo.png"], &format!("/photos/{number}.jpg")));
    }
    for number in [1, 3, 20] {
        let of = Some(web.id(&format!("http://a.test/album/{number}"), 1));
        // On another host with another logo, and as a page of the same host in another colour.
        for (url, logo) in [("http://b.test/album", "/other.png"), ("http://a.test/dark", "/logo.png")] {
            let page = beside(&[logo], &format!("/photos/{number}.jpg"));
            assert_eq!(web.verdict(&format!("{url}/{number}"), &page).duplicate_of(), of, "{url}/{number}");
        }
    }
}

#[test]
fn pictures_that_take_turns_make_few_pages_unique() {
    let mut web = web();
    let mut random = fastrand::Rng::with_seed(7);
    let unique = (0..200).filter(|number| {
        // The bytes of two pages are never equal.
        let page = beside(&["/logo.png", "/map.png"], &format!("/pictures/{}.gif", random.u32(..23)));
        let page = page.replace("<p>", &format!("<p id=sale-{number}>"));
        web.verdict(&format!("http://a.test/sale/{number}"), &page) == Verdict::Unique
    });
    let unique = unique.count();
    assert!(unique <= 12, "{unique} of 23");
}
