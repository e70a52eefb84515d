//! Building signature files from inputs of several formats, in splits, with interruptions.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tempfile::TempDir;

use super::*;
use crate::corpus::build::{SigningOptions, Tally, Watch, build, splits};
use crate::corpus::input::{Bad, Fields};
use crate::signature::RECIPE;

/// Keeps what it is told about splits.
#[derive(Default)]
struct Noted(Mutex<Vec<(String, Tally, bool)>>);

impl Watch for Noted {
    fn documents(&self, _: u64) {}
    fn split(&self, name: &str, tally: &Tally, again: bool) {
        self.0.lock().unwrap().push((name.into(), tally.clone(), again));
    }
    fn merged(&self, _: u64) {}
}

fn options(memory: usize) -> SigningOptions {
    SigningOptions { fields: Fields::default(), threads: 2, memory }
}

/// Writes files of JSON Lines with these texts, `each` in a file, with ids from 0. Returns their paths.
fn json_files(dir: &TempDir, texts: &[String], each: usize) -> Vec<PathBuf> {
    let numbered: Vec<(usize, &String)> = texts.iter().enumerate().collect();
    let line = |(id, text): &(usize, &String)| serde_json::json!({ "id": id, "text": text }).to_string() + "\n";
    let part = |(i, part): (usize, &[(usize, &String)])| {
        let path = dir.path().join(format!("{i}.jsonl"));
        fs::write(&path, part.iter().map(line).collect::<String>()).unwrap();
        path
    };
    numbered.chunks(each).enumerate().map(part).collect()
}

#[test]
fn a_build_does_not_depend_on_splits_threads_or_memory() {
    let dir = TempDir::new().unwrap();
    let texts = texts(400, 17);
    let whole = Signatures::of(records(&texts)).unwrap();
    let by_id = |signatures: &Signatures| {
        let facts = |row: &Row<'_>| (row.signature.map(|(f, s)| (f, *s)), *row.digest, row.words);
        rows(signatures).iter().map(|row| (row.id.to_owned(), facts(row))).collect::<HashMap<_, _>>()
    };
    let output = dir.path().join("out.sig");
    for (each, memory) in [(400, 1 << 30), (400, 10_000), (90, 10_000), (90, 1)] {
        let inputs = json_files(&dir, &texts, each);
        let tally = build(&splits(&inputs, None).unwrap(), &options(memory), &output, &Noted::default()).unwrap();
        assert_eq!((tally.documents, tally.bad, tally.judged), (400, 0, whole.fingerprints().len() as u64));
        let built = Signatures::open(&output).unwrap();
        built.check().unwrap();
        assert_eq!(by_id(&built), by_id(&whole));
        assert_eq!(built.fingerprints(), whole.fingerprints());
        // The order of places is that of the input.
        let mut ids: Vec<(u64, u64)> = rows(&built).iter().map(|row| (row.place, row.id.parse().unwrap())).collect();
        ids.sort_unstable();
        assert_eq!(ids.iter().map(|(_, id)| *id).collect::<Vec<_>>(), (0..400).collect::<Vec<_>>());
        assert!(!dir.path().join("out.sig.parts").exists());
    }
}

#[test]
fn an_interrupted_build_goes_on() {
    let dir = TempDir::new().unwrap();
    let mut inputs = json_files(&dir, &texts(120, 18), 40);
    let output = dir.path().join("out.sig");
    // There is a folder in the place of the output, so that the build fails at its end.
    fs::create_dir_all(output.join("in the way")).unwrap();
    assert!(build(&splits(&inputs, None).unwrap(), &options(1 << 20), &output, &Noted::default()).is_err());
    fs::remove_dir_all(&output).unwrap();
    // Meanwhile one of the inputs changes, and a new one comes.
    let again = "{\"id\":999,\"text\":\"x\"}\nbad\n";
    fs::write(&inputs[1], again).unwrap();
    inputs.push(dir.path().join("new.jsonl"));
    fs::write(&inputs[3], again).unwrap();
    let noted = Noted::default();
    let tally = build(&splits(&inputs, None).unwrap(), &options(1 << 20), &output, &noted).unwrap();
    assert_eq!((tally.documents, tally.bad), (82, 2));
    let mut noted = noted.0.into_inner().unwrap();
    noted.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(noted.iter().map(|(_, _, again)| *again).collect::<Vec<_>>(), [false, true, false, true]);
    assert_eq!(noted[3].1.named, [Bad { place: "line 2".into(), what: noted[3].1.named[0].what.clone() }]);
    assert_eq!(Signatures::open(&output).unwrap().rows(), 82);
}

