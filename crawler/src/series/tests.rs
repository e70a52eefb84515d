//! Tests that compare a series with the plain bytes that it stands for, through any script of writes, commits,
//! rotations, crashes and readers.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::*;

const NAME: &str = "pages.jsonl";

fn line(number: usize) -> Vec<u8> {
    format!("{number}{}\n", "x".repeat(number * 7 % 23)).into_bytes()
}

fn read_all(dir: &Path) -> Vec<u8> {
    let series = Series::open(dir, NAME).unwrap();
    let mut bytes = Vec::new();
    series.bytes(0, series.end()).read_to_end(&mut bytes).unwrap();
    bytes
}

/// One step of a script.
#[derive(Clone, Copy, Debug)]
enum Step {
    Write,
    Commit,
    /// A commit that closes the newest part.
    Rotate,
    /// A rotation with a crash after this many of its three steps.
    RotateAndCrash(u8),
    /// A crash. The bytes that were not committed are on the disk.
    Crash,
    /// Damage to the state: it vouches for the lengths of an earlier commit, this many commits ago.
    Forget(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => Just(Step::Write),
        2 => Just(Step::Commit),
        2 => Just(Step::Rotate),
        2 => (0..=3u8).prop_map(Step::RotateAndCrash),
        1 => Just(Step::Crash),
        1 => (0..6usize).prop_map(Step::Forget),
    ];
    prop::collection::vec(step, 0..60)
}

// Each case waits for the disk some dozens of times.
proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Catches a rotation that loses or doubles bytes when it is interrupted, and places that move.
    #[test]
    fn a_series_is_the_file_that_it_stands_for(steps in steps()) {
        let dir = tempfile::tempdir().unwrap();
        let open = |length: usize| SeriesWriter::open(dir.path(), NAME, length as u64, None).unwrap();
        let (mut plain, mut committed) = (Vec::new(), vec![0]);
        let mut writer = open(0);
        for (number, step) in steps.into_iter().enumerate() {
            let commit = |writer: &mut SeriesWriter, committed: &mut Vec<usize>, plain: &Vec<u8>| {
                assert_eq!(writer.sync().unwrap(), plain.len() as u64);
                committed.push(plain.len());
            };
            match step {
                Step::Write => {
                    prop_assert_eq!(writer.length(), plain.len() as u64);
                    plain.extend(line(number));
                    writer.append(&[&line(number)]).unwrap();
                }
                Step::Commit => {
                    commit(&mut writer, &mut committed, &plain);
                    writer.committed(false).unwrap();
                }
                Step::Rotate => {
                    commit(&mut writer, &mut committed, &plain);
                    writer.committed(true).unwrap();
                }
                Step::RotateAndCrash(done) => {
                    commit(&mut writer, &mut committed, &plain);
                    if Series::open(dir.path(), NAME).unwrap().end() > writer_start(dir.path()) {
                        let steps: [fn(&mut SeriesWriter) -> io::Result<()>; 3] = [SeriesWriter::rename, SeriesWriter::note, SeriesWriter::begin];
                        for step in &steps[..done.into()] {
                            step(&mut writer).unwrap();
                            prop_assert_eq!(&read_all(dir.path()), &plain, "read between two steps");
                        }
                    }
                    writer = open(plain.len());
                }
                Step::Crash => {
                    writer.sync().unwrap();
                    plain.truncate(committed[committed.len() - 1]);
                    writer = open(plain.len());
                }
                Step::Forget(commits) => {
                    committed.truncate((committed.len() - 1).saturating_sub(commits) + 1);
                    writer.sync().unwrap();
                    plain.truncate(committed[committed.len() - 1]);
                    writer = open(plain.len());
                }
            }
        }
        writer.sync().unwrap();
        let series = Series::open(dir.path(), NAME).unwrap();
        prop_assert_eq!(&read_all(dir.path()), &plain);
        prop_assert!(series.gone(u64::MAX).unwrap().is_empty() && series.misfits().unwrap().is_empty());
        let mut at = 0;
        for line in plain.split_inclusive(|byte| *byte == b'\n') {
            prop_assert_eq!(series.line_at(at).unwrap().unwrap(), &line[..line.len() - 1]);
            at += line.len() as u64;
        }
        prop_assert_eq!(series.line_at(at).unwrap(), None);
    }
}

/// The place where the newest part begins.
fn writer_start(dir: &Path) -> u64 {
    ends_of(dir, NAME).unwrap().last().copied().unwrap_or(0)
}

/// A reader that opens only the current name, as a program does that knows nothing of parts.
struct ByName {
    path: PathBuf,
    file: Option<File>,
    read: Vec<u8>,
}

