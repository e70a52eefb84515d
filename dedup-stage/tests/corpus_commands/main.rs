//! The commands on signature files, run as programs: outputs, exit codes, and the effects of damaged and foreign files.

mod crowds;
mod edges;
mod known;
mod mistakes;
mod records;
mod surroundings;
mod working_files;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

fn dedup_stage(dir: &TempDir, arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dedup-stage"));
    command.args(arguments.split_whitespace()).current_dir(dir).output().expect("the program runs")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The standard output of a command that must succeed.
fn stdout(dir: &TempDir, arguments: &str) -> String {
    let output = dedup_stage(dir, arguments);
    assert!(output.status.success(), "{arguments}: {}", stderr(&output));
    String::from_utf8(output.stdout).expect("text")
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// A text of 120 words, of which `edits` are edited.
fn text(seed: u32, edits: u32) -> String {
    let word = |n: u32| {
        if edits > 0 && n % (120 / edits) == 7 { format!("e{seed}x{n}") } else { format!("w{}", seed * 1000 + n) }
    };
    (0..120).map(word).collect::<Vec<_>>().join(" ")
}

fn write(dir: &TempDir, name: &str, documents: &[(&str, String)]) {
    let line = |(id, text): &(&str, String)| {
        format!("{{\"id\":{id},\"text\":{text:?},\"date\":\"2026-01-0{}\"}}\n", text.len() % 9 + 1)
    };
    fs::write(dir.path().join(name), documents.iter().map(line).collect::<String>()).expect("a temporary file");
}

/// Two dumps. In the first, 1 and 3 are near-duplicates, and 4 and 5 have the same short text. The second has copies of
/// 2 and 3.
fn dumps() -> TempDir {
    let dir = TempDir::new().expect("a temporary directory");
    let short = || "short".to_owned();
    write(&dir, "a.jsonl", &[("1", text(1, 0)), ("2", text(2, 0)), ("3", text(1, 2)), ("4", short()), ("5", short())]);
    write(&dir, "b.jsonl", &[("\"x\"", text(2, 2)), ("\"y\"", text(3, 0)), ("\"z\"", text(1, 2))]);
    stdout(&dir, "signatures a.jsonl -o a.sig");
    stdout(&dir, "signatures b.jsonl -o b.sig");
    dir
}

/// Would fail if two threads read one file at the same time, and so read each document twice.
#[test]
fn a_file_that_is_named_twice_is_read_once() {
    let dir = dumps();
    fs::create_dir(dir.path().join("folder")).expect("a folder");
    fs::copy(dir.path().join("b.jsonl"), dir.path().join("folder/b.jsonl")).expect("a copy");
    for inputs in ["a.jsonl ./a.jsonl b.jsonl", "a.jsonl a.jsonl folder folder/b.jsonl"] {
        let output = dedup_stage(&dir, &format!("signatures {inputs} --threads 3 -o c.sig"));
        let said = stderr(&output);
        assert!(output.status.success() && said.contains("signed 8 documents"), "{inputs}: {said}");
        assert!(said.contains("named more than once"), "{inputs}: {said}");
    }
}

#[test]
fn pairs_within_and_between() {
    let dir = dumps();
    let pairs = |arguments: &str| -> Vec<(String, String)> {
        let pair = |pair: &Value| (pair["a"].to_string(), pair["b"].to_string());
        lines(&stdout(&dir, arguments)).iter().map(pair).collect()
    };
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert_eq!(pairs("pairs a.sig"), [pair("1", "3"), pair("4", "5")]);
    assert_eq!(pairs("pairs a.sig --look --distance 7"), pairs("pairs a.sig"));
    assert_eq!(pairs("pairs b.sig a.sig"), [pair("\"x\"", "2"), pair("\"z\"", "1"), pair("\"z\"", "3")]);
    // Only a document with the same words is within a distance of 0.
    assert_eq!(pairs("pairs b.sig a.sig -d 0"), [pair("\"z\"", "3")]);
    let all = stdout(&dir, "pairs a.sig --fingerprints-only --distance 64 --format tsv");
    assert_eq!(all.lines().count(), 3 + 1, "{all}");
    let searched = lines(&stdout(&dir, "search --stored a.sig --queries b.sig"));
    assert_eq!(searched.len(), 3);
    let last = &searched[2];
    assert_eq!((&last["query"], &last["stored"], last["resemblance"].as_f64()), (&"z".into(), &3.into(), Some(1.0)));
}

#[test]
fn every_document_of_a_new_dump_that_the_first_has_is_named() {
    let dir = TempDir::new().expect("a temporary directory");
    let short = || "short".to_owned();
    write(&dir, "old.jsonl", &[("1", text(1, 0)), ("2", text(1, 0)), ("3", short())]);
    let again = [("5", text(1, 0)), ("6", text(1, 0)), ("7", text(1, 2)), ("8", text(1, 2)), ("9", text(4, 0))];
    write(&dir, "new.jsonl", &[&again[..], &[("10", short()), ("11", short())]].concat());
    stdout(&dir, "signatures old.jsonl -o old.sig");
    stdout(&dir, "signatures new.jsonl -o new.sig");
    for (command, column) in [("pairs new.sig old.sig", "a"), ("search --queries new.sig --stored old.sig", "query")] {
        let pairs = lines(&stdout(&dir, command));
        let mut seen: Vec<u64> = pairs.iter().map(|pair| pair[column].as_u64().expect("a number")).collect();
        seen.dedup();
        assert_eq!(seen, [5, 6, 7, 8, 10, 11], "{command}");
        let of = |id: u64| pairs.iter().find(|pair| pair[column] == id).expect("it is there")["resemblance"].clone();
        assert_eq!((of(5), of(7)), (of(6), of(8)), "a copy is as near as what it is a copy of");
    }
}

#[test]
fn an_output_replaces_no_input_and_no_device() {
    let dir = dumps();
    stdout(&dir, "pairs a.sig --edges aa");
    let read = |name: &str| fs::read(dir.path().join(name)).expect("a file");
    let before: Vec<Vec<u8>> = ["a.jsonl", "a.sig", "aa"].map(read).into();
    for arguments in [
        "signatures a.jsonl -o a.jsonl",
        "signatures a.jsonl -o ./../X/a.jsonl",
        "pairs a.sig -o a.sig",
        "pairs a.sig b.sig --edges b.sig",
        "search --queries a.sig --stored b.sig -o b.sig",
        "cluster a.sig -o a.sig",
        "cluster a.sig --edges aa --forest aa",
    ] {
        let folder = dir.path().file_name().expect("a name").to_string_lossy();
        let refused = dedup_stage(&dir, &arguments.replace('X', &folder));
        assert_eq!(refused.status.code(), Some(2), "{arguments}: {}", stderr(&refused));
        assert!(stderr(&refused).contains("both read and written"), "{}", stderr(&refused));
    }
    assert_eq!(["a.jsonl", "a.sig", "aa"].map(read).to_vec(), before);
    // Outputs may be devices, unless the command has to replace its output file.
    let written = dedup_stage(&dir, "cluster a.sig --list kept -o /dev/stdout");
    assert_eq!(String::from_utf8_lossy(&written.stdout), stdout(&dir, "cluster a.sig --list kept"));
    let refused = dedup_stage(&dir, "signatures a.jsonl -o /dev/null");
    assert!(refused.status.code() == Some(1) && stderr(&refused).contains("/dev/null: is no regular file"));
    // The file behind a link is replaced, and the link stays.
    std::os::unix::fs::symlink("a.sig", dir.path().join("link.sig")).expect("a link");
    stdout(&dir, "signatures b.jsonl -o link.sig");
    assert!(read("a.sig") == read("b.sig") && dir.path().join("link.sig").is_symlink());
}

#[test]
fn a_folder_is_read_without_the_output_and_what_is_left_out_is_told() {
    let dir = dumps();
    fs::remove_file(dir.path().join("a.sig")).and_then(|()| fs::remove_file(dir.path().join("b.sig"))).expect("there");
    fs::write(dir.path().join("c.dump"), "{\"id\":9,\"text\":\"more\"}\n").expect("a file");
    for _ in 0..2 {
        let said = dedup_stage(&dir, "signatures . -o all.sig");
        assert!(said.status.success() && stderr(&said).contains("signed 8 documents"), "{}", stderr(&said));
        assert!(
            stderr(&said).contains("left out 1 file with") && stderr(&said).contains("c.dump"),
            "{}",
            stderr(&said)
        );
    }
    fs::remove_file(dir.path().join("all.sig")).expect("there");
    let said = dedup_stage(&dir, "signatures . -o all.sig --format jsonl");
    assert!(said.status.success() && stderr(&said).contains("signed 9 documents"), "{}", stderr(&said));
    let none = TempDir::new().expect("a temporary directory");
    assert_eq!(dedup_stage(&none, "signatures . -o none.sig").status.code(), Some(2));
}

#[test]
fn clusters_of_files_equal_clusters_of_their_edges() {
    let dir = dumps();
    let whole = stdout(&dir, "cluster a.sig b.sig");
    let ids: Vec<String> = lines(&whole).iter().map(|row| row["id"].to_string()).collect();
    assert_eq!(ids, ["1", "2", "3", "4", "5", "\"x\"", "\"z\""]);
    let clusters: Vec<u64> = lines(&whole).iter().map(|row| row["cluster"].as_u64().expect("a number")).collect();
    assert_eq!(clusters, [0, 1, 0, 2, 2, 1, 0]);
    for (files, edges) in [("a.sig", "aa"), ("b.sig", "bb"), ("a.sig b.sig", "ab")] {
        assert_eq!(stdout(&dir, &format!("pairs {files} --edges {edges}")), "");
    }
    assert_eq!(stdout(&dir, "cluster a.sig b.sig --edges aa bb ab"), whole);
    // A forest of some of the edges; then a file of edges that names the corpora in the other order.
    stdout(&dir, "cluster a.sig b.sig --edges aa ab --forest half");
    stdout(&dir, "pairs b.sig a.sig --edges ba");
    assert_eq!(stdout(&dir, "cluster a.sig b.sig --edges bb half"), whole);
    assert_eq!(stdout(&dir, "cluster a.sig b.sig --edges aa bb ba"), whole);
    // Without some edges there are fewer groups, and a warning. Without edges that do not concern the files, there is
    // no warning.
    assert_ne!(stdout(&dir, "cluster a.sig b.sig --edges aa bb"), whole);
    let warned = |edges: &str| stderr(&dedup_stage(&dir, &format!("cluster a.sig b.sig --edges {edges}")));
    assert!(warned("aa bb").contains("warning: no file of edges compares a.sig with b.sig"));
    assert!(warned("ab bb").contains("warning: no file of edges compares a.sig with itself"));
    assert!(!warned("aa bb ab").contains("warning") && !warned("bb half").contains("warning"));
    // A forest tells what was compared for it, and a forest of a forest, too.
    assert!(warned("half").contains("warning: no file of edges compares b.sig with itself"));
    stdout(&dir, "cluster a.sig b.sig --edges half --forest again");
    assert!(warned("again").contains("warning: no file of edges compares b.sig with itself"));
    assert!(!warned("again bb").contains("warning"));
    stdout(&dir, "cluster a.sig b.sig --forest all");
    assert!(!warned("all").contains("warning"));
    // Edges of other distances or kinds are refused.
    stdout(&dir, "pairs b.sig --edges bb3 --distance 3");
    stdout(&dir, "pairs b.sig --edges bb7 --distance 7");
    for arguments in [
        "--edges aa ab bb3",
        "--edges aa ab bb7",
        "--edges aa ab bb -d 3",
        "--edges aa ab bb -d 7",
        "--edges aa ab bb --fingerprints-only",
    ] {
        let refused = dedup_stage(&dir, &format!("cluster a.sig b.sig {arguments}"));
        assert!(refused.status.code() == Some(2) && stderr(&refused).contains("distance"), "{}", stderr(&refused));
    }
    // Files of older programs do not say whether near sketches made candidates. They did not.
    let mut edges = fs::read(dir.path().join("bb7")).expect("a file");
    let said = b",\"pieces\":false";
    let at = edges.windows(said.len()).position(|window| window == said).expect("the head says it");
    edges.drain(at..at + said.len());
    fs::write(dir.path().join("old"), edges).expect("a temporary file");
    assert_eq!(stdout(&dir, "cluster b.sig --edges old -d 7"), stdout(&dir, "cluster b.sig --edges bb7 -d 7"));
    // The members of a component are compared, so a forest is enough for complete links.
    let complete = stdout(&dir, "cluster a.sig b.sig --link complete");
    for edges in ["bb half", "aa bb ab", "all"] {
        assert_eq!(stdout(&dir, &format!("cluster a.sig b.sig --link complete --edges {edges}")), complete);
    }
    let foreign = dedup_stage(&dir, "cluster a.sig --edges ab");
    assert_eq!(foreign.status.code(), Some(1));
    assert!(stderr(&foreign).contains("b.sig"), "{}", stderr(&foreign));
}

#[test]
fn what_is_kept_and_what_is_dropped() {
    let dir = dumps();
    let ids = |arguments: &str| -> Vec<String> {
        lines(&stdout(&dir, arguments)).iter().map(|row| row["id"].to_string()).collect()
    };
    assert_eq!(ids("cluster a.sig b.sig --list kept"), ["1", "2", "4", "\"y\""]);
    assert_eq!(ids("cluster a.sig b.sig --list dropped"), ["3", "5", "\"x\"", "\"z\""]);
    assert_eq!(ids("cluster a.sig b.sig --list all").len(), 8);
    for keep in ["first", "longest", "earliest", "smallest-url"] {
        assert_eq!(ids(&format!("cluster a.sig b.sig --keep {keep} --list kept")).len(), 4, "{keep}");
    }
    // A document with a URL is kept rather than one without.
    fs::write(
        dir.path().join("u.jsonl"),
        format!(
            "{{\"id\":\"a\",\"url\":\"http://u.test/\",\"text\":{0:?}}}\n{{\"id\":\"b\",\"text\":{0:?}}}\n",
            text(5, 0)
        ),
    )
    .expect("a file");
    stdout(&dir, "signatures u.jsonl -o u.sig");
    assert_eq!(ids("cluster u.sig --keep smallest-url --list kept"), ["\"a\""]);
    stdout(&dir, "cluster a.sig --list kept -o kept.jsonl");
    assert_eq!(lines(&fs::read_to_string(dir.path().join("kept.jsonl")).expect("written")).len(), 3);
}

#[test]
fn complete_links_part_chains() {
    let dir = TempDir::new().expect("a temporary directory");
    // Each text is near the next, but the first is not near the last.
    let words = |from: u32| (from..from + 200).map(|n| format!("w{n}")).collect::<Vec<_>>().join(" ");
    write(&dir, "chain.jsonl", &[("1", words(0)), ("2", words(25)), ("3", words(50))]);
    stdout(&dir, "signatures chain.jsonl -o chain.sig");
    let groups = |arguments: &str| {
        let rows = lines(&stdout(&dir, arguments));
        rows.iter().map(|row| row["cluster"].as_u64().expect("a number")).max().map_or(0, |last| last + 1)
    };
    let near = lines(&stdout(&dir, "pairs chain.sig --distance 64")).len();
    assert_eq!(near, 2, "the test's own chain");
    assert_eq!(groups("cluster chain.sig --distance 64 --list all"), 1);
    assert_eq!(groups("cluster chain.sig --distance 64 --list all --link complete"), 2);
    stdout(&dir, "cluster chain.sig --distance 64 --forest chain.forest");
    assert_eq!(groups("cluster chain.sig --distance 64 --list all --link complete --edges chain.forest"), 2);
}

#[test]
fn gzip_stdin_other_fields_and_merging() {
    let dir = dumps();
    let script = format!(
        "gzip -c a.jsonl > a.jsonl.gz && {0} signatures a.jsonl.gz -o gz.sig && {0} signatures --format jsonl - -o in.sig < a.jsonl && \
         sed 's/\"text\"/\"content\"/' a.jsonl | {0} signatures - --text-field content -o fields.sig && \
         {0} signatures a.sig b.sig -o merged.sig",
        env!("CARGO_BIN_EXE_dedup-stage")
    );
    let output = Command::new("sh").args(["-ec", &script]).current_dir(&dir).output().expect("sh runs");
    assert!(output.status.success(), "{}", stderr(&output));
    let expected = stdout(&dir, "cluster a.sig --list all");
    for file in ["gz.sig", "in.sig", "fields.sig"] {
        assert_eq!(stdout(&dir, &format!("cluster {file} --list all")), expected);
    }
    assert_eq!(stdout(&dir, "cluster merged.sig"), stdout(&dir, "cluster a.sig b.sig"));
}

#[test]
fn damaged_and_mixed_files_are_refused() {
    let dir = dumps();
    let path = dir.path().join("a.sig");
    let whole = fs::read(&path).expect("written");
    let mut bytes = whole.clone();
    bytes[whole.len() / 3] ^= 1;
    fs::write(&path, &bytes).expect("a temporary file");
    let commands =
        ["pairs a.sig", "cluster a.sig", "search --stored a.sig --queries b.sig", "health a.sig", "run --known a.sig"];
    for command in commands {
        let output = dedup_stage(&dir, command);
        assert_eq!(output.status.code(), Some(1), "{command}");
        assert!(
            output.stdout.is_empty() && stderr(&output).contains("a.sig: the signature file is damaged"),
            "{}",
            stderr(&output)
        );
    }
    fs::write(&path, &whole).expect("a temporary file");
    fs::write(dir.path().join("raw"), [0; 16]).expect("a temporary file");
    for command in ["pairs a.sig raw", "cluster a.sig raw", "search --stored raw --queries a.sig -d 3"] {
        let output = dedup_stage(&dir, command);
        assert_eq!(output.status.code(), Some(2), "{command}");
        assert!(stderr(&output).contains("cannot be compared"), "{}", stderr(&output));
    }
    for command in [
        "pairs raw",
        "pairs raw -d 3 --look",
        "pairs raw -d 3 --edges e",
        "pairs a.sig --method rotate",
        "cluster raw",
        "pairs a.sig -o x.csv",
        "cluster a.sig --format parquet",
        "cluster -",
        "cluster a.sig --forest f --list kept",
        "run --known missing.sig",
        "warc a.sig -o x.warc.gz --known missing.sig",
    ] {
        let output = dedup_stage(&dir, command);
        assert_eq!(output.status.code(), Some(2), "{command}: {}", stderr(&output));
    }
    for command in ["run --known .", "pairs ."] {
        let output = dedup_stage(&dir, command);
        assert_eq!(output.status.code(), Some(1), "{command}: {}", stderr(&output));
    }
    stdout(&dir, "health a.sig");
    let index = dedup_stage(&dir, "index a.sig -d 3");
    assert!(index.status.success() && Path::new(&dir.path().join("a.sig.d3")).exists(), "{}", stderr(&index));
}

#[test]
fn two_raw_files_are_joined_by_row() {
    let dir = TempDir::new().expect("a temporary directory");
    let raw = |name: &str, values: &[u64]| {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        fs::write(dir.path().join(name), bytes).expect("a temporary file");
    };
    raw("f", &[0, u64::MAX, 7]);
    raw("g", &[u64::MAX - 1, 5, 5]);
    assert_eq!(stdout(&dir, "pairs f g -d 2"), "0\t1\t2\n0\t2\t2\n1\t0\t1\n2\t1\t1\n2\t2\t1\n");
    assert_eq!(stdout(&dir, "pairs f -d 3"), "0\t2\t3\n");
}

/// Reads a capture of Common Crawl, as an archive and as extracted text.
#[test]
#[cfg_attr(not(shared_data), ignore = "there is no ../shared/data")]
fn a_real_capture() {
    let dir = TempDir::new().expect("a temporary directory");
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/warc");
    let data = data.to_str().expect("UTF-8");
    let both = dedup_stage(
        &dir,
        &format!("signatures {data}/whirlwind.warc.gz {data}/whirlwind.warc.wet.gz --format warc -o both.sig"),
    );
    assert!(both.status.success(), "{}", stderr(&both));
    let said = stderr(&both);
    assert!(said.contains("signed 2 documents, 2 with a fingerprint"), "{said}");
    // A WAT file has no documents. For a file that is cut in the middle, the message names the rest.
    let wat = dedup_stage(&dir, &format!("signatures {data}/whirlwind.warc.wat.gz --format warc -o wat.sig"));
    assert!(wat.status.success() && stderr(&wat).contains("signed 0 documents"), "{}", stderr(&wat));
    let bytes = fs::read(format!("{data}/whirlwind.warc.gz")).expect("readable");
    fs::write(dir.path().join("cut.warc.gz"), &bytes[..bytes.len() * 2 / 3]).expect("a temporary file");
    let cut = dedup_stage(&dir, "signatures cut.warc.gz -o cut.sig");
    assert_eq!(cut.status.code(), Some(1));
    assert!(stderr(&cut).contains("cut.warc.gz: record at "), "{}", stderr(&cut));
}
