//! What surrounds the commands: links, pipes and odd names in folders, other processes that make the same file, and a full
//! disk under the messages.

use std::fs;
use std::process::Command;

use tempfile::TempDir;

use super::{dedup_stage, dumps, stderr, text, write};

/// Would fail if a link in a folder gave a file a second reading, or if a pipe there was waited for.
#[test]
fn links_pipes_and_odd_names_in_a_folder_are_told() {
    let dir = TempDir::new().expect("a temporary directory");
    write(&dir, "a.jsonl", &[("1", text(1, 0)), ("2", text(2, 0))]);
    let script = "mkdir in elsewhere; mv a.jsonl in/; ln -s a.jsonl in/alias.jsonl; ln -s ../elsewhere in/more
        cp in/a.jsonl elsewhere/b.jsonl; cp in/a.jsonl \"$(printf 'in/\\377.jsonl')\"";
    let made = Command::new("sh").args(["-ec", script]).current_dir(&dir).output().expect("sh runs");
    assert!(made.status.success(), "{}", stderr(&made));
    for _ in 0..10 {
        let output = dedup_stage(&dir, "signatures in -o a.sig");
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(0), "{said}");
        assert!(said.contains("1 file is named more than once"), "{said}");
        assert!(said.contains("left out 1 link to folders, in/more the first"), "{said}");
        assert!(said.contains("signed 4 documents"), "{said}");
    }
    let made = Command::new("mkfifo").arg(dir.path().join("in/pipe.jsonl")).status().expect("mkfifo runs");
    assert!(made.success());
    let output = dedup_stage(&dir, "signatures in -o a.sig");
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("in/pipe.jsonl: is no regular file") && said.contains("signed 4 documents"), "{said}");
}

/// Would fail if processes that make the same file took it away from each other.
#[test]
fn processes_that_build_the_same_index_do_not_disturb_each_other() {
    let dir = dumps();
    for _ in 0..8 {
        let build = || {
            let mut command = Command::new(env!("CARGO_BIN_EXE_dedup-stage"));
            command.args(["index", "a.sig"]).current_dir(&dir).spawn().expect("the program runs")
        };
        let processes: Vec<_> = (0..4).map(|_| build()).collect();
        for mut process in processes {
            assert!(process.wait().expect("a process ends").success());
        }
    }
}

/// Would fail if the message about a full disk did not say which file is on it.
#[test]
fn a_full_disk_under_the_output_is_named() {
    let dir = dumps();
    for arguments in ["cluster a.sig --list all -o /dev/full", "pairs a.sig -o /dev/full"] {
        let failed = dedup_stage(&dir, arguments);
        assert_eq!(failed.status.code(), Some(1), "{arguments}");
        assert!(stderr(&failed).contains("/dev/full: "), "{arguments}: {}", stderr(&failed));
    }
}

/// Would fail if a message that cannot be written ended the program.
#[test]
fn a_full_disk_under_the_messages_stops_nothing() {
    let dir = dumps();
    fs::write(dir.path().join("bad.jsonl"), "no JSON\n{\"text\":\"some words\"}\n").expect("a temporary file");
    for (arguments, code) in
        [("signatures bad.jsonl -o bad.sig", 1), ("pairs a.sig", 0), ("cluster a.sig", 0), ("pairs none.sig", 2)]
    {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dedup-stage"));
        let full = fs::File::options().write(true).open("/dev/full").expect("/dev/full");
        let ended =
            command.args(arguments.split_whitespace()).current_dir(&dir).stderr(full).output().expect("it runs");
        assert_eq!(ended.status.code(), Some(code), "{arguments}");
    }
    assert!(dir.path().join("bad.sig").exists());
}

/// Would fail if the signal of a file that becomes too large ended the program without a message.
#[test]
fn a_limit_of_the_size_of_files_is_an_error_that_names_the_file() {
    let dir = dumps();
    let limited = |arguments: &str| {
        let script = format!("ulimit -f 1; exec \"$0\" {arguments}");
        let mut command = Command::new("sh");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_dedup-stage")]).current_dir(&dir);
        command.output().expect("sh runs")
    };
    for arguments in ["signatures a.jsonl -o new.sig", "cluster a.sig b.sig --list all -o new.jsonl"] {
        let failed = limited(arguments);
        let said = stderr(&failed);
        assert_eq!(failed.status.code(), Some(1), "{arguments}: {:?} {said}", failed.status);
        assert!(said.contains("new.") && said.contains("File too large"), "{arguments}: {said}");
    }
    let left = fs::read_dir(&dir).expect("a folder").filter_map(|entry| Some(entry.ok()?.file_name()));
    let left: Vec<_> = left.filter(|name| name.to_string_lossy().contains("new.jsonl")).collect();
    assert!(left.is_empty(), "an unfinished file stayed: {left:?}");
}
