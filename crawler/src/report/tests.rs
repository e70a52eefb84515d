//! Whole reports of small crawls that were written by hand.

use serde_json::{Value, json};

use super::*;

fn page(url: &str, verdict: &str, of: Option<&str>) -> Value {
    json!({
        "url": url, "status": 200, "depth": url.matches('/').count() - 2, "fetched_at": "2026-01-02T03:04:05.000Z",
        "content_type": "text/html; charset=utf-8", "bytes": 1000, "charset": "UTF-8", "language": "en",
        "title": format!("Title of {url}"), "words": 120, "sha256": "00", "simhash": "0123456789abcdef",
        "verdict": verdict, "duplicate_of": of, "distance": of.map(|_| 2), "resemblance": of.map(|_| 0.93),
        "links": 10, "links_new": 3, "links_admitted": 2, "links_dropped": i32::from(of.is_some()), "relevance": null,
        "priority": 0.5, "redirect_to": null, "error": null, "noindex": false, "truncated": false, "unchanged": false
    })
}

fn crawl(pages: &[Value], skips: &[Value]) -> (tempfile::TempDir, Report) {
    let dir = tempfile::tempdir().unwrap();
    let lines = |values: &[Value]| values.iter().map(|value| format!("{value}\n")).collect::<String>();
    std::fs::write(dir.path().join("pages.jsonl"), lines(pages)).unwrap();
    std::fs::write(dir.path().join("skipped.jsonl"), lines(skips)).unwrap();
    let ending = Some("It is complete: nothing in scope is left to fetch.".into());
    let summary = Summary { elapsed_ms: Some(2_000), stop_reason: Some("done".into()), ending, ..Summary::default() };
    let report = Report::read(dir.path(), summary, |_| None).unwrap();
    (dir, report)
}

#[test]
fn a_small_crawl_is_added_up_and_shown_whole() {
    let pages = [
        page("http://a.test/", "unique", None),
        page("http://a.test/x", "near", Some("http://a.test/")),
        page("http://b.test/", "exact", Some("http://a.test/")),
        json!({"url": "http://b.test/gone", "status": null, "error": "timeout: 60 s", "verdict": "unjudged", "depth": 1}),
    ];
    let skips = [json!({"url": "http://a.test/secret", "reason": "robots", "source": "http://a.test/"})];
    let (_dir, report) = crawl(&pages, &skips);
    let verdicts = report.tally().verdicts;
    assert_eq!((verdicts.unique, verdicts.near, verdicts.exact, verdicts.failed), (1, 1, 1, 1));
    assert_eq!(
        (report.tally().hosts.len(), report.tally().duplicate_bytes, report.tally().links_dropped),
        (2, 2_000, 2)
    );
    let html = report.html().unwrap();
    for shown in [
        "3 pages fetched in 2.0 s; 1 said something new, and 2 repeated",
        "It is complete",
        "<caption>All 4 pages, in the order of fetching</caption>",
        "http://a.test/secret",
        "timeout: 60 s",
        "crawl with <code>--warc</code>",
    ] {
        assert!(html.contains(shown), "{shown}");
    }
}

#[test]
fn what_hostile_pages_say_is_text() {
    let evil = "</title></script><script>alert(1)</script><img src=x onerror=alert(1)>\u{202e}\u{0}'\"";
    let mut one = page("http://a.test/\"><script>alert(2)</script>", "near", Some("http://a.test/'><b>"));
    for field in ["title", "language", "content_type", "fetched_at", "error", "redirect_to"] {
        one[field] = evil.into();
    }
    let twin = page("http://a.test/'><b>", "unique", None);
    let skip = json!({"url": format!("javascript:{evil}"), "reason": evil, "source": evil, "rule": evil});
    let (_dir, report) = crawl(&[twin, one.clone(), one], &[skip]);
    let side = Side { name: "gate <on>", report: &report, found_at: None };
    for html in [report.html().unwrap(), compare("<Demo>", &side, &side).unwrap()] {
        let body = &html[html.find("<body>").unwrap()..html.rfind("<script>").unwrap()];
        for markup in ["<script", "<img", "<b>", "onerror=alert(1)>", "href=\"javascript", "\u{202e}", "\0"] {
            assert!(!body.contains(markup), "{markup:?}");
        }
        assert!(body.contains("U+202E"));
    }
}

#[test]
fn a_crawl_that_fetched_nothing_has_a_report() {
    let (_dir, report) = crawl(&[], &[]);
    let html = report.html().unwrap();
    assert!(html.contains("0 pages fetched") && !html.contains("NaN") && !html.contains("inf"));
}

#[test]
fn a_comparison_shows_both_curves_and_the_known_truth() {
    let pages = [page("http://a.test/", "unique", None), page("http://a.test/x", "near", Some("http://a.test/"))];
    let (_one, off) = crawl(&pages, &[]);
    let (_two, on) = crawl(&pages[..1], &[]);
    let off = Side { name: "the gate off", report: &off, found_at: Some(vec![1]) };
    let on = Side { name: "the gate on", report: &on, found_at: Some(vec![1, 2, 3]) };
    let html = compare("Demo", &off, &on).unwrap();
    assert!(html.contains("3.00 times as many"));
    assert!(html.contains("class=\"line off\"") && html.contains("class=\"line on\""));
    let ids: Vec<_> = html.match_indices(" id=\"").map(|(at, _)| html[at + 5..].split('"').next().unwrap()).collect();
    assert_eq!(ids.len(), ids.iter().collect::<HashSet<_>>().len(), "{ids:?}");
}

#[test]
fn every_link_of_the_contents_leads_somewhere() {
    let (_dir, report) = crawl(&[page("http://a.test/", "unique", None)], &[]);
    let html = report.html().unwrap();
    for (at, _) in html.match_indices("href=\"#") {
        let id = html[at + 7..].split('"').next().unwrap();
        assert!(html.contains(&format!(" id=\"{id}\"")), "#{id}");
    }
}

#[test]
fn a_failed_crawl_says_so_first_and_draws_nothing() {
    let failed = json!({"url": "http://a.test/", "status": null, "error": "connect: refused", "verdict": "unjudged", "depth": 0});
    for (pages, said) in [
        (vec![], "This crawl failed: not one page could be had."),
        (vec![failed.clone()], "This crawl failed: not one page could be had."),
        (
            vec![page("http://a.test/x", "unique", None), failed.clone(), failed],
            "Most of this crawl failed: 2 of 3 URLs",
        ),
    ] {
        let html = crawl(&pages, &[]).1.html().unwrap();
        let (headline, charts) = (html.find(said), html.matches("class=\"chart\"").count());
        assert!(headline.is_some() && headline < html.find("class=\"figures\""), "{said}");
        assert_eq!(charts, 0, "{said}");
    }
    let good = crawl(&[page("http://a.test/", "unique", None)], &[]).1.html().unwrap();
    assert!(!good.contains("crawl failed"));
}

#[test]
fn all_pages_can_be_searched() {
    let pages: Vec<Value> = (0..30).map(|n| page(&format!("http://a.test/{n}"), "unique", None)).collect();
    let html = crawl(&pages, &[]).1.html().unwrap();
    let data =
        html.split("<template id=\"all-pages\">").nth(1).and_then(|rest| rest.split("</template>").next()).unwrap();
    let rows: Vec<(String, String, String, u16)> = serde_json::from_str(data).unwrap();
    assert_eq!(rows.len(), 30);
    assert_eq!(rows[7], ("http://a.test/7".into(), "Title of http://a.test/7".into(), "unique".into(), 200));
}
