//! `crawler crawl`: starts a crawl, or continues one.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use config::{Layers, Settings};
use crossbeam_channel::Sender;
use url::Url;

use super::flags::SettingFlags;
use super::progress::Terminal;
use super::seeds::{Seeds, no_others, seeds};
use super::summary::{self, SummaryFacts, SummaryOf};
use super::{Usage, end_code, message, signals, visits};
use crate::clock::Clock;
use crate::crawl::{CrawlDir, OpenError};
use crate::dashboard::{Dashboard, LiveNames};
use crate::engine::{self, Control, Log, Observer, Snapshot, StopReason};
use crate::estimate::Lost;
use crate::fetch::http::HttpFetch;
use crate::focus::{self, Topic, TopicError};
use crate::report::{Learned, hosts_named};
use crate::sink::TextJsonl;
use crate::terminal::say::say;

/// Arguments of `crawler crawl`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Crawl directory: state and output
    #[arg(long, value_name = "DIR", default_value = "./crawl", env = "CRAWLER_DIR")]
    dir: PathBuf,
    #[command(flatten)]
    start: Start,
    /// Take seeds that the crawl in --dir does not have yet. Without this flag new seeds are refused, because a
    /// mistyped seed would stay in the crawl for good
    #[arg(long)]
    add_seeds: bool,
    #[command(flatten)]
    voice: Voice,
}

/// The arguments with which a crawl starts: seeds and settings.
#[derive(Debug, Default, clap::Args)]
pub(super) struct Start {
    #[command(flatten)]
    pub seeds: Seeds,
    /// Settings to start from: generic (the defaults) or focused (any host, at most 8 links from the seeds, links of
    /// duplicates come later)
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// File of settings (TOML) (repeatable)
    #[arg(long, value_name = "FILE", env = "CRAWLER_CONFIG")]
    pub config: Vec<PathBuf>,
    #[command(flatten)]
    pub settings: SettingFlags,
}

/// How much a run writes to stderr.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct Voice {
    /// Say nothing but errors
    #[arg(short, long)]
    pub quiet: bool,
    /// Write a line for each request; twice: more about what the crawler does; three times: also what its libraries do
    #[arg(short, long, action = clap::ArgAction::Count)]
    verbose: u8,
}

/// Runs the command.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    go(&args, None)
}

/// The budget of a round of visits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RoundBudget {
    /// All visits of the round.
    All,
    /// This many pages. Pages that are found on the way count, too.
    Pages(u64),
    /// This many milliseconds.
    Time(u64),
}

impl RoundBudget {
    /// Turns the settings of a crawl with `pages` pages into those of one round of visits. The limits of the crawl do
    /// not hold for its rounds.
    fn limit(self, settings: &mut Settings, pages: u64) {
        settings.fetch.recrawl = true;
        settings.refresh.continuous = false;
        settings.limits.max_pages = if let Self::Pages(more) = self { pages + more.max(1) } else { 0 };
        settings.limits.time_limit = config::Duration(if let Self::Time(time) = self { time.max(1) } else { 0 });
    }
}

impl Args {
    /// The arguments of a run that continues the crawl in `dir`.
    pub(super) fn over(dir: PathBuf, voice: Voice, config: Vec<PathBuf>, settings: SettingFlags) -> Self {
        Self { dir, start: Start { config, settings, ..Start::default() }, add_seeds: false, voice }
    }
}

