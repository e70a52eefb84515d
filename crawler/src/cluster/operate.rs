//! What an operator does: makes a crawl, looks at it, stops it.

use std::fmt;

use config::Settings;
use dedup_stage::signature;
use dedup_stage::url::KeyHasher;
use serde::Serialize;
use url::Url;

use super::board::{Board, Message};
use super::connect::Access;
use super::record::{Control, Crawl, FORMAT, Muster, Wish, Worker, keys, random};
use super::watch::last_link;
use super::worker::crawl;
use super::{ClusterError, Result, commits, links, pages};
use crate::clock::Clock;
use crate::engine::{Phase, Standing, Stats};

/// The shape of a crawl on many machines.
#[derive(Clone, Debug, clap::Args)]
pub struct Shape {
    /// Parts into which the registrable domains are cut; a worker has a range of them
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    partitions: u32,
    /// Workers that share the hosts; crawling begins when all have come [default: those that have come when nobody has
    /// come for 5 s]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    workers: usize,
    /// Brokers that keep each message
    #[arg(long, value_name = "N", default_value_t = 3)]
    replicas: usize,
    /// How long a worker's lease on its hosts is good for: brokers may be away for half of it before the worker pauses
    #[arg(long, value_name = "DURATION", default_value = "30s")]
    lease: config::Duration,
}

/// Makes a crawl.
///
/// # Errors
///
/// [`ClusterError::Usage`] where there is one of its name, or settings that many machines cannot follow yet.
pub async fn create(access: &Access, shape: &Shape, mut settings: Settings, seeds: Vec<Url>) -> Result<()> {
    refuse(&settings, shape)?;
    settings.output.dashboard.clear();
    let cluster = access.connect().await?;
    // Where there is no board, asking for a record fails.
    let board = Board::open(&cluster).await?;
    if let Ok(Some(_)) = board.get::<Crawl>(keys::CRAWL).await {
        let name = cluster.name();
        return Err(ClusterError::Usage(format!("there is a crawl {name:?} already; give another --name")));
    }
    links::create(&cluster, shape.replicas).await?;
    pages::create(&cluster, shape.replicas).await?;
    commits::create(&cluster, shape.replicas).await?;
    Board::create(&cluster, shape.replicas).await?;
    let crawl = Crawl {
        format: FORMAT,
        recipe: signature::RECIPE.into(),
        id: random::<8>()?,
        secret: random::<{ KeyHasher::SECRET }>()?,
        settings: settings.to_toml(),
        seeds,
        partitions: shape.partitions,
        workers: shape.workers,
        lease: shape.lease.0,
        created: Clock::System.now(),
    };
    board
        .put(keys::CRAWL, &crawl, 0)
        .await?
        .map(|_| ())
        .ok_or_else(|| ClusterError::Usage("somebody else makes it".into()))
}

/// What many machines cannot do yet.
fn refuse(settings: &Settings, shape: &Shape) -> Result<()> {
    let cannot = [
        (settings.limits.max_pages > 0, "--max-pages"),
        (settings.fetch.recrawl, "--recrawl"),
        (settings.refresh.continuous, "--continuous"),
        (settings.focus.is_on(), "a topic or --score-with"),
        (!settings.dedup.known.is_empty(), "--known"),
    ];
    if let Some((_, what)) = cannot.iter().find(|(asked, _)| *asked) {
        return Err(ClusterError::Usage(format!("{what} works on one machine only so far")));
    }
    if shape.workers > shape.partitions as usize {
        return Err(ClusterError::Usage("more --workers than --partitions: some would have no hosts".into()));
    }
    if shape.lease.0 < 1_000 {
        return Err(ClusterError::Usage("--lease: at least 1s".into()));
    }
    Ok(())
}

/// Tells all workers what to do.
pub async fn wish(access: &Access, wish: Wish) -> Result<()> {
    let board = open(access).await?.1;
    board.set(keys::CONTROL, &Control { wish }).await.map(|_| ())
}

/// Adds seeds. How many are new.
pub async fn add_seeds(access: &Access, seeds: Vec<Url>) -> Result<usize> {
    let board = open(access).await?.1;
    loop {
        let Message { record: mut crawl, revision, .. } = crawl(&board).await?;
        let before = crawl.seeds.len();
        for seed in &seeds {
            if !crawl.seeds.contains(seed) {
                crawl.seeds.push(seed.clone());
            }
        }
        let added = crawl.seeds.len() - before;
        if added == 0 || board.put(keys::CRAWL, &crawl, revision).await?.is_some() {
            return Ok(added);
        }
    }
}

async fn open(access: &Access) -> Result<(super::Cluster, Board)> {
    let cluster = access.connect().await?;
    let board = Board::open(&cluster).await?;
    Ok((cluster, board))
}

