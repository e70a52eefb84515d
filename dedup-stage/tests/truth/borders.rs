//! The borders of the content stay where they are when the markup around it changes. This is tested with pages in two
//! versions, and with pages whose markup was changed in ways that no reader sees.

use std::collections::HashSet;

use dedup_stage::page::Reader;
use dedup_stage::words::{WordHash, fold_multiply};

use crate::data;

/// Two pages say the same if their whole texts have at least this resemblance.
const WHOLE: f64 = 0.98;
/// The contents of such pages must have at least this resemblance, in [`SHARE`] of the pairs.
const CONTENT: f64 = 0.95;
/// The least share of the pairs.
const SHARE: f64 = 0.995;

/// The distinct 5-word shingles. A shorter text is a single shingle.
fn shingles(words: &[WordHash]) -> HashSet<u64> {
    let size = words.len().clamp(1, 5);
    words
        .windows(size)
        .map(|shingle| shingle.iter().fold(0, |hash, word| fold_multiply(hash ^ word, 0x9E37_79B9_7F4A_7C15)))
        .collect()
}

fn resemblance(a: &[WordHash], b: &[WordHash]) -> f64 {
    let (a, b) = (shingles(a), shingles(b));
    let common = a.intersection(&b).count();
    if a.is_empty() && b.is_empty() { 1.0 } else { common as f64 / (a.len() + b.len() - common) as f64 }
}

/// The words of a page: all words, and those of its content.
struct Words {
    whole: Vec<WordHash>,
    content: Vec<WordHash>,
}

fn words(reader: &mut Reader, name: &str, html: &str) -> Words {
    data::read(reader, name, "text/html; charset=utf-8", html.as_bytes());
    Words { whole: reader.words().to_vec(), content: reader.content_words().collect() }
}

/// The number of pairs of pages that say the same, and those of them whose contents differ.
#[derive(Default)]
struct Count {
    pairs: usize,
    moved: Vec<String>,
}

impl Count {
    fn add(&mut self, name: &str, a: &Words, b: &Words) {
        if resemblance(&a.whole, &b.whole) < WHOLE {
            return;
        }
        self.pairs += 1;
        let content = resemblance(&a.content, &b.content);
        if content < CONTENT {
            let (before, after) = (a.content.len(), b.content.len());
            self.moved
                .push(format!("{name}: of {} words {before} and {after}, resemblance {content:.3}", a.whole.len()));
        }
    }

    fn check(&self, of: &str) {
        let share = 1.0 - self.moved.len() as f64 / self.pairs.max(1) as f64;
        println!("borders, {of}: {} pairs, contents alike in {share:.4}", self.pairs);
        self.moved.iter().take(40).for_each(|line| println!("  {line}"));
        assert!(self.pairs > 50 && share >= SHARE, "{of}");
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "there is no ../shared/data")]
fn borders_stay_between_versions() {
    let mut reader = Reader::default();
    let mut count = Count::default();
    for (family, versions) in
        [("postgresql", ["postgresql-15", "postgresql-17"]), ("python", ["python-3.11", "python-3.13"])]
    {
        let folder = data::unpacked(&format!("docs/{family}.tar.xz"));
        let names = data::files(&folder, ".html");
        for name in names.iter().filter_map(|name| name.strip_prefix(&format!("{}/", versions[0]))) {
            let [a, b] = versions.map(|version| format!("{version}/{name}"));
            if !folder.join(&b).exists() {
                continue;
            }
            let [a, b] = [a, b].map(|name| words(&mut reader, &name, &data::text(&folder.join(&name))));
            count.add(name, &a, &b);
        }
    }
    count.check("versions");
}

