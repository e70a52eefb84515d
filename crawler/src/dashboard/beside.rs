//! Health and metrics of something beside the crawl of a process, and the host names under which they may be requested.
//! A worker of a crawl on many machines reports its lease and its traffic with the brokers in this way.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Something beside the crawl that can be well or not, and has metrics.
pub trait Beside: Send + Sync {
    /// The reason why the process is not well; `None` if it is.
    fn trouble(&self) -> Option<&'static str>;

    /// The time for which the engine may show no sign of life while it waits for others.
    fn patience(&self) -> Duration;

    /// The metrics. Metrics with the same name follow each other.
    fn metrics(&self) -> Vec<Metric>;
}

/// A metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Metric {
    /// The name, without the prefix of the program.
    pub name: &'static str,
    /// The description, for people.
    pub help: &'static str,
    /// The name and the value of its label.
    pub label: Option<(&'static str, &'static str)>,
    /// Whether the value only grows.
    pub is_counter: bool,
    /// The value.
    pub value: f64,
}

/// The name of the crawl, the source of reports beside it, and the host names under which the live page gives them.
#[derive(Clone, Default)]
pub struct LiveNames {
    /// The crawl in a few words, such as the hosts of its seeds. Empty if it is not known.
    pub name: String,
    /// The names under which `/metrics` and `/healthz` may be requested, besides addresses and `localhost`.
    pub hosts: Vec<String>,
    /// The source of the health and the metrics beside the crawl.
    pub beside: Option<Arc<dyn Beside>>,
}

impl fmt::Debug for LiveNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveNames").field("hosts", &self.hosts).finish_non_exhaustive()
    }
}
