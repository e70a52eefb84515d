//! Pages as lines of the protocol: the synthetic web in breadth-first order, and an endless number of small pages.

use std::collections::{HashSet, VecDeque};

use crawler::demo::web::Web;
use dedup_stage::page::{Input, Reader};
use serde_json::{Value, json};
use url::Url;

/// The first `limit` pages of a web, in the breadth-first order of a crawl without a gate, without error pages.
pub fn breadth_first(web: &Web, limit: usize) -> Vec<Value> {
    let mut queue: VecDeque<Url> = web.seeds().iter().filter_map(|seed| Url::parse(seed).ok()).collect();
    let mut queued: HashSet<Url> = queue.iter().cloned().collect();
    let mut reader = Reader::default();
    let mut lines = Vec::new();
    while let Some(url) = queue.pop_front().filter(|_| lines.len() < limit) {
        let target = &url[url::Position::BeforePath..url::Position::AfterQuery];
        let Some(answer) = url.host_str().and_then(|host| web.answer(host, target)) else { continue };
        let input = Input {
            url: &url,
            status: answer.status,
            content_type: Some(answer.content_type),
            body: answer.body.as_bytes(),
        };
        let location = answer.location.as_ref().and_then(|location| url.join(location).ok());
        let links = reader.read(&input).links.into_iter().map(|link| link.url);
        for link in links.chain(location) {
            if queued.insert(link.clone()) {
                queue.push_back(link);
            }
        }
        if answer.status == 200 {
            lines.push(json!({
                "id": lines.len(),
                "url": url.as_str(),
                "status": answer.status,
                "content_type": answer.content_type,
                "body": answer.body,
            }));
        }
    }
    lines
}

/// Page `n` of an endless site of small pages. One page in eight is the copy of another under another URL. Each page
/// has two links that no other page has.
pub fn small(n: u64) -> Value {
    let content = if n % 8 == 7 { n - 3 } else { n };
    let mut words = String::new();
    let mut state = content.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    for _ in 0..60 {
        // xorshift64* (Vigna 2016)
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        let word = state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 40;
        words.push_str(&format!("w{word:x} "));
    }
    json!({
        "id": n,
        "url": format!("http://host{}.test/page/{n}", n % 1000),
        "content_type": "text/html",
        "body": format!("<title>Page {content}</title><p>{words}</p>"),
        "links": [format!("/page/{n}/a"), format!("/page/{n}/b")],
    })
}
