//! `dedup-stage run`: pages in on stdin, verdicts out on stdout. The protocol is in [`crate::protocol`].

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Context as _;
use config::{Layers, Settings};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::rows::{refuse_absent, wrong_usage};
use super::say::say;
use crate::corpus::Corpora;
use crate::pipeline::{Limits, Stopper};
use crate::protocol::{Greeting, ServeEnd, serve};
use crate::signature;
use crate::spaces;
use crate::stage::Stage;
use crate::store::{Disk, Error, Memory, Session};
use crate::url::Canonicalizer;

/// Exit code after SIGINT or SIGTERM, with the state saved.
const STOPPED: u8 = 11;

/// Arguments of `dedup-stage run`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    memory: Remembering,
    #[command(flatten)]
    judging: Judging,
}

/// The flag of every command that remembers the pages that it judged.
#[derive(Debug, Default, clap::Args)]
pub struct Remembering {
    /// Directory that remembers pages across runs (default: they are remembered in memory). One process at a time
    #[arg(long, value_name = "DIR", env = "DEDUP_STAGE_STATE")]
    state: Option<PathBuf>,
}

impl Remembering {
    /// Opens the stage, with the pages that it remembers and the corpora that it knows.
    pub fn open(&self, settings: &Settings) -> anyhow::Result<Stage> {
        let config::Dedup { known, distance, threads, .. } = &settings.dedup;
        let corpora = Corpora::open(known, *distance, *threads)?;
        let mut stage = self.remembered(settings)?;
        stage.know(Arc::new(corpora));
        Ok(stage)
    }

    fn remembered(&self, settings: &Settings) -> anyhow::Result<Stage> {
        let open = |store| Stage::open(Session::new(store), &settings.dedup, Canonicalizer::new(&settings.urls));
        match &self.state {
            None => Ok(open(Box::<Memory>::default())?),
            Some(dir) => {
                let disk = Disk::open(dir, &spaces::of_stage());
                disk.and_then(|disk| open(Box::new(disk))).map_err(|error| in_dir(error, dir))
            }
        }
    }
}

/// Flags of every command that judges pages. An environment variable `DEDUP_STAGE_…` does what the flag does.
#[derive(Debug, Default, clap::Args)]
pub struct Judging {
    /// Settings as in the crawler's configuration file; [dedup] and [urls] matter here
    #[arg(long, value_name = "FILE", env = "DEDUP_STAGE_CONFIG")]
    config: Option<PathBuf>,
    /// What happens to the links of duplicates: drop, demote or keep [default: drop]
    #[arg(long, value_name = "drop|demote|keep")]
    on_duplicate: Option<String>,
    /// Hamming distance of a near-duplicate [default: 7]
    #[arg(long, value_name = "K")]
    distance: Option<String>,
    /// Signature file of pages that exist already. A page that it has is a duplicate (repeatable)
    #[arg(long, value_name = "FILE")]
    known: Vec<String>,
    /// Recipe of the fingerprints
    #[arg(long, value_name = "NAME", env = "DEDUP_STAGE_SCHEME", default_value = signature::RECIPE, value_parser = [signature::RECIPE])]
    scheme: String,
    /// Threads that read pages; 0 = one a core [default: 0]
    #[arg(long, value_name = "N")]
    threads: Option<String>,
}

impl Judging {
    /// The settings. A flag beats the environment, the environment beats the file, and the file beats the defaults.
    pub fn settings(&self) -> Result<Settings, config::ConfigError> {
        let mut layers = Layers::new();
        if let Some(file) = &self.config {
            layers = layers.file(file)?;
        }
        let own = ["STATE", "CONFIG", "SCHEME", "NEAR", "VERDICTS"].map(|name| format!("DEDUP_STAGE_{name}"));
        let own = own.each_ref().map(String::as_str);
        let variables =
            std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        layers = layers.env("DEDUP_STAGE_", variables, &own)?;
        let flags = [
            ("dedup.on-duplicate", &self.on_duplicate),
            ("dedup.distance", &self.distance),
            ("dedup.threads", &self.threads),
        ];
        for (key, value) in flags {
            if let Some(value) = value {
                layers = layers.set(key, value.as_str())?;
            }
        }
        if !self.known.is_empty() {
            layers = layers.set("dedup.known", self.known.clone())?;
        }
        layers.finish()
    }
}

/// Runs the command.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let settings = match args.judging.settings() {
        Ok(settings) => settings,
        Err(error) => return Ok(wrong_usage(&error)),
    };
    if let Some(wrong) = refuse_absent(&settings.dedup.known) {
        return Ok(wrong);
    }
    let stage = args.memory.open(&settings)?;
    let greeting = Greeting {
        recipe: signature::RECIPE,
        distance: settings.dedup.distance,
        on_duplicate: settings.dedup.on_duplicate,
        durable: args.memory.state.is_some(),
    };
    let limits = Limits::new(settings.dedup.threads);
    let stopping = signals().context("signals")?;
    let known = Arc::clone(stage.known());
    let ended =
        serve(std::io::stdin(), std::io::stdout().lock(), stage, limits, greeting, |stopper| watch(stopping, stopper))?;
    say_compared_in_part(&known);
    Ok(match ended {
        ServeEnd::Input | ServeEnd::OutputClosed => ExitCode::SUCCESS,
        ServeEnd::Stopped => ExitCode::from(STOPPED),
    })
}

/// Says on stderr that pages were compared with a part of the known corpora only, if that is so.
pub fn say_compared_in_part(known: &Corpora) {
    let times = known.compared_in_part();
    if times > 0 {
        say!(
            "dedup-stage: {} with the first 64 known documents that share a fingerprint, and not with the others; none \
             of the others is an exact copy",
            super::rows::count(times, "comparison")
        );
    }
}

fn in_dir(error: Error, dir: &std::path::Path) -> anyhow::Error {
    let dir = dir.display();
    match error {
        Error::Locked => anyhow::anyhow!("{dir} is in use by another process; one process per state directory"),
        error => anyhow::Error::new(error).context(format!("{dir}")),
    }
}

/// The first SIGINT or SIGTERM asks the program to stop. A second one ends the process at once.
fn signals() -> std::io::Result<Signals> {
    let asked = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register_conditional_default(signal, Arc::clone(&asked))?;
        signal_hook::flag::register(signal, Arc::clone(&asked))?;
    }
    Signals::new([SIGINT, SIGTERM])
}

fn watch<U: Send + 'static>(mut signals: Signals, stopper: Stopper<U>) {
    std::thread::spawn(move || {
        for _ in signals.forever() {
            stopper.stop();
        }
    });
}
