//! Tests the protocol against hostile lines, odd reads, and any number of threads, all in this process.

mod verdicts;

use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crossbeam_channel::{Receiver, Sender, unbounded};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::pipeline::Limits;
use crate::stage::Stage;
use crate::store::{self, Batch, Memory, Session, Space, Store, Visitor};
use crate::url::Canonicalizer;

fn stage() -> Stage {
    let dedup = config::Dedup { distance: 3, ..config::Settings::default().dedup };
    Stage::open(Session::new(Box::new(Memory::default())), &dedup, Canonicalizer::default()).unwrap()
}

/// The answers to `input`, given with this many threads.
fn answers_to(input: impl Read + Send + 'static, threads: usize) -> Vec<Value> {
    let output = Shared::default();
    let stage = stage();
    let greeting = Greeting { recipe: "words", distance: 3, on_duplicate: config::OnDuplicate::Drop, durable: false };
    let ended = serve(input, output.clone(), stage, Limits::new(threads), greeting, |_| {}).unwrap();
    assert!(matches!(ended, ServeEnd::Input));
    output.lines()
}

fn answers(lines: &[&[u8]]) -> Vec<Value> {
    answers_to(io::Cursor::new(lines.join(&b"\n"[..])), 2)
}

/// An output that several owners read and write.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Shared {
    fn lines(&self) -> Vec<Value> {
        let bytes = self.0.lock().unwrap();
        bytes.split_inclusive(|b| *b == b'\n').map(|line| serde_json::from_slice(line).unwrap()).collect()
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_mark_before_the_first_line_is_passed_over_and_an_array_is_told_from_lines() {
    let page: &[u8] = br#"{"url":"http://a.test/","body":"<p>one"}"#;
    let marked = [b"\xef\xbb\xbf", page].concat();
    assert_eq!(answers(&[&marked, page])[0]["error"], Value::Null);
    assert_eq!(answers(&[b"\xef\xbb\xbf", page]).len(), 1, "a line with nothing but the mark is blank");
    assert_eq!(answers(&[page, &marked])[1]["error"]["code"], "bad_json", "it stands nowhere else");
    for array in [&b"[{\"url\":\"http://a.test/\",\"body\":\"\"}]"[..], b"["] {
        let answer = answers(&[array]).remove(0);
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains("JSON Lines") && message.contains("not an array"), "{message}");
    }
}

