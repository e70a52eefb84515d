//! Labelled pairs: JSON Lines with two texts or two HTML pages and a label.

use std::collections::HashMap;
use std::io::BufRead;

use ::url::Url;
use serde::Deserialize;

use crate::digest::sha256;
use crate::evaluate::schemes::document::Document;
use crate::json_lines::mistake;
use crate::page::{Input, Reader};

/// A line of the input.
#[derive(Deserialize)]
struct Line {
    text_a: Option<String>,
    text_b: Option<String>,
    html_a: Option<String>,
    html_b: Option<String>,
    url_a: Option<String>,
    url_b: Option<String>,
    label: Label,
    /// The number of pairs of the population that this one represents.
    weight: Option<f64>,
    /// Pairs of one cluster are drawn together for the intervals, and lie in one half and one fold.
    cluster: Option<serde_json::Value>,
    /// The cluster of the second document, if it is another one.
    cluster_b: Option<serde_json::Value>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Label {
    Flag(bool),
    Number(f64),
    Text(String),
}

impl Label {
    fn value(&self) -> Option<f64> {
        match self {
            Label::Flag(near) => Some(f64::from(u8::from(*near))),
            Label::Number(value) => Some(*value),
            Label::Text(text) => text.trim().parse().ok(),
        }
    }
}

/// Two documents and whether they are near-duplicates.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The places of the two documents in [`Pairs::documents`].
    pub documents: [usize; 2],
    /// Whether they are near-duplicates.
    pub near: bool,
    /// The number of pairs of the population that this one represents.
    pub weight: f64,
    /// Pairs with the same value depend on one another.
    pub cluster: String,
    /// The cluster of the second document, if it may be another one.
    pub other_cluster: Option<String>,
    /// The strata of the pair: `site=same`, `language=en`, …
    pub strata: Vec<String>,
}

/// Labelled pairs over distinct documents.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    /// Each distinct document once.
    pub documents: Vec<Document>,
    /// The pairs.
    pub pairs: Vec<Pair>,
    /// Number of labels between 0 and 1.
    pub fractional: usize,
}

/// A line that is no pair.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct PairError {
    /// The number of the line, from 1.
    pub line: usize,
    /// The reason why it is no pair.
    pub reason: String,
}

/// Reads pairs. Labels from `threshold` on are near-duplicates. Bytes that are not UTF-8 are read as U+FFFD.
pub fn read_pairs(mut input: impl BufRead, threshold: f64) -> Result<Pairs, PairError> {
    let mut shelf = Shelf::default();
    let mut found = Pairs::default();
    let mut bytes = Vec::new();
    for number in 1.. {
        let error = |reason: String| PairError { line: number, reason };
        bytes.clear();
        if input.read_until(b'\n', &mut bytes).map_err(|e| error(e.to_string()))? == 0 {
            break;
        }
        let line = String::from_utf8_lossy(&bytes);
        let line = line.trim_start_matches('\u{feff}').trim();
        if line.is_empty() {
            continue;
        }
        let line: Line = serde_json::from_str(line).map_err(|e| error(mistake(line.as_bytes(), &e)))?;
        let label = line.label.value().ok_or_else(|| error("label is no number".into()))?;
        found.fractional += usize::from(label > 0.0 && label < 1.0);
        let mut place = |text, html, url: &Option<String>, side: char| {
            shelf.place(text, html, url.as_deref()).ok_or_else(|| error(format!("neither text_{side} nor html_{side}")))
        };
        let documents =
            [place(line.text_a, line.html_a, &line.url_a, 'a')?, place(line.text_b, line.html_b, &line.url_b, 'b')?];
        let [a, b] = documents.map(|place| &shelf.documents[place]);
        found.pairs.push(Pair {
            documents,
            near: label >= threshold,
            weight: line.weight.unwrap_or(1.0),
            cluster: line.cluster.map_or_else(|| number.to_string(), |cluster| cluster.to_string()),
            other_cluster: line.cluster_b.map(|cluster| cluster.to_string()),
            strata: strata(a, b, line.url_a.as_deref().zip(line.url_b.as_deref())),
        });
    }
    found.documents = shelf.documents;
    Ok(found)
}

