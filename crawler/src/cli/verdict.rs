//! The part of `crawler why` about the verdict: whether the page repeats another page.

use serde_json::Value;

use super::shown::Printable;
use crate::permissions::NOT_STORED;
use crate::report::html::put;

/// Tells the verdict of a line of `pages.jsonl`.
pub(super) fn verdict(out: &mut String, line: &Value, indent: &str) {
    let twin = match (line["duplicate_of"].as_str(), line["known"].as_str()) {
        (Some(twin), _) => Printable(twin).to_string(),
        (None, Some(corpus)) => format!("a document of the known corpus {}", Printable(corpus)),
        (None, None) => "another page".to_owned(),
    };
    match line["verdict"].as_str().unwrap_or_default() {
        "unique" => put!(out, "{indent}verdict unique: no earlier page says the same\n"),
        "exact" => put!(out, "{indent}verdict exact: same bytes as {twin}\n"),
        "near" => put!(
            out,
            "{indent}verdict near: says what {twin} said (Hamming distance {}, resemblance {})\n",
            line["distance"],
            line["resemblance"]
        ),
        "unchanged" => put!(out, "{indent}verdict unchanged: says what it said at the last visit\n"),
        _ if line["error"].as_str().is_some_and(|error| error.starts_with(NOT_STORED)) => {
            put!(out, "{indent}not judged, and not kept: the page may not be used for the purpose of this crawl\n");
        }
        _ if line["redirect_to"].is_string() => put!(out, "{indent}not judged: a redirect\n"),
        _ => put!(out, "{indent}not judged: an error status, no page, or no text\n"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_verdict_names_the_page_or_the_corpus_that_says_the_same() {
        let told = |line: Value| {
            let mut out = String::new();
            verdict(&mut out, &line, "");
            out
        };
        let near =
            json!({"verdict": "near", "duplicate_of": null, "known": "old.sig", "distance": 2, "resemblance": 1.0});
        assert_eq!(
            told(near),
            "verdict near: says what a document of the known corpus old.sig said (Hamming distance 2, resemblance 1.0)\n"
        );
        let forbidden = told(json!({"verdict": "unjudged", "status": 200, "error": "not stored: noai (header)"}));
        assert_eq!(forbidden, "not judged, and not kept: the page may not be used for the purpose of this crawl\n");
        let exact = told(json!({"verdict": "exact", "duplicate_of": null, "known": "old.sig"}));
        assert_eq!(exact, "verdict exact: same bytes as a document of the known corpus old.sig\n");
        let exact = told(json!({"verdict": "exact", "duplicate_of": "http://a.test/", "known": null}));
        assert_eq!(exact, "verdict exact: same bytes as http://a.test/\n");
    }
}
