//! The parts of a crawl before it runs, and the orders that a user gives to it while it runs.

use std::path::PathBuf;
use std::sync::Arc;

use config::Settings;
use crossbeam_channel::Receiver;
use dedup_stage::flow::Flow;
use dedup_stage::store::Session;
use frontier::Frontier;

use super::error::Result;
use super::peers::Peers;
use super::stats::Stats;
use super::workers::worker::Context;
use crate::access::SiteAccess;
use crate::clock::Clock;
use crate::outbound::Outbound;
use crate::sink::Sink;

/// Orders to a running crawl, from its user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// End soon, with the state saved.
    Stop,
    /// Start no new jobs until resumed.
    Pause,
    /// Go on.
    Resume,
}

/// The parts of a crawl before it runs.
pub struct Parts<'a> {
    /// All settings.
    pub settings: &'a Settings,
    /// The crawl directory.
    pub dir: PathBuf,
    /// The state.
    pub session: Session,
    /// The frontier, which decides what to fetch next.
    pub frontier: Frontier,
    /// The judge and the gate.
    pub flow: Flow,
    /// Cookies, accounts and signatures: the identity of the crawl at each site.
    pub access: SiteAccess,
    /// Outputs; the first is `pages.jsonl`, whose offsets page records name.
    pub sinks: Vec<Box<dyn Sink>>,
    /// Counters so far.
    pub stats: Stats,
    /// The settings of the page workers.
    pub context: Arc<Context>,
    /// The program that reads PDF files.
    #[cfg(feature = "pdf")]
    pub pdf: crate::pdf::Program,
    /// The clock.
    pub clock: Clock,
    /// The channel of orders.
    pub control: Receiver<Control>,
    /// Whether the run is only for a round of visits. If so, a crawl that is not finished does not go on afterwards.
    pub only_visits: bool,
    /// The processes that crawl with this one. On one machine there are none.
    pub peers: Option<Box<dyn Peers>>,
}

impl Parts<'_> {
    /// Takes links from another directory of the same crawl. They are durable when this returns. A link that was found
    /// here before changes nothing, so links may arrive twice.
    pub fn arrive(&mut self, links: &[Outbound]) -> Result<()> {
        for link in links {
            link.arrive(&mut self.frontier, self.clock.now(), &mut self.session)?;
        }
        self.stats.take_counts(&self.frontier.counts());
        self.stats.put(&mut self.session)?;
        Ok(self.session.commit()?)
    }
}
