//! Tests of feeds of each form, of large and broken feeds, and of answers that are no feed.

use proptest::prelude::*;

use super::*;

fn base() -> Url {
    Url::parse("https://a.test/blog/feed").unwrap()
}

fn read(kind: Kind, body: &str) -> Vec<String> {
    entries(kind, body.as_bytes(), &base()).links.into_iter().map(|url| url.to_string()).collect()
}

const RSS: &str = "<?xml version='1.0'?><rss version='2.0'><channel><link>https://a.test/</link><item><link>https://a.test/1#c</link>\
    <pubDate>Mon, 06 May 2024 07:08:09 GMT</pubDate></item><item><link>/2</link></item></channel></rss>";
const ATOM: &str = "<feed xmlns='http://www.w3.org/2005/Atom'><link href='/'/><entry><link rel='self' href='/no'/><link href='3'/><updated>2024-05-06</updated></entry></feed>";
const JSON: &str = r#"{"version":"https://jsonfeed.org/version/1.1","title":"t","home_page_url":"https://a.test/",
    "items":[{"id":"1","url":"/1","content_html":"<p>","date_published":"2024-05-06"},{"id":"https://a.test/2"},{"id":7,"external_url":"https://b.test/"},{"id":"x"},{"url":5}]}"#;

#[test]
fn the_digest_is_that_of_the_list_alone() {
    let feed = |head: &str, dates: [&str; 2]| {
        let item = |n: usize| format!("<item><link>/{n}</link><pubDate>{}</pubDate></item>", dates[n]);
        let body = format!("<rss><channel><title>{head}</title>{}{}</channel></rss>", item(0), item(1));
        entries(Kind::Feed, body.as_bytes(), &base()).digest
    };
    let (old, new) = ("Mon, 02 Jan 2006 15:04:05 GMT", "Tue, 03 Jan 2006 15:04:05 GMT");
    assert_eq!(feed("built now", [old, new]), feed("built then", [old, new]));
    assert_ne!(feed("x", [old, old]), feed("x", [old, new]));
    assert_ne!(feed("x", [new, old]), feed("x", [old, new]), "the dates have changed places");
    assert_ne!(entries(Kind::Feed, b"<rss/>", &base()).digest, 0);
}

