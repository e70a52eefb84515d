//! Fuzzing on stable Rust: seeded, so that a run can be repeated, and guided by what the targets say of themselves rather
//! than by coverage.
//!
//! A [`Target`] is a function of bytes that panics where an invariant does not hold, and returns a word for how it behaved
//! (how many rules, which error). An input with a behaviour not seen before joins the corpus, from which later inputs are
//! made by a few changes: bits, bytes, pieces copied, cut, joined, and words of the format.

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

/// Something that reads bytes from strangers.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name on the command line, and that of its folder of seeds.
    pub name: &'static str,
    /// Words of its format, to put anywhere.
    pub words: &'static [&'static str],
    /// Whole inputs to begin with.
    pub seeds: &'static [&'static str],
    /// Reads an input; panics where an invariant does not hold. Returns a word for how it behaved.
    pub run: fn(&[u8]) -> u64,
}

/// When a run ends.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Executions.
    pub executions: u64,
    /// Time.
    pub time: Duration,
}

/// What came of a run.
#[derive(Clone, Debug, Default)]
pub struct FuzzResult {
    /// Inputs read, the corpus to begin with included.
    pub executions: u64,
    /// Inputs that behaved in a new way.
    pub behaviours: usize,
    /// The slowest.
    pub slowest: Duration,
    /// The inputs that made the target panic, or took longer than [`HANG`].
    pub findings: Vec<Vec<u8>>,
}

/// An input that takes longer than this is a finding, even on a busy machine.
pub const HANG: Duration = Duration::from_secs(20);
/// Inputs kept to make others from.
const MAX_CORPUS: usize = 4_096;
/// Findings after which a run ends: they are often one.
const MAX_FINDINGS: usize = 8;

/// Inputs of a target: its own seeds, and every file in its folder below `folder`, past findings among them.
pub fn corpus(target: &Target, folder: &Path) -> Vec<Vec<u8>> {
    let mut corpus: Vec<_> = target.seeds.iter().map(|seed| seed.as_bytes().to_vec()).collect();
    if let Ok(files) = std::fs::read_dir(folder.join(target.name)) {
        let mut files: Vec<_> = files.filter_map(|file| std::fs::read(file.ok()?.path()).ok()).collect();
        files.sort();
        corpus.append(&mut files);
    }
    corpus
}

/// One execution, and how long it took.
fn execute(target: &Target, input: &[u8]) -> (std::thread::Result<u64>, Duration) {
    let began = Instant::now();
    let result = catch_unwind(AssertUnwindSafe(|| (target.run)(input)));
    (result, began.elapsed())
}

/// Runs a target on a corpus and on what becomes of it.
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
            // On a busy machine a process may wait for longer than that: twice in a row is no accident.
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
