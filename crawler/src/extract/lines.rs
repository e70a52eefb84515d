//! The beginning of a page's line in `text.jsonl` and in `markdown.jsonl`: everything that does not depend on the
//! verdict. Page workers make it, so that the engine only appends it.

use dedup_stage::page::{Kind, Page};
use encoding_rs::Encoding;
use frontier::{Job, Millis};
use serde_json::{Value, json};

use super::{Block, MAX_BYTES, Main, Span, extract, head, markdown, text};
use crate::clock::rfc3339;
use crate::feeds;

/// The main text of one page: the beginning of its line in each file. A form that is not written is empty.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    /// The beginning of the line in `text.jsonl`.
    pub text: Vec<u8>,
    /// The beginning of the line in `markdown.jsonl`.
    pub markdown: Vec<u8>,
}

/// The forms in which main text is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forms {
    /// Plain text.
    pub text: bool,
    /// Markdown.
    pub markdown: bool,
}

/// The lines of a page. `visible` is its visible text, block by block. It is used for pages that are no HTML, and for
/// those whose tree would cost too much.
pub fn page_lines(
    forms: Forms,
    job: &Job,
    at: Millis,
    content_type: Option<&str>,
    body: &[u8],
    page: &Page,
    visible: &str,
) -> Texts {
    if forms == Forms::default() {
        return Texts::default();
    }
    let encoding = Encoding::for_label(page.charset.as_bytes()).unwrap_or(encoding_rs::UTF_8);
    let decoded = || encoding.decode(body).0;
    let is_html = matches!(Kind::of(content_type), Kind::Html | Kind::Unknown | Kind::Binary);
    let mut main = Main::default();
    if is_html && !body.starts_with(b"%PDF-") {
        main = extract(&decoded(), &job.url);
    }
    if main.blocks.is_empty() {
        main = plain(&page.title, visible);
    }
    let markdown = match feeds::kind(content_type, &job.url, body) {
        _ if !forms.markdown => String::new(),
        // The file is Markdown already. Otherwise its own marks would be escaped.
        feeds::Kind::Markdown => head(&decoded(), MAX_BYTES).to_owned(),
        _ => markdown::write(&main),
    };
    let line = |form: &str, text: String| {
        let title = Some(&main.title).filter(|title| !title.is_empty());
        let language = Some(&page.language).filter(|language| !language.is_empty());
        let url = job.url.as_str();
        let fields = [
            ("url", json!(url)),
            ("visit", json!(job.page.visit)),
            ("fetched_at", json!(rfc3339(at))),
            ("language", json!(language)),
            ("title", json!(title)),
            (form, Value::from(text)),
        ];
        let fields: Vec<String> = fields.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
        format!("{{{}", fields.join(",")).into_bytes()
    };
    Texts {
        text: if forms.text { line("text", text::write(&main)) } else { Vec::new() },
        markdown: if forms.markdown { line("markdown", markdown) } else { Vec::new() },
    }
}

/// Makes the main text from a text without markup. Each line becomes a paragraph.
fn plain(title: &str, text: &str) -> Main {
    let fold = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines = text.lines().map(fold).filter(|line| !line.is_empty());
    let blocks = lines.map(|line| Block::Paragraph(vec![Span::Text(line)])).collect();
    Main { title: title.to_owned(), blocks, is_article: false }
}
