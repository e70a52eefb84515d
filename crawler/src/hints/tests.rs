//! Hints of pages and headers, and hostile ones.

use proptest::prelude::*;

use super::*;

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

fn hints(html: &str, links: &[&str]) -> Hints {
    Hints::read(&url("https://www.a.com/d/p?q=1"), &scan(html), links.iter().copied(), None)
}

#[test]
fn elements_are_read() {
    let found = hints(
        "<base href='/b/'><link rel='CANONICAL nofollow' href='c#f'><link rel=canonical href=second>\
         <link rel=alternate hreflang=de-AT href=/de><link rel=alternate hreflang=x-default href=/><link rel=alternate hreflang='no language' href=/n>\
         <link rel=alternate type='application/rss+xml' href=feed.xml><link rel=next href=3><link rel=prev href=1>\
         <body><script>'<link rel=canonical href=x>'</script><a rel='license nofollow' href='https://l.test/by'>l</a>\
         <meta http-equiv=Refresh content=\"5; URL='/away'\">",
        &[],
    );
    let expected = Hints {
        canonical: Some(Canonical { url: url("https://www.a.com/b/c"), is_foreign: false, is_self: false }),
        translations: vec![
            ("de-at".into(), url("https://www.a.com/de")),
            ("x-default".into(), url("https://www.a.com/")),
        ],
        next: Some(url("https://www.a.com/b/3")),
        previous: Some(url("https://www.a.com/b/1")),
        refresh: Some((5, url("https://www.a.com/away"))),
        licences: vec![url("https://l.test/by")],
        feeds: vec![url("https://www.a.com/b/feed.xml")],
    };
    assert_eq!(found, expected);
}

#[test]
fn link_headers_are_read_as_rfc_8288_says() {
    for (value, expected) in [
        // RFC 8288, section 3.5.
        (
            "<http://example.com/TheBook/chapter2>; rel=\"previous\"; title=\"previous chapter\"",
            vec![("http://example.com/TheBook/chapter2", "previous")],
        ),
        ("</>; rel=\"http://example.net/foo\"", vec![("/", "http://example.net/foo")]),
        ("</terms>; rel=\"copyright\"; anchor=\"#foo\"", vec![("/terms", "copyright")]),
        (
            "</TheBook/chapter2>; rel=\"previous\"; title*=UTF-8'de'letztes%20Kapitel, </TheBook/chapter4>; rel=\"next\"; title*=UTF-8'de'n%c3%a4chstes%20Kapitel",
            vec![("/TheBook/chapter2", "previous"), ("/TheBook/chapter4", "next")],
        ),
        (
            "<http://example.org/>; rel=\"start http://example.net/relation/other\"",
            vec![("http://example.org/", "start http://example.net/relation/other")],
        ),
        (
            "<https://example.org/>; rel=\"start\", <https://example.org/index>; rel=\"index\"",
            vec![("https://example.org/", "start"), ("https://example.org/index", "index")],
        ),
        // Commas, semicolons and quotes within strings; of several relations the first; white space anywhere.
        (
            "<a,b;c>;title=\"x, <y>; rel=\\\"no\\\"\" ; REL = next ;rel=prev ,, <d>; rel",
            vec![("a,b;c", "next"), ("d", "")],
        ),
        ("a; rel=next", vec![]),
        ("<a; rel=next", vec![]),
        ("<a>; rel=\"next", vec![("a", "next")]),
    ] {
        let links = link_header(value);
        let found: Vec<_> = links.iter().map(|link| (link.href.as_str(), link.rel.as_str())).collect();
        assert_eq!(found, expected, "{value}");
    }
    let found = hints(
        "<link rel=canonical href=/own>",
        &[
            "</other>; rel=canonical; anchor=\"/elsewhere\", </here>; rel=canonical",
            "</de>; rel=alternate; hreflang=de; hreflang=at",
        ],
    );
    assert_eq!(found.canonical.unwrap().url, url("https://www.a.com/here"), "headers come first");
    assert_eq!(found.translations.len(), 2);
}

#[test]
fn a_canonical_url_of_another_site_is_told_from_ones_own() {
    for (href, is_foreign, is_self) in [
        ("?q=1#x", false, true),
        ("https://a.com/", false, false),
        ("//m.a.com/p", false, false),
        ("https://a.com.evil.net/", true, false),
        ("https://a.co.uk/", true, false),
    ] {
        let canonical = hints(&format!("<link rel=canonical href='{href}'>"), &[]).canonical.unwrap();
        assert_eq!((canonical.is_foreign, canonical.is_self), (is_foreign, is_self), "{href}");
    }
    for href in ["javascript:1", "data:,x", "http://", "https://[", "mailto:a@b.c"] {
        assert_eq!(hints(&format!("<link rel=canonical href='{href}'>"), &[]).canonical, None, "{href}");
    }
}

#[test]
fn refreshes_are_read_as_the_standard_says() {
    for (value, expected) in [
        ("0;url=/x", Some((0, "/x"))),
        ("0; URL = '/x' trailing", Some((0, "/x"))),
        ("3 , url=\"/x", Some((3, "/x"))),
        ("1.5;/x", Some((1, "/x"))),
        (" 2 /x", Some((2, "/x"))),
        (".5;url=x", Some((0, "/d/x"))),
        ("99999999999;url=/x", Some((u32::MAX, "/x"))),
        ("5", None),
        ("5;", None),
        ("url=/x", None),
        ("5x;url=/x", None),
        ("0;url=javascript:alert(1)", None),
        ("", None),
    ] {
        let head = Head { metas: vec![("http-equiv:refresh".into(), value.into())], ..Head::default() };
        let found = Hints::read(&url("https://www.a.com/d/p"), &head, [], None).refresh;
        assert_eq!(
            found,
            expected.map(|(seconds, path)| (seconds, url("https://www.a.com").join(path).unwrap())),
            "{value:?}"
        );
        let header = Hints::read(&url("https://www.a.com/d/p"), &Head::default(), [], Some(value)).refresh;
        assert_eq!(header, found);
    }
}

#[test]
fn loops_and_masses_stay_small() {
    let many: String = (0..100_000)
        .map(|n| format!("<link rel=alternate hreflang=de href=/{n}><a rel=license href=/l{n}>x</a>"))
        .collect();
    let found = hints(&many, &[]);
    assert_eq!((found.translations.len(), found.licences.len()), (MAX_LINKS, MAX_LINKS));
    let again = "<link rel=alternate hreflang=de href=/x>".repeat(1_000);
    assert_eq!(hints(&again, &[]).translations.len(), 1);
    let header = "</x>; rel=next, ".repeat(100_000);
    assert_eq!(link_header(&header).len(), 1_000);
}

proptest! {
    /// Whatever stands there, what comes out can be fetched.
    #[test]
    fn hints_are_urls(value in "[<>;,= \"'a-z/:#?\\\\.0-9]{0,80}", href in ".{0,40}") {
        let head = Head { links: vec![Element { href, rel: "canonical next".into(), ..Element::default() }],
            metas: vec![("http-equiv:refresh".into(), value.clone())], base: Some(value.clone()) };
        let found = Hints::read(&url("https://www.a.com/"), &head, [value.as_str()], Some(&value));
        for url in found.next.iter().chain(found.refresh.iter().map(|(_, url)| url)).chain(found.canonical.iter().map(|canonical| &canonical.url)) {
            prop_assert!(matches!(url.scheme(), "http" | "https") && url.fragment().is_none());
        }
    }
}
