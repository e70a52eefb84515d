//! Finds the end of a script by html5ever's tokenizer, if the text of the script does not show it.

use std::cell::Cell;

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::{RawKind, State};
use html5ever::tokenizer::{BufferQueue, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};

use super::{Name, Sink};

/// Whether the end tag has come. A script contains no other tag.
struct Ended(Cell<bool>);

impl TokenSink for Ended {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        self.0.set(self.0.get() || matches!(token, Token::TagToken(_)));
        TokenSinkResult::Continue
    }
}

/// Reads a script and its end tag. Returns the length of both; `None` if the document ends before the end tag.
pub fn script(content: &str, sink: &mut impl Sink) -> Option<usize> {
    let options = TokenizerOpts {
        initial_state: Some(State::RawData(RawKind::ScriptData)),
        last_start_tag_name: Some("script".to_owned()),
        discard_bom: false,
        ..TokenizerOpts::default()
    };
    let tokenizer = Tokenizer::new(Ended(Cell::new(false)), options);
    let queue = BufferQueue::default();
    let mut from = 0;
    // The tokenizer gives a tag once it has read the last character of the tag.
    for end in memchr::memchr_iter(b'>', content.as_bytes()).map(|at| at + 1) {
        queue.push_back(StrTendril::from_slice(&content[from..end]));
        let _ = tokenizer.feed(&queue);
        if tokenizer.sink.0.get() {
            sink.end(Name::of("script"));
            return Some(end);
        }
        from = end;
    }
    None
}
