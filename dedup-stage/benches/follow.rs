//! CPU time that a page of another process costs the judge, beside a page that it judges itself. The pages have 100
//! words and 20 links; one in ten is a near-duplicate, and one in ten has the bytes of an earlier page. Commits to the
//! disk are counted, reading HTML is not.
//!
//! `cargo bench -p dedup-stage --bench follow [-- PAGES]`
#![allow(missing_docs)]

mod cpu;

use std::collections::HashMap;

use config::Settings;
use dedup_stage::flow::Flow;
use dedup_stage::judge::{Case, Proposal};
use dedup_stage::stage::{Prepared, Preparer, Source};
use dedup_stage::store::{Disk, Session};
use dedup_stage::url::{Canonicalizer, KeyHasher, Keys, PageId, UrlId};
use url::Url;

/// Pages that are followed together.
const GROUP: usize = 64;
/// Pages between two commits.
const COMMIT: usize = 1_024;

fn keys() -> Keys {
    Keys { canonicalizer: Canonicalizer::default(), hasher: KeyHasher::new([7; KeyHasher::SECRET]) }
}

/// The page with this number.
fn page(number: u64, preparer: &mut Preparer) -> Prepared {
    let url = Url::parse(&format!("http://host{}.test/page/{number}", number % 64)).expect("a URL");
    let text = |seed: u64| -> Vec<String> {
        let mut random = fastrand::Rng::with_seed(seed);
        (0..100).map(|_| format!("word{}", random.u32(..20_000))).collect()
    };
    let (mut words, links) = match number % 10 {
        3 => (text(number - 1), number - 1),
        7 => (text(number - 1), number - 1),
        _ => (text(number), number),
    };
    if number % 10 == 3 {
        words[50] = "another".to_owned();
    }
    let links: String = (1..=20).map(|next| format!("<a href=\"/page/{}\">next {next}</a> ", links + next)).collect();
    let html = format!("<title>page</title><p>{}</p><p>{links}</p>", words.join(" "));
    let content_type = Some("text/html; charset=utf-8");
    preparer.prepare(&Source { url: &url, status: 200, content_type, body: html.as_bytes(), whole: true, links: None })
}

fn case(prepared: &Prepared, order: u64) -> Case<'_> {
    let id = PageId { url: prepared.id, visit: 1 };
    let Prepared { url, judgeable, page, links, .. } = prepared;
    Case { order, id, url, before: None, judgeable: *judgeable, page, links, ahead: None }
}

fn main() {
    let pages = std::env::args().skip(1).find_map(|pages| pages.parse().ok()).unwrap_or(100_000);
    let mut preparer = Preparer::new(keys());
    let settings = Settings::default().dedup;
    let open = |dir: &tempfile::TempDir| -> (Flow, Session) {
        let disk = Disk::open(dir.path(), &dedup_stage::spaces::of_stage()).expect("a store");
        let mut session = Session::new(Box::new(disk));
        (Flow::open(&settings, keys(), &mut session).expect("a judge"), session)
    };
    let (own, others) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let ((mut judge, mut judged), (mut follower, mut followed)) = (open(&own), open(&others));
    let mut urls: HashMap<UrlId, Url> = HashMap::new();
    let (mut judging, mut following, mut bytes, mut unique) = (0.0, 0.0, 0, 0);
    let mut order = 0;
    while order < pages {
        let group: Vec<Prepared> = (0..GROUP as u64).map(|at| page(order + at, &mut preparer)).collect();
        urls.extend(group.iter().map(|page| (page.id, page.url.clone())));
        let url_of = |page: PageId, _: &Session| Ok(urls.get(&page.url).cloned());
        let proposals: Vec<(u64, Proposal)> = (order..)
            .zip(&group)
            .filter_map(|(order, page)| Some((order, Proposal::of(&case(page, order), 0)?)))
            .collect();
        bytes += proposals.iter().map(|(_, proposal)| proposal.bytes()).sum::<usize>();

        let begin = cpu::seconds();
        for (order, page) in (order..).zip(&group) {
            let result = judge.page(&case(page, order), &url_of, &mut judged).expect("a verdict");
            unique += u64::from(result.judgement.verdict.twin().is_none());
        }
        let between = cpu::seconds();
        follower.judge_mut().follow(proposals, &url_of, &mut followed).expect("pages to follow");
        let end = cpu::seconds();
        (judging, following) = (judging + between - begin, following + end - between);
        order += GROUP as u64;
        if order.is_multiple_of(COMMIT as u64) {
            let begin = cpu::seconds();
            judged.commit().expect("a commit");
            let between = cpu::seconds();
            followed.commit().expect("a commit");
            let end = cpu::seconds();
            (judging, following) = (judging + between - begin, following + end - between);
        }
    }
    let of_page = |seconds: f64| seconds * 1e6 / order as f64;
    println!("{order} pages, {unique} of them unique, {} bytes each in a message", bytes / order as usize);
    println!("judged here: {:.2} us a page; judged elsewhere: {:.2} us a page", of_page(judging), of_page(following));
}
