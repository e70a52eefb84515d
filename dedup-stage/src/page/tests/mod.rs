//! Reads whole pages through the public interface.

mod chrome;
mod media;

use url::Url;

use super::{Input, Page, Reader, Rels};

pub(super) fn read(html: &str) -> Page {
    read_at("http://example.org/dir/page.html", html)
}

fn read_at(url: &str, html: &str) -> Page {
    let url = Url::parse(url).unwrap();
    let input = Input { url: &url, status: 200, content_type: Some("text/html"), body: html.as_bytes() };
    Reader::default().read(&input)
}

fn text(html: &str) -> String {
    let url = Url::parse("http://example.org/").unwrap();
    let mut reader = Reader::default();
    reader.read(&Input { url: &url, status: 200, content_type: Some("text/html"), body: html.as_bytes() });
    reader.text().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn urls(page: &Page) -> Vec<&str> {
    page.links.iter().map(|link| link.url.as_str()).collect()
}

#[test]
fn links_are_resolved_once_each() {
    let page = read(
        r##"<a href="a.html#x"> one </a><a href=" a.html ">two</a><a href="/b?q=1&amp;r=2" rel="NoFollow x">b <b>bold</b></a>
        <a href="mailto:x@y"></a><a href="JavaScript:void(0)">no</a><a href="//other.net">o</a><area href="c">
        <iframe src="frame.html"><a href="in-iframe"></a></iframe><link rel="next" href="?page=2">
        <link rel="stylesheet" href="style.css"><meta http-equiv="Refresh" content="0; URL='away.html'"><a href="a.html">again</a>
        <script>document.write('<a href="scripted">')</script><a name="anchor">none</a>"##,
    );
    assert_eq!(
        urls(&page),
        [
            "http://example.org/dir/a.html",
            "http://example.org/b?q=1&r=2",
            "http://other.net/",
            "http://example.org/dir/c",
            "http://example.org/dir/frame.html",
            "http://example.org/dir/page.html?page=2",
            "http://example.org/dir/away.html",
        ]
    );
    assert_eq!(page.links[0].anchor, "one");
    assert_eq!(page.links[1].anchor, "b bold");
    assert!(page.links[1].nofollow && !page.links[0].nofollow);
}

#[test]
fn what_is_said_of_a_link_is_gathered_from_all_its_places() {
    let page = read(
        r##"<link rel="Canonical" href="/c"><link rel=alternate hreflang=de href="/de"><link rel=alternate href="/feed">
        <link rel=next href="/2"><meta http-equiv=refresh content="3; url=/away"><a href="/2">2</a><a rel="prev nofollow" href="/0">0</a>
        <a rel=canonical href="/x">x</a><link rel=icon href="/i"><link rel="alternate stylesheet" hreflang=fr href="/s">"##,
    );
    let mut next = Rels::ANCHOR;
    next |= Rels::NEXT;
    let mut prev = Rels::ANCHOR;
    prev |= Rels::PREV;
    let said: Vec<(&str, Rels)> = page.links.iter().map(|link| (link.url.path(), link.rels)).collect();
    assert_eq!(
        said[..6],
        [
            ("/c", Rels::CANONICAL),
            ("/de", Rels::LANGUAGE),
            ("/feed", Rels::NONE),
            ("/2", next),
            ("/away", Rels::REFRESH),
            ("/0", prev)
        ]
    );
    assert_eq!(said.len(), 7, "{said:?}");
    assert_eq!(said[6], ("/x", Rels::ANCHOR), "only a head says of what the page is a copy");
    assert_eq!(next.names().collect::<Vec<_>>(), ["next"]);
}

#[test]
fn links_beyond_the_cap_are_counted() {
    let page = |links: std::ops::Range<usize>| -> String { links.map(|i| format!("<a href=/{i}>")).collect() };
    let cut = |html: &str| (read(html).links.len(), read(html).links_cut);
    let full = page(0..Reader::MAX_LINKS);
    assert_eq!(cut(&full), (Reader::MAX_LINKS, 0));
    assert_eq!(cut(&format!("{full}{full}<a href=mailto:x><a href=/1#top>")), (Reader::MAX_LINKS, 0));
    assert_eq!(cut(&format!("{full}{}{}", page(10_000..10_007), page(10_000..10_007))), (Reader::MAX_LINKS, 7));
    // A long base makes short links long.
    let long = format!("<base href=/{}/>{}", "b".repeat(2_000), page(0..10).replace("/", ""));
    assert_eq!(cut(&long), (10, 0));
    let (kept, lost) = cut(&long.replace("<a", &format!("{}<a", page(10..2_000).replace("/", ""))));
    assert!(kept * 2_000 <= Reader::MAX_LINK_BYTES && kept > 500 && kept + lost as usize == 2_000, "{kept}, {lost}");
    // The page has more links as written than are kept. Only links that lead elsewhere are lost.
    let again = page(0..5).repeat(25_000);
    assert_eq!(cut(&again), (5, 0));
    assert_eq!(cut(&format!("{again}{}{}<a href=mailto:x>", page(3..8), page(3..8))), (5, 3));
}

#[test]
fn base_moves_all_links() {
    let page = read(r#"<a href="x">x</a><base href="/other/"><base href="/third/"><a href="y">y</a>"#);
    assert_eq!(urls(&page), ["http://example.org/other/x", "http://example.org/other/y"]);
}

#[test]
fn hidden_text_is_not_read() {
    assert_eq!(
        text(
            r#"<title>T</title>seen<script>no</script><style>no</style><template><p>no</template><div hidden>no<div>no</div></div>
            <p style="color:red; Display : NONE">no<p>also seen<svg><style>no</style><text>no</text></svg>&amp; on<br>ly
            <textarea>no</textarea><select><option>no</select>hy<b>phe</b>n<!-- no -->"#
        ),
        "seen also seen& on ly hyphen"
    );
}

#[test]
fn what_says_that_it_is_shown_is_read() {
    assert_eq!(
        text(
            "<dialog>no</dialog><dialog open>one</dialog><template shadowrootmode=open><p>two</p></template>\
             <textarea readonly>three &amp; <b></textarea><textarea readonly hidden>no</textarea>four"
        ),
        "one two three & <b> four"
    );
    let drawing = read("<svg><a xlink:href=/room/7><rect/></a></svg><a xlink:href=/no>x</a>");
    assert_eq!(drawing.links.iter().map(|link| link.url.path()).collect::<Vec<_>>(), ["/room/7"]);
}

#[test]
fn head_is_read() {
    let page = read(
        r#"<!doctype html><html lang="en-GB"><title> A
        title &lt;b> </title><title>second</title><meta name="ROBOTS" content="NoIndex, nofollow">"#,
    );
    assert_eq!(page.title, "A title <b>");
    assert_eq!(page.language, "en");
    assert!(page.noindex && page.nofollow && page.is_text && page.signature.is_none());
}

#[test]
fn what_is_no_page_has_only_a_digest() {
    let url = Url::parse("http://example.org/").unwrap();
    let input = Input { url: &url, status: 200, content_type: Some("image/png"), body: b"abc" };
    let page = Reader::default().read(&input);
    assert!(!page.is_text && page.links.is_empty() && page.signature.is_none());
    assert_eq!(page.sha256[..4], [0xba, 0x78, 0x16, 0xbf]);
}

#[test]
fn readers_remember_nothing() {
    let pages = [
        "<title>a</title><nav>x</nav><p class=ad>Buy <a href=x>x</a>".to_owned(),
        format!("<p>{}", "some words that differ from page to page ".repeat(9)),
        "plain".to_owned(),
    ];
    let url = Url::parse("http://example.org/").unwrap();
    let mut reader = Reader::default();
    for _ in 0..2 {
        for html in &pages {
            let input = Input { url: &url, status: 200, content_type: None, body: html.as_bytes() };
            let fresh = Reader::default().read(&input);
            assert_eq!(format!("{:?}", reader.read(&input)), format!("{fresh:?}"));
        }
    }
}

/// Catches a reader that keeps the memory of the largest page for ever, or tells more or less of a page after a large
/// one.
#[test]
fn a_large_page_leaves_nothing_behind() {
    let url = Url::parse("http://example.org/").unwrap();
    let read = |reader: &mut Reader, html: &str| {
        reader.read(&Input { url: &url, status: 200, content_type: Some("text/html"), body: html.as_bytes() })
    };
    let small = "<title>t</title><p>some words of a page with <a href=/a>a link</a> and <a href=/b>another</a>";
    let large: String = (0..40_000).map(|n| format!("<p>word{n} <a href=/{n}>{n}</a>")).collect();
    assert!(small.len() < Reader::KEPT && large.len() > Reader::KEPT);
    let mut reader = Reader::default();
    let first = read(&mut reader, small);
    reader.forget_large();
    assert!(!reader.text().is_empty(), "the memory of a small page is kept");
    assert!(read(&mut reader, &large).links.len() > 1);
    assert!(!reader.text().is_empty());
    reader.forget_large();
    assert_eq!((reader.text(), reader.outline.text.capacity(), reader.hashes.capacity()), ("", 0, 0));
    read(&mut reader, &large);
    let again = read(&mut reader, small);
    assert_eq!(format!("{again:?}"), format!("{first:?}"));
    assert!(reader.outline.text.capacity() < Reader::KEPT, "the next page needs no call to forget a large one");
}
