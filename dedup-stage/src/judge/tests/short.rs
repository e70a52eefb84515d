//! Pages with too little text for a fingerprint: they are compared by all that they say.

use super::web;
use crate::judge::{UniqueBy, Verdict};
use crate::spaces;
use crate::testing::{html, links, words};

/// A stub of a reference: a title, a heading, a line of text, code, and a list of links.
fn stub(name: &str, place: usize) -> String {
    let put = |at: usize| if at == place { name } else { "common" };
    format!(
        "<title>{}</title><nav><a href=/>home</a> {}</nav><h1>{}</h1><p>See {} for it.</p><pre>use {}</pre><img src={}.png>",
        put(0),
        put(1),
        put(2),
        put(3),
        put(4),
        put(5)
    )
}

#[test]
fn stubs_that_differ_in_one_name_are_different() {
    let mut web = web();
    let mut random = fastrand::Rng::with_seed(22);
    for number in 0..2_000 {
        let length = random.usize(1..9);
        let name: String = std::iter::repeat_with(|| random.lowercase()).take(length).collect();
        let page = stub(&format!("{name}{number}"), number % 6);
        assert_eq!(web.verdict(&format!("http://a.test/{number}"), &page), Verdict::Unique, "{page}");
    }
}

#[test]
fn equal_stubs_are_found_whatever_their_markup_is() {
    let mut web = web();
    for number in 0..100 {
        let page = format!("{}<p><a href=/next?s=11>next</a>", stub(&format!("name{number}"), number % 6));
        let of = web.id(&format!("http://a.test/{number}"), 1);
        assert_eq!(web.verdict(&format!("http://a.test/{number}"), &page), Verdict::Unique);
        let copy = page.replace("<p>", "<!-- 17 --><p class=x>").replace("/next", "/x/../next");
        let verdict = web.verdict(&format!("http://b.test/{number}"), &copy);
        assert_eq!(verdict, Verdict::Near { of, distance: 0, resemblance: 1.0 }, "{copy}");
    }
}

#[test]
fn a_stub_with_another_link_is_different() {
    let mut web = web();
    let page = |link: &str| format!("<main><h1>List</h1><p>All of them <a href={link}>here</a></p></main>");
    assert_eq!(web.verdict("http://a.test/1", &page("/x")), Verdict::Unique);
    let other = web.show("http://a.test/2", &page("/y")).judgement;
    assert_eq!(
        (other.verdict, other.unique_by),
        (Verdict::Unique, Some(UniqueBy::LinksOfFewWords)),
        "its links are not on trial"
    );
    let list = |link: &str| format!("<nav><a href={link}>more</a></nav><p>All of them");
    assert_eq!(web.verdict("http://a.test/4", &list("/x")), Verdict::Unique);
    assert_eq!(web.verdict("http://a.test/5", &list("/y")), Verdict::Unique, "a link in chrome counts, too");
    assert!(web.show("http://a.test/3", &page("/x ")).judgement.verdict.is_duplicate());
}

#[test]
fn a_list_under_the_words_of_another_list_is_unchanged_as_long_as_it_has_its_links() {
    let mut web = web();
    let list = |from: u32| html(&words(1, 3), &links("/item/#", from..from + 8));
    assert_eq!(web.verdict("http://a.test/1", &list(0)), Verdict::Unique);
    assert_eq!(web.verdict("http://a.test/2", &list(100)), Verdict::Unique);
    let spaced = list(100).replace("<p>", "<p >");
    assert_eq!(web.verdict("http://a.test/2", &spaced), Verdict::Unchanged { bytes: true, of: None, known: None });
    assert_eq!(web.verdict("http://a.test/2", &list(200)), Verdict::Unique, "other links are another list");
}

#[test]
fn what_a_stub_said_before_condemns_nobody() {
    let mut web = web();
    let [old, new] = ["<h1>Old</h1><p>stub", "<h1>New</h1><p>stub"];
    assert_eq!(web.verdict("http://a.test/1", old), Verdict::Unique);
    assert_eq!(web.verdict("http://a.test/1", new), Verdict::Unique);
    assert_eq!(web.verdict("http://a.test/2", &format!("{old} ")), Verdict::Unique);
    assert_eq!(
        web.verdict("http://a.test/3", &format!("{new} ")),
        Verdict::Near { of: web.id("http://a.test/1", 2), distance: 0, resemblance: 1.0 }
    );
    let spaced = format!("{new}  ");
    assert_eq!(web.verdict("http://a.test/1", &spaced), Verdict::Unchanged { bytes: true, of: None, known: None });
}

/// Catches a date in the footer that changes a short page at each visit, and the copy of such a page that is found no
/// more after the date has changed.
#[test]
fn a_date_does_not_change_a_stub_and_its_present_statement_finds_copies() {
    let mut web = web();
    let page = |text: &str, day: u32| {
        format!(
            "<title>Mill 1</title><h1>The mill</h1><p>{text}</p><div>Seen on {day} May</div><footer>at {day}:05 pm</footer>"
        )
    };
    let unchanged = Verdict::Unchanged { bytes: true, of: None, known: None };
    assert_eq!(web.verdict("http://a.test/", &page("open", 3)), Verdict::Unique);
    assert_eq!(web.verdict("http://a.test/", &page("open", 4)), unchanged);
    assert_eq!(web.verdict("http://a.test/", &page("open", 5)), unchanged);
    // The two digests of the page: of its body and of its statement.
    assert_eq!(web.entries(spaces::DIGESTS), 2);
    assert_eq!(web.verdict("http://a.test/", &page("open", 5).replace("Mill 1", "Mill 2")), unchanged, "its title");
    assert_eq!(web.verdict("http://a.test/", &page("open", 5)), unchanged);
    let copy = |day: u32| page("open", day).replace("<p>", "<p >");
    let of = web.id("http://a.test/", 1);
    assert_eq!(web.verdict("http://b.test/", &copy(5)), Verdict::Near { of, distance: 0, resemblance: 1.0 });
    assert_eq!(web.verdict("http://c.test/", &copy(3)), Verdict::Unique, "the page does not say this any more");
    assert_eq!(web.verdict("http://a.test/", &page("shut", 5)), Verdict::Unique);
    let other_bytes = copy(5).replace("<p ", "<p  ");
    assert_eq!(web.verdict("http://d.test/", &other_bytes), Verdict::Unique, "the page does not say this any more");
}

#[test]
fn another_photo_changes_a_stub() {
    let mut web = web();
    let page = |photo: u32, day: u32| format!("<h1>The mill</h1><img src={photo}.jpg><p>Seen on {day} May</p>");
    assert_eq!(web.verdict("http://a.test/", &page(1, 1)), Verdict::Unique);
    assert!(matches!(web.verdict("http://a.test/", &page(1, 2)), Verdict::Unchanged { .. }));
    assert_eq!(web.verdict("http://a.test/", &page(2, 2)), Verdict::Unique);
}

#[test]
fn another_title_is_another_content() {
    let mut web = web();
    let page = |title: &str| format!("<title>{title}</title><p>stub");
    assert_eq!(web.verdict("http://a.test/1", &page("one")), Verdict::Unique);
    assert_eq!(web.verdict("http://a.test/1", &page("two")), Verdict::Unique);
}
