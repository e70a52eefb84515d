//! Documents with the same words and other numbers, which all have one fingerprint.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use super::known::run;
use super::{dedup_stage, lines, stderr, stdout};

/// Documents of one text with many numbers, each with numbers of its own.
pub fn readings(n: u32) -> Vec<String> {
    let mut random = fastrand::Rng::with_seed(4);
    let prose = "Hourly readings of the weather station at the harbour, wind speed, air pressure and temperature, in \
                 the usual units of the service:";
    let mut numbers = || (0..60).map(|_| format!(" {}.{}", random.u32(..100), random.u32(..10))).collect::<String>();
    (0..n).map(|_| format!("{prose}{}", numbers())).collect()
}

/// Would fail if only the first documents of a fingerprint were looked at for copies.
#[test]
fn copies_of_documents_that_differ_in_numbers_are_found() {
    let dir = TempDir::new().expect("a temporary directory");
    let texts = readings(200);
    for name in ["a", "b"] {
        let line = |(i, text): (usize, &String)| serde_json::json!({"id": i, "text": text}).to_string() + "\n";
        fs::write(dir.path().join(format!("{name}.jsonl")), texts.iter().enumerate().map(line).collect::<String>())
            .expect("a temporary file");
        stdout(&dir, &format!("signatures {name}.jsonl -o {name}.sig"));
    }
    assert_eq!(lines(&stdout(&dir, "cluster a.sig b.sig --list kept")).len(), 200);
    for command in ["pairs b.sig a.sig", "search --stored a.sig --queries b.sig"] {
        let output = dedup_stage(&dir, command);
        let pairs = lines(&String::from_utf8_lossy(&output.stdout));
        let own = pairs.iter().filter(|pair| pair["a"] == pair["b"] && pair["query"] == pair["stored"]).count();
        assert_eq!(own, 200, "{command}");
        assert!(stderr(&output).contains("not compared: up to "), "{command}: {}", stderr(&output));
    }
    let page = |(i, text): (usize, &String)| {
        let url = format!("http://x.test/{i}");
        serde_json::json!({"url": url, "body": text, "content_type": "text/plain"})
    };
    let pages: Vec<Value> = texts.iter().enumerate().map(page).collect();
    let answers = run(&dir, "run --known a.sig", &pages);
    assert_eq!(answers.iter().filter(|answer| answer["verdict"] == "exact").count(), 200);
}
