//! Politeness, judged by the logs of the servers. `cargo run --release -p tests --bin politeness` is the long version.

use std::time::Duration;

use tests::polite::{Course, Town, follow};

#[test]
fn the_servers_see_a_polite_crawler_also_across_a_kill() -> anyhow::Result<()> {
    let town = Town {
        hosts: 24,
        addresses: 3,
        shortest: Duration::from_millis(50),
        longest: Duration::from_millis(400),
        busy: 6,
    };
    let course = Course {
        program: env!("CARGO_BIN_EXE_crawl").into(),
        floor: Duration::from_millis(10),
        requests: 500,
        restarts: 1,
        limit: Duration::from_secs(60),
    };
    let dir = tempfile::tempdir()?;
    let judgement = follow(&course, town, &dir.path().join("crawl"))?;
    println!("{judgement:?}");
    assert_eq!((judgement.overlapping, judgement.early, judgement.forbidden), (0, 0, 0), "{judgement:?}");
    assert_eq!(judgement.early_retries, 0, "{judgement:?}");
    Ok(())
}
