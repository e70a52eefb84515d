//! A seeded fuzz of the protocol, in this process: random lines, from near-valid to nonsense, must each be answered once.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use anyhow::ensure;
use dedup_stage::pipeline::Limits;
use dedup_stage::protocol::{Ended, Greeting, serve};
use dedup_stage::stage::Stage;
use dedup_stage::store::{Memory, Session};
use dedup_stage::url::Canonicalizer;
use serde::Deserialize;
use serde_json::value::RawValue;

/// What a while of fuzzing came to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fuzzed {
    /// Inputs of some dozens of lines, each given to one thread and to three.
    pub runs: u64,
    /// Lines among them.
    pub lines: u64,
    /// Lines answered as errors.
    pub errors: u64,
}

impl Fuzzed {
    /// One run. Errors where the answers are not one a line, or differ between one thread and three, or tell of a panic.
    pub fn run(&mut self, seed: u64) -> anyhow::Result<()> {
        let input = input(seed);
        let expected = input.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).count();
        let one = answers(&input, 1)?;
        ensure!(one == answers(&input, 3)?, "seed {seed}: one thread and three do not agree");
        let lines = one.iter().filter(|byte| **byte == b'\n').count();
        ensure!(lines == expected, "seed {seed}: {lines} answers to {expected} lines");
        for line in one.split_inclusive(|byte| *byte == b'\n') {
            // Not as a value: an `id` comes back unchanged, lone surrogates and numbers without bounds included.
            let parts: Parts<'_> = serde_json::from_slice(line)?;
            let code = parts.error.map(|error| error.get().to_owned()).unwrap_or_default();
            ensure!(!code.contains("internal"), "seed {seed}: {code}");
            self.errors += u64::from(!code.is_empty());
        }
        self.runs += 1;
        self.lines += expected as u64;
        Ok(())
    }
}

#[derive(Deserialize)]
struct Parts<'a> {
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

fn answers(input: &[u8], threads: usize) -> anyhow::Result<Vec<u8>> {
    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);
    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().map_or(Err(io::ErrorKind::Other.into()), |mut all| all.write(bytes))
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let output = Shared::default();
    let stage = Stage::open(Session::new(Box::new(Memory::default())), 3, config::OnDuplicate::Demote)?;
    let greeting = Greeting { recipe: "", distance: 3, on_duplicate: config::OnDuplicate::Demote, durable: false };
    let input = io::Cursor::new(input.to_vec());
    let ended = serve(input, output.clone(), stage, &Canonicalizer::default(), Limits::new(threads), greeting, |_| {})?;
    ensure!(matches!(ended, Ended::Input));
    let bytes = output.0.lock().map(|bytes| bytes.clone());
    bytes.map_err(|_| anyhow::anyhow!("poisoned"))
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % n
    }

    fn one_of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }
}

/// Some dozens of lines.
fn input(seed: u64) -> Vec<u8> {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let mut input = Vec::new();
    for _ in 0..random.below(60) {
        let mut line = line(&mut random).into_bytes();
        if random.below(3) == 0 && !line.is_empty() {
            damage(&mut line, &mut random);
        }
        line.retain(|byte| *byte != b'\n');
        input.extend(line);
        input.push(b'\n');
    }
    if random.below(4) == 0 {
        input.pop();
    }
    input
}

fn line(random: &mut Random) -> String {
    if random.below(12) == 0 {
        let op = random.one_of(&["hello", "stats", "flush", "", "nonsense"]);
        return format!("{{\"op\":\"{op}\",\"id\":{}}}", value(random, 3));
    }
    let mut fields = Vec::new();
    let url = random.one_of(&[
        "http://a.test/",
        "https://a.test/b?c=1&utm_source=x#y",
        "ftp://x/",
        "//",
        "mailto:x",
        "http://[::1]:1/",
        "http://\\u00e9.test/",
    ]);
    fields.push(format!("\"url\":\"{url}\""));
    fields.push(format!("\"body\":\"{}\"", body(random)));
    for name in ["id", "status", "content_type", "links", "priority", "body_base64", "unknown", "op"] {
        if random.below(5) == 0 {
            fields.push(format!("\"{name}\":{}", value(random, 4)));
        }
    }
    let last = fields.len() - 1;
    let (a, b) = (random.below(fields.len()), random.below(fields.len()));
    fields.swap(a, b);
    if random.below(6) == 0 {
        fields.remove(last);
    }
    format!("{{{}}}", fields.join(","))
}

fn body(random: &mut Random) -> String {
    let mut body = String::new();
    for _ in 0..random.below(80) {
        body.push_str(random.one_of(&[
            "word ",
            "other words ",
            "<p>",
            "</p>",
            "<a href='/x'>",
            "</a>",
            "<base href='//b.test/'>",
            "<script>",
            "</script>",
            "<!--",
            "-->",
            "<![CDATA[",
            "\\u0000",
            "\\ud800",
            "\\ufeff",
            "&amp;",
            "&#x110000;",
            "<title>",
            "<meta charset=utf-16>",
            "<meta name=robots content=nofollow>",
            "\\\"",
            "\\n",
            "<svg>",
            "<template>",
            "<",
            "漢字",
            "\\t",
        ]));
    }
    body
}

fn value(random: &mut Random, depth: usize) -> String {
    match random.below(if depth == 0 { 6 } else { 9 }) {
        0 => "null".into(),
        1 => random.one_of(&["true", "0", "200", "404", "-1", "1e400", "0.5", "99999999999999999999"]).into(),
        2 => format!("\"{}\"", body(random)),
        3 => random
            .one_of(&[
                "\"text/html\"",
                "\"text/html; charset=latin1\"",
                "\"application/pdf\"",
                "\"PGE+eDwvYT4=\"",
                "\"PGE\"",
            ])
            .into(),
        4 => format!("[{}]", ["\"/x\"", "\"http://b.test\"", "\"\""][random.below(3)]),
        5 => "{".repeat(random.below(4)),
        6 => format!("[{},{}]", value(random, depth - 1), value(random, depth - 1)),
        7 => format!("{{\"id\":{}}}", value(random, depth - 1)),
        _ => "[".repeat(random.below(300)) + &"]".repeat(random.below(300)),
    }
}

fn damage(line: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(4) {
        let at = random.below(line.len());
        match random.below(4) {
            0 => line[at] = random.below(256) as u8,
            1 => line.truncate(at + 1),
            2 => line.insert(at, random.one_of(&["\"", "{", "}", "\\", "\u{0}", ","]).as_bytes()[0]),
            _ => drop(line.remove(at)),
        }
        if line.is_empty() {
            return;
        }
    }
}