/// Starts a crawl or continues one. With a budget, makes one round of visits.
pub(super) fn go(args: &Args, refresh: Option<RoundBudget>) -> anyhow::Result<ExitCode> {
    // From here on, a signal ends the crawl and saves its state, even if it comes before the crawl has begun.
    let (control_in, control) = crossbeam_channel::unbounded();
    signals::watch(control_in.clone())?;
    start_log(args.voice);
    let seeds = seeds(&args.start.seeds)?;
    check(args, refresh.is_some(), &seeds)?;
    // Declared before `dir`, and so dropped after it.
    let mut unmade = Unmade::of(&args.dir);
    let mut dir = CrawlDir::open(&args.dir)?;
    if dir.member()?.is_some() {
        let what = format!(
            "{} is the directory of a worker of a crawl on many machines: go on with `crawler worker --dir`",
            args.dir.display()
        );
        return Err(Usage(what).into());
    }
    unmade.opened = true;
    if !args.add_seeds {
        no_others(&dir, &seeds)?;
    }
    let mut settings = settings_over(args, &dir)?;
    let (resumed, speaks) = (dir.stats()?.0.pages, !args.voice.quiet);
    let _answering = dir.serve().unwrap_or_else(|error| {
        tracing::warn!("`why` and `report` cannot ask this crawl while it runs: {error}");
        None
    });
    address(&settings.output.dashboard)?;
    Log::can_be_written(&settings.output).map_err(|error| Usage(error.to_string()))?;
    if resumed > 0 && speaks {
        late_outputs(&dir, &settings.output)?;
    }
    if let Some(budget) = refresh {
        budget.limit(&mut settings, resumed);
    }
    let fetch = HttpFetch::new(&settings).map_err(|error| Usage(message(&error)))?;
    learn_topic(&settings, &fetch, &mut dir)?;
    if speaks {
        contact(&settings);
    }
    if resumed > 0 && refresh.is_none() && speaks {
        say!("going on with the crawl in {} after {resumed} pages", args.dir.display());
    }
    let min_age = settings.refresh.min_age;
    let young = match refresh {
        Some(_) if min_age.0 > 0 && speaks => visits::young(min_age.0, Clock::System.now(), dir.session())?,
        _ => 0,
    };
    // The live page starts before the seeds are written, so that a port in use leaves no crawl behind.
    let all_seeds = [dir.seeds()?, seeds.clone()].concat();
    let hosts: Vec<&str> = all_seeds.iter().filter_map(Url::host_str).collect();
    let reach = LiveNames { name: hosts_named(&hosts), ..LiveNames::default() };
    let live = live_page(&settings.output.dashboard, &args.dir, control_in, reach, args.voice.quiet)?;
    let parts = dir.start(&settings, seeds, Clock::System, control)?;
    unmade.keep();
    let parts = engine::Parts { only_visits: refresh.is_some(), ..parts };
    let mut watching =
        Watching { terminal: Terminal::new(settings.output.progress, args.voice.quiet), live, found: None };
    let result = engine::run(parts, fetch, &mut watching);
    watching.terminal.finish();
    let (lost, learned) = watching.found.take().unwrap_or_default();
    drop(watching);
    let (reason, stats) =
        result.with_context(|| format!("stopped; run the same command again to go on in {}", args.dir.display()))?;
    if speaks {
        let facts = SummaryFacts {
            about: SummaryOf::Dir(&args.dir),
            stats: &stats,
            stop_reason: reason.name(),
            on_duplicate: Some(&format!("{:?}", settings.dedup.on_duplicate).to_lowercase()),
            lost,
            rules: learned.totals(),
            notes: &learned.hosts,
            page: None,
        };
        say!("{}", summary::text(&facts).trim_end());
        if young > 0 && stats.round.as_ref().is_some_and(|round| round.visits == 0) {
            say!("{}", visits::left_out(young, min_age));
        }
    }
    // A round that has spent its budget has ended as it should.
    let spent = refresh.is_some() && matches!(reason, StopReason::PageLimit | StopReason::TimeLimit);
    Ok(end_code(if spent { StopReason::Done } else { reason }, stats.any_page()))
}

