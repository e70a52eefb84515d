//! Scores by a program of the user (`--score-with CMD`), such as a classifier of text quality.
//!
//! The program is started once, by `sh -c`, and reads JSON Lines on stdin:
//! `{"url":…,"title":…,"language":…,"text":…,"id":7,"more":2}`. It answers each question with a line
//! `{"id":7,"score":0.8}` on stdout, in any order. An answer without `id`, or a bare number, answers the oldest
//! question. `more` says how many questions follow at once, for programs that score many pages together.
//!
//! Only the pages that are to be scored wait for the program: a stage of its own between page workers and engine asks
//! it ([`Program`] is the part of this stage that handles the process). If the program ends, gives another kind of
//! answer, or is silent for too long, it is started anew, after ever longer rests. In the meantime, pages go on without
//! a score.

mod program;
mod scorer_line;

use dedup_stage::page::{Page, Reader};
use serde::Serialize;
use url::Url;

use crate::extract::head;
pub use program::Program;
pub use scorer_line::ScorerLine;

/// The most bytes of text in a question.
const MAX_TEXT: usize = 64 << 10;

/// The question about the page that `reader` has read last: a line of JSON without its end. `id` and `more` are added
/// later.
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

/// Adds the end of a question: its number, and how many questions follow at once.
pub fn finish(question: &mut Vec<u8>, id: u64, more: usize) {
    question.extend(format!(",\"id\":{id},\"more\":{more}}}\n").into_bytes());
}
