//! Tests of the formats, the limits, and damaged sitemaps.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;

use super::*;

fn read(body: impl AsRef<[u8]>) -> Vec<Entry> {
    Sitemap::open(body.as_ref(), &base()).collect()
}

fn base() -> Url {
    Url::parse("https://a.example/maps/sitemap.xml").unwrap()
}

fn locs(body: impl AsRef<[u8]>) -> Vec<String> {
    read(body).iter().map(|entry| entry.loc.to_string()).collect()
}

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

const URLSET: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!-- a comment --><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
  <url><loc> https://a.example/1?b=2&amp;c=3#d </loc><lastmod>2024-05-06</lastmod><priority>0.8</priority></url>
  <url><image:image><image:loc>https://a.example/i.png</image:loc></image:image><loc><![CDATA[https://a.example/2?b=2&c=3]]></loc><priority>7</priority></url>
  <url><lastmod>2024-05-06T07:08:09Z</lastmod><loc>/3&#x41;</loc><priority>high</priority></url>
  <url><priority>0.5</priority></url>
  <url><loc>mailto:a@a.example</loc></url>
  <s:url><s:loc>https://ä.example/é</s:loc></s:url>
</urlset>"#;

#[test]
fn a_urlset() {
    let entries = read(URLSET);
    let entry = |loc: &str, lastmod: Option<&str>, priority| Entry {
        loc: Url::parse(loc).unwrap(),
        kind: Kind::Page,
        lastmod: lastmod.map(Into::into),
        priority,
        says: 0,
    };
    assert_eq!(
        entries,
        [
            entry("https://a.example/1?b=2&c=3", Some("2024-05-06"), Some(0.8)),
            entry("https://a.example/2?b=2&c=3", None, Some(1.0)),
            entry("https://a.example/3A", Some("2024-05-06T07:08:09Z"), None),
            entry("https://ä.example/é", None, None),
        ]
    );
}

#[test]
fn an_index_leads_to_sitemaps_even_without_loc() {
    let index = "<sitemapindex><sitemap><loc>https://a.example/1.xml</loc><lastmod>2024</lastmod></sitemap>\n\
                 <sitemap>\nhttps://a.example/2.xml?a=1&amp;b=2\n</sitemap></sitemapindex>";
    let entries = read(index);
    assert!(entries.iter().all(|entry| entry.kind == Kind::Sitemap));
    assert_eq!(locs(index), ["https://a.example/1.xml", "https://a.example/2.xml?a=1&b=2"]);
    assert_eq!(entries[0].lastmod.as_deref(), Some("2024"));
}

#[test]
fn feeds() {
    let rss = "<rss><channel><link>https://a.example/</link><item><title>t</title><link>https://a.example/1</link>\
               <pubDate>Mon, 06 May 2024 07:08:09 GMT</pubDate></item></channel></rss>";
    assert_eq!(locs(rss), ["https://a.example/1"]);
    assert_eq!(read(rss)[0].lastmod.as_deref(), Some("Mon, 06 May 2024 07:08:09 GMT"));
    let rss = "<rss><channel><item><guid>https://a.example/1</guid></item>\
               <item><guid isPermaLink='true'>https://a.example/2</guid><link>https://a.example/3</link></item>\
               <item><guid isPermaLink=\"false\">https://a.example/4</guid></item>\
               <item><guid>tag:a.example,2024:5</guid></item></channel></rss>";
    assert_eq!(locs(rss), ["https://a.example/1", "https://a.example/3"]);
    let rdf = "<rdf:RDF><channel rdf:about='x'><link>https://a.example/</link></channel><item><link>https://a.example/1</link></item></rdf:RDF>";
    assert_eq!(locs(rdf), ["https://a.example/1"]);
    let atom = "<feed><link href='https://a.example/'/><entry><link rel='edit' href='/e'/><link rel=\"alternate\" href='/1?a&amp;b'/>\
                <link href='/2'/></entry><entry><link href='/3?a&b'/><updated>2024</updated><content><div><a href='/no'>x</a></div></content></entry></feed>";
    assert_eq!(locs(atom), ["https://a.example/1?a&b", "https://a.example/3?a&b"]);
}

#[test]
fn lines_of_text() {
    let text = "\u{feff}https://a.example/1\r\n\nhttps://a.example/2 \n/3\nsome words\nhttps://a.example/4#x";
    assert_eq!(locs(text), ["https://a.example/1", "https://a.example/2", "https://a.example/4"]);
    assert_eq!(locs(gzip(text.as_bytes())), locs(text));
    assert!(locs("").is_empty() && locs("\n\n  ").is_empty());
}

