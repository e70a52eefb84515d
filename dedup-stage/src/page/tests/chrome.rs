//! Articles under signs of chrome, and chrome beside articles.

use fastrand::Rng;
use url::Url;

use crate::page::{Input, Reader};
use crate::signature::{DISTANCE, Signature};

/// This many words, drawn at random. Two such texts have almost no five words in a row in common.
fn words(random: &mut Rng, count: usize) -> String {
    let word = |random: &mut Rng| -> String {
        (0..2 + random.usize(..3))
            .map(|_| ["ba", "ko", "ri", "mu", "ten", "sal", "vo", "din"][random.usize(..8)])
            .collect()
    };
    (0..count).map(|_| word(random)).collect::<Vec<_>>().join(" ")
}

/// An article of this many words, in paragraphs.
fn article(random: &mut Rng, count: usize) -> String {
    (0..count / 50).map(|_| format!("<p>{}.</p>", words(random, 50))).collect()
}

const SENTENCE: &str = "<p>Welcome to the site of our small town, where you find all the news of the week, the dates of the \
                        month, the people of the council and the way to reach them by telephone.</p>";

struct Read {
    signature: Option<Signature>,
    content: String,
}

fn read(body: &str) -> Read {
    let url = Url::parse("http://example.org/dir/page.html").unwrap();
    let html = format!("<!doctype html><html><body>{body}</body></html>");
    let mut reader = Reader::default();
    let page = reader.read(&Input { url: &url, status: 200, content_type: Some("text/html"), body: html.as_bytes() });
    Read { signature: page.signature, content: reader.content().collect::<Vec<_>>().join("\n") }
}

fn are_duplicates(a: &Option<Signature>, b: &Option<Signature>) -> bool {
    a.as_ref().zip(b.as_ref()).is_some_and(|(a, b)| {
        (a.simhash ^ b.simhash).count_ones() <= DISTANCE && a.sketch.compare(&b.sketch).is_duplicate()
    })
}

/// The start and end tags of elements that wrap a whole page.
const WRAPPERS: [(&str, &str); 16] = [
    ("<header id=branding>", "</header>"),
    ("<nav>", "</nav>"),
    ("<aside>", "</aside>"),
    ("<footer>", "</footer>"),
    ("<menu>", "</menu>"),
    ("<div role=navigation>", "</div>"),
    ("<div role=banner>", "</div>"),
    ("<section role=contentinfo>", "</section>"),
    ("<div role=complementary>", "</div>"),
    ("<div class=sidebar>", "</div>"),
    ("<div class='left-sidebar nav'>", "</div>"),
    ("<div id=related>", "</div>"),
    ("<nav><div class=menu><aside>", "</aside></div></nav>"),
    ("<div class=sidebar><div class=sidebar>", "</div></div>"),
    ("<table class=navbox><tr><td>", "</td></tr></table>"),
    ("<ul class=menu><li>", "</li></ul>"),
];

#[test]
fn articles_under_signs_of_chrome_are_content() {
    for (open, close) in WRAPPERS {
        let mut random = Rng::with_seed(1);
        let menu: String = (0..30).map(|i| format!("<li><a href=/s{i}>{}</a></li>", words(&mut random, 2))).collect();
        let cookies = words(&mut random, 30);
        let notice = format!("<div class=cookie-notice><p>{cookies}</p></div>");
        for (before, after) in [("", ""), (&*format!("<nav><ul>{menu}</ul></nav>"), &*notice)] {
            let pages: Vec<(String, Read)> = (0..5)
                .map(|_| {
                    let text = article(&mut random, 300);
                    let page = read(&format!("{SENTENCE}{open}{before}<h1>News</h1>{text}{after}{close}"));
                    (text, page)
                })
                .collect();
            for (place, (text, page)) in pages.iter().enumerate() {
                for paragraph in text.split(['<', '>']).filter(|part| part.len() > 9) {
                    assert!(page.content.contains(paragraph), "{open}: {paragraph} is no content");
                }
                assert!(!page.content.contains(&cookies), "{open}: the notice within is content");
                for (_, other) in &pages[..place] {
                    assert!(!are_duplicates(&page.signature, &other.signature), "{open}: different articles");
                }
            }
        }
    }
}

/// Chrome that is longer than the article beside it must not be taken for content.
#[test]
fn long_navigation_beside_a_short_article_is_chrome() {
    for (open, close) in WRAPPERS {
        let mut random = Rng::with_seed(2);
        let entry = |i: usize, random: &mut Rng, text: usize| {
            format!("<li><a href=/s{i}>{}</a> {}</li>", words(random, 3), words(random, text))
        };
        let menus = [
            (0..300).map(|i| entry(i, &mut random, 0)).collect::<String>(),
            // Each entry has a few words that say where it leads.
            (0..60).map(|i| entry(i, &mut random, 6)).collect(),
            // One block of links.
            format!(
                "<p>{}</p>",
                (0..150).map(|i| format!("<a href=/s{i}>{}</a> | ", words(&mut random, 2))).collect::<String>()
            ),
            // A menu that is made by a script: its entries have no links.
            (0..80).map(|_| format!("<div><span>{}</span></div>", words(&mut random, 3))).collect(),
        ];
        for menu in &menus {
            let text = article(&mut random, 100);
            let page = read(&format!("<h1>News</h1>{text}{open}{menu}{close}"));
            let alone = read(&format!("<h1>News</h1>{text}"));
            assert_eq!(page.content, alone.content, "{open}");
            let other = read(&format!("<h1>News</h1>{}{open}{menu}{close}", article(&mut random, 100)));
            assert!(!are_duplicates(&page.signature, &other.signature), "{open}: different articles");
        }
    }
}

#[test]
fn a_notice_beside_an_article_is_chrome() {
    for (open, close) in WRAPPERS {
        let mut random = Rng::with_seed(3);
        let notice = article(&mut random, 150);
        let text = article(&mut random, 100);
        let page = read(&format!("<h1>News</h1>{text}{open}{notice}{close}"));
        assert_eq!(page.content, read(&format!("<h1>News</h1>{text}")).content, "{open}");
    }
}

#[test]
fn sections_and_notes_of_a_text_are_content_whatever_their_names_say() {
    for (open, close) in [
        ("<section id=pagination><h2>Pagination</h2>", "</section>"),
        ("<section id=cookie-objects><h2>Cookie objects</h2>", "</section>"),
        ("<div class=section id=copyright><h2>Copyright</h2>", "</div>"),
        ("<div class=sect1 id=LOGIN><h2>Login</h2>", "</div>"),
        ("<div id=market-share><h2>Market share</h2>", "</div>"),
        ("<dl><dt>share</dt><dd id=menu>", "</dd></dl>"),
        ("<aside class='footnote brackets' role=doc-footnote>", "</aside>"),
        ("<aside class='footnote-list'><aside class='footnote brackets'>", "</aside></aside>"),
        ("<aside role=doc-example>", "</aside>"),
    ] {
        let mut random = Rng::with_seed(4);
        let shared = article(&mut random, 300);
        let [one, other] = [0, 1].map(|_| {
            let own = article(&mut random, 150);
            read(&format!("<main><h1>Manual</h1>{shared}{open}{own}{close}</main>"))
        });
        assert!(!are_duplicates(&one.signature, &other.signature), "{open}");
        assert_ne!(one.content, other.content, "{open}");
    }
}
