//! `kill-test`: a crawl of the PostgreSQL 15 documentation, killed at random moments and resumed each time; prints where each
//! kill fell, and fails if the pages are not those of a crawl that nobody killed.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use clap::Parser;
use tests::background::Background;
use tests::data;
use tests::kill::Victim;
use tests::site::{Noise, Sites};

/// Kill a crawl again and again.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// How often.
    #[arg(long, default_value_t = 20)]
    kills: u32,
    /// Longest life between two kills.
    #[arg(long, default_value = "3s")]
    longest: config::Duration,
    /// Delay between two requests, so that the crawl lasts.
    #[arg(long, default_value = "5ms")]
    delay: config::Duration,
    /// Decides the moments.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Documentation site.
    #[arg(long, default_value = "postgresql-15")]
    site: String,
    /// The crawler [default: the one built beside this program]
    #[arg(long)]
    program: Option<PathBuf>,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let Some(folder) = data::docs(&arguments.site)? else { return Ok(()) };
    let sites = Arc::new(Sites::new([("docs.test".to_owned(), folder)], Noise::default())?);
    let server = Background::start(|listener| sites.run(listener))?;
    let beside = std::env::current_exe()?.with_file_name("crawl");
    let delay = arguments.delay.to_string();
    let connect_to = server.connect_to();
    let flags = [
        "http://docs.test/index.html",
        "--connect-to",
        &connect_to,
        "--allow-private",
        "--delay",
        &delay,
        "--delay-factor",
        "0",
        "--address-delay",
        "0s",
        "--on-duplicate",
        "keep",
        "--scope",
        "host",
        "--progress",
        "none",
    ];
    let program = arguments.program.unwrap_or(beside);
    let victim = Victim { program, arguments: flags.iter().map(Into::into).collect() };
    let base = tempfile::tempdir()?;
    let expected = victim.finish(&base.path().join("undisturbed")).context("the undisturbed crawl")?;
    println!("undisturbed: {} pages", expected.len());
    println!("{:>4} {:>9} {:>8} {:>7} {:>7}", "kill", "after ms", "commits", "pages", "lines");
    let longest = arguments.longest.to_std();
    let crawls = victim.torture(base.path(), arguments.kills, longest, arguments.seed, &expected, |number, kill| {
        let after = kill.after.as_millis();
        println!("{number:>4} {after:>9} {:>8} {:>7} {:>7}", kill.commits, kill.pages, kill.lines);
    })?;
    println!("{} kills over {crawls} crawls: each fetched the {} pages, each once", arguments.kills, expected.len());
    Ok(())
}
