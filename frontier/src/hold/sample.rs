//! Samples of everything that is held or stopped, for the rescue and the estimate at the end of a crawl.

use dedup_stage::url::UrlId;

use crate::url::State;

/// A cluster of held or stopped URLs that most likely share their fate: those of one folder that are held for the same
/// other folder or host, those of one template, those that one rule stopped in one folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cluster(pub u64);

/// One URL of a sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawn {
    /// Which.
    pub id: UrlId,
    /// Its cluster.
    pub cluster: Cluster,
    /// Its record: held or stopped.
    pub state: State,
}

/// A random sample of everything that is held or stopped. The order of keyed hashes makes it random.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// URLs held or stopped, all together.
    pub held: u64,
    /// Those among them that stand for a page that was fetched well: held for a counterpart, or stopped for a
    /// representative, that is done.
    pub covered: u64,
    /// Clusters, if they are not too many to be counted exactly; else an estimate.
    pub clusters: u64,
    /// The URLs that were drawn, by cluster.
    pub drawn: Vec<Drawn>,
}