fn strata(a: &Document, b: &Document, urls: Option<(&str, &str)>) -> Vec<String> {
    let mut strata = Vec::new();
    if let Some((a, b)) = urls.and_then(|(a, b)| host(a).zip(host(b))) {
        strata.push(format!("site={}", if a == b { "same" } else { "other" }));
    }
    strata.push(format!("language={}", if a.language.is_empty() { "unknown" } else { &a.language }));
    strata.push(format!("words={}", length_class(a.words.len().min(b.words.len()))));
    let signatures = a.signature.as_ref().zip(b.signature.as_ref());
    strata.push(match signatures.map(|(a, b)| (a.simhash ^ b.simhash).count_ones()) {
        Some(distance @ 0..=16) => format!("distance={distance}"),
        Some(_) => "distance>16".into(),
        None => "distance=none".into(),
    });
    strata
}

/// The distinct documents that were read so far.
#[derive(Default)]
struct Shelf {
    reader: Reader,
    documents: Vec<Document>,
    places: HashMap<[u8; 32], usize>,
}

impl Shelf {
    fn place(&mut self, text: Option<String>, html: Option<String>, url: Option<&str>) -> Option<usize> {
        let (body, content_type) = match (html, text) {
            (Some(html), _) => (html, "text/html; charset=utf-8"),
            (None, Some(text)) => (text, "text/plain; charset=utf-8"),
            (None, None) => return None,
        };
        let fallback = || Url::parse("http://localhost/").expect("a URL");
        let url = url.and_then(|url| Url::parse(url).ok()).unwrap_or_else(fallback);
        let name = [content_type, url.as_str(), &body].map(|part| format!("{}:{part}", part.len())).concat();
        let Self { reader, documents, places } = self;
        Some(*places.entry(sha256(name.as_bytes())).or_insert_with(|| {
            let input = Input { url: &url, status: 200, content_type: Some(content_type), body: body.as_bytes() };
            documents.push(Document::read(reader, &input));
            documents.len() - 1
        }))
    }
}

fn host(url: &str) -> Option<String> {
    Url::parse(url).ok()?.host_str().map(str::to_owned)
}

fn length_class(words: usize) -> &'static str {
    match words {
        0..100 => "<100",
        100..300 => "100-299",
        300..1000 => "300-999",
        1000..3000 => "1000-2999",
        _ => ">=3000",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_pairs() {
        let lines = "\u{feff}{\"text_a\":\"one\",\"text_b\":\"two\",\"label\":0}\n\n\
                     {\"text_a\":\"one\",\"html_b\":\"<p>one\",\"label\":0.8,\"cluster\":7,\"weight\":2.5}\r\n\
                     {\"text_a\":\"one\",\"text_b\":\"\",\"label\":\"1\",\"more\":null}\n\
                     {\"html_a\":\"<p>one\",\"text_b\":\"two\",\"label\":true}";
        let found = read_pairs(lines.as_bytes(), 0.75).unwrap();
        assert_eq!(found.documents.len(), 4, "each once");
        assert_eq!(found.pairs.iter().map(|pair| pair.near).collect::<Vec<_>>(), [false, true, true, true]);
        assert_eq!(found.pairs.iter().map(|pair| pair.documents).collect::<Vec<_>>(), [[0, 1], [0, 2], [0, 3], [2, 1]]);
        assert_eq!((found.fractional, found.pairs[1].weight, found.pairs[1].cluster.as_str()), (1, 2.5, "7"));
    }

    #[test]
    fn errors_name_the_line() {
        for (lines, expected) in [
            ("{\"text_a\":\"a\",\"text_b\":\"b\",\"label\":1}\nnonsense", "line 2: "),
            ("{\"text_a\":\"a\",\"label\":1}", "line 1: neither text_b nor html_b"),
            ("{\"text_a\":\"a\",\"text_b\":\"b\"}", "line 1: missing field `label`"),
            ("{\"text_a\":\"a\",\"text_b\":\"b\",\"label\":\"yes\"}", "line 1: label is no number"),
        ] {
            let error = read_pairs(lines.as_bytes(), 1.0).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