impl ByName {
    fn look(&mut self) {
        if let Some(file) = &mut self.file {
            file.read_to_end(&mut self.read).unwrap();
        }
        let inode = |data: io::Result<fs::Metadata>| data.ok().map(|data| data.ino());
        let now = inode(fs::metadata(&self.path));
        if now.is_some() && now != self.file.as_ref().and_then(|file| inode(file.metadata())) {
            self.file = Some(File::open(&self.path).unwrap());
            self.file.as_mut().unwrap().read_to_end(&mut self.read).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Catches a line that a reader misses or sees twice when the newest part is closed while it is being read. The
    /// readers are a [`Follower`] at any moment, and a program that reads by the current name, if it looks once for
    /// each part.
    #[test]
    fn followers_see_each_line_once(script in prop::collection::vec((0..5u8, any::<[bool; 4]>()), 1..60)) {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = SeriesWriter::open(dir.path(), NAME, 0, None).unwrap();
        let mut follower = Follower::new(dir.path(), NAME);
        let mut by_name = ByName { path: dir.path().join(NAME), file: None, read: Vec::new() };
        let (mut plain, mut seen) = (Vec::new(), Vec::new());
        let mut look = |follower: &mut Follower| {
            follower
                .read(&mut |place, line| {
                    assert_eq!(place, seen.len() as u64);
                    seen.extend_from_slice(line);
                    seen.push(b'\n');
                })
                .unwrap()
        };
        for (number, (lines, looks)) in script.into_iter().enumerate() {
            for line in (0..lines).map(|part| line(number * 10 + usize::from(part))) {
                // The system may receive any part of a line first.
                let (one, two) = line.split_at(line.len() / 2);
                writer.append(&[one]).unwrap();
                if looks[0] {
                    writer.sync().unwrap();
                    look(&mut follower);
                }
                writer.append(&[two]).unwrap();
                plain.extend(line);
            }
            writer.sync().unwrap();
            by_name.look();
            if lines > 0 && looks[1] {
                writer.rename().unwrap();
                looks[2].then(|| look(&mut follower));
                by_name.look();
                writer.note().unwrap();
                looks[3].then(|| look(&mut follower));
                writer.begin().unwrap();
            }
        }
        while look(&mut follower) {}
        by_name.look();
        prop_assert_eq!(&seen, &plain);
        prop_assert_eq!(&by_name.read, &plain);
    }
}

/// Three parts of two lines each.
fn three_parts(dir: &Path) -> Vec<u8> {
    let mut writer = SeriesWriter::open(dir, NAME, 0, Some(1)).unwrap();
    let mut plain = Vec::new();
    for part in 0..3 {
        for number in [2 * part, 2 * part + 1] {
            writer.append(&[&line(number)]).unwrap();
            plain.extend(line(number));
        }
        writer.sync().unwrap();
        if part < 2 {
            writer.committed(false).unwrap();
        }
    }
    plain
}

/// Catches a reader that passes over a missing part without a report, or returns wrong bytes for it.
#[test]
fn a_part_that_is_gone_is_told_and_the_rest_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let plain = three_parts(dir.path());
    assert_eq!(read_all(dir.path()), plain);
    let part = line(0).len() + line(1).len();
    fs::remove_file(dir.path().join("pages-000001.jsonl")).unwrap();
    let series = Series::open(dir.path(), NAME).unwrap();
    let gone = series.gone(u64::MAX).unwrap();
    assert_eq!(gone.len(), 1);
    assert_eq!(gone[0].to_string(), format!("pages-000001.jsonl is gone, with {part} bytes"));
    assert_eq!(read_all(dir.path()), &plain[part..]);
    assert_eq!(series.line_at(part as u64).unwrap().unwrap(), line(2)[..line(2).len() - 1]);
    let missing = series.line_at(0).unwrap_err();
    assert!(missing.kind() == io::ErrorKind::NotFound && missing.to_string().contains("pages-000001.jsonl is gone"));
    let (mut follower, mut seen) = (Follower::new(dir.path(), NAME), Vec::new());
    while follower.read(&mut |place, _| seen.push(place)).unwrap() {}
    assert_eq!(seen.first(), Some(&(part as u64)));
    // The crawl goes on without the missing part.
    SeriesWriter::open(dir.path(), NAME, plain.len() as u64, None).unwrap();
    // But a missing part cannot be cut.
    let error = SeriesWriter::open(dir.path(), NAME, 1, None).unwrap_err().to_string();
    assert!(error.contains("has recorded") && error.contains("pages-000001.jsonl is gone"), "{error}");
}

#[test]
fn a_part_that_was_cut_or_a_list_that_lies_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let plain = three_parts(dir.path());
    let part = dir.path().join("pages-000002.jsonl");
    let length = fs::metadata(&part).unwrap().len();
    File::options().write(true).open(&part).unwrap().set_len(3).unwrap();
    let series = Series::open(dir.path(), NAME).unwrap();
    assert_eq!(series.misfits().unwrap(), [("pages-000002.jsonl".to_owned(), 3, length)]);
    for json in ["", "{}x", r#"{"pages.jsonl":[5,5]}"#, r#"{"pages.jsonl":[0]}"#, r#"{"pages.jsonl":[7,5]}"#] {
        fs::write(dir.path().join(PARTS), json).unwrap();
        let error = SeriesWriter::open(dir.path(), NAME, plain.len() as u64, None).unwrap_err();
        assert!(error.to_string().contains("parts.json is damaged"), "{json}: {error}");
    }
}

#[test]
fn a_file_of_somebody_else_is_never_replaced() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("pages-000001.jsonl"), "mine").unwrap();
    let mut writer = SeriesWriter::open(dir.path(), NAME, 0, Some(1)).unwrap();
    writer.append(&[b"one\n"]).unwrap();
    writer.sync().unwrap();
    assert_eq!(writer.committed(false).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(fs::read(dir.path().join("pages-000001.jsonl")).unwrap(), b"mine");
    assert_eq!(read_all(dir.path()), b"one\n");
}

#[test]
fn a_series_is_removed_with_all_its_parts() {
    let dir = tempfile::tempdir().unwrap();
    three_parts(dir.path());
    remove(dir.path(), NAME).unwrap();
    let left: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, [PARTS]);
    assert_eq!(Series::open(dir.path(), NAME).unwrap().end(), 0);
}
