//! The files and folders that a command writes to before its output is complete: those of other runs, and of others.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use tempfile::TempDir;

use super::crowds::readings;
use super::{dedup_stage, dumps, stderr, stdout, write};

/// Would fail if two runs with the same output took parts away from each other.
#[test]
fn a_second_run_with_the_same_output_is_refused() {
    let dir = dumps();
    let folder = dir.path().join("c.sig.parts");
    fs::create_dir(&folder).expect("a folder");
    let mut lock = File::create(folder.join("dedup-stage.lock")).expect("a file");
    lock.write_all(b"4711\n").and_then(|()| lock.lock()).expect("a lock");
    fs::write(folder.join("000000.sig"), "a part").expect("a file");
    let refused = dedup_stage(&dir, "signatures a.jsonl -o c.sig");
    assert_eq!(refused.status.code(), Some(1), "{}", stderr(&refused));
    let said = stderr(&refused);
    assert!(said.contains("c.sig.parts: another run makes this file, process 4711"), "{said}");
    assert!(folder.join("000000.sig").exists() && !dir.path().join("c.sig").exists());
    // Whoever comes after a run that ended early goes on in its folder.
    drop(lock);
    stdout(&dir, "signatures a.jsonl -o c.sig");
    assert!(!folder.exists());
    assert_eq!(stdout(&dir, "cluster c.sig --list all"), stdout(&dir, "cluster a.sig --list all"));
}

/// Would fail if the place where an output is made were emptied whoever had files there.
#[test]
fn files_of_others_stay() {
    let dir = dumps();
    let path = |name: &str| dir.path().join(name);
    for folder in ["c.parts", "d.parts", "e.parts.old", "empty.parts"] {
        fs::create_dir(path(folder)).expect("a folder");
    }
    let held = ["c.parts/a.jsonl", "d.parts/notes", "e.parts.old/notes", "f.part", "k.jsonl.part"];
    for name in held {
        fs::copy(path("b.jsonl"), path(name)).expect("a copy");
    }
    for (arguments, code, what) in [
        ("signatures c.parts -o c", 2, "c.parts lies where c is made"),
        ("signatures c.parts/a.jsonl -o c", 2, "c.parts/a.jsonl lies where c is made"),
        ("signatures a.jsonl -o d", 1, "d.parts: there are files of others here"),
    ] {
        let refused = dedup_stage(&dir, arguments);
        assert_eq!(refused.status.code(), Some(code), "{arguments}: {}", stderr(&refused));
        assert!(stderr(&refused).contains(what), "{arguments}: {}", stderr(&refused));
    }
    stdout(&dir, "signatures a.jsonl -o e");
    stdout(&dir, "signatures a.jsonl -o empty");
    stdout(&dir, "signatures --format jsonl f.part -o f");
    stdout(&dir, "cluster a.sig --list all -o k.jsonl");
    let whole = fs::read(path("b.jsonl")).expect("a file");
    for name in held {
        assert!(fs::read(path(name)).is_ok_and(|bytes| bytes == whole), "{name}");
    }
    let left = |dir: &TempDir| {
        fs::read_dir(dir).expect("a folder").filter_map(|entry| entry.ok()?.file_name().into_string().ok())
    };
    assert!(left(&dir).all(|name| !name.ends_with(".dedup-stage-part") && name != "e.parts" && name != "empty.parts"));
    // What a run that was killed has left is replaced.
    fs::write(path("g.dedup-stage-part"), "the rest of a run").expect("a file");
    stdout(&dir, "signatures a.jsonl -o g");
    let refused = dedup_stage(&dir, "signatures --format jsonl a.jsonl -o a.sig/x");
    assert_eq!(refused.status.code(), Some(1), "{}", stderr(&refused));
}

/// Would fail if a process that is ended by a signal left an unfinished file.
#[test]
fn an_interrupted_command_leaves_no_unfinished_file() {
    let dir = TempDir::new().expect("a temporary directory");
    let documents: Vec<(String, String)> =
        readings(80).into_iter().enumerate().map(|(id, text)| (id.to_string(), text)).collect();
    let documents: Vec<(&str, String)> = documents.iter().map(|(id, text)| (id.as_str(), text.clone())).collect();
    write(&dir, "a.jsonl", &documents);
    stdout(&dir, "signatures a.jsonl -o a.sig");
    // The command waits at its first message, because nobody empties the pipe of its messages. Its table is not
    // finished then.
    let (reader, mut full) = std::io::pipe().expect("a pipe");
    full.write_all(&[b'x'; 1 << 16]).expect("as many bytes as a pipe takes");
    let mut command = Command::new(env!("CARGO_BIN_EXE_dedup-stage"));
    command.args(["pairs", "a.sig", "-o", "pairs.jsonl"]).current_dir(&dir).stderr(full);
    let mut process = command.spawn().expect("the program runs");
    let unfinished = dir.path().join("pairs.jsonl.dedup-stage-part");
    while !unfinished.exists() {
        assert!(process.try_wait().expect("a process").is_none(), "it has not waited");
        std::thread::yield_now();
    }
    let sent = Command::new("kill").args(["-TERM", &process.id().to_string()]).status().expect("kill runs");
    assert!(sent.success());
    assert_eq!(process.wait().expect("a process ends").signal(), Some(15));
    assert!(!unfinished.exists() && !dir.path().join("pairs.jsonl").exists());
    drop(reader);
}
