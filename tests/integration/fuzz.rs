//! A short run of every fuzz target: all seeds, also those that once found a fault, and a few thousand inputs made from
//! them.

use std::path::Path;
use std::time::Duration;

use tests::fuzz::{Bounds, TARGETS, corpus, run};

#[test]
fn every_target_holds() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz-seeds");
    for target in TARGETS {
        let bounds = Bounds { executions: 1_000, time: Duration::MAX };
        let outcome = run(&target, corpus(&target, &seeds), 7, bounds);
        assert!(outcome.findings.is_empty(), "{}: {:?}", target.name, String::from_utf8_lossy(&outcome.findings[0]));
        assert!(outcome.behaviours > 5, "{}: {} behaviours", target.name, outcome.behaviours);
    }
}

/// The same seed makes the same run, so that a fault can be found again.
#[test]
fn a_run_can_be_repeated() {
    let bounds = Bounds { executions: 300, time: Duration::MAX };
    for target in [TARGETS[1], TARGETS[2]] {
        let runs = [5, 5].map(|seed| run(&target, corpus(&target, Path::new("nowhere")), seed, bounds).behaviours);
        assert_eq!(runs[0], runs[1]);
    }
}
