//! Text to fingerprint, by CPU time of one thread: words, simhash of words and of shingles, the product's signature; on
//! English prose and on other scripts, in texts of 4 KB.
//!
//! `cargo bench -p dedup-stage --bench signature [-- FILE]`; without a file, on sentences made here.
#![allow(missing_docs)]

mod cpu;

use std::hint::black_box;

use dedup_stage::signature::Passage;
use dedup_stage::signature::Signer;
use dedup_stage::signature::simhash::{Votes, WordSimhash};
use dedup_stage::words::{WordHash, Words, fold_multiply};

const EACH: usize = 4096;

fn main() {
    let file = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    match file {
        Some(file) => measure(&file, &String::from_utf8_lossy(&std::fs::read(&file).expect("readable"))),
        None => {
            let english =
                made(&["The", "river", "rises", "in", "mountains", "and", "flows", "through", "lakes", "before"]);
            measure("made English", &english);
        }
    }
    measure("Russian", &made(&["река", "берёт", "начало", "в", "горах", "и", "течёт", "через", "три", "Озера"]));
    measure("Arabic", &made(&["ينبع", "النهر", "من", "الجبال", "ويمر", "بثلاث", "بحيرات", "قبل", "أن", "يصل"]));
    measure("Hindi", &made(&["यह", "नदी", "पहाड़ों", "से", "निकलती", "है", "और", "मैदान", "तक", "पहुँचने"]));
    measure("Chinese", &made(&["这条河发源于高山，", "流经三个湖泊，", "最后到达平原。", "春天冰雪融化，"]));
    measure("Thai", &made(&["แม่น้ำสายนี้มีต้นกำเนิดในภูเขา", "และไหลผ่านทะเลสาบสามแห่ง", "ก่อนถึงที่ราบ"]));
}

/// A megabyte of words in a fixed random order, some of them numbered.
fn made(words: &[&str]) -> String {
    let mut text = String::new();
    let mut state = 1u64;
    while text.len() < 1_000_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        text.push_str(words[(state >> 33) as usize % words.len()]);
        text.push_str(if (state >> 50).is_multiple_of(11) { ". " } else { " " });
    }
    text
}

fn measure(name: &str, text: &str) {
    let mut texts = Vec::new();
    let mut rest = text;
    while rest.len() > EACH {
        let mut end = EACH;
        while !rest.is_char_boundary(end) {
            end -= 1;
        }
        let (one, after) = rest.split_at(end);
        texts.push(one);
        rest = after;
        if texts.len() == 2_000 {
            break;
        }
    }
    let bytes: usize = texts.iter().map(|text| text.len()).sum();
    let mut words = Words::default();
    let mut hashes: Vec<WordHash> = Vec::new();
    let mut simhash = WordSimhash::default();
    let mut signer = Signer::default();
    let mut report = Vec::new();
    let mut time = |what: &str, work: &mut dyn FnMut(&str)| {
        let mut best = f64::MAX;
        for _ in 0..7 {
            let start = cpu::seconds();
            texts.iter().for_each(|text| work(text));
            best = best.min(cpu::seconds() - start);
        }
        report.push(format!("{what} {:.0}", bytes as f64 / best / 1e6));
    };
    let mut segment = |text: &str, hashes: &mut Vec<WordHash>| {
        hashes.clear();
        words.hashes(text, hashes);
    };
    time("words", &mut |text| {
        segment(text, &mut hashes);
        black_box(hashes.len());
    });
    time("simhash of words (tf)", &mut |text| {
        segment(text, &mut hashes);
        let mut votes = Votes::default();
        votes.add_all(&hashes);
        black_box(votes.finish());
    });
    time("simhash of words (sqrt)", &mut |text| {
        segment(text, &mut hashes);
        simhash.add(&hashes, 8);
        black_box(simhash.finish());
    });
    time("simhash of 3-word shingles", &mut |text| {
        segment(text, &mut hashes);
        let mut votes = Votes::default();
        for i in 2..hashes.len() {
            let run = hashes[i - 2] ^ hashes[i - 1].rotate_left(21) ^ hashes[i].rotate_left(42);
            hashes[i - 2] = fold_multiply(run, 0x9FB2_1C65_1E98_DF25);
        }
        votes.add_all(&hashes[..hashes.len().saturating_sub(2)]);
        black_box(votes.finish());
    });
    time("signature (simhash and sketch)", &mut |text| {
        segment(text, &mut hashes);
        let passage = Passage { block: 0, words: 0..hashes.len(), eighths: 8 };
        black_box(signer.sign(&hashes, &[passage], std::iter::empty()));
    });
    println!("{name}: {} texts of {EACH} bytes, MB/s: {}", texts.len(), report.join(", "));
}
