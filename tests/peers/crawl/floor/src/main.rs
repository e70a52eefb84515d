//! The least that any crawler pays. `floor fetch FILE` fetches the URLs of a file, one request at a time for each host;
//! `floor tokenize FILE` passes each body through html5ever's tokenizer as well, and throws the tokens away.

use std::cell::Cell;
use std::collections::BTreeMap;

use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::tokenizer::{BufferQueue, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};

/// Counts tokens, so that nothing is optimised away.
struct Count(Cell<u64>);

impl TokenSink for Count {
    type Handle = ();

    fn process_token(&self, _token: Token, _line: u64) -> TokenSinkResult<()> {
        self.0.set(self.0.get() + 1);
        TokenSinkResult::Continue
    }
}

fn tokens(body: &[u8]) -> u64 {
    let text: StrTendril = html5ever::tendril::stream::Utf8LossyDecoder::new(Collect(StrTendril::new())).one(body);
    let queue = BufferQueue::default();
    queue.push_back(text);
    let tokenizer = Tokenizer::new(Count(Cell::new(0)), TokenizerOpts::default());
    let _ = tokenizer.feed(&queue);
    tokenizer.end();
    tokenizer.sink.0.get()
}

/// Gathers decoded text.
struct Collect(StrTendril);

impl TendrilSink<html5ever::tendril::fmt::UTF8> for Collect {
    type Output = StrTendril;

    fn process(&mut self, text: StrTendril) {
        self.0.push_tendril(&text);
    }

    fn error(&mut self, _error: std::borrow::Cow<'static, str>) {}

    fn finish(self) -> StrTendril {
        self.0
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let tokenize = arguments.next().as_deref() == Some("tokenize");
    let file = arguments.next().expect("FILE");
    let urls = std::fs::read_to_string(file).expect("a readable file");
    let mut hosts: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for url in urls.lines() {
        hosts.entry(url.split('/').nth(2).expect("a host")).or_default().push(url);
    }
    let client = reqwest::Client::new();
    let tasks = tokio::task::LocalSet::new();
    let mut handles = Vec::new();
    for urls in hosts.into_values() {
        let client = client.clone();
        let urls: Vec<String> = urls.into_iter().map(str::to_owned).collect();
        handles.push(tasks.spawn_local(async move {
            let mut total = 0;
            for url in urls {
                let body = client.get(url).send().await.expect("an answer").bytes().await.expect("a body");
                total += if tokenize { tokens(&body) } else { body.len() as u64 };
            }
            total
        }));
    }
    let mut total = 0;
    tasks
        .run_until(async {
            for handle in handles {
                total += handle.await.expect("no panic");
            }
        })
        .await;
    println!("{total}");
}
