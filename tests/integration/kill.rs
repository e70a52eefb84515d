//! `kill -9` at random moments. `cargo run --release -p tests --bin kill-test` is the long version.

use std::sync::Arc;
use std::time::Duration;

use crawler::demo::record::Record;
use crawler::demo::server::serve_web;
use crawler::demo::web::{Options, Web};
use tests::background::Background;
use tests::kill::{Course, Torture, Victim};

/// Kills a crawl several times, and compares its final result with the pages of the web. `delay` is that of a host.
fn torture(in_parts: bool, delay: &str, more: &[&str]) -> anyhow::Result<()> {
    let web = Arc::new(Web::new(Options { pages: 1_200, hosts: 4, mirrors: 1, ..Options::benchmark(1) }));
    let server = Background::start(|listener| serve_web(listener, Arc::clone(&web), Arc::<Record>::default()))?;
    let connect_to = server.connect_to();
    let flags = ["--connect-to", &connect_to, "--allow-private", "--delay", delay, "--delay-factor", "0"];
    let rest = ["--address-delay", "0s", "--scope", "host", "--progress", "none", "--warc"];
    let seeds = web.seeds();
    let all = seeds.iter().map(String::as_str).chain(flags).chain(rest).chain(more.iter().copied());
    let arguments = all.map(Into::into).collect();
    let victim = Victim { program: env!("CARGO_BIN_EXE_crawl").into(), arguments };
    let base = tempfile::tempdir()?;
    let expected = web.urls().into_iter().map(|url| (url, 1)).collect();
    let courses = [Course { flags: vec!["--on-duplicate".into(), "keep".into()], expected }];
    let longest = Duration::from_millis(1_200);
    let torture = Torture { base: base.path(), kills: 8, longest, in_parts, seed: 1, courses: &courses };
    victim.torture(&torture, |number, kill| println!("kill {number}: {kill:?}"))?;
    Ok(())
}

#[test]
fn a_killed_crawl_goes_on_and_ends_with_the_same_pages() -> anyhow::Result<()> {
    torture(false, "4ms", &[])
}

/// Catches a rotation that loses or doubles lines, or that leaves a crawl unable to continue after an interruption.
#[test]
fn a_crawl_that_is_killed_while_it_rotates_ends_with_the_same_pages() -> anyhow::Result<()> {
    torture(true, "8ms", &["--rotate", "40KiB"])
}
