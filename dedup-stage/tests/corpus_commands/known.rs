//! `dedup-stage run --known`: pages that an earlier corpus has are duplicates of it.

use std::fs;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use super::{dedup_stage, dumps, lines, stderr, stdout, text};

/// The answers of `run` to these lines.
pub fn run(dir: &TempDir, arguments: &str, input: &[Value]) -> Vec<Value> {
    let input: String = input.iter().map(|line| format!("{line}\n")).collect();
    fs::write(dir.path().join("in.jsonl"), input).expect("a temporary file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_dedup-stage"));
    command.args(arguments.split_whitespace()).current_dir(dir);
    command.stdin(fs::File::open(dir.path().join("in.jsonl")).expect("just written"));
    let output = command.output().expect("the program runs");
    assert!(output.status.success(), "{arguments}: {}", stderr(&output));
    lines(&String::from_utf8(output.stdout).expect("text"))
}

#[test]
fn what_a_known_corpus_has_is_a_duplicate_of_it() {
    let dir = dumps();
    let page = |number: u32, text: String| {
        let url = format!("http://a.test/{number}");
        let links: Vec<String> = (0..6).map(|link| format!("http://a.test/{number}/{link}")).collect();
        serde_json::json!({ "url": url, "body": text, "content_type": "text/plain", "links": links, "id": number })
    };
    // The bytes of document 2; an edited copy of document "y" of the other corpus; a new text and a copy of it;
    // document 4; then two pages again.
    let pages = [
        page(1, text(2, 0)),
        page(2, text(3, 1)),
        page(3, text(9, 0)),
        page(4, text(9, 0)),
        page(5, "short".into()),
        page(1, text(2, 0)),
        page(5, "short".into()),
    ];
    for (mode, passes) in [("drop", 0), ("demote", 6), ("keep", 6)] {
        let answers = run(&dir, &format!("run --known a.sig --known b.sig --on-duplicate {mode}"), &pages);
        let told = |answer: &Value| {
            let facts = ["verdict", "known", "duplicate_id", "distance"].map(|field| answer[field].to_string());
            (facts.join(" "), answer["links"].as_array().expect("links").len())
        };
        let told: Vec<(String, usize)> = answers.iter().map(told).collect();
        assert_eq!(told[0], (r#""exact" "a.sig" 2 0"#.into(), passes), "{mode}");
        assert!(told[1].0.starts_with(r#""near" "b.sig" "y" "#), "{mode}: {}", told[1].0);
        assert_eq!(told[1].1, passes, "{mode}");
        assert_eq!(told[2], (r#""unique" null null null"#.into(), 6), "{mode}");
        assert_eq!(told[3], (r#""exact" null 3 0"#.into(), passes), "{mode}: an earlier page comes before the corpora");
        assert_eq!(told[4], (r#""exact" "a.sig" 4 0"#.into(), passes), "{mode}");
        // No link passes at the second visit. Links that were dropped at the first visit still count as new, and are
        // dropped again.
        assert_eq!(told[5], (r#""unchanged" "a.sig" null null"#.into(), 0), "{mode}");
        assert_eq!(told[6], (r#""unchanged" "a.sig" null null"#.into(), 0), "{mode}");
        assert_eq!(answers[0]["links_dropped"], 6 - passes, "{mode}");
        assert_eq!(answers[5]["links_dropped"], 6 - passes, "{mode}");
        assert!(answers[0]["known_row"].is_u64() && answers[0]["duplicate_of"].is_null(), "{}", answers[0]);
    }
    let without = run(&dir, "run", &pages[..2]);
    assert!(without.iter().all(|answer| answer["verdict"] == "unique" && answer["known"].is_null()), "{without:?}");
    for (wrong, why, code) in [("a.jsonl", "not a signature file", 1), ("none.sig", "there is no such file", 2)] {
        let failed = dedup_stage(&dir, &format!("run --known {wrong}"));
        assert_eq!(failed.status.code(), Some(code), "{}", stderr(&failed));
        let said = stderr(&failed);
        assert!(said.matches(wrong).count() == 1 && said.matches(why).count() == 1, "{said}");
    }
}

/// Catches a known corpus that has less than a run over the same documents would have found. The second half of the
/// texts has edited copies of texts of both halves.
#[test]
fn a_known_corpus_finds_what_a_run_over_its_documents_finds() {
    let dir = TempDir::new().expect("a temporary directory");
    // The texts whose numbers are multiples of three are no copies. A copy is one of an early text, or of the one
    // before.
    let early = |n: u32| if n.is_multiple_of(2) { n / 6 * 3 } else { n / 3 * 3 };
    let texts: Vec<String> = (0..600).map(|n| if n % 3 == 2 { text(early(n), n % 5) } else { text(n, 0) }).collect();
    let page = |(number, text): (usize, &String)| {
        let url = format!("http://h{}.test/{number}", number % 9);
        serde_json::json!({ "url": url, "body": text, "content_type": "text/plain", "id": number, "text": text })
    };
    let pages: Vec<Value> = texts.iter().enumerate().map(page).collect();
    let (first, second) = pages.split_at(300);
    let corpus: String = first.iter().map(|line| format!("{line}\n")).collect();
    fs::write(dir.path().join("a.jsonl"), corpus).expect("a temporary file");
    stdout(&dir, "signatures a.jsonl -o a.sig");

    let duplicates = |answers: &[Value]| -> Vec<u64> {
        let found = answers.iter().filter(|answer| answer["verdict"] == "exact" || answer["verdict"] == "near");
        found.map(|answer| answer["id"].as_u64().expect("a number")).collect()
    };
    let whole = duplicates(&run(&dir, "run", &pages)[300..]);
    let with_corpus = run(&dir, "run --known a.sig", second);
    assert_eq!(duplicates(&with_corpus), whole);
    let named = with_corpus.iter().filter(|answer| !answer["known"].is_null()).count();
    assert!(named > 30 && whole.len() > named, "{named} of {} are in the corpus", whole.len());
}
