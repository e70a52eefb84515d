//! `crawler demo`: a demonstration without a network. A synthetic web on loopback is crawled with the gate off and then
//! with the gate on, under the same page budget. The counts of the server tell what each crawl has found.

pub mod record;
pub mod server;
pub mod web;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use config::{Layers, OnDuplicate, Settings};
use tokio::net::TcpListener;
use url::Url;

use crate::clock::Clock;
use crate::crawl::CrawlDir;
use crate::engine::{self, Nobody, Stats, StopReason};
use crate::fetch::http::HttpFetch;
use crate::free_name::with_free_name;
use crate::report::{Report, Side, Summary, compare};
use crate::terminal::say::say;
use crate::usage::Usage;
use record::{Record, Tally};
use web::Web;

/// Arguments of `crawler demo`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Number that decides everything about the web: the same number gives the same web
    #[arg(long = "random-seed", alias = "seed", value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Pages that each crawl may fetch [default: a little more than the ideal gate needs]
    #[arg(long, value_name = "N")]
    max_pages: Option<u64>,
    /// Where to leave the report and the two crawls, in `off` and `on` [default: a temporary directory, of which only
    /// the report is kept]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Do not open the report
    #[arg(long)]
    no_open: bool,
}

/// The names and modes of the two crawls.
const RUNS: [(&str, OnDuplicate); 2] = [("off", OnDuplicate::Keep), ("on", OnDuplicate::Drop)];

/// One of the two crawls.
#[derive(Debug)]
struct Run {
    name: &'static str,
    ended: StopReason,
    stats: Stats,
    tally: Tally,
}

/// Runs the command.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let web = Arc::new(Web::demo(args.seed));
    let ideal = web.ideal_gate();
    let budget = args.max_pages.unwrap_or(ideal.pages + ideal.pages / 10);
    let temporary = match &args.dir {
        Some(_) => None,
        None => Some(temporary_dir()?),
    };
    let dir = args.dir.clone().or_else(|| temporary.clone()).unwrap_or_default();
    if RUNS.iter().any(|(name, _)| CrawlDir::is_at(&dir.join(name))) {
        let what = format!("{} has the crawls of an earlier demo: name another directory with --dir", dir.display());
        return Err(Usage(what).into());
    }
    say!(
        "A synthetic web on loopback: {} hosts, {} distinct contents.\nIt has mirrors, print views, session ids and a \
         calendar without end.\nA crawler that knew all would need {} fetches. Each crawl may fetch {budget} pages.",
        web.hosts().len(),
        web.contents(),
        web.oracle().pages,
    );
    let mut runs = Vec::new();
    for (name, gate) in RUNS {
        say!("crawling with the gate {name} …");
        runs.push(crawl(name, gate, &web, budget, &dir.join(name))?);
    }
    table(&runs, web.contents());
    let page = dir.join(Report::NAME);
    std::fs::write(&page, report(&runs, &dir)?)?;
    if temporary.is_some() {
        for run in &runs {
            std::fs::remove_dir_all(dir.join(run.name))?;
        }
    }
    say!("the difference as a page: {}", page.display());
    if !args.no_open && std::io::stderr().is_terminal() {
        open(&page);
    }
    Ok(ExitCode::SUCCESS)
}

/// The report that shows the two crawls beside each other.
fn report(runs: &[Run], dir: &Path) -> anyhow::Result<String> {
    let mut reports = Vec::new();
    for run in runs {
        let summary = Summary {
            elapsed_ms: Some(run.stats.elapsed_ms),
            stop_reason: Some(run.ended.name().into()),
            ..Summary::default()
        };
        reports.push(Report::read(&dir.join(run.name), summary, |_| None)?);
    }
    let sides: Vec<_> = std::iter::zip(["the gate off", "the gate on"], &reports)
        .zip(runs)
        .map(|((name, report), run)| Side { name, report, found_at: Some(run.tally.found_at.clone()) })
        .collect();
    let [off, on] = sides.as_slice() else { anyhow::bail!("two crawls make a comparison") };
    Ok(compare("One web, crawled with the gate off and on", off, on)?)
}

/// Opens a page in the user's browser, if there is a desktop.
fn open(page: &Path) {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let quiet = std::process::Stdio::null;
    // If there is no desktop, the printed path is enough.
    let _ = std::process::Command::new(opener).arg(page).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn();
}

fn crawl(name: &'static str, gate: OnDuplicate, web: &Arc<Web>, budget: u64, dir: &Path) -> anyhow::Result<Run> {
    let record = Arc::new(Record::default());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
    let address = listener.local_addr()?;
    runtime.spawn(server::serve_web(listener, Arc::clone(web), Arc::clone(&record)));

    let settings = settings(gate, budget, &format!("::{address}"))?;
    let seeds: Vec<Url> = web.seeds().iter().map(|seed| seed.parse()).collect::<Result<_, _>>()?;
    let (_keep, control) = crossbeam_channel::unbounded();
    let parts = CrawlDir::open(dir)?.start(&settings, seeds, Clock::System, control)?;
    let (ended, stats) = engine::run(parts, HttpFetch::new(&settings)?, &mut Nobody)?;
    runtime.shutdown_timeout(Duration::from_secs(1));
    Ok(Run { name, ended, stats, tally: record.tally() })
}

/// The settings of a crawl that is as fast as loopback allows: no server of anybody is at stake.
fn settings(gate: OnDuplicate, budget: u64, connect_to: &str) -> anyhow::Result<Settings> {
    let settings = Layers::new()
        .set("dedup.on-duplicate", format!("{gate:?}").to_lowercase())?
        .set("limits.max-pages", budget.to_string())?
        .set("limits.patience", "5s")?
        .set("scope.scope", "host")?
        .set("politeness.delay", "0s")?
        .set("politeness.delay-factor", "0")?
        .set("politeness.address-delay", "0s")?
        .set("politeness.max-crawl-delay", "0s")?
        .set("fetch.connect-to", connect_to)?
        .set("fetch.allow-private", "true")?;
    Ok(settings.finish()?)
}

/// Makes a new directory for this process.
fn temporary_dir() -> std::io::Result<PathBuf> {
    let make = |path: PathBuf| std::fs::create_dir(&path).map(|()| path);
    with_free_name(&std::env::temp_dir(), "crawler-demo", make)
}

/// Prints the difference to stdout.
fn table(runs: &[Run], contents: u64) {
    println!("{:32}{:>12}{:>12}", "", "gate off", "gate on");
    let row = |name: &str, value: &dyn Fn(&Run) -> String| {
        print!("{name:32}");
        for run in runs {
            print!("{:>12}", value(run));
        }
        println!();
    };
    row("pages fetched", &|run| run.tally.pages.to_string());
    row(&format!("distinct contents found, of {contents}"), &|run| run.tally.contents.to_string());
    row("contents missed", &|run| (contents - run.tally.contents).to_string());
    row("duplicates fetched", &|run| run.tally.duplicates.to_string());
    row("worthless pages fetched", &|run| run.tally.nothing.to_string());
    row("links kept from the frontier", &|run| run.stats.links_dropped.to_string());
    row("megabytes fetched", &|run| format!("{:.1}", run.tally.bytes as f64 / 1e6));
    row("ended", &|run| run.ended.name().to_owned());
    row("seconds, slow hosts included", &|run| format!("{:.1}", run.stats.elapsed_ms as f64 / 1000.0));
    for run in runs {
        let share = 100.0 * run.tally.contents as f64 / contents as f64;
        say!("gate {}: {share:.1} % of the contents with {} fetches", run.name, run.tally.pages);
    }
}