/// How a crawl stands.
#[derive(Debug, Serialize)]
pub struct Status {
    /// What the operator wishes.
    pub wish: Wish,
    /// Whether the hosts are shared among the workers.
    pub settled: bool,
    /// Each worker, by its share.
    pub workers: Vec<OfWorker>,
}

/// How a worker stands.
#[derive(Debug, Serialize)]
pub struct OfWorker {
    /// Number of its share, from 1.
    pub share: usize,
    /// Its machine.
    pub host: String,
    /// What it does.
    pub phase: Phase,
    /// Seconds since it last said so, by the clocks of this machine and of a broker.
    pub silent: i64,
    /// Whether links for it have come that it has not taken.
    pub links_wait: bool,
    /// URLs queued.
    pub queued: u64,
    /// Jobs open.
    pub open: usize,
    /// Counters.
    pub stats: Stats,
}

/// Looks at a crawl.
pub async fn status(access: &Access) -> Result<Status> {
    let (cluster, board) = open(access).await?;
    crawl(&board).await?;
    let wish = board.get::<Control>(keys::CONTROL).await?.map_or(Wish::Run, |message| message.record.wish);
    let muster = board.get::<Muster>(keys::MUSTER).await?.map(|message| message.record).unwrap_or_default();
    let now = (Clock::System.now() / 1_000) as i64;
    let mut workers = Vec::new();
    for (share, Worker { host, .. }) in muster.workers.into_iter().enumerate() {
        let told = board.get::<Standing>(&keys::standing(share)).await?;
        let (standing, silent) =
            told.map_or((Standing::default(), 0), |told| (told.record, (now - told.written).max(0)));
        let Standing { phase, links_at, queued, open, stats, .. } = standing;
        let links_wait = last_link(&cluster, share).await? > links_at;
        workers.push(OfWorker { share: share + 1, host, phase, silent, links_wait, queued, open, stats });
    }
    Ok(Status { wish, settled: muster.settled, workers })
}

impl Status {
    /// The counters of all workers together, as JSON.
    pub fn total(&self) -> serde_json::Map<String, serde_json::Value> {
        let mut total = serde_json::Map::new();
        for worker in &self.workers {
            if let Ok(serde_json::Value::Object(stats)) = serde_json::to_value(&worker.stats) {
                add(&mut total, stats);
            }
        }
        total
    }
}

/// Adds numbers to numbers of the same name.
fn add(total: &mut serde_json::Map<String, serde_json::Value>, more: serde_json::Map<String, serde_json::Value>) {
    use serde_json::Value;
    for (name, value) in more {
        let sum = match (total.remove(&name), value) {
            (Some(Value::Object(mut inner)), Value::Object(more)) => {
                add(&mut inner, more);
                Value::Object(inner)
            }
            (Some(Value::Number(a)), Value::Number(b)) => match (a.as_u64(), b.as_u64()) {
                (Some(a), Some(b)) => Value::from(a + b),
                _ => Value::from(a.as_f64().unwrap_or(0.0) + b.as_f64().unwrap_or(0.0)),
            },
            (Some(Value::Bool(a)), Value::Bool(b)) => Value::Bool(a && b),
            (_, value) => value,
        };
        total.insert(name, sum);
    }
}

/// Counters for people: those that are numbers, one a line.
pub fn text(total: &serde_json::Map<String, serde_json::Value>) -> String {
    let numbers = total.iter().filter(|(_, value)| value.as_u64().is_some_and(|number| number > 0));
    numbers.map(|(name, value)| format!("{:<20} {value}\n", name.replace('_', " "))).collect()
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let wish = match self.wish {
            Wish::Run => "running",
            Wish::Pause => "paused",
            Wish::Stop => "stopped",
        };
        let settled = if self.settled { "" } else { "; waiting for more workers" };
        writeln!(f, "{wish}, {} workers{settled}", self.workers.len())?;
        if self.workers.is_empty() {
            return Ok(());
        }
        let head = ["share", "machine", "phase", "pages", "unique", "queued", "open", "links", "silent"];
        let mut rows = vec![head.map(str::to_owned)];
        for worker in &self.workers {
            let links = if worker.links_wait { "wait" } else { "-" };
            rows.push([
                worker.share.to_string(),
                worker.host.clone(),
                format!("{:?}", worker.phase).to_lowercase(),
                worker.stats.pages.to_string(),
                worker.stats.unique.to_string(),
                worker.queued.to_string(),
                worker.open.to_string(),
                links.into(),
                format!("{} s", worker.silent),
            ]);
        }
        let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..head.len()).map(width).collect();
        for row in &rows {
            let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
            writeln!(f, "{}", cells.join("  ").trim_end())?;
        }
        Ok(())
    }
}