/// Finds what is wrong with the arguments, as far as it can be found before anything is written to the disk.
fn check(args: &Args, is_round: bool, seeds: &[Url]) -> anyhow::Result<()> {
    layers(&args.start, None)?.finish()?;
    let given = &args.start.settings;
    if given.is_on("fetch.recrawl") && given.is_on("refresh.continuous") {
        return Err(Usage("--recrawl makes one round, and --continuous has no end: give one of them".into()).into());
    }
    match CrawlDir::is_at(&args.dir) {
        false if is_round => Err(OpenError::Missing(args.dir.clone()).into()),
        false if seeds.is_empty() => Err(OpenError::NoSeeds.into()),
        _ => Ok(()),
    }
}

/// The settings of the run: those that the arguments name, and for the others those of the crawl in `dir`.
fn settings_over(args: &Args, dir: &CrawlDir) -> anyhow::Result<Settings> {
    let layers = layers(&args.start, dir.settings()?.as_deref())?;
    if !args.voice.quiet {
        layers.warnings().iter().for_each(|warning| say!("note: {warning}"));
    }
    let settings = layers.finish()?;
    if args.start.profile.as_deref() == Some("focused") && !settings.focus.is_on() {
        let what = "--profile focused: say what the crawl is about, with --topic WORDS, --topic-file FILE, --like FILE_OR_URL or \
                    --score-with CMD";
        return Err(Usage(what.into()).into());
    }
    if settings.output.requisites && !settings.output.warc {
        return Err(Usage("--requisites is for the archive alone: it needs --warc".into()).into());
    }
    Ok(settings)
}

/// Reads the topic of a focused crawl, and the pages that are examples of it.
fn learn_topic(settings: &Settings, fetch: &HttpFetch, dir: &mut CrawlDir) -> anyhow::Result<()> {
    Topic::open(&settings.focus, dir.session(), &mut |url| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime =
            runtime.map_err(|error| TopicError::Example { url: url.to_string(), reason: error.to_string() })?;
        runtime.block_on(focus::example(fetch, settings, url, &Clock::System))
    })?;
    Ok(())
}

/// Warns the user if site owners cannot reach them.
pub(super) fn contact(settings: &Settings) {
    let config::Fetch { contact, allow_private, .. } = &settings.fetch;
    if contact.is_empty() && !allow_private {
        say!("note: no --contact: site owners cannot reach you; give a URL or an e-mail address");
    } else if !contact.is_empty() && !contact.contains("://") && !contact.contains('@') {
        say!("note: --contact {contact}: this is neither a URL nor an e-mail address");
    }
}

/// Tells which outputs begin with this run, and so lack the pages that were fetched before.
fn late_outputs(dir: &CrawlDir, output: &config::Output) -> anyhow::Result<()> {
    let lengths = dir.lengths()?;
    let has = |name: &str| lengths.keys().any(|known| known.starts_with(name));
    for (flag, is_on, name) in [
        ("--warc", output.warc, "warc/"),
        ("--text", output.text, TextJsonl::TEXT),
        ("--markdown", output.markdown, TextJsonl::MARKDOWN),
    ] {
        if is_on && !has(name) {
            say!("note: {flag} is new in this run: its output lacks the pages that were fetched before");
        }
    }
    Ok(())
}

/// A directory that this run may have made. What this run has made is deleted again if the run ends before the crawl
/// has begun. So a wrong call leaves nothing that looks like a crawl.
struct Unmade {
    /// The directory.
    dir: PathBuf,
    /// Whether this run has opened the directory. If another process was first, nothing is deleted.
    opened: bool,
    /// Whether the state must be deleted, because it was not there before.
    state: bool,
    /// Whether the directory must be deleted, because it was not there before.
    whole: bool,
}

impl Unmade {
    /// Looks which parts of a crawl directory do not exist yet.
    fn of(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), opened: false, state: !CrawlDir::is_at(dir), whole: !dir.exists() }
    }

    /// Records that the crawl has begun: nothing is deleted.
    fn keep(&mut self) {
        self.opened = false;
    }
}

