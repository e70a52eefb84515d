//! Files of edges, and forests, of signature files that are hard to tell by their content or by their names.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Output};

use super::{dedup_stage, dumps, stderr, stdout};

/// Would fail if two signature files with the same content were taken for one.
#[test]
fn edges_of_files_with_the_same_content_belong_to_their_files() {
    let dir = dumps();
    fs::copy(dir.path().join("a.sig"), dir.path().join("z.sig")).expect("a copy");
    let whole = stdout(&dir, "cluster a.sig z.sig b.sig --list all");
    for (files, edges) in [
        ("a.sig", "aa"),
        ("z.sig", "zz"),
        ("b.sig", "bb"),
        ("a.sig z.sig", "az"),
        ("b.sig a.sig", "ba"),
        ("b.sig z.sig", "bz"),
    ] {
        stdout(&dir, &format!("pairs {files} --edges {edges}"));
    }
    for order in ["aa zz bb az ba bz", "bz ba az bb zz aa"] {
        let joined = dedup_stage(&dir, &format!("cluster a.sig z.sig b.sig --edges {order} --list all"));
        assert_eq!(String::from_utf8_lossy(&joined.stdout), whole);
        assert!(!stderr(&joined).contains("no file of edges"), "{}", stderr(&joined));
    }
    let warned = stderr(&dedup_stage(&dir, "cluster a.sig z.sig b.sig --edges aa bb az ba bz"));
    assert!(warned.contains("warning: no file of edges compares z.sig with itself"), "{warned}");
    stdout(&dir, "cluster a.sig z.sig b.sig --forest forest");
    assert_eq!(stdout(&dir, "cluster a.sig z.sig b.sig --edges forest --list all"), whole);
    // Where the files have other names, each of them still stands for one file of the forest.
    for (from, to) in [("a.sig", "x.sig"), ("z.sig", "y.sig")] {
        fs::rename(dir.path().join(from), dir.path().join(to)).expect("another name");
    }
    assert_eq!(stdout(&dir, "cluster x.sig y.sig b.sig --edges forest --list all"), whole);
}

/// Would fail if a name that is no UTF-8 ended the program.
#[test]
fn names_that_are_no_utf_8_are_written() {
    let dir = dumps();
    let name = OsStr::from_bytes(b"x\xff.sig");
    fs::rename(dir.path().join("a.sig"), dir.path().join(name)).expect("another name");
    let run = |command: &str, more: &[&str]| -> Output {
        let mut program = Command::new(env!("CARGO_BIN_EXE_dedup-stage"));
        program.arg(command).arg(name).args(more).current_dir(&dir).output().expect("the program runs")
    };
    let whole = run("cluster", &["--list", "all"]);
    for (command, flag) in [("pairs", "--edges"), ("cluster", "--forest")] {
        let written = run(command, &[flag, "e"]);
        assert!(written.status.success(), "{command}: {}", stderr(&written));
        assert_eq!(run("cluster", &["--list", "all", "--edges", "e"]).stdout, whole.stdout);
    }
}
