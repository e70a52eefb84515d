//! The commands on fingerprint files, run as programs: outputs, exit codes, and what damage does.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

fn dedup_stage(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dedup-stage")).args(arguments).output().expect("the program runs")
}

fn stdout(output: &Output) -> &str {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::str::from_utf8(&output.stdout).expect("text")
}

fn hash(i: u64) -> u64 {
    (i ^ 0x5851_f42d).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

/// Some random fingerprints, some near others, some repeated.
fn fingerprints(n: u64) -> Vec<u64> {
    (0..n).map(|i| (0..hash(i) % 6).fold(hash(hash(!i) % (n / 2)), |f, e| f ^ 1 << (hash(i ^ e << 32) % 64))).collect()
}

fn file(dir: &TempDir, name: &str, fingerprints: &[u64]) -> String {
    let path = dir.path().join(name);
    let bytes: Vec<u8> = fingerprints.iter().flat_map(|f| f.to_le_bytes()).collect();
    fs::write(&path, bytes).expect("a temporary file");
    path.to_str().expect("UTF-8").to_string()
}

fn scan(stored: &[u64], queries: &[u64], k: u32) -> String {
    let mut text = String::new();
    for (q, query) in queries.iter().enumerate() {
        for (s, fingerprint) in stored.iter().enumerate() {
            let distance = (query ^ fingerprint).count_ones();
            if distance <= k {
                text += &format!("{q}\t{s}\t{distance}\n");
            }
        }
    }
    text
}

struct Files {
    dir: TempDir,
    stored: Vec<u64>,
    queries: Vec<u64>,
    f: String,
    q: String,
}

fn files() -> Files {
    let dir = TempDir::new().expect("a temporary directory");
    let stored = fingerprints(2000);
    let queries: Vec<u64> = stored.iter().step_by(13).map(|f| f ^ 0b101).collect();
    let (f, q) = (file(&dir, "f", &stored), file(&dir, "q", &queries));
    Files { dir, stored, queries, f, q }
}

impl Files {
    fn path(&self, name: &str) -> String {
        self.dir.path().join(name).to_str().expect("UTF-8").to_string()
    }
}

#[test]
fn search_equals_a_scan_from_raw_and_index_files() {
    let files = files();
    let index = files.path("index");
    for k in ["0", "3", "5"] {
        let expected = scan(&files.stored, &files.queries, k.parse().expect("a number"));
        let raw = dedup_stage(&["search", "--stored", &files.f, "--queries", &files.q, "--distance", k]);
        assert_eq!(stdout(&raw), expected);
        let pairs = expected.lines().count();
        let said = String::from_utf8_lossy(&raw.stderr);
        let line = said.lines().last().expect("a line on stderr");
        let start = format!("searched {} against 2000: {pairs} pairs in ", files.queries.len());
        assert!(line.starts_with(&start) && line.ends_with(" s"), "{line}");

        stdout(&dedup_stage(&["index", &files.f, "-o", &index, "--distance", k]));
        for map in [&[][..], &["--map"]] {
            let search = [&["search", "--stored", &index, "--queries", &files.q, "--distance", k], map].concat();
            assert_eq!(stdout(&dedup_stage(&search)), expected);
        }
    }
    let named = ["search", "--stored", &files.f, "--queries", &files.q, "--distance", "3", "--design", "cover-14"];
    assert_eq!(stdout(&dedup_stage(&named)), scan(&files.stored, &files.queries, 3));
    let unknown = ["search", "--stored", &files.f, "--queries", &files.q, "--distance", "3", "--design", "cover-13"];
    assert_eq!(dedup_stage(&unknown).status.code(), Some(2));
    // An index that was made for distance 5 can answer for 3, but not for 6.
    let nearer = ["search", "--stored", &index, "--queries", &files.q, "--distance", "3"];
    assert_eq!(stdout(&dedup_stage(&nearer)), scan(&files.stored, &files.queries, 3));
    let farther = ["search", "--stored", &index, "--queries", &files.q, "--distance", "6"];
    assert_eq!(dedup_stage(&farther).status.code(), Some(2));
}

#[test]
fn splits_merged_equal_the_whole() {
    let files = files();
    let index = files.path("index");
    stdout(&dedup_stage(&["index", &files.f, "-o", &index]));
    let whole = scan(&files.stored, &files.queries, 3);
    for stored in [&files.f, &index] {
        let mut merge = Command::new("sort");
        merge.args(["-n", "-m", "-s"]);
        for (from, rows) in [("0", "700"), ("700", "1"), ("701", "1299"), ("2000", "5")] {
            let split = ["--stored", stored, "--queries", &files.q, "--distance", "3", "--from", from, "--rows", rows];
            let found = dedup_stage(&[&["search"], split.as_slice()].concat());
            let part = files.path(from);
            fs::write(&part, stdout(&found)).expect("a temporary file");
            merge.arg(part);
        }
        assert_eq!(stdout(&merge.output().expect("sort runs")), whole);
    }
}

#[test]
fn pairs_equal_a_scan() {
    let files = files();
    let expected: String = scan(&files.stored, &files.stored, 3)
        .lines()
        .filter(|line| {
            let numbers: Vec<u64> = line.split('\t').map(|n| n.parse().expect("a number")).collect();
            numbers[0] < numbers[1]
        })
        .map(|line| format!("{line}\n"))
        .collect();
    let all = dedup_stage(&["pairs", &files.f, "--distance", "3", "--all"]);
    assert_eq!(stdout(&all), expected);
    let binary = dedup_stage(&["pairs", &files.f, "--distance", "3", "--all", "--format", "binary"]);
    let words: Vec<u64> = binary.stdout.as_chunks().0.iter().map(|w| u64::from_le_bytes(*w)).collect();
    let text: String = words.as_chunks().0.iter().map(|[a, b, d]| format!("{a}\t{b}\t{d}\n")).collect();
    assert_eq!(text, expected);
    // Without --all, each row is linked only to the first row with its value. So each line is also one of those above.
    let first = dedup_stage(&["pairs", &files.f, "--distance", "3"]);
    assert!(stdout(&first).lines().all(|line| expected.contains(&format!("{line}\n"))));
    let rotated = dedup_stage(&["pairs", &files.f, "--distance", "3", "--method", "rotate"]);
    assert!(stdout(&rotated).lines().all(|line| stdout(&first).contains(line)));
    assert!(String::from_utf8_lossy(&rotated.stderr).contains("recall 0."));
}

#[test]
fn empty_files_have_empty_answers() {
    let dir = TempDir::new().expect("a temporary directory");
    let (empty, one) = (file(&dir, "empty", &[]), file(&dir, "one", &[7]));
    let index = dir.path().join("index").to_str().expect("UTF-8").to_string();
    stdout(&dedup_stage(&["index", &empty, "-o", &index]));
    for (stored, queries) in [(&empty, &one), (&one, &empty), (&empty, &empty), (&index, &one)] {
        let search = ["search", "--stored", stored, "--queries", queries, "--distance", "3"];
        assert_eq!(stdout(&dedup_stage(&search)), "");
    }
    assert_eq!(stdout(&dedup_stage(&["pairs", &empty, "--distance", "3"])), "");
    assert_eq!(stdout(&dedup_stage(&["cluster", &empty, "--distance", "3"])), "");
    assert!(stdout(&dedup_stage(&["health", &empty])).starts_with("rows\t0\n"));
}

#[test]
fn damage_ends_with_1_and_no_claim_of_success() {
    let files = files();
    let index = files.path("index");
    stdout(&dedup_stage(&["index", &files.f, "-o", &index]));
    let whole = fs::read(&index).expect("the index");
    let fails = |stored: &str, queries: &str, what: &str| {
        let output = dedup_stage(&["search", "--stored", stored, "--queries", queries, "--distance", "3"]);
        assert_eq!(output.status.code(), Some(1), "{what}");
        assert!(output.stdout.is_empty() && !String::from_utf8_lossy(&output.stderr).contains("searched"), "{what}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let damaged = files.path("damaged");
    for at in [0, 9, 20, 63, 64, 500, whole.len() / 2, whole.len() - 1] {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        fs::write(&damaged, &bytes).expect("a temporary file");
        fails(&damaged, &files.q, &format!("byte {at} flipped"));
    }
    for length in [1, 8, 60, 64, 1000, whole.len() - 1] {
        fs::write(&damaged, &whole[..length]).expect("a temporary file");
        if length != 8 || Path::new(&damaged).metadata().is_ok() {
            fails(&damaged, &files.q, &format!("cut to {length}"));
        }
    }
    let odd = files.path("odd");
    fs::write(&odd, [0; 17]).expect("a temporary file");
    fails(&odd, &files.q, "a stored file of odd length");
    fails(&files.f, &odd, "queries of odd length");
    for command in ["pairs", "cluster", "health"] {
        let output = match command {
            "health" => dedup_stage(&[command, &odd]),
            _ => dedup_stage(&[command, &odd, "--distance", "3"]),
        };
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{command}");
    }
    stdout(&dedup_stage(&["index", &files.f, "-o", &index, "--recipe", "another"]));
    assert!(fails(&index, &files.q, "another recipe").contains("another"));
    // A failed attempt to make an index leaves no files behind.
    let made = files.path("made");
    assert_eq!(dedup_stage(&["index", &odd, "-o", &made]).status.code(), Some(1));
    assert!(!PathBuf::from(&made).exists() && !PathBuf::from(made + ".dedup-stage-part").exists());
}

#[test]
fn clusters_of_pages_name_their_urls() {
    let dir = TempDir::new().expect("a temporary directory");
    let pages = dir.path().join("pages.jsonl");
    let lines = [
        r#"{"url":"http://a/","simhash":"00000000000000ff"}"#,
        r#"{"url":"http://b/","simhash":null}"#,
        r#"{"url":"http://c/","simhash":"00000000000000fe"}"#,
        r#"{"url":"http://d/","simhash":"ffffffffffffffff"}"#,
        r#"{"url":"http://e/","simhash":"00000000000000f8"}"#,
    ];
    fs::write(&pages, lines.join("\n")).expect("a temporary file");
    let pages = pages.to_str().expect("UTF-8");
    let single = dedup_stage(&["cluster", pages, "--distance", "2"]);
    let urls = r#"{"diameter":3,"rows":[0,2,4],"size":3,"urls":["http://a/","http://c/","http://e/"]}"#;
    assert_eq!(stdout(&single), format!("{urls}\n"));
    let complete = dedup_stage(&["cluster", pages, "--distance", "2", "--link", "complete", "--threads", "3"]);
    assert_eq!(
        stdout(&complete),
        "{\"diameter\":1,\"rows\":[0,2],\"size\":2,\"urls\":[\"http://a/\",\"http://c/\"]}\n"
    );
    for foreign in ["{\"simhash\":\"xyz\"}", "{\"text\":\"Not a page of a crawl.\"}"] {
        fs::write(pages, foreign).expect("a temporary file");
        assert_eq!(dedup_stage(&["cluster", pages, "--distance", "2"]).status.code(), Some(1), "{foreign}");
    }
}

#[test]
fn the_planner_chooses_and_can_be_read_by_programs() {
    let plan = dedup_stage(&["plan", "--fingerprints", "1e9", "--distance", "3", "--memory", "10GB", "--json"]);
    let plan: serde_json::Value = serde_json::from_str(stdout(&plan)).expect("JSON");
    assert_eq!(plan["chosen"], "halves");
    let text = dedup_stage(&["plan", "--fingerprints", "2^34", "--distance", "3"]);
    assert!(["choose-6", "choose-4x4", "cover-14", "halves"].iter().all(|design| stdout(&text).contains(design)));
    let none = dedup_stage(&["plan", "--fingerprints", "1e9", "--distance", "3", "--memory", "1GB"]);
    assert_eq!(none.status.code(), Some(1));
    assert_eq!(dedup_stage(&["plan", "--fingerprints", "x", "--distance", "3"]).status.code(), Some(2));
}

#[test]
fn health_draws() {
    let files = files();
    let svg = files.path("health.svg");
    let health = dedup_stage(&["health", &files.f, "--svg", &svg]);
    assert!(stdout(&health).contains("rows\t2000\n"));
    assert!(fs::read_to_string(svg).expect("the drawing").starts_with("<svg"));
}

/// A missing input counts as wrong usage, whatever the command, and no output is made.
#[test]
fn an_absent_input_is_wrong_usage_and_leaves_no_output() {
    let Files { dir, f, .. } = files();
    let path = |name: &str| dir.path().join(name).to_str().expect("UTF-8").to_string();
    let (absent, out) = (path("absent"), path("out"));
    for arguments in [
        &["cluster", &absent, "--distance", "3"][..],
        &["pairs", &f, &absent, "--distance", "3"],
        &["search", "--stored", &f, "--queries", &absent, "--distance", "3"],
        &["health", &absent],
        &["index", &absent, "-o", &out],
        &["fingerprint", &absent],
        &["lexicon", &absent, "-o", &out],
        &["evaluate", &absent],
        &["warc", &absent, "-o", &out],
    ] {
        let output = dedup_stage(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains("absent: there is no such file"), "{arguments:?}: {said}");
        assert!(!Path::new(&out).exists(), "{arguments:?}");
    }
}
