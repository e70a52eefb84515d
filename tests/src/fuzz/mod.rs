//! Fuzzing on stable Rust. It is seeded, so that a run can be repeated, and it is guided by what the targets report
//! about their behaviour, not by coverage.
//!
//! A [`Target`] is a function of bytes that panics if an invariant does not hold, and that returns a hash of its
//! behaviour (for example, how many rules there were, or which error). An input with a new behaviour joins the corpus.
//! Later inputs are made from the corpus by a few changes: of bits and bytes, by copying, cutting and joining pieces,
//! and by adding words of the format.

mod invariants;
mod mutate;
mod targets;
mod tokens;

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use mutate::Mutator;
pub use targets::TARGETS;

/// A function that reads bytes from strangers.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The name on the command line, which is also the name of the folder with its seeds.
    pub name: &'static str,
    /// Words of its format, which are put anywhere.
    pub words: &'static [&'static str],
    /// Whole inputs for the start.
    pub seeds: &'static [&'static str],
    /// Reads an input, and panics if an invariant does not hold. Returns a hash of its behaviour.
    pub run: fn(&[u8]) -> u64,
}

/// The limits of a run.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The largest number of executions.
    pub executions: u64,
    /// The longest time.
    pub time: Duration,
}

/// The result of a run.
#[derive(Clone, Debug, Default)]
pub struct FuzzResult {
    /// The number of inputs that were run, including the initial corpus.
    pub executions: u64,
    /// The number of different behaviours.
    pub behaviours: usize,
    /// The longest time of an execution.
    pub slowest: Duration,
    /// The inputs that made the target panic, or took longer than [`HANG`].
    pub findings: Vec<Vec<u8>>,
}

/// The time above which an input is a finding, even on a busy machine.
pub const HANG: Duration = Duration::from_secs(20);
/// The largest number of inputs in the corpus.
const MAX_CORPUS: usize = 4_096;
/// The number of findings after which a run ends. They often have one cause.
const MAX_FINDINGS: usize = 8;

/// The initial inputs of a target: its own seeds, and every file in its folder below `folder`, including past findings.
pub fn corpus(target: &Target, folder: &Path) -> Vec<Vec<u8>> {
    let mut corpus: Vec<_> = target.seeds.iter().map(|seed| seed.as_bytes().to_vec()).collect();
    if let Ok(files) = std::fs::read_dir(folder.join(target.name)) {
        let mut files: Vec<_> = files.filter_map(|file| std::fs::read(file.ok()?.path()).ok()).collect();
        files.sort();
        corpus.append(&mut files);
    }
    corpus
}

/// Runs one input. Returns the result and the time that it took.
fn execute(target: &Target, input: &[u8]) -> (std::thread::Result<u64>, Duration) {
    let began = Instant::now();
    let result = catch_unwind(AssertUnwindSafe(|| (target.run)(input)));
    (result, began.elapsed())
}

/// Runs a target on a corpus, and then on inputs that are made from it.
pub fn run(target: &Target, corpus: Vec<Vec<u8>>, seed: u64, bounds: Bounds) -> FuzzResult {
    let start = Instant::now();
    let mut mutator = Mutator::new(seed, target.words);
    let mut behaviours = HashSet::new();
    let mut outcome = FuzzResult::default();
    let mut kept = Vec::new();
    let mut given = corpus.into_iter();
    while outcome.executions < bounds.executions
        && start.elapsed() < bounds.time
        && outcome.findings.len() < MAX_FINDINGS
    {
        let (input, is_given) = match given.next() {
            Some(input) => (input, true),
            None => (mutator.next(&kept), false),
        };
        let (mut result, mut took) = execute(target, &input);
        if took > HANG {
            // On a busy machine, a process may have to wait for longer than that, but hardly twice in a row.
            (result, took) = execute(target, &input);
        }
        outcome.executions += 1;
        outcome.slowest = outcome.slowest.max(took);
        match result {
            Err(_) => outcome.findings.push(input),
            Ok(_) if took > HANG => outcome.findings.push(input),
            Ok(behaviour) if behaviours.insert(behaviour) || is_given => {
                if kept.len() < MAX_CORPUS {
                    kept.push(input);
                } else {
                    let at = mutator.below(MAX_CORPUS);
                    kept[at] = input;
                }
            }
            Ok(_) => {}
        }
    }
    outcome.behaviours = behaviours.len();
    outcome
}
