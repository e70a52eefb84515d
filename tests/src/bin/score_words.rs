//! `score-words`: a program for `--score-with` that can also fail in the ways in which such programs fail.
//!
//! The score of a page is the share of its words that begin with `fine`. Each question is answered at once.

use std::io::{BufRead, Write};

use clap::Parser;
use serde_json::{Value, json};

/// Score pages by their words.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// End after this many answers.
    #[arg(long)]
    dies_after: Option<u64>,
    /// After this many answers, send no more and do not end.
    #[arg(long)]
    hangs_after: Option<u64>,
    /// Answer with this line instead.
    #[arg(long)]
    says: Option<String>,
    /// End when a question contains this text.
    #[arg(long)]
    dies_of: Option<String>,
    /// Send bare scores, without the ids of the questions.
    #[arg(long)]
    bare: bool,
    /// Read all waiting questions, then answer them in reverse order.
    #[arg(long)]
    backwards: bool,
    /// Append each question to this file.
    #[arg(long)]
    log: Option<std::path::PathBuf>,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let mut log = match &arguments.log {
        Some(path) => Some(std::fs::OpenOptions::new().create(true).append(true).open(path)?),
        None => None,
    };
    let (mut answered, mut batch) = (0, Vec::new());
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        if let Some(log) = &mut log {
            writeln!(log, "{line}")?;
        }
        if arguments.dies_of.as_ref().is_some_and(|text| line.contains(text.as_str())) {
            eprintln!("score-words: this page is too much");
            std::process::exit(7);
        }
        let question: Value = serde_json::from_str(&line)?;
        let is_last = question["more"] == 0;
        batch.push(question);
        if arguments.backwards && !is_last {
            continue;
        }
        for question in batch.drain(..).rev() {
            if arguments.dies_after == Some(answered) {
                std::process::exit(7);
            }
            if arguments.hangs_after == Some(answered) {
                // It keeps its pipes open, as a program that is stuck does.
                loop {
                    std::thread::park();
                }
            }
            let score = score(question["text"].as_str().unwrap_or_default());
            let answer = match (&arguments.says, arguments.bare) {
                (Some(says), _) => says.clone(),
                (None, true) => score.to_string(),
                (None, false) => json!({"id": question["id"], "score": score}).to_string(),
            };
            writeln!(out, "{answer}")?;
            out.flush()?;
            answered += 1;
        }
    }
    Ok(())
}

fn score(text: &str) -> f64 {
    let (mut fine, mut all) = (0.0, 0.0f64);
    for word in text.split_whitespace() {
        all += 1.0;
        fine += f64::from(u8::from(word.starts_with("fine")));
    }
    (fine / all.max(1.0) * 2.0).min(1.0)
}
