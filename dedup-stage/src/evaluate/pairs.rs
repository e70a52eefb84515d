//! Labelled pairs: JSON Lines with two texts or two HTML pages and a label.

use std::io::BufRead;

use ::url::Url;
use serde::Deserialize;

use crate::page::{Input, Reader};
use crate::signature::scheme::Document;

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
    /// How many pairs of the population this one stands for.
    weight: Option<f64>,
    /// Pairs of one cluster are drawn together for the intervals.
    cluster: Option<serde_json::Value>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Label {
    Flag(bool),
    Number(f64),
}

/// Two documents and whether they are near-duplicates.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The documents.
    pub documents: [Document; 2],
    /// Whether they are near-duplicates.
    pub near: bool,
    /// How many pairs of the population this one stands for.
    pub weight: f64,
    /// Pairs with the same value depend on one another.
    pub cluster: String,
    /// What the strata go by: `site=same`, `language=en`, …
    pub strata: Vec<String>,
}

/// A line that is no pair.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct PairError {
    /// Its number, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub reason: String,
}

/// Reads pairs. Labels from `threshold` on are near-duplicates.
pub fn read_pairs(input: impl BufRead, threshold: f64) -> Result<Vec<Pair>, PairError> {
    let mut reader = Reader::default();
    let mut pairs = Vec::new();
    for (number, line) in input.lines().enumerate() {
        let error = |reason: String| PairError { line: number + 1, reason };
        let line = line.map_err(|e| error(e.to_string()))?;
        if line.trim().is_empty() {
            continue;
        }
        let line: Line = serde_json::from_str(&line).map_err(|e| error(e.to_string()))?;
        let (a, language) = document(&mut reader, line.text_a, line.html_a, line.url_a.as_deref())
            .ok_or_else(|| error("neither text_a nor html_a".into()))?;
        let (b, _) = document(&mut reader, line.text_b, line.html_b, line.url_b.as_deref())
            .ok_or_else(|| error("neither text_b nor html_b".into()))?;
        let near = match line.label {
            Label::Flag(near) => near,
            Label::Number(label) => label >= threshold,
        };
        let mut strata = Vec::new();
        if let (Some(a), Some(b)) = (line.url_a.as_deref().and_then(host), line.url_b.as_deref().and_then(host)) {
            strata.push(format!("site={}", if a == b { "same" } else { "other" }));
        }
        strata.push(format!("language={}", if language.is_empty() { "unknown" } else { &language }));
        strata.push(format!("words={}", length_class(a.words.len().min(b.words.len()))));
        let distance =
            a.signature.as_ref().zip(b.signature.as_ref()).map(|(a, b)| (a.simhash ^ b.simhash).count_ones());
        strata.push(match distance {
            Some(distance @ 0..=16) => format!("distance={distance}"),
            Some(_) => "distance>16".into(),
            None => "distance=none".into(),
        });
        let cluster = line.cluster.map_or_else(|| number.to_string(), |cluster| cluster.to_string());
        pairs.push(Pair { documents: [a, b], near, weight: line.weight.unwrap_or(1.0), cluster, strata });
    }
    Ok(pairs)
}

fn document(
    reader: &mut Reader,
    text: Option<String>,
    html: Option<String>,
    url: Option<&str>,
) -> Option<(Document, String)> {
    let (body, content_type) = match (html, text) {
        (Some(html), _) => (html, "text/html; charset=utf-8"),
        (None, Some(text)) => (text, "text/plain; charset=utf-8"),
        (None, None) => return None,
    };
    let fallback = || Url::parse("http://localhost/").expect("a URL");
    let url = url.and_then(|url| Url::parse(url).ok()).unwrap_or_else(fallback);
    let input = Input { url: &url, status: 200, content_type: Some(content_type), body: body.as_bytes() };
    let page = reader.read(&input);
    let text = reader.content().collect::<Vec<_>>().join("\n");
    Some((Document { text, words: reader.content_words().collect(), signature: page.signature }, page.language))
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
