//! The disk fails while a crawl runs. The crawl must never say anything false. It stops and names the cause, or
//! continues if it may. When the disk works again, the same command completes the crawl.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use tests::crawl::text;
use tests::crowd::run::{Ran, crawl_and};
use tests::crowd::{Crowd, seeds};
use tests::shim::compile;
use tests::sound::sound_at;

/// The number of pages of the site, and the number of requests after which the disk fails.
const PAGES: usize = 60;
const FAILS_AFTER: usize = 25;

const POLITE: [&str; 8] = ["--delay", "20ms", "--delay-factor", "0", "--address-delay", "0ms", "--scope", "host"];

/// Crawls the site into `dir`. After some requests, the disk fails as `fault` says.
fn crawl_on(crowd: &Crowd, dir: &Path, library: &Path, fault: &str) -> anyhow::Result<Ran> {
    let file = dir.join("fault");
    std::fs::write(&file, "")?;
    // This is not `crawl`: that program has an fsync of its own, which would come before that of the shim.
    let mut program = Command::new(env!("CARGO_BIN_EXE_crawler-under-test"));
    program.env("LD_PRELOAD", library).env("TEST_DISK_FAULT", &file).env("TEST_DISK_FOLDER", dir.join("crawl"));
    crawl_and(program, crowd, dir, &POLITE, seeds("well", 1), Duration::from_secs(60), |_| {
        anyhow::ensure!(crowd.wait_for(FAILS_AFTER, Duration::from_secs(30)), "too few requests");
        Ok(std::fs::write(&file, fault)?)
    })
}

/// With this fault, the crawl must end with `code` and name the causes. Without it, the crawl must be complete.
fn fails(fault: &str, code: i32, causes: &[&str]) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    // The shim compares paths, so the path must contain no symbolic links.
    let dir = folder.path().canonicalize()?;
    let (crowd, library) = (Crowd::start(PAGES)?, compile("disk", &dir)?);
    let failed = crawl_on(&crowd, &dir, &library, fault)?;
    assert_eq!(failed.status.code(), Some(code), "{fault}: {}", failed.said);
    assert!(causes.iter().all(|cause| failed.said.contains(cause)), "{fault}: {}", failed.said);
    assert!(!failed.said.contains("panicked"), "{fault}: {}", failed.said);
    if code != 0 {
        assert!(failed.log.len() < PAGES, "{fault}: it asked for everything all the same");
        let whole = crawl_on(&crowd, &dir, &library, "")?;
        assert_eq!(whole.status.code(), Some(0), "{fault}: {}", whole.said);
    }
    let out = dir.join("crawl");
    sound_at(&out)?;
    let pages = tests::crawl::lines(&out, "pages.jsonl")?;
    let urls: BTreeSet<_> = pages.iter().map(|page| text(page, "url")).collect();
    assert_eq!((pages.len(), urls.len()), (PAGES, PAGES), "{fault}: each page once");
    Ok(())
}

/// The control: with the shim and without a fault, the crawl is complete.
#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "needs LD_PRELOAD")]
fn a_disk_that_is_well_is_left_alone() -> anyhow::Result<()> {
    fails("", 0, &[])
}

/// Catches code that believes that a write takes all its bytes.
#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "needs LD_PRELOAD")]
fn writes_that_take_half_lose_nothing() -> anyhow::Result<()> {
    fails("short", 0, &[])
}

/// Catches a crawl that continues although the disk does not take what it writes.
#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "needs LD_PRELOAD")]
fn a_disk_that_refuses_writes_stops_the_crawl() -> anyhow::Result<()> {
    fails("eio", 1, &["Input/output error", "run the same command again"])
}

/// Catches a commit that counts as durable although it is not known whether it is on disk.
#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "needs LD_PRELOAD")]
fn a_disk_that_does_not_sync_stops_the_crawl() -> anyhow::Result<()> {
    fails("sync", 1, &["Input/output error", "run the same command again"])
}

/// Catches code that fails if the disk is gone.
#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "needs LD_PRELOAD")]
fn a_disk_that_is_lost_stops_the_crawl() -> anyhow::Result<()> {
    fails("lost", 1, &["No such device", "run the same command again"])
}

/// Catches a crawl that the signal SIGXFSZ ends without a word, and a directory that cannot be used afterwards.
#[test]
fn a_limit_on_the_size_of_files_is_told_and_the_crawl_can_go_on_without_it() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let crowd = Crowd::start(PAGES)?;
    let crawl = |limit: &str| {
        let mut program = Command::new("sh");
        let run = format!("ulimit -f {limit}; exec \"$0\" \"$@\"");
        program.args(["-c", &run, env!("CARGO_BIN_EXE_crawler-under-test")]);
        crawl_and(program, &crowd, folder.path(), &POLITE, seeds("well", 1), Duration::from_secs(60), |_| Ok(()))
    };
    let failed = crawl("8")?;
    assert_eq!(failed.status.code(), Some(1), "{}", failed.said);
    assert!(failed.said.contains("File too large"), "{}", failed.said);
    let whole = crawl("unlimited")?;
    assert_eq!(whole.status.code(), Some(0), "{}", whole.said);
    sound_at(&folder.path().join("crawl"))
}
