//! `kill-test`: kills crawls of the PostgreSQL 15 documentation again and again, in each mode in turn. Between the
//! kills, it damages their files as a crash or a power cut may, or worse, and resumes each crawl. It also kills
//! programs that read the crawl. It prints the stage of each kill and its result, and fails if the pages are not those
//! of an undisturbed crawl.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, ensure};
use clap::Parser;
use tests::background::Background;
use tests::data;
use tests::kill::{Course, End, Kill, Torture, Victim};
use tests::programs::beside;
use tests::site::{Noise, Sites};

/// Kill a crawl again and again.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// The number of kills.
    #[arg(long, default_value_t = 100)]
    kills: u32,
    /// The longest time between two kills.
    #[arg(long, default_value = "3s")]
    longest: config::Duration,
    /// The delay between two requests, which makes the crawl last.
    #[arg(long, default_value = "5ms")]
    delay: config::Duration,
    /// The seed for the moments and the damage.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The documentation site.
    #[arg(long, default_value = "postgresql-15")]
    site: String,
    /// The crawler [default: `crawl` of this package, built like this program]
    #[arg(long)]
    program: Option<PathBuf>,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let Some(folder) = data::docs(&arguments.site)? else { return Ok(()) };
    let sites = Arc::new(Sites::new([("docs.test".to_owned(), folder)], Noise::default())?);
    let server = Background::start(|listener| sites.run(listener))?;
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
        "--scope",
        "host",
        "--progress",
        "none",
        "--warc",
    ];
    let program = arguments.program.map_or_else(|| beside("crawl"), Ok)?;
    let victim = Victim { program, arguments: flags.iter().map(Into::into).collect() };
    let base = tempfile::tempdir()?;
    let mut courses = Vec::new();
    for mode in ["keep", "drop", "demote"] {
        let flags = vec!["--on-duplicate".into(), mode.into()];
        let dir = base.path().join(format!("undisturbed-{mode}"));
        let expected = victim.with(&flags).finish(&dir).context("the undisturbed crawl")?;
        println!("undisturbed, {mode}: {} pages", expected.len());
        courses.push(Course { flags, expected });
    }
    println!("{:>4} {:>6} {:>9} {:>8} {:>8}  end", "kill", "blow", "after ms", "place", "ahead");
    let (mut between, mut told) = (0, 0);
    let torture = Torture {
        base: base.path(),
        kills: arguments.kills,
        longest: arguments.longest.to_std(),
        in_parts: false,
        seed: arguments.seed,
        courses: &courses,
    };
    let crawls = victim.torture(&torture, |number, kill| {
        let Kill { blow, after, point, ahead, end } = kill;
        let words = match end {
            End::Resumed => "resumed",
            End::Told(said) => said.lines().next().unwrap_or_default(),
        };
        let (blow, point) = (format!("{blow:?}"), format!("{point:?}"));
        println!("{number:>4} {blow:>6} {:>9} {point:>8} {ahead:>8}  {words}", after.as_millis());
        between += u32::from(kill.is_within_a_batch());
        told += u32::from(matches!(end, End::Told(_)));
    });
    if crawls.is_err() {
        println!("the crawls are kept in {}", base.keep().display());
    }
    let crawls = crawls?;
    println!("{} kills over {crawls} crawls: each fetched the pages of its mode, each once", arguments.kills);
    println!("{between} fell between two writes of one batch; {told} times the damage was told, and undone to go on");
    ensure!(between * 4 >= arguments.kills, "fewer than a quarter fell between two writes of one batch");
    Ok(())
}
