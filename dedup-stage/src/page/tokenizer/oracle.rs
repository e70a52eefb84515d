//! Reads the same tokens with html5ever's tokenizer, and a sink that records tokens. The tests and the fuzzer compare
//! the tokenizer with these.

use std::cell::{Cell, RefCell};

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{self as html5ever_tokenizer, BufferQueue, TagKind, TokenSink, TokenSinkResult, Tokenizer};

use super::{Attribute, Content, Name, Sink, Tag};

/// Reads `html` with html5ever.
pub fn read(html: &str, sink: &mut impl Sink) {
    let options = html5ever_tokenizer::TokenizerOpts { discard_bom: false, ..Default::default() };
    let adapter = Adapter { sink: RefCell::new(sink), passed_over: Cell::new(false) };
    let tokenizer = Tokenizer::new(adapter, options);
    let queue = BufferQueue::default();
    queue.push_back(StrTendril::from_slice(html));
    let _ = tokenizer.feed(&queue);
    tokenizer.end();
}

struct Adapter<'s, S> {
    sink: RefCell<&'s mut S>,
    /// Whether the text stands in a script or a style sheet.
    passed_over: Cell<bool>,
}

impl<S: Sink> TokenSink for Adapter<'_, S> {
    type Handle = ();

    fn process_token(&self, token: html5ever_tokenizer::Token, _line: u64) -> TokenSinkResult<()> {
        let mut sink = self.sink.borrow_mut();
        match token {
            html5ever_tokenizer::Token::CharacterTokens(text) if !self.passed_over.get() && !text.is_empty() => {
                sink.text(&text);
            }
            html5ever_tokenizer::Token::TagToken(tag) => {
                self.passed_over.set(false);
                let name = Name::read(tag.name.as_bytes(), 0, tag.name.len());
                if tag.kind == TagKind::EndTag {
                    sink.end(name);
                    return TokenSinkResult::Continue;
                }
                // Our tags have the values as they are written.
                let written: Vec<_> = tag.attrs.iter().map(|attribute| attribute.value.replace('&', "&amp;")).collect();
                let values = tag.attrs.iter().zip(&written).filter_map(|(attribute, value)| {
                    let known = Attribute::ALL.iter().find(|(_, name)| **name == *attribute.name.local)?;
                    Some((known.0, value.as_str()))
                });
                let content = sink.start(&Tag::new(name, tag.self_closing, !tag.attrs.is_empty(), values));
                self.passed_over.set(matches!(content, Content::Script | Content::Raw));
                return match content {
                    Content::Markup => TokenSinkResult::Continue,
                    Content::Script => TokenSinkResult::RawData(RawKind::ScriptData),
                    Content::Raw => TokenSinkResult::RawData(RawKind::Rawtext),
                    Content::Text => TokenSinkResult::RawData(RawKind::Rcdata),
                    Content::Plain => TokenSinkResult::Plaintext,
                };
            }
            _ => {}
        }
        TokenSinkResult::Continue
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.sink.borrow().is_in_foreign()
    }
}

/// A token that was passed to the sink.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// Text. Pieces that follow each other are joined.
    Text(String),
    /// A start tag: its name, whether it closes itself, whether it has attributes, and its known attributes.
    Start(Name, bool, bool, Vec<(Attribute, String)>),
    /// An end tag.
    End(Name),
}

/// Records tokens. The contents of elements are read as the standard says.
#[derive(Debug, Default)]
pub struct Recorder {
    /// The tokens, in order.
    pub tokens: Vec<Token>,
    foreign: usize,
}

impl Sink for Recorder {
    fn text(&mut self, text: &str) {
        assert!(!text.is_empty(), "pieces of text are not empty");
        match self.tokens.last_mut() {
            Some(Token::Text(before)) => before.push_str(text),
            _ => self.tokens.push(Token::Text(text.to_owned())),
        }
    }

    fn start(&mut self, tag: &Tag<'_>) -> Content {
        let value = |attribute| tag.value(attribute).map(|value| (attribute, value.into_owned()));
        let values = Attribute::ALL.iter().filter_map(|(attribute, _)| value(*attribute)).collect();
        self.tokens.push(Token::Start(tag.name, tag.self_closing, tag.has_attributes, values));
        let is = |names: &[&str]| names.iter().any(|name| Name::of(name) == tag.name);
        self.foreign += usize::from(is(&["svg", "math"]) && !tag.self_closing);
        if self.foreign > 0 {
            return Content::Markup;
        }
        match () {
            () if is(&["script"]) => Content::Script,
            () if is(&["style", "xmp", "iframe", "noembed", "noframes"]) => Content::Raw,
            () if is(&["title", "textarea"]) => Content::Text,
            () if is(&["plaintext"]) => Content::Plain,
            () => Content::Markup,
        }
    }

    fn end(&mut self, name: Name) {
        if ["svg", "math"].iter().any(|foreign| Name::of(foreign) == name) {
            self.foreign = self.foreign.saturating_sub(1);
        }
        self.tokens.push(Token::End(name));
    }

    fn is_in_foreign(&self) -> bool {
        self.foreign > 0
    }
}

/// The tokens of `html`, by our tokenizer and by html5ever.
pub fn both(html: &str) -> [Vec<Token>; 2] {
    let (mut ours, mut theirs) = (Recorder::default(), Recorder::default());
    super::read(html, &mut ours);
    read(html, &mut theirs);
    [ours.tokens, theirs.tokens]
}