/// Catches a feed that counts as unchanged because only its words count, or only its links and some dates.
#[test]
fn links_dates_identifiers_and_titles_are_the_content_of_a_feed_in_any_order() {
    let rss = |[link, id, title, date]: [&str; 4]| {
        format!(
            "<item><title>{title}</title><link>/{link}</link><guid isPermaLink='false'>{id}</guid>\
            <pubDate>{date}</pubDate></item>"
        )
    };
    let atom = |[link, id, title, date]: [&str; 4]| {
        format!("<entry><title>{title}</title><link href='/{link}'/><id>{id}</id><updated>{date}</updated></entry>")
    };
    let json = |[link, id, title, date]: [&str; 4]| {
        format!(r#"{{"title":"{title}","url":"/{link}","id":"{id}","date_modified":"{date}"}}"#)
    };
    type Write = dyn Fn([&str; 4]) -> String;
    let kinds: [(Kind, &Write, [&str; 3]); 3] = [
        (Kind::Feed, &rss, ["<rss><channel>", "", "</channel></rss>"]),
        (Kind::Feed, &atom, ["<feed>", "", "</feed>"]),
        (Kind::JsonFeed, &json, [r#"{"items":["#, ",", "]}"]),
    ];
    let (first, second) = (["a", "1", "One", "2024-05-06"], ["b", "2", "Two", "2024-05-07"]);
    for (kind, write, [head, between, tail]) in kinds {
        let digest = |entries: &[[&str; 4]]| {
            let entries: Vec<_> = entries.iter().map(|entry| write(*entry)).collect();
            super::entries(kind, format!("{head}{}{tail}", entries.join(between)).as_bytes(), &base()).digest
        };
        let before = digest(&[first, second]);
        assert_eq!(digest(&[second, first]), before, "{head}: the order");
        for part in 0..4 {
            let (mut changed, mut swapped) = (first, [first, second]);
            changed[part] = "c";
            assert_ne!(digest(&[changed, second]), before, "{head}: part {part} has changed");
            (swapped[0][part], swapped[1][part]) = (second[part], first[part]);
            assert_ne!(digest(&swapped), before, "{head}: part {part} has changed places");
        }
        assert_ne!(digest(&[first]), before, "{head}: an entry is gone");
    }
}

#[test]
fn entries_are_links() {
    assert_eq!(read(Kind::Feed, RSS), ["https://a.test/1", "https://a.test/2"]);
    assert_eq!(read(Kind::Feed, ATOM), ["https://a.test/blog/3"]);
    assert_eq!(read(Kind::JsonFeed, JSON), ["https://a.test/1", "https://a.test/2", "https://b.test/"]);
    let part = r#"{"next_url":"/feed?page=2","items":[{"url":"/1"}],"home_page_url":"/"}"#;
    assert_eq!(read(Kind::JsonFeed, part), ["https://a.test/feed?page=2", "https://a.test/1"]);
    // The items before a mistake count.
    let cut = &JSON[..JSON.find("{\"id\":7").unwrap()];
    assert_eq!(read(Kind::JsonFeed, cut), ["https://a.test/1", "https://a.test/2"]);
    assert_eq!(read(Kind::JsonFeed, "[1]"), [""; 0]);
}

#[test]
fn links_of_atom_are_relative_to_the_bases_around_them() {
    let feed = "<feed xml:base='http://b.test/blog/'><link rel='self' href='x'/><link rel='next' href='?page=2'/>\
        <entry xml:base='2024/'><link href='1'/></entry><entry><link xml:base='/other/' href='2'/></entry>\
        <entry><link href='3'/></entry></feed>";
    let expected = ["blog/?page=2", "blog/2024/1", "other/2", "blog/3"].map(|path| format!("http://b.test/{path}"));
    assert_eq!(read(Kind::Feed, feed), expected);
    let long = format!("<feed xml:base='http://b.test/{}/'><entry><link href='3'/></entry></feed>", "x".repeat(5_000));
    assert_eq!(read(Kind::Feed, &long), ["https://a.test/blog/3"], "it is ignored");
}

#[test]
fn a_feed_of_a_million_entries_is_read_to_its_limit() {
    let rss = format!(
        "<rss><channel>{}",
        (0..1_000_000).map(|n| format!("<item><link>/{n}</link></item>")).collect::<String>()
    );
    assert_eq!(read(Kind::Feed, &rss).len(), MAX_ENTRIES);
    let json = format!("{{\"items\":[{}", (0..1_000_000).map(|n| format!("{{\"url\":\"/{n}\"}},")).collect::<String>());
    assert_eq!(read(Kind::JsonFeed, &json).len(), MAX_ENTRIES);
    for (kind, feed) in [(Kind::Feed, &rss), (Kind::JsonFeed, &json)] {
        assert!(entries(kind, feed.as_bytes(), &base()).cut > 0, "{kind:?}");
    }
    let parts = "\"next_url\":\"/p\",".repeat(20_000);
    assert_eq!(read(Kind::JsonFeed, &format!("{{{parts}\"items\":[]}}")).len(), MAX_ENTRIES);
    assert_eq!(read(Kind::JsonFeed, &"[".repeat(1_000_000)).len(), 0);
    let deep = format!("{{\"items\":[{{\"url\":\"/1\"}},{{\"x\":{}", "[".repeat(1_000_000));
    assert_eq!(read(Kind::JsonFeed, &deep), ["https://a.test/1"]);
}

#[test]
fn kinds_are_told_apart() {
    for (content_type, path, body, expected) in [
        ("application/rss+xml; charset=utf-8", "/", "", Kind::Feed),
        ("text/xml", "/feed", RSS, Kind::Feed),
        ("application/xml", "/", "<?xml version='1.0'?><!-- x --><atom:feed xmlns:atom=''>", Kind::Feed),
        ("application/xml", "/", "<?xml version='1.0'?><urlset>", Kind::Other),
        ("application/feed+json", "/", "{}", Kind::JsonFeed),
        ("application/json", "/", JSON, Kind::JsonFeed),
        ("application/json", "/", "{\"items\":[]}", Kind::Other),
        ("application/octet-stream", "/feed", RSS, Kind::Feed),
        ("application/x-rss", "/feed", RSS, Kind::Feed),
        ("binary/octet-stream", "/feed", JSON, Kind::JsonFeed),
        ("application/octet-stream", "/x", "a text that quotes <rss>", Kind::Other),
        ("image/svg+xml", "/x", RSS, Kind::Other),
        ("application/octet-stream", "/x", "%PDF-1.7", Kind::Pdf),
        ("application/pdf", "/", "", Kind::Pdf),
        ("text/markdown", "/", "# x", Kind::Markdown),
        ("text/plain", "/README.MD", "# x", Kind::Markdown),
        ("text/plain", "/readme", "# x", Kind::Text),
        ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", "/", "PK", Kind::Office),
        ("application/msword", "/", "", Kind::Office),
        ("image/png", "/", "", Kind::Other),
    ] {
        assert_eq!(
            kind(Some(content_type), &base().join(path).unwrap(), body.as_bytes()),
            expected,
            "{content_type} {path}"
        );
    }
}

#[test]
fn first_bytes_decide_where_the_type_says_little() {
    for (content_type, expected) in [
        ("application/octet-stream", true),
        ("Binary/Octet-Stream; x=y", true),
        ("application/json", true),
        ("application/x-rss+xml", true),
        ("image/svg+xml", false),
        ("application/zip", false),
        ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", false),
    ] {
        assert_eq!(is_vague(Some(content_type)), expected, "{content_type}");
    }
    assert_eq!(is_recognised(&RSS.as_bytes()[..10], false), None, "more bytes may come");
    assert_eq!(is_recognised(RSS.as_bytes(), true), Some(true));
    assert_eq!(is_recognised(JSON.as_bytes(), true), Some(true));
    assert_eq!(is_recognised(b"", true), Some(false));
    assert_eq!(is_recognised(&[0; 2_000], false), Some(false));
    let late = format!("{}<rss>", " ".repeat(2_000));
    assert_eq!(is_recognised(late.as_bytes(), true), Some(false), "only the first bytes count");
}

#[test]
fn links_of_markdown_are_read() {
    let text = "See [a](b.md \"title\"), ![i](</i.png>) and <https://c.test/x>.\n[ref]: https://d.test/ 'x'\n\n`[no](code)` [w](https://e.test/a_(b)) \\[no](/n1\n\
        ```\n[no](/fenced)\n```\n    [no](/indented)\n[again](b.md#part) [mail](mailto:a@b.c) [end](/end)";
    let found: Vec<String> = markdown::links(text, &base()).0.iter().map(Url::to_string).collect();
    assert_eq!(
        found,
        [
            "https://a.test/blog/b.md",
            "https://a.test/i.png",
            "https://c.test/x",
            "https://d.test/",
            "https://e.test/a_(b)",
            "https://a.test/end"
        ]
    );
}

/// Catches a reader that looks for the end of each link in all that follows it. It would take hours for these texts.
#[test]
fn links_that_do_not_end_are_read_in_no_more_time_than_others() {
    let began = std::time::Instant::now();
    let other = "[x](/x)\n".repeat(1_000_000);
    assert_eq!(markdown::links(&other, &base()).0.len(), 1);
    let usual = began.elapsed();
    let descending: String = (1..2_000).rev().map(|length| "`".repeat(length) + " ").collect();
    let texts = ["<http://", "[a](<", "[a](", "](()", "`` ", "[", "![", "<http://x ", "\\", "[a]:"];
    for text in texts.map(|text| text.repeat(8_000_000 / text.len())).into_iter().chain([descending]) {
        let began = std::time::Instant::now();
        markdown::links(&text, &base());
        let took = began.elapsed();
        assert!(took <= usual * 20, "{took:?} for {}; {usual:?} for links that end", &text[..20]);
    }
}

/// Catches a reader of feeds or Markdown that keeps links of more bytes than there is memory for.
#[test]
fn links_are_bounded_by_their_bytes_as_those_of_a_page() {
    let long = "l".repeat(20_000);
    let items = |item: &dyn Fn(usize) -> String| (0..200).map(item).collect::<Vec<_>>();
    let rss = items(&|n| format!("<item><link>/{n}{long}</link></item>")).concat();
    let json = items(&|n| format!("{{\"url\":\"/{n}{long}\"}}")).join(",");
    let found = [
        entries(Kind::Feed, format!("<rss><channel>{rss}").as_bytes(), &base()),
        entries(Kind::JsonFeed, format!("{{\"items\":[{json}]}}").as_bytes(), &base()),
    ];
    let markdown = items(&|n| format!("[a](/{n}{long})\n")).concat();
    let all =
        found.map(|entries| (entries.links, entries.cut)).into_iter().chain([markdown::links(&markdown, &base())]);
    for (links, cut) in all {
        assert_eq!((links.len(), cut), (52, 148));
        assert!(links.iter().map(|link| link.as_str().len()).sum::<usize>() <= config::bounds::LINK_BYTES);
    }
    // One address may be as long as the whole feed. It is counted, and the next one is read.
    let one = format!("{{\"items\":[{{\"url\":\"/{}\"}},{{\"url\":\"/2\"}}]}}", "l".repeat(8_000_000));
    let found = entries(Kind::JsonFeed, one.as_bytes(), &base());
    assert_eq!((found.links.len(), found.cut), (1, 1));
}

proptest! {
    #[test]
    fn nothing_makes_the_reading_fail(bytes in proptest::collection::vec(any::<u8>(), 0..300), text in "[\\[\\]()<>`~:/a-zé \n]{0,200}") {
        for kind in [Kind::Feed, Kind::JsonFeed] {
            entries(kind, &bytes, &base());
        }
        kind(None, &base(), &bytes);
        markdown::links(&text, &base());
    }
}

#[test]
fn a_feed_is_known_by_its_first_element_where_its_server_names_no_type() {
    let kind = |content_type, body: &str| kind(content_type, &base(), body.as_bytes());
    for content_type in [None, Some("text/html; charset=utf-8"), Some("text/plain")] {
        assert_eq!(kind(content_type, RSS), Kind::Feed, "{content_type:?}");
        assert_eq!(kind(content_type, &format!("\u{feff} {ATOM}")), Kind::Feed, "{content_type:?}");
        assert_ne!(kind(content_type, "<!doctype html><html><p>&lt;rss>"), Kind::Feed);
        assert_ne!(kind(content_type, "how to write <rss>"), Kind::Feed);
    }
}