impl Drop for Unmade {
    fn drop(&mut self) {
        if !self.opened {
            return;
        }
        let is_alone = || std::fs::read_dir(&self.dir).is_ok_and(|entries| entries.count() == 1);
        // If something cannot be deleted, it stays, and nothing is said: the user must see the error of the call.
        if self.state && is_alone() {
            let _ = std::fs::remove_dir_all(self.dir.join("state"));
        }
        if self.whole {
            let _ = std::fs::remove_dir(&self.dir);
        }
    }
}

/// The observers of the crawl.
pub(super) struct Watching {
    pub terminal: Terminal,
    pub live: Option<Dashboard>,
    /// At the end: the estimated loss, and what the crawl has learned.
    pub found: Option<(Option<Lost>, Learned)>,
}

impl Observer for Watching {
    fn tick(&mut self, snapshot: &Snapshot<'_>) {
        if snapshot.stopped.is_some() {
            self.found = Some((snapshot.lost, Learned::of(snapshot.frontier)));
        }
        self.terminal.tick(snapshot);
        if let Some(live) = &mut self.live {
            live.tick(snapshot);
        }
    }
}

/// The live page, if the user wants one. A quiet run does not say its address.
pub(super) fn live_page(
    address: &str,
    dir: &Path,
    control: Sender<Control>,
    reach: LiveNames,
    quiet: bool,
) -> anyhow::Result<Option<Dashboard>> {
    let Some(address) = self::address(address)? else { return Ok(None) };
    let live = Dashboard::start_with(address, dir, control, reach).with_context(|| format!("--dashboard {address}"))?;
    if quiet {
        return Ok(Some(live));
    }
    if !live.address().ip().is_loopback() {
        say!("note: the live page can be read by everybody who reaches {}", live.address());
    }
    say!("live page: {}", live.url());
    Ok(Some(live))
}

/// The address of the live page, if the user wants one.
fn address(text: &str) -> anyhow::Result<Option<SocketAddr>> {
    if text.is_empty() {
        return Ok(None);
    }
    Ok(Some(text.parse().map_err(|_| {
        Usage(format!("--dashboard {text}: this is no address; write IP:PORT, such as 127.0.0.1:8080"))
    })?))
}

/// Variables that the program reads itself: they are flags, and no settings.
const OTHER_VARIABLES: &[&str] =
    &["CRAWLER_DIR", "CRAWLER_CONFIG", "CRAWLER_CLUSTER", "CRAWLER_MONITOR", "CRAWLER_SNAPSHOTS"];

/// The layers of settings: those with which the crawl ran before, the profile, files, environment, flags.
pub(super) fn layers(start: &Start, stored: Option<&str>) -> anyhow::Result<Layers> {
    let mut layers = Layers::new();
    if let Some(stored) = stored {
        // An earlier version has stored log and live page, which belong to one run.
        layers = layers.stored(stored)?.set("output.log", "")?.set("output.dashboard", "")?;
    }
    if let Some(profile) = &start.profile {
        layers = layers.profile(profile)?;
    }
    for file in &start.config {
        layers = layers.file(file)?;
    }
    let layers = layers.env_of_any("CRAWLER_", std::env::vars(), OTHER_VARIABLES)?;
    Ok(start.settings.over(layers)?)
}

/// Starts to write log lines to stderr, above the progress display.
pub(super) fn start_log(Voice { quiet, verbose }: Voice) {
    let level = match (quiet, verbose) {
        (true, _) => "error",
        (false, 0) => "warn",
        (false, 1) => "warn,crawler=info,frontier=info,dedup_stage=info",
        (false, 2) => "warn,crawler=trace,frontier=trace,dedup_stage=trace",
        (false, _) => "debug",
    };
    let filter = tracing_subscriber::EnvFilter::try_from_env("RUST_LOG").unwrap_or_else(|_| level.into());
    let is_terminal = console::user_attended_stderr() && console::colors_enabled_stderr();
    // In a process that has a subscriber already (in tests), this changes nothing.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(is_terminal)
        .with_target(verbose > 1)
        .with_writer(|| crate::terminal::screen::Above)
        .try_init();
}
