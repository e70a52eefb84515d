//! No page breaks the reader: it reads monstrous pages in bounded time.
//!
//! Random pages are tested by `cargo run --release -p tests --bin fuzz -- html charset`.

use std::time::{Duration, Instant};

use dedup_stage::page::{Input, Page, Reader};
use url::Url;

/// Size of a monstrous page in bytes. In optimized builds it is far above [`Reader::MAX_BODY`].
const MONSTROUS: usize = if cfg!(debug_assertions) { 2_000_000 } else { 100_000_000 };

fn read(reader: &mut Reader, content_type: Option<&str>, body: &[u8]) -> Page {
    let url = Url::parse("http://example.org/dir/page.html").expect("a URL");
    let page = reader.read(&Input { url: &url, status: 200, content_type, body });
    assert!(page.links.len() <= Reader::MAX_LINKS && page.title.len() <= 1000);
    assert!(page.links.iter().all(|link| link.anchor.len() <= 200 && link.url.fragment().is_none()));
    assert!(page.links.iter().all(|link| matches!(link.url.scheme(), "http" | "https")));
    assert!(reader.content().map(str::len).sum::<usize>() <= reader.text().len());
    page
}

fn repeat(pattern: &str, size: usize) -> Vec<u8> {
    pattern.as_bytes().iter().copied().cycle().take(size).collect()
}

#[test]
fn monstrous_pages_take_bounded_time() {
    let numbered = |prefix: &str, each: &dyn Fn(usize) -> String, size: usize| {
        let mut page = prefix.to_owned();
        let mut i = 0;
        while page.len() < size {
            page.push_str(&each(i));
            i += 1;
        }
        page.into_bytes()
    };
    let million = MONSTROUS.min(12_000_000);
    let pages: Vec<(&str, Vec<u8>)> = vec![
        ("one tag", repeat("<b>", MONSTROUS)),
        ("one open tag", repeat("<b ", MONSTROUS)),
        ("one name", repeat("<a", MONSTROUS)),
        ("attributes", numbered("<p ", &|i| format!("a{i}=1 "), million)),
        ("attributes with brackets", numbered("<p ", &|i| format!("a{i}=\">\""), million)),
        ("equal attributes after many", {
            let mut page = numbered("<p ", &|i| format!("a{i} "), million / 50);
            page.extend(repeat("x ", million));
            page
        }),
        ("many tags with many attributes", {
            repeat(&String::from_utf8(numbered("<p ", &|i| format!("a{i} "), 30_000)).expect("text"), million)
                .into_iter()
                .chain(*b">")
                .collect()
        }),
        ("nesting", repeat("<div>", MONSTROUS.min(5_000_000))),
        ("named nesting", repeat("<div class=ad><p hidden>x", million)),
        ("blocks", repeat("<p>a", MONSTROUS)),
        ("links", numbered("", &|i| format!("<a href={i}>x</a>"), MONSTROUS)),
        ("equal links", repeat("<a href=x>x</a>", MONSTROUS)),
        ("comments", repeat("<!-- - -->", MONSTROUS)),
        ("one comment", repeat("<!-- x > ", MONSTROUS)),
        ("entities", repeat("&amp&notit;&#x110000;", MONSTROUS)),
        ("text", repeat("word Wort слово 単語 ", MONSTROUS)),
        ("one word", repeat("a", MONSTROUS)),
        ("one long character word", repeat("ж", MONSTROUS)),
        ("numbers", repeat("1", MONSTROUS)),
        ("NULs", vec![0; MONSTROUS]),
        ("high bytes", vec![0xFF; million]),
        (
            "lone surrogates",
            [0xFE, 0xFF].into_iter().chain(repeat("\u{8}", 1)).chain([0xD8, 0x00].repeat(million / 2)).collect(),
        ),
        ("escapes", repeat("\u{1b}$B", million)),
        ("open script", [b"<script>".to_vec(), repeat("</scrip", million)].concat()),
        ("foreign", repeat("<svg><title><math><style>", million)),
        ("bases", numbered("", &|i| format!("<base href=/{i}/><title>{i}"), million)),
        ("data URL", [b"<img src='data:".to_vec(), repeat("QUJD", million), b"'><p>text".to_vec()].concat()),
    ];
    let mut reader = Reader::default();
    for (name, page) in pages {
        let start = Instant::now();
        read(&mut reader, Some("text/html"), &page);
        let elapsed = start.elapsed();
        println!("{name:32} {:9} bytes {elapsed:?}", page.len());
        assert!(elapsed < Duration::from_secs(60), "{name}: {elapsed:?}");
    }
}

#[test]
fn a_tag_too_large_does_not_hide_the_rest() {
    let long: String = (0..40_000).map(|i| format!("a{i}=1 ")).collect();
    let page = format!("<a href=before>x</a><p {long}><p>After all</p><a href=after>y</a>");
    let mut reader = Reader::default();
    let page = read(&mut reader, Some("text/html"), page.as_bytes());
    assert_eq!(page.links.len(), 2);
    assert!(reader.text().contains("After all"));
}
