//! Records that cannot be read, and those that lack something: a field that was named, an id, the end of a body.

use std::fs;

use tempfile::TempDir;

use super::{dedup_stage, lines, stderr, stdout, text, write};

#[test]
fn bad_records_are_named_and_the_exit_code_says_so() {
    let dir = TempDir::new().expect("a temporary directory");
    let good = format!("{{\"id\":1,\"text\":{:?}}}\n", text(1, 0));
    fs::write(dir.path().join("a.jsonl"), format!("{good}nonsense\n{{\"id\":2}}\n{good}")).expect("a temporary file");
    fs::write(dir.path().join("b.warc"), "no archive").expect("a temporary file");
    let output = dedup_stage(&dir, "signatures a.jsonl b.warc missing.jsonl -o out.sig");
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    for part in [
        "a.jsonl: line 2: ",
        "a.jsonl: line 3: neither \"text\" nor \"body\"",
        "b.warc: ",
        "missing.jsonl: the file: ",
        "4 bad",
    ] {
        assert!(said.contains(part), "{said}");
    }
    assert!(said.contains("signed 2 documents"), "{said}");
    assert_eq!(lines(&stdout(&dir, "pairs out.sig")).len(), 1, "the rest is done");
    let unknown = dedup_stage(&dir, "signatures a.unknown -o out.sig");
    assert_eq!(unknown.status.code(), Some(2), "{}", stderr(&unknown));
}

/// Would fail if a wrong name of a field were taken for a field that documents may lack.
#[test]
fn a_named_field_that_no_document_has_is_told() {
    let dir = TempDir::new().expect("a temporary directory");
    fs::write(
        dir.path().join("a.jsonl"),
        "{\"id\":1,\"text\":\"a\"}\n{\"id\":2,\"body\":\"b\",\"when\":\"2026-01-02\"}\n",
    )
    .expect("a temporary file");
    fs::write(dir.path().join("b.jsonl"), "{\"key\":3,\"text\":\"c\"}\n").expect("a temporary file");
    for (arguments, told) in [
        ("--url-field nope", "no document has a value in the field \"nope\" (--url-field)"),
        ("--id-field other.id", "no document has a value in the field \"other.id\" (--id-field)"),
        ("--text-field body --date-field then", "no document has a value in the field \"then\" (--date-field)"),
        ("--text-field content", "no document has a value in the field \"content\" (--text-field)"),
    ] {
        let output = dedup_stage(&dir, &format!("signatures a.jsonl b.jsonl -o a.sig {arguments}"));
        assert_eq!(output.status.code(), Some(1), "{arguments}: {}", stderr(&output));
        assert!(stderr(&output).contains(told), "{arguments}: {}", stderr(&output));
    }
    // One document that has it is enough, and the usual names need not be there.
    stdout(&dir, "signatures a.jsonl b.jsonl -o a.sig --id-field key --date-field when");
    stdout(&dir, "signatures a.jsonl b.jsonl -o a.sig");
}

/// A record of a WARC file, with other header fields.
fn record(kind: &str, fields: &str, block: &str) -> String {
    format!("WARC/1.0\r\nWARC-Type: {kind}\r\n{fields}Content-Length: {}\r\n\r\n{block}\r\n\r\n", block.len())
}

/// Would fail if documents of archives had an empty id, or if a part of a body counted as the whole.
#[test]
fn archives_without_urls_and_with_cut_bodies() {
    let dir = TempDir::new().expect("a temporary directory");
    let first = record("conversion", "", "one");
    let whole = first.clone()
        + &record("conversion", "", "two")
        + &record("conversion", "WARC-Record-ID: <urn:x:3>\r\n", "three");
    fs::write(dir.path().join("a.wet"), whole).expect("a temporary file");
    stdout(&dir, "signatures a.wet -o a.sig");
    let ids: Vec<String> =
        lines(&stdout(&dir, "cluster a.sig --list all")).iter().map(|row| row["id"].to_string()).collect();
    assert_eq!(ids, ["\"a.wet#0\"".to_owned(), format!("\"a.wet#{}\"", first.len()), "\"<urn:x:3>\"".to_owned()]);

    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n";
    let chunk = format!("3c\r\n<p>{:<57}\r\n", text(1, 0).split_at(50).0);
    let bodies = [
        format!("{chunk}{chunk}0\r\n\r\n"),
        // The empty last chunk is missing in many archives.
        format!("{chunk}{chunk}"),
        format!("{chunk}{}", &chunk[..30]),
        format!("{chunk}3"),
        text(1, 0),
    ];
    let archive = |(number, body): (usize, &String)| {
        record("response", &format!("WARC-Target-URI: http://a.test/{number}\r\n"), &format!("{head}{body}"))
    };
    fs::write(dir.path().join("b.warc"), bodies.iter().enumerate().map(archive).collect::<String>())
        .expect("a temporary file");
    let output = dedup_stage(&dir, "signatures b.warc -o b.sig");
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let said = stderr(&output);
    assert!(said.contains("signed 3 documents") && said.contains("2 bad"), "{said}");
    assert_eq!(said.matches("the body's coding is broken").count(), 2, "{said}");
}

#[test]
fn stdin_is_read_once() {
    let dir = TempDir::new().expect("a temporary directory");
    write(&dir, "a.jsonl", &[("1", text(1, 0))]);
    let refused = dedup_stage(&dir, "signatures - a.jsonl - -o a.sig");
    assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("stdin (-) is named more than once"), "{}", stderr(&refused));
}
