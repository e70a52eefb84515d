//! What a user may get wrong, or not expect: a mistyped name, documents in place of signatures, a file named twice,
//! dates of other forms, documents that are too long.

use std::fs;
use std::process::Command;

use tempfile::TempDir;

use super::{dedup_stage, dumps, lines, stderr, stdout, text, write};

/// Would fail if a mistyped name replaced a signature file by an empty one.
#[test]
fn an_output_stays_if_nothing_could_be_read() {
    let dir = dumps();
    let before = fs::read(dir.path().join("a.sig")).expect("written");
    let output = dedup_stage(&dir, "signatures mistyped.jsonl -o a.sig");
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("a.sig is not written"), "{}", stderr(&output));
    assert_eq!(fs::read(dir.path().join("a.sig")).expect("it is still there"), before);
    assert!(!dir.path().join("a.sig.parts").exists());
}

/// Would fail if documents were read as fingerprints, in which each has thousands of neighbours.
#[test]
fn documents_are_no_signatures() {
    let dir = dumps();
    // Fingerprints have eight bytes each.
    let mut lines = fs::read(dir.path().join("a.jsonl")).expect("written");
    lines.resize(lines.len().next_multiple_of(8), b'\n');
    fs::write(dir.path().join("a.jsonl"), lines).expect("a temporary file");
    for command in ["pairs a.jsonl -d 7", "search --stored a.jsonl --queries a.jsonl -d 7"] {
        let output = dedup_stage(&dir, command);
        assert_eq!(output.status.code(), Some(2), "{command}: {}", stderr(&output));
        assert!(stderr(&output).contains("dedup-stage signatures a.jsonl -o FILE"), "{command}: {}", stderr(&output));
    }
}

/// Would fail if the first document of a signature were lost where a block is compared with itself.
#[test]
fn a_file_with_itself_is_one_file() {
    let dir = TempDir::new().expect("a temporary directory");
    write(&dir, "x.jsonl", &[("1", text(1, 0)), ("2", text(1, 0)), ("3", text(1, 0)), ("4", text(1, 2))]);
    stdout(&dir, "signatures x.jsonl -o x.sig");
    assert_eq!(stdout(&dir, "pairs x.sig x.sig"), stdout(&dir, "pairs x.sig"));
    stdout(&dir, "pairs x.sig x.sig --edges x.edges");
    let clusters = stdout(&dir, "cluster x.sig --edges x.edges");
    assert_eq!((&clusters, lines(&clusters).len()), (&stdout(&dir, "cluster x.sig"), 4));
    let twice = dedup_stage(&dir, "cluster x.sig x.sig");
    assert_eq!(twice.status.code(), Some(2));
    assert!(stderr(&twice).contains("x.sig is named twice"), "{}", stderr(&twice));
}

/// Would fail if a date were lost in silence, or if a number in its place lost the document.
#[test]
fn dates_of_many_forms() {
    let dir = TempDir::new().expect("a temporary directory");
    let dates = ["\"2026-02-01\"", "\"20260101\"", "1769904000", "\"some day\"", "\"Thu, 01 Jan 2015 00:00:00 GMT\""];
    let all: String = (0..)
        .zip(dates)
        .map(|(id, date)| format!("{{\"id\":{id},\"text\":{:?},\"date\":{date}}}\n", text(1, 0)))
        .collect();
    fs::write(dir.path().join("a.jsonl"), all).expect("a temporary file");
    let output = dedup_stage(&dir, "signatures a.jsonl -o a.sig");
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("1 document with a date that cannot be read"), "{}", stderr(&output));
    let kept = lines(&stdout(&dir, "cluster a.sig --keep earliest --list kept"));
    assert_eq!(kept.iter().map(|row| row["id"].to_string()).collect::<Vec<_>>(), ["4"]);
}

/// Would fail if two long texts counted as the same because their beginnings are.
#[test]
fn texts_that_are_not_read_to_the_end_have_no_fingerprint() {
    let dir = TempDir::new().expect("a temporary directory");
    let beginning: String = (0..800_000).map(|n| format!("w{} ", n % 50_021)).collect();
    let document = |id: u32, more: u32| {
        let end: String = (0..more).map(|n| format!("e{id}x{n} ")).collect();
        format!("{{\"id\":{id},\"text\":\"{beginning}{end}\"}}\n")
    };
    fs::write(dir.path().join("a.jsonl"), document(1, 10) + &document(2, 200_000)).expect("a temporary file");
    let output = dedup_stage(&dir, "signatures a.jsonl -o a.sig");
    assert!(stderr(&output).contains("2 documents too long for a fingerprint"), "{}", stderr(&output));
    assert_eq!(stdout(&dir, "pairs a.sig"), "");
}

/// Would fail if a document on stdin were taken for a file with the name `-`.
#[test]
fn one_document_comes_on_stdin() {
    let dir = TempDir::new().expect("a temporary directory");
    for format in ["text", "html"] {
        let script = format!(
            "echo '{}' | {} signatures - --format {format} -o {format}.sig",
            text(1, 0),
            env!("CARGO_BIN_EXE_dedup-stage")
        );
        let output = Command::new("sh").args(["-ec", &script]).current_dir(&dir).output().expect("sh runs");
        assert!(output.status.success(), "{}", stderr(&output));
        assert!(stderr(&output).contains("signed 1 document, 1 with a fingerprint"), "{}", stderr(&output));
    }
}

/// Would fail if nobody were told that a list cannot tell documents apart.
#[test]
fn equal_ids_are_told() {
    let dir = TempDir::new().expect("a temporary directory");
    for (name, ids) in [("a", ["1", "2"]), ("b", ["2", "3"]), ("c", ["4", "5"])] {
        let documents = ids.map(|id| (id, text(id.parse().expect("a number"), 0)));
        write(&dir, &format!("{name}.jsonl"), &documents);
        stdout(&dir, &format!("signatures {name}.jsonl -o {name}.sig"));
    }
    let told = |files: &str| stderr(&dedup_stage(&dir, &format!("cluster {files}")));
    let warning = told("a.sig b.sig");
    assert!(warning.contains("1 document with the id of another document"), "{warning}");
    assert!(warning.contains("the id 2 is in a.sig and in b.sig"), "{warning}");
    assert!(!told("a.sig c.sig").contains("the id of another"));
}
