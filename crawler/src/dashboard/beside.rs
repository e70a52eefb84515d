//! What a process tells beside its crawl, and who may ask for it: the part of a worker of a crawl on many machines.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Something beside the crawl that can be well or not, and has metrics.
pub trait Beside: Send + Sync {
    /// Why the process is not well; `None` if it is.
    fn trouble(&self) -> Option<&'static str>;

    /// How long the engine may show no sign of life while it waits for others.
    fn patience(&self) -> Duration;

    /// Metrics. Those of one name stand together.
    fn metrics(&self) -> Vec<Metric>;
}

/// A metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Metric {
    /// Without the prefix of the program.
    pub name: &'static str,
    /// For people.
    pub help: &'static str,
    /// Name and value of its label.
    pub label: Option<(&'static str, &'static str)>,
    /// Whether it only grows.
    pub is_counter: bool,
    /// How much.
    pub value: f64,
}

/// What is told beside the crawl, and to whom.
#[derive(Clone, Default)]
pub struct Reach {
    /// Names by which `/metrics` and `/healthz` may be asked for, beside addresses and `localhost`.
    pub hosts: Vec<String>,
    /// What is beside the crawl.
    pub beside: Option<Arc<dyn Beside>>,
}

impl fmt::Debug for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reach").field("hosts", &self.hosts).finish_non_exhaustive()
    }
}
