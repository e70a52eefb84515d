//! `crawler report`: prints the summary of a crawl, and writes its report as a page.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use config::Settings;
use dedup_stage::store;
use frontier::{Failure, HostNote};
use serde_json::{Value, json};

use super::summary::{self, SummaryFacts, SummaryOf};
use super::{Telling, tell};
use crate::crawl::{CrawlDir, OpenError};
use crate::engine::{self, Stats};
use crate::estimate::Lost;
use crate::outcome;
use crate::permissions::NOT_STORED;
use crate::report::learned::Learned;
use crate::report::{Report, Summary};
use crate::sink::{Lengths, PagesJsonl};
use crate::terminal::say::say;

/// The data of a crawl's state. If the state cannot be read, the numbers come from the outputs, and data that only the
/// state has is `None`.
struct StateFigures {
    stats: Stats,
    stop_reason: &'static str,
    settings: Settings,
    settings_text: Option<String>,
    seeds: Vec<String>,
    /// The estimated loss, from the sample at the end.
    lost: Option<Lost>,
    learned: Option<Learned>,
    /// The lengths for which the state vouches.
    lengths: Option<Lengths>,
}

/// Runs the command.
pub fn run(args: Telling) -> anyhow::Result<ExitCode> {
    let dir = &args.dir.dir;
    let known = match CrawlDir::reading(dir) {
        Ok(mut dir) => {
            if !args.json {
                // Otherwise the report would be empty, without a reason.
                dir.vouched(PagesJsonl::NAME)?;
            }
            StateFigures::of(&mut dir)?
        }
        Err(OpenError::Store { error: store::Error::Locked, .. }) => StateFigures::of_outputs("running"),
        // The outputs of earlier versions can still be read.
        Err(OpenError::Store { error: store::Error::Foreign(_), .. }) => StateFigures::of_outputs("interrupted"),
        Err(error) => return Err(error.into()),
    };
    if args.json && known.lengths.is_some() {
        return tell(format!("{:#}\n", known.json(&known.stats)?));
    }
    let length = |name: &str| known.lengths.as_ref().map(|lengths| lengths.get(name).copied().unwrap_or(0));
    let report = Report::read(dir, known.summary(), length).with_context(|| format!("{}", dir.display()))?;
    for gone in report.gone() {
        say!("note: {gone}: the report tells nothing of its pages");
    }
    let stats = if known.lengths.is_some() { known.stats.clone() } else { known.counted(&report) };
    if args.json {
        return tell(format!("{:#}\n", known.json(&stats)?));
    }
    let page = dir.join(Report::NAME);
    write(&page, &report.html()?).with_context(|| format!("{}", page.display()))?;
    let on_duplicate = format!("{:?}", known.settings.dedup.on_duplicate).to_lowercase();
    let facts = SummaryFacts {
        about: SummaryOf::Dir(dir),
        stats: &stats,
        stop_reason: known.stop_reason,
        on_duplicate: known.lengths.as_ref().map(|_| &*on_duplicate),
        lost: known.lost,
        rules: known.learned.as_ref().map(Learned::totals).unwrap_or_default(),
        notes: known.learned.as_ref().map(|learned| &*learned.hosts).unwrap_or_default(),
        page: Some(&page),
    };
    tell(summary::text(&facts))
}

/// Replaces the file as a whole, so that a reader never sees a half of it.
fn write(path: &Path, html: &str) -> std::io::Result<()> {
    let unfinished = path.with_extension("html.part");
    std::fs::write(&unfinished, html)?;
    std::fs::rename(&unfinished, path)
}

/// The fields that scripts rely on.
pub(super) fn json(
    stats: &Stats,
    stop_reason: &str,
    lost: Option<Lost>,
    learned: Option<&Learned>,
) -> serde_json::Result<Value> {
    let mut report = serde_json::to_value(stats)?;
    report["elapsed_seconds"] = json!(stats.elapsed_ms as f64 / 1000.0);
    report["pages_per_second"] = json!(stats.pages_per_second());
    report["stop_reason"] = json!(stop_reason);
    report["skipped"] = json!(stats.skipped());
    let troubles = outcome::troubles(stats);
    report["failures"] = troubles.iter().map(|trouble| (trouble.kind.clone(), json!(trouble.count))).collect();
    report["unread"] =
        engine::unread(&stats.standing()).map(|left| (left.kind.to_owned(), json!(left.count))).collect();
    report["estimated_unique_lost"] = json!(lost.map(|lost| lost.estimate));
    report["estimated_unique_lost_low"] = json!(lost.map(|lost| lost.low));
    report["estimated_unique_lost_high"] = json!(lost.map(|lost| lost.high));
    if let Some(learned) = learned {
        let slow = |note: &HostNote| {
            let why = note.why.map(Failure::name);
            json!({"host": note.host, "slots_lost": note.slots_lost, "why": why})
        };
        report["slow_hosts"] = learned.slow_hosts().map(slow).collect();
        let held_down = |note: &HostNote| json!({"host": note.host, "delay_factor": note.delay_factor()});
        report["ceiling_hosts"] = learned.held_down().map(held_down).collect();
    }
    Ok(report)
}