#[test]
fn an_empty_body_is_no_copy_of_another() {
    let empty = |url: &str| format!(r#"{{"url":"http://a.test/{url}","body":""}}"#).into_bytes();
    let answers = answers(&[&empty("1"), &empty("2"), &empty("1")]);
    let verdicts: Vec<_> = answers.iter().map(|answer| &answer["verdict"]).collect();
    assert_eq!(verdicts, ["unjudged"; 3], "{answers:?}");
}

#[test]
fn every_mistake_is_answered_with_its_name_and_id() {
    let cases: [(&[u8], &str, Value); 20] = [
        (br#"{"id":1"#, "bad_json", json!(1)),
        (br#"nonsense"#, "bad_json", json!(null)),
        (br#"{"id":"a","url":"http://a.test/" "body":""}"#, "bad_json", json!("a")),
        (br#"{"id":2,"id":3,"url":"http://a.test/","body":""}"#, "wrong_type", json!(2)),
        (b"{\"id\":4,\"url\":\"http://a.test/\",\"body\":\"\0\"}", "bad_json", json!(4)),
        (b"{\"id\":5,\"url\":\"http://a.test/\",\"body\":\"\xff\"}", "bad_utf8", json!(5)),
        (b"\xff\xfe", "bad_utf8", json!(null)),
        (br#"[{"id":6}]"#, "wrong_type", json!(null)),
        (br#""text""#, "wrong_type", json!(null)),
        (br#"{"url":7,"body":"","id":7}"#, "wrong_type", json!(7)),
        (br#"{"url":"http://a.test/","body":["x"],"id":8}"#, "wrong_type", json!(8)),
        (br#"{"url":"http://a.test/","body":"","status":99999,"id":9}"#, "wrong_type", json!(9)),
        (br#"{"url":"http://a.test/","body":"","links":["x",1],"id":10}"#, "wrong_type", json!(10)),
        (br#"{"url":"http://a.test/","body":"","body_base64":"","id":11}"#, "wrong_type", json!(11)),
        (br#"{"body":"","id":12}"#, "missing_field", json!(12)),
        (br#"{"url":"http://a.test/","id":{"n":13}}"#, "missing_field", json!({"n": 13})),
        (br#"{"url":"/relative","body":"","id":14}"#, "bad_url", json!(14)),
        (br#"{"url":"http://a.test/","body_base64":"a-b*","id":15}"#, "bad_base64", json!(15)),
        (br#"{"op":"dance","id":16}"#, "unknown_op", json!(16)),
        (br#"{}"#, "missing_field", json!(null)),
    ];
    let lines: Vec<&[u8]> = cases.iter().map(|(line, _, _)| *line).collect();
    let out = answers(&lines);
    assert_eq!(out.len(), cases.len());
    for ((line, code, id), answer) in cases.iter().zip(out) {
        let line = String::from_utf8_lossy(line);
        assert_eq!(answer["verdict"], "error", "{line}");
        assert_eq!(answer["error"]["code"], *code, "{line}: {answer}");
        assert_eq!(answer["id"], *id, "{line}");
        assert!(!answer["error"]["message"].as_str().unwrap().is_empty());
    }
}

#[test]
fn a_mistake_does_not_hide_the_url_before_it() {
    let cases: [(&[u8], Value); 6] = [
        (br#"{"id":1,"url":"http://a.test/x","status":"200","body":"a"}"#, json!("http://a.test/x")),
        (br#"{"status":"200","body":"a","url":"http://a.test/x"}"#, json!("http://a.test/x")),
        (br#"{"url":"http://a.test/x","body""#, json!("http://a.test/x")),
        (br#"{"url":"/relative","body":""}"#, json!("/relative")),
        (br#"{"url":7,"body":""}"#, json!(null)),
        (br#"{"body"}"#, json!(null)),
    ];
    let lines: Vec<&[u8]> = cases.iter().map(|(line, _)| *line).collect();
    for ((line, url), answer) in cases.iter().zip(answers(&lines)) {
        assert_eq!(answer["verdict"], "error");
        assert_eq!(answer["url"], *url, "{}: {answer}", String::from_utf8_lossy(line));
    }
}

#[test]
fn ids_come_back_unchanged() {
    for id in
        ["1e400", "123456789012345678901234567890", "{\"b\":1,\"a\":[1.0, null]}", "\"\\u00e9\\ud83d\\ude00\"", "-0.0"]
    {
        let output = Shared::default();
        let stage = stage();
        let greeting =
            Greeting { recipe: "words", distance: 3, on_duplicate: config::OnDuplicate::Drop, durable: false };
        let line = format!("{{\"url\":\"http://a.test/\",\"body\":\"\",\"id\":{id}}}");
        let input = io::Cursor::new(line.into_bytes());
        serve(input, output.clone(), stage, Limits::new(1), greeting, |_| {}).unwrap();
        let text = String::from_utf8(output.0.lock().unwrap().clone()).unwrap();
        assert!(text.starts_with(&format!("{{\"id\":{id},")), "{text}");
    }
}

#[test]
fn a_lone_surrogate_of_javascript_is_no_mistake() {
    let out = answers(&[br#"{"url":"http://a.test/","body":"x \ud800 y"}"#]);
    assert_ne!(out[0]["verdict"], "error");
}

#[test]
fn links_of_the_caller_are_resolved_and_given_once() {
    let page = |links: Value| json!({"url": "http://a.test/d/", "body": "", "links": links}).to_string();
    let first = page(json!(["x", "x#f", "/y", "mailto:z", "//b.test", "http://[", "", "http://a.test/d/"]));
    let second = page(json!(["x", "z"]));
    let out = answers(&[first.as_bytes(), second.as_bytes()]);
    let urls = |answer: &Value| -> Vec<String> {
        answer["links"].as_array().unwrap().iter().map(|link| link["url"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(urls(&out[0]), ["http://a.test/d/x", "http://a.test/y", "http://b.test/"]);
    assert_eq!(urls(&out[1]), ["http://a.test/d/z"]);
    let given: Vec<_> =
        out[0]["links"].as_array().unwrap().iter().map(|link| link["given"].as_u64().unwrap()).collect();
    assert_eq!(given, [0, 2, 4]);
}

#[test]
fn priorities_are_inherited_and_bounded() {
    for (given, inherited) in [("0.25", 0.25), ("7", 1.0), ("-1", 0.0), ("null", 1.0)] {
        let line = format!(r#"{{"url":"http://a.test/","body":"","links":["x"],"priority":{given}}}"#);
        assert_eq!(answers(&[line.as_bytes()])[0]["links"][0]["priority"], inherited);
    }
}

#[test]
fn operations_are_answered_in_their_place() {
    let out = answers(&[
        br#"{"op":"hello","id":1}"#,
        br#"{"url":"http://a.test/","body":""}"#,
        br#"oops"#,
        b"  \r",
        br#"{"op":"stats","id":[2]}"#,
        br#"{"op":"flush"}"#,
    ]);
    assert_eq!(out.len(), 5);
    assert_eq!((&out[0]["op"], &out[0]["protocol"], &out[0]["id"]), (&json!("hello"), &json!(1), &json!(1)));
    assert_eq!((&out[3]["op"], &out[3]["pages"], &out[3]["errors"]), (&json!("stats"), &json!(1), &json!(1)));
    assert_eq!(out[3]["id"], json!([2]));
    assert_eq!(out[4]["op"], "flush");
}

/// An input that hands out the pieces that are sent to it, as slowly as they are sent.
struct Dripping {
    pieces: Receiver<Vec<u8>>,
    rest: Vec<u8>,
}

impl Read for Dripping {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.rest.is_empty() {
            self.rest = self.pieces.recv().unwrap_or_default();
        }
        let n = self.rest.len().min(out.len());
        out[..n].copy_from_slice(&self.rest[..n]);
        self.rest.drain(..n);
        Ok(n)
    }
}

/// An output that sends on all that is written.
struct Posting(Sender<Vec<u8>>);

impl Write for Posting {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.send(bytes.to_vec()).map_err(|_| io::ErrorKind::BrokenPipe)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A stage that is served on another thread, with the other ends of its input and output.
fn conversation() -> (Sender<Vec<u8>>, Receiver<Vec<u8>>, std::thread::JoinHandle<ServeEnd>) {
    let (to_stage, pieces) = unbounded();
    let (post, from_stage) = unbounded();
    let served = std::thread::spawn(move || {
        let stage = stage();
        let greeting =
            Greeting { recipe: "words", distance: 3, on_duplicate: config::OnDuplicate::Drop, durable: false };
        let input = Dripping { pieces, rest: Vec::new() };
        serve(input, Posting(post), stage, Limits::new(2), greeting, |_| {}).unwrap()
    });
    (to_stage, from_stage, served)
}

#[test]
fn a_caller_may_wait_for_each_answer() {
    let (to_stage, from_stage, served) = conversation();
    for n in 0..200 {
        let line = json!({"url": format!("http://a.test/{n}"), "body": "x", "id": n}).to_string();
        let (front, back) = line.split_at(line.len() / 2);
        to_stage.send(front.as_bytes().to_vec()).unwrap();
        to_stage.send(format!("{back}\n").into_bytes()).unwrap();
        let answer: Value = serde_json::from_slice(&from_stage.recv().unwrap()).unwrap();
        assert_eq!(answer["id"], n);
    }
    drop(to_stage);
    assert!(matches!(served.join().unwrap(), ServeEnd::Input));
}

#[test]
fn a_line_cut_by_the_end_of_input_is_still_answered() {
    let (to_stage, from_stage, served) = conversation();
    to_stage.send(br#"{"id":1,"url":"http://a.te"#.to_vec()).unwrap();
    drop(to_stage);
    let answer: Value = serde_json::from_slice(&from_stage.recv().unwrap()).unwrap();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(1), &json!("bad_json")));
    served.join().unwrap();
}

#[test]
fn a_closed_output_ends_it_quietly() {
    let (to_stage, from_stage, served) = conversation();
    drop(from_stage);
    to_stage.send(b"{\"op\":\"hello\"}\n".to_vec()).unwrap();
    assert!(matches!(served.join().unwrap(), ServeEnd::OutputClosed));
}

/// A store that counts its commits.
#[derive(Debug)]
struct Counting(Memory, Arc<AtomicUsize>);

impl Store for Counting {
    fn get(&self, space: Space, key: &[u8]) -> store::Result<Option<Vec<u8>>> {
        self.0.get(space, key)
    }

    fn scan(&self, space: Space, from: &[u8], to: &[u8], visit: &mut Visitor<'_>) -> store::Result<()> {
        self.0.scan(space, from, to, visit)
    }

    fn commit(&mut self, batch: &Batch) -> store::Result<()> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.commit(batch)
    }
}

#[test]
fn the_state_has_no_page_whose_answer_was_not_written() {
    let commits = Arc::new(AtomicUsize::new(0));
    let counting = Counting(Memory::default(), Arc::clone(&commits));
    let dedup = config::Settings::default().dedup;
    let stage = Stage::open(Session::new(Box::new(counting)), &dedup, Canonicalizer::default()).unwrap();
    commits.store(0, Ordering::Relaxed);
    let input = b"{\"url\":\"http://a.test/\",\"body\":\"x\"}\n{\"op\":\"flush\"}\n";
    let greeting = Greeting { recipe: "words", distance: 3, on_duplicate: config::OnDuplicate::Drop, durable: false };
    let (post, nobody) = unbounded();
    drop(nobody);
    let ended = serve(io::Cursor::new(input), Posting(post), stage, Limits::new(1), greeting, |_| {}).unwrap();
    assert!(matches!(ended, ServeEnd::OutputClosed));
    assert_eq!(commits.load(Ordering::Relaxed), 0);
}

#[test]
fn an_overlong_line_is_a_mistake_and_not_the_end() {
    let long = [br#"{"id":8,"body":""#.as_slice(), &vec![b'x'; MAX_LINE + 1], br#""}"#].concat();
    let out = answers_to(io::Cursor::new([long.as_slice(), b"\n{\"op\":\"stats\"}\n"].concat()), 2);
    assert_eq!((&out[0]["error"]["code"], &out[0]["id"]), (&json!("too_long"), &json!(8)));
    assert_eq!(out[1]["errors"], 1);
}

proptest! {
    /// Lines are cut where a split cuts them, whatever the sizes of reads and the limit are.
    #[test]
    fn lines_are_cut_as_a_split_would(bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b' '), any::<u8>()], 0..400), sizes in proptest::collection::vec(1usize..30, 1..20), max in 0usize..40) {
        struct Sized { bytes: Vec<u8>, sizes: Vec<usize>, at: usize, read: usize }
        impl Read for Sized {
            fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
                let size = self.sizes[self.at % self.sizes.len()].min(self.bytes.len() - self.read).min(out.len());
                out[..size].copy_from_slice(&self.bytes[self.read..self.read + size]);
                self.read += size;
                self.at += 1;
                Ok(size)
            }
        }
        let expected: Vec<(bool, Vec<u8>)> = bytes
            .split(|byte| *byte == b'\n')
            .filter(|line| line.len() > max || !line.trim_ascii().is_empty())
            .map(|line| (line.len() > max, line.to_vec()))
            .collect();
        let lines: Vec<(bool, Vec<u8>)> = Lines::with_max(Sized { bytes, sizes, at: 0, read: 0 }, max)
            .map(|line| match line {
                Line::Whole(line) => (false, line),
                Line::TooLong(prefix) => (true, prefix),
                Line::Failed(error) => panic!("{error}"),
            })
            .collect();
        prop_assert_eq!(lines, expected);
    }

    /// Any bytes give one answer for each line that is not blank, and the same answers with one thread and with five.
    #[test]
    fn any_bytes_are_answered_line_by_line(lines in proptest::collection::vec(proptest::collection::vec(any::<u8>().prop_filter("no line end", |byte| *byte != b'\n'), 0..60), 0..20)) {
        let input = lines.join(&b'\n');
        let expected = lines.iter().filter(|line| !line.trim_ascii().is_empty()).count();
        let one = answers_to(io::Cursor::new(input.clone()), 1);
        prop_assert_eq!(one.len(), expected);
        prop_assert_eq!(one, answers_to(io::Cursor::new(input), 5));
    }
}