/// Copies the files of a folder into a new folder.
fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

#[test]
fn a_build_goes_on_from_any_rest_of_its_parts() {
    let dir = TempDir::new().unwrap();
    // The first split has several parts. The last two files have the same documents.
    let mut inputs = json_files(&dir, &texts(900, 19), 700);
    let large = fs::read_to_string(&inputs[1]).unwrap();
    let lines: Vec<&str> = large.lines().collect();
    for n in 2..5 {
        inputs.push(dir.path().join(format!("{n}.jsonl")));
        fs::write(&inputs[n], lines[20 * (n % 4)..][..20].join("\n")).unwrap();
    }
    inputs.remove(1);
    inputs.push(dir.path().join("again.jsonl"));
    fs::copy(&inputs[3], &inputs[4]).unwrap();
    let splits = splits(&inputs, None).unwrap();
    let output = dir.path().join("out.sig");
    let go = || build(&splits, &options(1), &output, &Noted::default());
    go().unwrap();
    let undisturbed = fs::read(&output).unwrap();
    // There is a folder in the place of the output, so the parts stay.
    fs::remove_file(&output).unwrap();
    fs::create_dir_all(output.join("in the way")).unwrap();
    go().unwrap_err();
    fs::remove_dir_all(&output).unwrap();
    let (parts, kept) = (dir.path().join("out.sig.parts"), dir.path().join("kept"));
    copy_folder(&parts, &kept);
    let mut names: Vec<_> = fs::read_dir(&kept).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    // Only the lock tells a folder of parts from a folder of someone else, so it is removed last.
    names.retain(|name| name != "dedup-stage.lock");
    names.sort();
    assert!(names.len() > 10, "{names:?}");
    let single = names.iter().map(|name| vec![name]);
    let prefixes = (2..names.len()).map(|n| names[..n].iter().collect());
    let suffixes = (1..names.len()).map(|n| names[n..].iter().collect());
    for lost in single.chain(prefixes).chain(suffixes) {
        let _ = fs::remove_dir_all(&parts);
        copy_folder(&kept, &parts);
        lost.iter().for_each(|name| fs::remove_file(parts.join(name)).unwrap());
        go().unwrap();
        assert!(fs::read(&output).unwrap() == undisturbed, "without {lost:?}");
        assert!(!parts.exists());
    }
    // A part that another one has replaced, and a part that is damaged.
    copy_folder(&kept, &parts);
    fs::copy(parts.join("000000.sig"), parts.join("000001.sig")).unwrap();
    let mut bytes = fs::read(parts.join("000002.sig")).unwrap();
    bytes[100] ^= 1;
    fs::write(parts.join("000002.sig"), bytes).unwrap();
    go().unwrap();
    assert!(fs::read(&output).unwrap() == undisturbed);
}

