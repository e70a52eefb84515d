//! Reading real pages: encodings, the main text, and links, compared with those of a tree parser.

use std::collections::{HashMap, HashSet};

use base64::Engine;
use dedup_stage::page::Reader;
use url::Url;

use crate::data;

#[derive(serde::Deserialize)]
struct EncodingCase {
    file: String,
    data_base64: String,
    expected_encoding: String,
}

#[test]
#[cfg_attr(not(shared_data), ignore = "there is no ../shared/data")]
fn encodings_are_sniffed() {
    let folder = data::folder();
    let cases = std::fs::read_to_string(folder.join("html/encoding-sniffing.json")).expect("readable");
    let cases: Vec<EncodingCase> = serde_json::from_str(&cases).expect("JSON");
    let mut wrong = Vec::new();
    for (i, case) in cases.iter().enumerate() {
        let body = base64::prelude::BASE64_STANDARD.decode(&case.data_base64).expect("base64");
        let charset = data::read(&mut Reader::default(), "page", "text/html", &body).charset;
        if !charset.eq_ignore_ascii_case(&case.expected_encoding) {
            wrong.push(format!("{i} {}: {charset}, not {}", case.file, case.expected_encoding));
        }
    }
    wrong.iter().for_each(|case| println!("  {case}"));
    println!("encodings: {} of {} as expected", cases.len() - wrong.len(), cases.len());
    assert!(wrong.is_empty());
}

fn words(text: &str) -> HashMap<String, usize> {
    let mut words = HashMap::new();
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        *words.entry(word.to_lowercase()).or_default() += 1;
    }
    words
}

#[test]
#[cfg_attr(not(shared_data), ignore = "there is no ../shared/data")]
fn main_text_is_kept() {
    let folder = data::unpacked("html/readability-pages.tar.xz");
    let mut reader = Reader::default();
    let (mut precision, mut recall, mut pages) = (0.0, 0.0, 0.0);
    for name in data::files(&folder, "source.html") {
        let source = std::fs::read(folder.join(&name)).expect("readable");
        let expected = std::fs::read(folder.join(name.replace("source", "expected"))).expect("readable");
        data::read(&mut reader, &name, "text/html", &expected);
        let expected = words(reader.text());
        data::read(&mut reader, &name, "text/html", &source);
        assert!(!reader.text().contains("â€"), "{name} is garbled");
        let content: String = reader.content().collect::<Vec<_>>().join("\n");
        let found = words(&content);
        let common: usize = found.iter().map(|(word, count)| *count.min(expected.get(word).unwrap_or(&0))).sum();
        let (p, r) = (
            common as f64 / found.values().sum::<usize>().max(1) as f64,
            common as f64 / expected.values().sum::<usize>().max(1) as f64,
        );
        if p < 0.5 || r < 0.8 {
            println!("  {name}: precision {p:.2} recall {r:.2}");
        }
        precision += p;
        recall += r;
        pages += 1.0;
    }
    println!("main text of {pages} pages: words with precision {:.3}, recall {:.3}", precision / pages, recall / pages);
    assert!(recall / pages >= 0.90 && precision / pages >= 0.75);
}

/// The links that a tree parser finds.
fn tree_links(html: &str, page: &Url) -> HashSet<String> {
    let tree = scraper::Html::parse_document(html);
    let select = |selector: &str| scraper::Selector::parse(selector).expect("a selector");
    let mut base = page.clone();
    if let Some(element) = tree.select(&select("base[href]")).next()
        && let Ok(url) = page.join(element.attr("href").unwrap_or_default().trim())
    {
        base = url;
    }
    let mut links = HashSet::new();
    for (selector, attribute) in [("a[href], area[href]", "href"), ("frame[src], iframe[src]", "src")] {
        for element in tree.select(&select(selector)) {
            links.extend(resolve(&base, element.attr(attribute).unwrap_or_default()));
        }
    }
    for element in tree.select(&select("link[rel][href]")) {
        let rel = element.attr("rel").unwrap_or_default().to_ascii_lowercase();
        let has = |kind: &str| rel.split_ascii_whitespace().any(|word| word == kind);
        if ["canonical", "alternate", "next", "prev"].into_iter().any(has) && !has("stylesheet") {
            links.extend(resolve(&base, element.attr("href").unwrap_or_default()));
        }
    }
    links
}

fn resolve(base: &Url, href: &str) -> Option<String> {
    let mut url = base.join(href).ok()?;
    url.set_fragment(None);
    (matches!(url.scheme(), "http" | "https") && url.has_host()).then(|| url.into())
}

#[test]
#[cfg_attr(not(shared_data), ignore = "there is no ../shared/data")]
fn links_are_those_of_a_tree() {
    let mut reader = Reader::default();
    let (mut pages, mut total) = (0, 0);
    let mut differing = Vec::new();
    for (archive, ending, every) in [
        ("html/readability-pages.tar.xz", "source.html", 1),
        ("docs/postgresql.tar.xz", ".html", 25),
        ("docs/python.tar.xz", ".html", 25),
    ] {
        let folder = data::unpacked(archive);
        for name in data::files(&folder, ending).iter().step_by(every) {
            let html = String::from_utf8_lossy(&std::fs::read(folder.join(name)).expect("readable")).into_owned();
            // The parser runs with scripting, so it holds the content of noscript as text. A crawler has no scripts, so
            // it must see the elements.
            let html = html.replace("<noscript", "<div").replace("</noscript", "</div");
            let page = data::read(&mut reader, name, "text/html; charset=utf-8", html.as_bytes());
            let url = Url::parse("http://pages.example/").expect("a URL").join(name).expect("a path");
            let ours: HashSet<String> = page.links.iter().map(|link| link.url.to_string()).collect();
            let tree = tree_links(&html, &url);
            pages += 1;
            total += tree.len();
            let refreshes = html.to_ascii_lowercase().contains("http-equiv=\"refresh");
            for link in tree.difference(&ours) {
                differing.push(format!("{name}: only the tree has {link}"));
            }
            for link in ours.difference(&tree).filter(|_| !refreshes) {
                differing.push(format!("{name}: only we have {link}"));
            }
        }
    }
    differing.iter().take(40).for_each(|line| println!("  {line}"));
    println!("links: {total} on {pages} pages, {} differ from the tree's", differing.len());
    assert!(differing.is_empty());
}
