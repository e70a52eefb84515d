//! Other people's Hamming indexes beside ours: the same fingerprints, the same queries, the same run.
//!
//! `hamming-peers table SET K [NAME]...` prints a line for each index, `hamming-peers distances SET [NAME]...` the same
//! for every distance from 1 to 7; `hamming-peers join N` compares all pairs; `hamming-peers data SET K DIR` writes
//! what `peers.py` reads. A set is a number of random fingerprints, or a file of real ones.

mod bench;
mod indexes;
mod join;

#[path = "../../../../dedup-stage/benches/hamming_large/data.rs"]
mod data;

use std::path::Path;

use bench::Bench;

/// Each index in a process of its own: memory that one gave back would be counted as nobody's.
fn each(set: &str, k: u32, names: &[String]) {
    let all = [
        "ours, Fast",
        "ours, six tables",
        "ours, Compact",
        "ours, frozen",
        "mih-rs, 2",
        "mih-rs, 3",
        "mih-rs, 4",
        "mih-rs, 5",
        "gaoya",
    ];
    let wanted = |name: &&str| names.is_empty() || names.iter().any(|n| name.starts_with(n.as_str()));
    for name in all.into_iter().filter(wanted) {
        let program = std::env::current_exe().expect("this program");
        let status = std::process::Command::new(program).args(["one", set, &k.to_string(), name]).status();
        assert!(status.is_ok_and(|status| status.success()), "{name}");
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize| arguments.get(i).and_then(|a| a.parse::<f64>().ok()).expect("a number") as usize;
    let set = arguments.get(1).map_or("", String::as_str);
    match arguments.first().map(String::as_str) {
        Some("table") => {
            Bench::head();
            each(set, number(2) as u32, &arguments[3..]);
        }
        Some("distances") => {
            Bench::head();
            (1..=7).for_each(|k| each(set, k, &arguments[2..]));
        }
        Some("one") => indexes::run(&Bench::new(set, number(2) as u32), &arguments[3]),
        Some("join") => join::run(number(1)),
        Some("data") => Bench::new(set, number(2) as u32).write(Path::new(&arguments[3])),
        _ => eprintln!("hamming-peers table SET K [NAME]... | distances SET [NAME]... | join N | data SET K DIR"),
    }
}
