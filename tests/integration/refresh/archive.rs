//! The archive after rounds of visits: revisit records must refer to responses, however often a page was visited.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use crawler::clock::Clock;
use crawler::fetch::{Fetch, FetchError, Request, Response};
use dedup_stage::warc::read::{Piece, Reader, Record};
use http::HeaderValue;
use serde_json::Value;
use tests::crawl::{crawl_with, settings};
use tests::scripted::{Scripted, html, missing, words};
use url::Url;

use super::DAY;

/// Answers a conditional request for `/etag` with 304.
#[derive(Clone)]
struct WithEtag(Scripted);

impl Fetch for WithEtag {
    async fn fetch(&self, request: Request) -> Result<Response, FetchError> {
        let has_etag = request.url.path() == "/etag";
        let knows_it = request.validators.as_ref().is_some_and(|validators| validators.etag.is_some());
        let mut response = self.0.fetch(request).await?;
        if has_etag {
            response.headers.insert("etag", HeaderValue::from_static("\"one\""));
        }
        if has_etag && knows_it {
            (response.status, response.body) = (304, Bytes::new());
        }
        Ok(response)
    }

    async fn resolve(&self, url: Url) -> Result<Vec<IpAddr>, FetchError> {
        self.0.resolve(url).await
    }
}

/// Catches a revisit record that refers to another revisit record (of a 304, of a copy, of the same bytes), and an
/// index that has the digest of an empty body for it: then no program that replays the archive finds the page.
#[test]
fn every_revisit_record_refers_to_a_response() -> anyhow::Result<()> {
    let (clock, round) = (Clock::at(1_700_000_000_000), Arc::new(AtomicU64::new(1)));
    let now = Arc::clone(&round);
    let fetch = WithEtag(Scripted::new(&clock, move |url, _| match url.path() {
        "/" => {
            html(["etag", "same", "copy", "turn"].map(|to| format!("<a href={to}>{to}</a> ")).concat() + &words(0, 80))
        }
        "/etag" => html(words(1, 80)),
        "/same" | "/copy" => html(words(2, 80)),
        "/turn" if now.load(Ordering::Relaxed) == 1 => html(words(3, 80)),
        "/turn" => html(words(3, 80) + "<!-- other bytes -->"),
        _ => missing(),
    }));
    let dir = tempfile::tempdir()?;
    for number in 1..=4 {
        round.store(number, Ordering::Relaxed);
        clock.skip_to(clock.now() + DAY);
        let recrawl = if number > 1 { "true" } else { "false" };
        let settings =
            settings(&[("output.warc", "true"), ("dedup.on-duplicate", "keep"), ("fetch.recrawl", recrawl)])?;
        crawl_with(fetch.clone(), &clock, dir.path(), &["http://a.test/".to_owned()], &settings)?;
    }
    let (mut responses, mut revisits) = (BTreeMap::new(), Vec::new());
    for record in records(&std::fs::read(dir.path().join("warc/crawl-00000.warc.gz"))?)? {
        let field = |name| record.fields.text(name).unwrap_or_default().to_owned();
        let (url, date) = (field("WARC-Target-URI"), field("WARC-Date"));
        match record.kind() {
            "response" => drop(responses.insert((url, date), field("WARC-Payload-Digest"))),
            "revisit" => {
                revisits.push(((url, date), (field("WARC-Refers-To-Target-URI"), field("WARC-Refers-To-Date"))));
            }
            _ => {}
        }
    }
    let of = |path: &str| revisits.iter().filter(|((url, _), _)| url.ends_with(path)).count();
    assert_eq!(["test/", "/etag", "/same", "/copy", "/turn"].map(of), [3, 3, 3, 4, 2]);
    let index = std::fs::read_to_string(dir.path().join("warc/index.cdxj"))?;
    let mut indexed = BTreeSet::new();
    for line in index.lines().filter(|line| line.contains("warc/revisit")) {
        let json: Value = serde_json::from_str(&line[line.find('{').unwrap_or_default()..])?;
        indexed.insert((json["url"].to_string(), json["digest"].to_string()));
    }
    for ((url, _), refers_to) in &revisits {
        let Some(digest) = responses.get(refers_to) else { panic!("{url} refers to {refers_to:?}: {responses:?}") };
        let (url, digest) = (Value::from(url.as_str()).to_string(), Value::from(digest.as_str()).to_string());
        assert!(indexed.contains(&(url.clone(), digest.clone())), "{url}, {digest}: {index}");
    }
    Ok(())
}

fn records(archive: &[u8]) -> anyhow::Result<Vec<Record>> {
    let (mut reader, mut records) = (Reader::new(archive, u64::MAX), Vec::new());
    while let Some(piece) = reader.piece()? {
        records.extend(if let Piece::Record(record) = piece { Some(record) } else { None });
    }
    Ok(records)
}
