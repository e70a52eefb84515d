//! Texts in chrome: they make a page unique if no other page of its host has them.

use super::*;

/// A page whose content is always the same, with a text in `element` and a footer. Its bytes differ from those of other
/// pages.
fn page(number: u64, element: &str, text: &[String]) -> String {
    format!(
        "<!-- {number} --><main><p>{}</p><a href=next>Next</a></main><{element}><p>{}</p></{}><footer><p>{}</p></footer>",
        words(1, 80).join(" "),
        text.join(" "),
        element.split(' ').next().unwrap(),
        words(2, 30).join(" ")
    )
}

/// The number of unique pages among 60 whose texts in this element are `text(number)`.
fn unique(element: &str, text: impl Fn(u64) -> Vec<String>) -> usize {
    let mut web = web();
    let verdict =
        |web: &mut Web, number| web.verdict(&format!("http://a.test/{number}"), &page(number, element, &text(number)));
    (0..60).filter(|number| verdict(&mut web, *number) == Verdict::Unique).count()
}

#[test]
fn a_text_of_its_own_makes_a_page_unique_wherever_it_stands() {
    for element in ["aside", "nav", "div class=sidebar", "div class=menu", "footer", "div role=complementary", "header"]
    {
        for length in [40, 150] {
            assert_eq!(unique(element, |number| words(100 + number, length)), 60, "{element} {length}");
        }
    }
}

/// Catches a long legal notice that hides the articles of a site, because the judge compares the whole content.
#[test]
fn an_article_beside_a_long_text_that_all_pages_show_makes_a_page_unique() {
    for (element, length) in [("footer", 60), ("aside", 120), ("div class=cookie-banner", 60), ("header", 250)] {
        for main in ["main", "div", "article"] {
            let mut web = web();
            let close = element.split(' ').next().unwrap();
            let page = |number: u64, article: u64| {
                format!(
                    "<!-- {number} --><h1>Our funds</h1><{main}><p>{}</p><a href={}>Next</a></{main}><{element}><p>{}</p></{close}>",
                    words(100 + article, length).join(" "),
                    number + 1,
                    words(1, 2_000).join(" ")
                )
            };
            let new: Vec<_> = (0..40)
                .map(|number| web.verdict(&format!("http://a.test/{number}"), &page(number, number)))
                .filter(|verdict| *verdict == Verdict::Unique)
                .collect();
            assert_eq!(new.len(), 40, "{element} {main}");
            let copies = (40..80).filter(|number| {
                let verdict = web.verdict(&format!("http://a.test/{number}"), &page(*number, number - 40));
                verdict.duplicate_of().is_some()
            });
            assert_eq!(copies.count(), 40, "{element} {main}");
        }
    }
}

#[test]
fn what_the_host_shows_on_other_pages_makes_no_page_unique() {
    assert_eq!(unique("aside", |_| words(3, 150)), 1, "the same text on all pages");
    let drawn = unique("aside", |number| words(100 + number.wrapping_mul(0x9E37_79B9_7F4A_7C15) % 12, 60));
    assert!(drawn <= 13, "texts that take turns: {drawn}");
    assert_eq!(unique("aside", |number| words(100 + number, 8)), 1, "a few words");
    assert_eq!(unique("aside class=ad", |number| words(100 + number, 150)), 1, "advertisements");
}

#[test]
fn many_texts_that_take_turns_are_recognised() {
    let mut web = web();
    let mut random = fastrand::Rng::with_seed(7);
    let unique = (0..2_000).filter(|number| {
        let text = words(100 + random.u64(..300), 60);
        web.verdict(&format!("http://a.test/{number}"), &page(*number, "aside", &text)) == Verdict::Unique
    });
    let (first, last): (Vec<u64>, Vec<u64>) = unique.partition(|number| *number < 1_000);
    assert!(last.is_empty(), "{} and then {} of 1,000", first.len(), last.len());
}

#[test]
fn a_copy_with_the_same_aside_is_a_copy_and_a_text_short_beside_the_content_does_not_matter() {
    let mut web = web();
    web.show("http://a.test/1", &page(1, "aside", &words(3, 100)));
    let copy = page(1, "aside", &words(3, 100)).replace("<main>", "<main >");
    assert!(web.verdict("http://b.test/1", &copy).duplicate_of().is_some());
    let with =
        |seed| format!("<main><p>{}</p></main><aside>{}</aside>", words(9, 600).join(" "), words(seed, 50).join(" "));
    web.show("http://a.test/2", &with(20));
    assert!(web.verdict("http://a.test/3", &with(21)).duplicate_of().is_some());
}
