//! The actions of an operator: make a crawl, look at it, stop it.

use config::Settings;
use dedup_stage::signature;
use dedup_stage::url::KeyHasher;
use url::Url;

use super::board::{Board, Versioned};
use super::connect::{Broker, BrokerArgs, BrokerConnection};
use super::record::{Control, Crawl, FORMAT, WantedState, keys, random};
use super::shares::{Assignment, Stay};
use super::worker::crawl;
use super::{ClusterError, Result, broker, commits, links, pages};
use crate::clock::Clock;

/// The shape of a crawl on many machines.
#[derive(Clone, Debug, clap::Args)]
pub struct ClusterShape {
    /// Parts into which the registrable domains are cut; each worker has as many of them as any other
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    partitions: u32,
    /// Workers that share the hosts at first; crawling begins when all have come [default: those that have come when
    /// nobody has come for 5 s]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    workers: Option<u64>,
    /// Brokers that keep each message
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=5))]
    replicas: u64,
    /// How long a worker's lease on its hosts is good for: brokers may be away for half of it before the worker pauses
    #[arg(long, value_name = "DURATION", default_value = "30s")]
    lease: config::Duration,
}

impl ClusterShape {
    /// The usual shape for a number of workers.
    pub fn of(workers: usize, lease: config::Duration) -> Self {
        Self { partitions: 256.max(workers as u32), workers: Some(workers as u64), replicas: 3, lease }
    }
}

/// Makes a crawl. `say` gets lines for the user if that takes long.
///
/// # Errors
///
/// [`ClusterError::Usage`] if there is a crawl with this name already, or for settings that many machines cannot follow
/// yet. [`ClusterError::Broker`] if a broker is not well.
pub async fn create(
    access: &BrokerArgs,
    shape: &ClusterShape,
    mut settings: Settings,
    seeds: Vec<Url>,
    say: &mut dyn FnMut(String),
) -> Result<()> {
    refuse_settings(&settings)?;
    refuse_shape(shape)?;
    settings.output.dashboard.clear();
    let cluster = access.connect().await?;
    if let Some(Broker { monitor, .. }) = access.brokers().await.into_iter().find(|one| !one.is_well) {
        return Err(broker(&format!("--monitor {monitor}"))(
            "it is not well; a crawl is made only when all brokers are",
        ));
    }
    let board = Board::open(&cluster).await?;
    // If there is no board, asking for a record fails.
    if let Ok(Some(_)) = board.get::<Crawl>(keys::CRAWL).await {
        let name = cluster.name();
        return Err(ClusterError::Usage(format!("there is a crawl {name:?} already; give another --name")));
    }
    let replicas = shape.replicas as usize;
    links::create(&cluster, replicas, say).await?;
    pages::create(&cluster, replicas, say).await?;
    commits::create(&cluster, replicas, say).await?;
    Board::create(&cluster, replicas, say).await?;
    let crawl = Crawl {
        format: FORMAT,
        recipe: signature::RECIPE.into(),
        id: random::<8>()?,
        secret: random::<{ KeyHasher::SECRET }>()?,
        settings: settings.to_toml(),
        seeds,
        partitions: shape.partitions,
        workers: shape.workers.unwrap_or(0) as usize,
        lease: shape.lease.0,
        created: Clock::System.now(),
    };
    board
        .put(keys::CRAWL, &crawl, 0)
        .await?
        .map(|_| ())
        .ok_or_else(|| ClusterError::Usage("somebody else makes it".into()))
}

/// Refuses settings that many machines cannot follow yet.
pub fn refuse_settings(settings: &Settings) -> Result<()> {
    let cannot = [
        (settings.fetch.recrawl, "--recrawl"),
        (settings.refresh.continuous, "--continuous"),
        (settings.focus.is_on(), "a topic or --score-with"),
        (!settings.dedup.known.is_empty(), "--known"),
    ];
    if let Some((_, what)) = cannot.iter().find(|(asked, _)| *asked) {
        return Err(ClusterError::Usage(format!("{what} works on one machine only so far")));
    }
    Ok(())
}

/// Refuses a shape in which some workers would have nothing to do, or could not keep their hosts.
fn refuse_shape(shape: &ClusterShape) -> Result<()> {
    if shape.workers.is_some_and(|workers| workers > u64::from(shape.partitions)) {
        return Err(ClusterError::Usage("more --workers than --partitions: some would have no hosts".into()));
    }
    if shape.lease.0 < 1_000 {
        return Err(ClusterError::Usage("--lease: at least 1s".into()));
    }
    Ok(())
}

/// Tells all workers what to do. With `max_pages`, also changes the limit of the pages that they may fetch in all.
pub async fn want(access: &BrokerArgs, wish: WantedState, max_pages: Option<u64>) -> Result<()> {
    let board = open(access).await?.1;
    if let Some(most) = max_pages {
        allow(&board, most).await?;
    }
    let unsure = |error| match error {
        ClusterError::Broker { what, error } => {
            let error = format!(
                "{error}. The order may have been stored all the same, and hold later: see `crawler cluster status`"
            );
            ClusterError::Broker { what, error }
        }
        other => other,
    };
    board.set(keys::CONTROL, &Control { wish }).await.map(|_| ()).map_err(unsure)
}

/// Changes `--max-pages`.
async fn allow(board: &Board, most: u64) -> Result<()> {
    loop {
        let Versioned { record: mut crawl, revision, .. } = crawl(board).await?;
        let mut settings = crawl.settings().map_err(|error| ClusterError::Usage(error.to_string()))?;
        if settings.limits.max_pages == most {
            return Ok(());
        }
        settings.limits.max_pages = most;
        crawl.settings = settings.to_toml();
        if board.put(keys::CRAWL, &crawl, revision).await?.is_some() {
            return Ok(());
        }
    }
}

/// Adds seeds. Returns the number of new ones.
pub async fn add_seeds(access: &BrokerArgs, seeds: Vec<Url>) -> Result<usize> {
    let board = open(access).await?.1;
    loop {
        let Versioned { record: mut crawl, revision, .. } = crawl(&board).await?;
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

/// Makes the worker of a share (by its number from 1) leave the crawl.
///
/// # Errors
///
/// [`ClusterError::Usage`] if there is no such share, or no other share that stays.
pub async fn remove(access: &BrokerArgs, number: usize) -> Result<()> {
    let board = open(access).await?.1;
    let remove = |assignment: &mut Assignment| {
        let share = number.checked_sub(1).filter(|share| *share < assignment.shares.len() && assignment.settled);
        let share = share.ok_or_else(|| ClusterError::Usage(format!("there is no share {number}: see status")))?;
        let changes = assignment.begin_to_leave(share);
        if assignment.shares[share].stay == Stay::Stays {
            let what = "no other worker is to have hosts: start one first, or use `stop`";
            return Err(ClusterError::Usage(what.into()));
        }
        Ok(changes)
    };
    board.change(keys::ASSIGNMENT, remove).await.map(|_| ())
}

/// Connects to the brokers of a crawl.
pub(super) async fn open(access: &BrokerArgs) -> Result<(BrokerConnection, Board)> {
    let cluster = access.connect().await?;
    let board = Board::open(&cluster).await?;
    // If there is no crawl of this name, this reports it. A wish would be written without such a check.
    board.get::<serde_json::Value>(keys::CRAWL).await?;
    Ok((cluster, board))
}