impl StateFigures {
    /// Fields that the outputs alone do not give.
    const NOT_YET: &[&str] = &[
        "redirects",
        "links_new",
        "links_admitted",
        "scored",
        "relevance",
        "unscored",
        "requisites",
        "requisite_bytes",
        "requisites_failed",
        "urls_seen",
        "frontier",
        "memory",
        "wire_bytes",
        "elapsed_ms",
        "elapsed_seconds",
        "pages_per_second",
        "commits",
        "held",
        "stopped",
        "refused",
        "withheld",
        "retrying",
        "unread",
        "uncovered",
        "open_ends",
        "behind_ends",
        "local_trouble",
        "complete",
        "walls_with_account",
        "refused_with_account",
        "skipped",
        "slow_hosts",
        "ceiling_hosts",
    ];

    fn json(&self, stats: &Stats) -> serde_json::Result<Value> {
        let mut report = json(stats, self.stop_reason, self.lost, self.learned.as_ref())?;
        if self.lengths.is_none() {
            for field in Self::NOT_YET {
                report[*field] = Value::Null;
            }
        }
        Ok(report)
    }

    fn of(dir: &mut CrawlDir) -> anyhow::Result<Self> {
        let (stats, reason) = dir.stats()?;
        let settings = dir.last_settings()?;
        Ok(Self {
            // While the crawl runs, or can be continued where it was killed, the sample is not complete.
            lost: match reason {
                Some(_) if !dir.is_running() => stats.lost(engine::found(dir.session())?),
                _ => None,
            },
            stats,
            // A crawl that was killed has not recorded why it ended.
            stop_reason: match reason {
                _ if dir.is_running() => "running",
                Some(reason) => reason.name(),
                None => "interrupted",
            },
            settings_text: dir.settings()?.map(|_| settings.without_secrets().to_toml()),
            seeds: dir.seeds()?.into_iter().map(String::from).collect(),
            lengths: Some(dir.lengths()?),
            learned: Some(Learned::stored(settings.dedup.on_duplicate, dir.session())?),
            settings,
        })
    }

    /// The data if only the outputs can be read: a process that does not answer is crawling in the directory, or an
    /// earlier version wrote the state.
    fn of_outputs(stop_reason: &'static str) -> Self {
        Self {
            stats: Stats::default(),
            stop_reason,
            settings: Settings::default(),
            settings_text: None,
            seeds: Vec::new(),
            lost: None,
            learned: None,
            lengths: None,
        }
    }

    fn summary(&self) -> Summary {
        let known = self.lengths.is_some();
        let (troubles, worst_hosts) = outcome::faults(&self.stats);
        Summary {
            seeds: self.seeds.clone(),
            on_duplicate: known.then(|| format!("{:?}", self.settings.dedup.on_duplicate).to_lowercase()),
            distance: known.then_some(self.settings.dedup.distance),
            round: self.stats.round.clone(),
            freshness: self.stats.freshness.clone(),
            elapsed_ms: known.then_some(self.stats.elapsed_ms),
            stop_reason: Some(self.stop_reason.into()),
            ending: Some(outcome::ending(&self.stats, self.stop_reason, self.lost)),
            troubles,
            worst_hosts,
            urls_seen: known.then_some(self.stats.urls_seen),
            frontier: known.then_some(self.stats.frontier),
            held: known.then_some(self.stats.held),
            lost: self.lost,
            learned: self.learned.clone(),
            settings: self.settings_text.clone(),
        }
    }

    /// The counters, computed from the outputs.
    fn counted(&self, report: &Report) -> Stats {
        let tally = report.tally();
        let verdicts = tally.verdicts;
        Stats {
            pages: verdicts.pages(),
            unique: verdicts.unique,
            exact: verdicts.exact,
            unchanged: verdicts.unchanged,
            near: verdicts.near,
            unjudged: verdicts.unjudged,
            failed: verdicts.failed,
            statuses: tally.statuses.iter().map(|(status, count)| (*status, *count)).collect(),
            not_kept: tally.errors.get(NOT_STORED).map_or(0, |errors| errors.count),
            links_found: tally.links,
            links_dropped: tally.links_dropped,
            bytes: tally.bytes,
            ..Stats::default()
        }
    }
}
