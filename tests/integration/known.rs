//! A crawl with `--known`: a page that is in a signature file is a duplicate, and its links are held as known.

use crawler::clock::Clock;
use dedup_stage::corpus::build::{SigningOptions, Tally, Watch, build, splits};
use dedup_stage::corpus::input::Fields;
use tests::crawl::{crawl_with, settings, text};
use tests::scripted::{Scripted, html, missing, words};

/// An observer that does nothing.
struct Unwatched;

impl Watch for Unwatched {
    fn documents(&self, _: u64) {}
    fn split(&self, _: &str, _: &Tally, _: bool) {}
    fn merged(&self, _: u64) {}
}

/// Catches a crawl that follows the links of known pages, one that loses these links silently, and one that holds the
/// links of other pages.
#[test]
fn what_a_known_corpus_has_is_a_duplicate_of_it() -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let (documents, corpus) = (dir.path().join("old.jsonl"), dir.path().join("old.sig"));
    std::fs::write(&documents, serde_json::json!({ "id": "p", "text": words(7, 120) }).to_string())?;
    let options = SigningOptions { fields: Fields::default(), threads: 1, memory: 1 << 20 };
    let inputs = splits(&[documents], None).map_err(anyhow::Error::msg)?;
    build(&inputs, &options, &corpus, &Unwatched)?;
    let corpus = corpus.to_string_lossy().into_owned();

    let links = |folder: &str| (0..8).map(|n| format!("<a href=/{folder}/{n}>n</a> ")).collect::<String>();
    let clock = Clock::at(1_700_000_000_000);
    let fetch = Scripted::new(&clock, move |url, _| match url.path() {
        "/" => html(format!("<p>{}</p><a href=/old>o</a> <a href=/new>n</a>", words(1, 80))),
        "/old" => html(format!("<p>{}</p>{}", words(7, 120), links("beyond-old"))),
        "/new" => html(format!("<p>{}</p>{}", words(8, 120), links("beyond-new"))),
        path if path.starts_with("/beyond") => {
            html(format!("<p>{}</p>", words(path.bytes().map(u64::from).sum::<u64>() + path.len() as u64 * 1000, 80)))
        }
        _ => missing(),
    });
    for (mode, known, follows) in
        [("drop", true, false), ("drop", false, true), ("demote", true, true), ("keep", true, true)]
    {
        let mut keys = vec![("dedup.on-duplicate", mode), ("dedup.rescue", "0%")];
        keys.extend(known.then_some(("dedup.known", corpus.as_str())));
        let crawl = tempfile::tempdir()?;
        let crawled = crawl_with(fetch.clone(), &clock, crawl.path(), &["http://a.test/".into()], &settings(&keys)?)?;
        let old = crawled.pages.iter().find(|page| text(page, "url") == "http://a.test/old").expect("it is fetched");
        let name = known.then_some("old.sig");
        assert_eq!(
            (text(old, "verdict"), old["known"].as_str()),
            (if known { "near" } else { "unique" }, name),
            "{mode}"
        );
        assert!(old["duplicate_of"].is_null(), "no page of this crawl says the same: {old}");
        let new = crawled.pages.iter().find(|page| text(page, "url") == "http://a.test/new").expect("it is fetched");
        assert_eq!((text(new, "verdict"), &new["known"]), ("unique", &serde_json::Value::Null), "{mode}");
        let fetched = |folder: &str| crawled.urls().iter().filter(|url| url.contains(folder)).count();
        assert_eq!((fetched("beyond-new"), fetched("beyond-old")), (8, if follows { 8 } else { 0 }), "{mode} {known}");
        let held = crawled.skipped.iter().filter(|skipped| text(skipped, "reason") == "known").count();
        assert_eq!(held, if follows { 0 } else { 8 }, "{mode} {known}: {:?}", crawled.skipped);
    }
    Ok(())
}