#[test]
fn a_damaged_signature_file_is_named_and_the_others_are_merged() {
    let dir = TempDir::new().unwrap();
    let texts = texts(30, 20);
    let path = |name: &str| dir.path().join(name);
    drop(file(&path("a.sig"), records(&texts)));
    let mut bytes = fs::read(path("a.sig")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(path("b.sig"), bytes).unwrap();
    fs::write(path("c.sig"), "").unwrap();
    let inputs = ["b.sig", "a.sig", "c.sig"].map(path);
    let (output, noted) = (path("out.sig"), Noted::default());
    let tally = build(&splits(&inputs, None).unwrap(), &options(1 << 20), &output, &noted).unwrap();
    assert_eq!((tally.documents, tally.bad), (30, 2));
    assert_eq!(Signatures::open(&output).unwrap().rows(), 30);
    let named: usize = noted.0.into_inner().unwrap().iter().map(|(_, tally, _)| tally.named.len()).sum();
    assert_eq!(named, 2);
}

#[test]
fn other_inputs_than_json() {
    let dir = TempDir::new().unwrap();
    let words = (0..40).map(|i| format!("word{i}")).collect::<Vec<_>>().join(" ");
    let path = |name: &str| dir.path().join(name);
    fs::write(path("a.txt"), &words).unwrap();
    fs::write(path("b.html"), format!("<p>{words}</p>")).unwrap();
    let record = |kind: &str, head: &str, body: &str| {
        let block = format!("{head}{body}");
        format!(
            "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: http://a/{kind}\r\nWARC-Date: 1970-01-01T00:00:02Z\r\n\
             Content-Type: text/plain\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
            block.len()
        )
    };
    let ok = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n";
    let missing = "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\n\r\n";
    let warc = record("warcinfo", "", "x") + &record("response", ok, &words) + &record("response", missing, &words);
    fs::write(path("c.warc"), &warc).unwrap();
    fs::write(path("d.warc.wet"), record("conversion", "", &words)).unwrap();
    // An archive that is cut within a record, and a file that is no archive. A third one is missing.
    fs::write(path("e.warc"), &warc[..warc.len() - 300]).unwrap();
    fs::write(path("f.warc"), "no archive").unwrap();
    let inputs: Vec<PathBuf> =
        ["a.txt", "b.html", "c.warc", "d.warc.wet", "e.warc", "f.warc", "g.warc"].map(path).into();
    let (output, noted) = (path("out.sig"), Noted::default());
    let tally = build(&splits(&inputs, None).unwrap(), &options(1 << 20), &output, &noted).unwrap();
    let built = Signatures::open(&output).unwrap();
    let mut ids: Vec<&str> = (0..built.rows()).map(|row| built.id(row).unwrap()).collect();
    ids.sort_unstable();
    let file = |name: &str| format!("{:?}", path(name));
    assert_eq!(ids[..2], [file("a.txt"), file("b.html")]);
    assert_eq!(ids[2..], ["\"http://a/conversion\"", "\"http://a/response\"", "\"http://a/response\""]);
    assert!((0..5).all(|row| built.fingerprints()[row] == built.fingerprints()[0]), "the same words");
    // The head of each archive, and the page that is missing there, are passed over.
    assert_eq!((tally.documents, tally.passed_over, tally.bad), (5, 3, 3));
    let noted = noted.0.into_inner().unwrap();
    let whats: HashMap<String, String> = noted
        .iter()
        .flat_map(|(name, tally, _)| {
            tally.named.iter().map(move |bad| (name.clone(), format!("{}: {}", bad.place, bad.what)))
        })
        .collect();
    let what = |name: &str| &whats[&path(name).display().to_string()];
    assert!(what("e.warc").contains("the file ends within a record"), "{whats:?}");
    assert!(what("f.warc").contains("no WARC file"), "{whats:?}");
    assert!(what("g.warc").contains("No such file"), "{whats:?}");
    let dated = (0..built.rows()).filter(|row| built.date(*row) == 2000).count();
    assert_eq!(dated, 3);
    assert_eq!(RECIPE, crate::signature::RECIPE);
}

#[test]
fn archives_in_zstd_are_read_and_empty_ones_are_named() {
    let dir = TempDir::new().unwrap();
    let path = |name: &str| dir.path().join(name);
    let record = |url: &str| {
        format!("WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: {url}\r\nContent-Length: 3\r\n\r\nabc\r\n\r\n")
    };
    // A frame for each record, as programs that write such archives do.
    let frames = ["http://a/", "http://b/"].map(|url| zstd::encode_all(record(url).as_bytes(), 1).unwrap());
    fs::write(path("a.wet.zst"), frames.concat()).unwrap();
    fs::write(path("b.wet"), "").unwrap();
    fs::write(path("c.warc.gz"), "").unwrap();
    let (inputs, noted) = (["a.wet.zst", "b.wet", "c.warc.gz"].map(path), Noted::default());
    let tally = build(&splits(&inputs, None).unwrap(), &options(1 << 20), &path("out.sig"), &noted).unwrap();
    assert_eq!((tally.documents, tally.bad), (2, 2));
    let noted = noted.0.into_inner().unwrap();
    let mut whats: Vec<&str> = noted.iter().flat_map(|(_, tally, _)| &tally.named).map(|bad| &*bad.what).collect();
    whats.dedup();
    assert_eq!(whats, ["there is no record"]);
}

#[test]
#[cfg(not(feature = "arrow"))]
fn parquet_without_the_feature_says_how_to_get_it() {
    let dir = TempDir::new().unwrap();
    let input = dir.path().join("a.parquet");
    fs::write(&input, "PAR1").unwrap();
    let splits = splits(&[input], None).unwrap();
    assert_eq!(splits[0].format, crate::corpus::input::Format::Parquet);
    let error = build(&splits, &options(1 << 20), &dir.path().join("out.sig"), &Noted::default()).unwrap_err();
    assert!(error.to_string().contains("cargo install --path dedup-stage --features arrow"), "{error}");
}
