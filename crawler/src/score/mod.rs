//! Scores by a program of the user (`--score-with CMD`): a classifier of text quality, say.
//!
//! The program is started once, by `sh -c`, and reads JSON Lines on stdin:
//! `{"url":…,"title":…,"language":…,"text":…,"id":7,"more":2}`. It answers each with a line `{"id":7,"score":0.8}` on stdout, in
//! any order; without `id`, or as a bare number, an answer is that to the oldest question. `more` says how many questions
//! follow at once, for programs that score many pages together.
//!
//! Nobody waits for it but the pages that it is to score: a stage of its own between page workers and engine asks
//! ([`Program`] is its half that knows processes). A program that ends, says something else or is silent for too long is
//! started anew, after ever longer rests; meanwhile pages go on without a score.

mod program;
mod said;

use dedup_stage::page::{Page, Reader};
use serde::Serialize;
use url::Url;

use crate::extract::head;
pub use program::Program;
pub use said::Said;

/// Bytes of text in a question.
const MAX_TEXT: usize = 64 << 10;

/// The question about the page that `reader` read last: a line of JSON without its end, to which `id` and `more` are added.
pub fn question(url: &Url, page: &Page, reader: &Reader) -> Vec<u8> {
    #[derive(Serialize)]
    struct Question<'a> {
        url: &'a str,
        title: &'a str,
        language: Option<&'a str>,
        text: &'a str,
    }
    let content: Vec<&str> = reader.content().collect();
    let content = content.join("\n");
    let text = if content.is_empty() { reader.text() } else { &content };
    let language = Some(page.language.as_str()).filter(|language| !language.is_empty());
    let question = Question { url: url.as_str(), title: &page.title, language, text: head(text, MAX_TEXT) };
    let mut line = serde_json::to_vec(&question).unwrap_or_default();
    line.pop();
    line
}

/// The end of a question: its number, and how many follow at once.
pub fn finish(question: &mut Vec<u8>, id: u64, more: usize) {
    question.extend(format!(",\"id\":{id},\"more\":{more}}}\n").into_bytes());
}
