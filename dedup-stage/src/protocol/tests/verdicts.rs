//! Tests what answers say about pages that come again, and about the links of duplicates.

use super::*;
use crate::testing::{html, links, words};

fn page(url: &str, body: &str) -> String {
    json!({"url": url, "body": body, "content_type": "text/html", "id": url}).to_string()
}

fn conversation_of(lines: &[String]) -> Vec<Value> {
    answers(&lines.iter().map(String::as_bytes).collect::<Vec<_>>())
}

#[test]
fn a_page_that_comes_again_is_unchanged() {
    let body = html(&words(1, 60), &links("/#", 1..=3));
    let again = page("http://a.test/", &body);
    let out = conversation_of(&[
        again.clone(),
        again.clone(),
        page("http://a.test/", &format!("{body}<!-- -->")),
        page("http://a.test/", &html(&words(2, 60), &[])),
        r#"{"op":"stats"}"#.into(),
    ]);
    let verdicts: Vec<&str> = out[..4].iter().map(|answer| answer["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["unique", "unchanged", "unchanged", "unique"]);
    let changed: Vec<&Value> = out[..4].iter().map(|answer| &answer["changed"]).collect();
    assert_eq!(changed, [&json!(null), &json!("no"), &json!("bytes"), &json!("content")]);
    for answer in &out[1..3] {
        for field in ["duplicate_of", "duplicate_id", "distance", "resemblance"] {
            assert_eq!(answer[field], json!(null), "{field}");
        }
        assert_eq!((&answer["novelty"], &answer["links_dropped"]), (&json!(0.0), &json!(0)));
    }
    assert_eq!((&out[4]["unchanged"], &out[4]["unique"]), (&json!(2), &json!(2)));
}

#[test]
fn an_unchanged_duplicate_names_nobody_and_gives_no_links() {
    let body = html(&words(1, 60), &links("/#", 1..=3));
    let copy = page("http://b.test/", &body);
    let out = conversation_of(&[page("http://a.test/", &body), copy.clone(), copy]);
    assert_eq!((&out[1]["verdict"], &out[1]["duplicate_id"]), (&json!("exact"), &json!("http://a.test/")));
    assert_eq!((&out[2]["verdict"], &out[2]["duplicate_of"]), (&json!("unchanged"), &json!(null)));
    for answer in &out[1..] {
        assert_eq!(
            (&answer["links"], &answer["links_dropped"], &answer["links_news"]),
            (&json!([]), &json!(3), &json!([]))
        );
    }
}

#[test]
fn news_of_a_duplicate_are_given_apart() {
    let text = words(1, 60);
    let out = conversation_of(&[
        page("http://a.test/1", &html(&text, &links("/#", 1..=5))),
        page("http://a.test/2", &html(&text, &links("/#", 4..=7))),
    ]);
    assert_eq!(out[0]["links_news"], json!([]));
    assert_eq!(
        (&out[1]["verdict"], &out[1]["links"], &out[1]["links_dropped"]),
        (&json!("near"), &json!([]), &json!(2))
    );
    let news = json!([{"url": "http://a.test/6", "key": "http://a.test/6"}, {"url": "http://a.test/7", "key": "http://a.test/7"}]);
    assert_eq!(out[1]["links_news"], news);
}

#[test]
fn pages_of_a_list_pass_and_their_copies_do_not() {
    let text = words(1, 60);
    let list = |url: &str, from: u32| page(url, &html(&text, &links("/item/#", from..from + 10)));
    let out = conversation_of(&[
        list("http://a.test/list?p=1", 0),
        list("http://a.test/list?p=2", 10),
        list("http://b.test/list?p=2", 10),
    ]);
    let verdicts: Vec<&str> = out.iter().map(|answer| answer["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["unique", "unique", "exact"]);
    assert_eq!(out[1]["links"].as_array().unwrap().len(), 10);
    assert_eq!(out[2]["duplicate_of"], "http://a.test/list?p=2");
}