/// Calls `change` with each tag, without its brackets, and replaces the whole tag by the result. Comments, scripts,
/// style sheets and preformatted text stay as they are.
fn with_tags(html: &str, mut change: impl FnMut(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(html.len() * 2);
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let until = |end: &str| rest.to_ascii_lowercase().find(end).map_or(rest.len(), |at| at + end.len());
        let is = |name: &str| rest.get(1..1 + name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
        let end = match ["!--", "script", "style", "pre", "textarea"].into_iter().find(|name| is(name)) {
            Some("!--") => until("-->"),
            Some(name) => until(&format!("</{name}>")),
            None => rest.find('>').map_or(rest.len(), |at| at + 1),
        };
        let tag = &rest[..end];
        let plain = tag.len() > 2 && tag.ends_with('>') && tag.matches('<').count() == 1;
        match change(tag.trim_matches(['<', '>'])).filter(|_| plain) {
            Some(changed) => out.push_str(&changed),
            None => out.push_str(tag),
        }
        rest = &rest[end..];
    }
    out + rest
}

/// The name of a tag, with the slash of an end tag, and the rest of the tag.
fn split(tag: &str) -> (String, &str) {
    let end = tag[1.min(tag.len())..].find(|c: char| !c.is_ascii_alphanumeric()).map_or(tag.len(), |at| at + 1);
    (tag[..end].to_ascii_lowercase(), &tag[end..])
}

const BLOCKS: [&str; 16] =
    ["p", "div", "ul", "ol", "li", "dl", "dt", "dd", "table", "tr", "td", "th", "h1", "h2", "h3", "section"];

/// Puts each block-level tag on its own line, indented.
fn indented(html: &str) -> String {
    let mut depth = 0usize;
    with_tags(html, |tag| {
        let (name, _) = split(tag);
        let bare = name.trim_start_matches('/');
        if !BLOCKS.contains(&bare) {
            return None;
        }
        depth = if name.starts_with('/') { depth.saturating_sub(1) } else { depth + 1 };
        Some(format!("\n{}<{tag}>\n{0}", " ".repeat(depth % 30)))
    })
}

/// Wraps elements in further elements, and adds classes as build tools make them up.
fn wrapped(html: &str) -> String {
    let mut number = 0;
    with_tags(html, |tag| {
        number += 1;
        let (name, rest) = split(tag);
        Some(match name.as_str() {
            "p" | "h1" | "h2" | "h3" | "ul" | "ol" | "table" => {
                format!("<div class=\"css-{number:x}q\"><{tag}>")
            }
            "/p" | "/h1" | "/h2" | "/h3" | "/ul" | "/ol" | "/table" => format!("<{tag}></div>"),
            "li" | "dd" | "td" => format!("<{tag}><div data-v-{number:x}>"),
            "/li" | "/dd" | "/td" => format!("</div><{tag}>"),
            "a" | "code" if !rest.is_empty() => format!("<span><{tag}>"),
            "/a" => format!("<{tag}></span>"),
            "code" => format!("<{tag} class=\"css-{number:x}\">"),
            _ => return None,
        })
    })
}

/// Replaces elements by others of the same kind.
fn renamed(html: &str) -> String {
    with_tags(html, |tag| {
        let (name, rest) = split(tag);
        let (slash, bare) = name.strip_prefix('/').map_or(("", name.as_str()), |bare| ("/", bare));
        let other = match bare {
            "p" => "div",
            "div" | "section" => {
                if bare == "div" {
                    "section"
                } else {
                    "div"
                }
            }
            "ol" => "ul",
            "b" => "strong",
            "strong" => "b",
            "i" => "em",
            "em" => "i",
            "code" | "tt" => "kbd",
            "dt" | "dd" => "p",
            "dl" => "div",
            "h2" => "h3",
            "h3" => "h2",
            _ => return None,
        };
        Some(format!("<{slash}{other}{rest}>"))
    })
}

#[test]
#[cfg_attr(not(shared_data), ignore = "there is no ../shared/data")]
fn borders_stay_when_markup_changes() {
    type Change = fn(&str) -> String;
    let changes: [(&str, Change); 3] = [("indented", indented), ("wrapped", wrapped), ("renamed", renamed)];
    let mut counts = changes.map(|_| Count::default());
    let mut reader = Reader::default();
    for (archive, ending) in [
        ("html/readability-pages.tar.xz", "source.html"),
        ("docs/postgresql.tar.xz", ".html"),
        ("docs/python.tar.xz", ".html"),
    ] {
        let folder = data::unpacked(archive);
        for name in data::files(&folder, ending) {
            let html = data::text(&folder.join(&name));
            let page = words(&mut reader, &name, &html);
            for ((_, change), count) in changes.iter().zip(&mut counts) {
                count.add(&name, &page, &words(&mut reader, &name, &change(&html)));
            }
        }
    }
    for ((name, _), count) in changes.iter().zip(&counts) {
        count.check(name);
    }
}
