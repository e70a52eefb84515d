//! The tokens of HTML, compared with html5lib's tests, and with html5ever's tokens of every page of the test material.

use dedup_stage::page::tokenizer::oracle::{Recorder, Token, both};
use dedup_stage::page::tokenizer::{self, Attribute, Content, Name, Sink, Tag};
use serde_json::Value;

use crate::data;

/// Records the tokens after the first tag. The content of that tag has a given kind.
struct Behind {
    recorder: Recorder,
    content: Content,
    foreign: bool,
    opened: bool,
}

impl Sink for Behind {
    fn text(&mut self, text: &str) {
        self.recorder.text(text);
    }

    fn start(&mut self, tag: &Tag<'_>) -> Content {
        if !std::mem::replace(&mut self.opened, true) {
            return self.content;
        }
        self.recorder.start(tag);
        Content::Markup
    }

    fn end(&mut self, name: Name) {
        self.recorder.end(name);
    }

    fn is_in_foreign(&self) -> bool {
        self.foreign
    }
}

fn name(written: &str) -> Name {
    Name::read(written.as_bytes(), 0, written.len())
}

/// A token of html5lib's tests, in the form in which the tokenizer passes it on. `None` for comments and document
/// types.
fn token(expected: &Value) -> Option<Token> {
    let text = |at: usize| expected[at].as_str().unwrap_or_default();
    match text(0) {
        "Character" => Some(Token::Text(text(1).to_owned())),
        "EndTag" => Some(Token::End(name(text(1)))),
        "StartTag" => {
            let attributes = expected[2].as_object().expect("attributes");
            let known = Attribute::ALL.iter().filter_map(|(attribute, name)| {
                attributes.get(*name).map(|value| (*attribute, value.as_str().expect("a value").to_owned()))
            });
            let closes = expected[3].as_bool().unwrap_or(false);
            Some(Token::Start(name(text(1)), closes, !attributes.is_empty(), known.collect()))
        }
        _ => None,
    }
}

/// Replaces `\uXXXX` by characters. `None` if the result is not valid Unicode, such as a lone surrogate.
fn unescape(value: &Value) -> Option<Value> {
    Some(match value {
        Value::String(text) => serde_json::from_str(&format!("\"{}\"", text.replace('"', "\\\""))).ok()?,
        Value::Array(values) => Value::Array(values.iter().map(unescape).collect::<Option<_>>()?),
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| Some((name.clone(), unescape(value)?));
            Value::Object(fields.iter().map(field).collect::<Option<_>>()?)
        }
        other => other.clone(),
    })
}

/// Joins successive texts, and leaves out what the tokenizer does not pass on: U+0000 between tags, and the text of
/// scripts.
fn passed_on(tokens: impl Iterator<Item = Token>, content: Content) -> Vec<Token> {
    let mut all: Vec<Token> = Vec::new();
    let mut passed_over = matches!(content, Content::Raw | Content::Script);
    for token in tokens {
        match (token, all.last_mut()) {
            (Token::Text(_), _) if passed_over => {}
            (Token::Text(text), Some(Token::Text(before))) => before.push_str(&text.replace('\0', "")),
            (Token::Text(text), _) => {
                let text = text.replace('\0', "");
                all.extend((!text.is_empty()).then_some(Token::Text(text)));
            }
            (token, _) => {
                passed_over = false;
                all.push(token);
            }
        }
    }
    all
}

#[test]
#[cfg_attr(not(shared_data), ignore = "there is no ../shared/data")]
fn html5lib_tests() {
    let folder = data::unpacked("html/html5lib-tokenizer.tar.xz");
    let (mut run, mut left_out) = (0, 0);
    for file in data::files(&folder, ".test") {
        let suite: Value = serde_json::from_str(&data::text(&folder.join(&file))).expect("JSON");
        for test in suite["tests"].as_array().into_iter().flatten() {
            let escaped = test["doubleEscaped"].as_bool() == Some(true);
            let read = |value: &Value| if escaped { unescape(value) } else { Some(value.clone()) };
            let (Some(input), Some(output)) = (read(&test["input"]), read(&test["output"])) else {
                left_out += 1;
                continue;
            };
            let input = input.as_str().expect("an input");
            let states = test["initialStates"].as_array().cloned().unwrap_or_else(|| vec!["Data state".into()]);
            for state in states.iter().map(|state| state.as_str().expect("a state")) {
                let content = match state {
                    "Data state" | "CDATA section state" => Content::Markup,
                    "PLAINTEXT state" => Content::Plain,
                    "RCDATA state" => Content::Text,
                    "RAWTEXT state" => Content::Raw,
                    "Script data state" => Content::Script,
                    other => panic!("an unknown state: {other}"),
                };
                let foreign = state == "CDATA section state";
                let opening = test["lastStartTag"].as_str().unwrap_or("x");
                // Only a tag named `script` opens a script. So no page can have this case.
                if content == Content::Script && !matches!(opening, "x" | "script") {
                    left_out += 1;
                    continue;
                }
                let html = format!("<{opening}>{}{input}", if foreign { "<![CDATA[" } else { "" });
                let mut sink = Behind { recorder: Recorder::default(), content, foreign, opened: false };
                tokenizer::read(&html, &mut sink);
                let expected = output.as_array().expect("tokens").iter().filter_map(token);
                // If the test names no last start tag, no end tag ends the content.
                let description = test["description"].as_str().unwrap_or_default();
                assert_eq!(
                    sink.recorder.tokens,
                    passed_on(expected, content),
                    "{file}, {state}: {description}: {input:?}"
                );
                run += 1;
            }
        }
    }
    println!("html5lib: {run} tests as expected, {left_out} left out: no text, or a script that ends at another tag");
    assert!(run > 6_000 && left_out < 20);
}

#[test]
#[cfg_attr(not(shared_data), ignore = "there is no ../shared/data")]
fn tokens_of_pages_are_those_of_html5ever() {
    let (mut pages, mut tokens) = (0, 0);
    for (archive, ending) in [
        ("html/readability-pages.tar.xz", ".html"),
        ("docs/postgresql.tar.xz", ".html"),
        ("docs/python.tar.xz", ".html"),
        ("robots/real.tar.xz", ""),
    ] {
        let folder = data::unpacked(archive);
        for file in data::files(&folder, ending) {
            let [ours, theirs] = both(&data::text(&folder.join(&file)));
            assert!(ours == theirs, "{file}");
            pages += 1;
            tokens += ours.len();
        }
    }
    println!("tokens: {tokens} of {pages} pages are html5ever's");
    assert!(pages > 3_500);
}