#[test]
fn every_encoding_says_the_same() {
    let utf16 = |unit: fn(u16) -> [u8; 2]| URLSET.encode_utf16().flat_map(unit).collect::<Vec<u8>>();
    for body in [
        gzip(URLSET.as_bytes()),
        [b"\xef\xbb\xbf\n", URLSET.as_bytes()].concat(),
        [&b"\xff\xfe"[..], &utf16(u16::to_le_bytes)].concat(),
        [&b"\xfe\xff"[..], &utf16(u16::to_be_bytes)].concat(),
        utf16(u16::to_le_bytes),
        utf16(u16::to_be_bytes),
    ] {
        assert_eq!(read(body), read(URLSET));
    }
    let latin1 =
        b"<urlset><url><loc>https://a.example/\xe9</loc></url><url><loc>https://a.example/2</loc></url></urlset>";
    assert_eq!(locs(latin1), ["https://a.example/%EF%BF%BD", "https://a.example/2"]);
}

#[test]
fn a_cut_sitemap_gives_what_was_whole() {
    let all = read(URLSET);
    for body in [URLSET.as_bytes().to_vec(), gzip(URLSET.as_bytes())] {
        let mut counts = [0; 5];
        for end in 0..body.len() {
            let entries = read(&body[..end]);
            assert!(entries.iter().zip(&all).all(|(cut, whole)| cut.loc == whole.loc), "{end}");
            counts[entries.len()] += 1;
        }
        assert!(counts[0] > 0);
    }
}

#[test]
fn mistakes_end_reading_and_nothing_else() {
    let url = |n: u32| format!("<url><loc>https://a.example/{n}</loc></url>");
    assert_eq!(locs(format!("<urlset>{}</oops>{}", url(1), url(2))).len(), 2, "end tags need not fit");
    assert_eq!(locs(format!("<urlset>{}& {}", url(1), url(2))).len(), 2, "nor references");
    assert_eq!(locs(format!("<urlset>{}<!-- {}", url(1), url(2))).len(), 1);
    assert_eq!(locs("<urlset><url><loc>https://a.example/1</loc><loc>https://a.example/2</loc></urlset>").len(), 2);
    assert!(locs("<html><body><a href='https://a.example/'>not found</a></body></html>").is_empty());
    assert!(locs("<a>".repeat(1_000_000)).is_empty());
}

#[test]
fn bombs_are_so_much_text() {
    let laughs: String = (1..30).map(|n| format!("<!ENTITY l{n} \"&l{};&l{};\">", n - 1, n - 1)).collect();
    let bomb = format!(
        "<!DOCTYPE urlset [<!ENTITY l0 \"lol\">{laughs}]><urlset><url><loc>https://a.example/&l29;x</loc></url></urlset>"
    );
    assert_eq!(locs(bomb), ["https://a.example/x"]);
    let outside = "<!DOCTYPE u [<!ENTITY f SYSTEM \"file:///etc/passwd\">]><urlset><url><loc>https://a.example/&f;</loc></url></urlset>";
    assert_eq!(locs(outside), ["https://a.example/"]);
}

#[test]
fn limits_of_the_protocol() {
    let many = "https://a.example/\n".repeat(Sitemap::MAX_ENTRIES + 1);
    assert_eq!(read(&many).len(), Sitemap::MAX_ENTRIES);
    let is_cut = |entries: usize| {
        let (text, base) = ("https://a.example/\n".repeat(entries), Url::parse("https://a.example/").unwrap());
        let mut sitemap = Sitemap::open(text.as_bytes(), &base);
        let read = sitemap.by_ref().count();
        (read, sitemap.is_cut())
    };
    assert_eq!(is_cut(Sitemap::MAX_ENTRIES), (Sitemap::MAX_ENTRIES, false));
    assert_eq!(is_cut(Sitemap::MAX_ENTRIES + 2), (Sitemap::MAX_ENTRIES, true));
    let wide = |blanks: usize| {
        gzip(&[" ".repeat(blanks).as_bytes(), b"<urlset><url><loc>https://a.example/</loc></url></urlset>"].concat())
    };
    assert_eq!(read(wide(Sitemap::MAX_BYTES - 1_000)).len(), 1);
    assert_eq!(read(wide(Sitemap::MAX_BYTES)).len(), 0);
    let long = |length: usize| {
        format!("<urlset><x>{}</x><url><loc>https://a.example/</loc></url></urlset>", "x".repeat(length))
    };
    assert_eq!((read(long(1_000_000)).len(), read(long(2_000_000)).len()), (1, 0));
}

proptest! {
    #[test]
    fn no_bytes_are_too_odd(body in any::<Vec<u8>>(), packed: bool) {
        if packed { read(gzip(&body)); } else { read(&body); }
        read([b"<urlset><url><loc>", &body[..], b"</loc></url>"].concat());
    }

    #[test]
    fn text_is_lossless_where_it_is_utf8(text in "\\PC{0,40}", repeats in 1..2_000usize) {
        let long = text.repeat(repeats);
        let mut read = String::new();
        let mut reader = Text::new(Box::new(long.as_bytes()), usize::MAX);
        loop {
            reader.start_event();
            let text = reader.fill_buf().unwrap();
            if text.is_empty() {
                break;
            }
            read.push_str(std::str::from_utf8(text).unwrap());
            let all = text.len();
            reader.consume(all);
        }
        prop_assert_eq!(&read, &long);
    }
}
