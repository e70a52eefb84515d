//! The jobs that are open: the channels to and from fetchers and page workers, and the credits that bound them.
//!
//! A job costs a credit, and its report gives the credit back. Every channel has a slot for every credit, so that no
//! send can block.

use crossbeam_channel::Receiver;
use dedup_stage::pipeline::Reorder;
use frontier::{Job, JobKind};
use tokio::sync::mpsc;

use super::error::{EngineError, Result};
use super::message::{JobReport, Order};
use super::under_way::UnderWay;
use crate::fetch::pressure::Pressure;

/// The jobs that are open.
pub(super) struct Jobs {
    /// To the fetchers.
    orders: mpsc::Sender<Order>,
    /// From the page workers.
    pub reports: Receiver<Vec<JobReport>>,
    /// Puts reports into the order in which their answers came.
    reorder: Reorder<JobReport>,
    /// The number of jobs that may still be opened.
    credits: usize,
    open: usize,
    /// The number of page jobs among the open ones. It is needed so that `--max-pages` is not exceeded.
    open_pages: u64,
    /// Tells the fetchers whether hosts wait for a credit.
    pressure: Pressure,
    /// Tells the page workers which report is taken next, and when the engine ends.
    under_way: UnderWay,
}

impl Jobs {
    /// Begins without an open job. At most `credits` jobs may be open.
    pub fn new(
        credits: usize,
        orders: mpsc::Sender<Order>,
        reports: Receiver<Vec<JobReport>>,
        pressure: Pressure,
        under_way: UnderWay,
    ) -> Self {
        Self { orders, reports, reorder: Reorder::default(), credits, open: 0, open_pages: 0, pressure, under_way }
    }

    /// Whether another job may be opened.
    pub fn has_credit(&self) -> bool {
        self.credits > 0
    }

    /// The number of jobs that may still be opened.
    pub fn credits(&self) -> usize {
        self.credits
    }

    /// The number of jobs open now.
    pub fn open(&self) -> usize {
        self.open
    }

    /// The number of page jobs open now.
    pub fn open_pages(&self) -> u64 {
        self.open_pages
    }

    /// Opens a job; there must be a credit.
    pub fn start(&mut self, order: Order) -> Result<()> {
        self.credits -= 1;
        self.open += 1;
        self.open_pages += u64::from(is_page(&order.job));
        let sent = self.orders.try_send(order);
        sent.map_err(|_| EngineError::Internal("the fetchers are gone"))
    }

    /// Tells the fetchers whether hosts wait for a credit.
    pub fn set_pressure(&self, waiting: bool) {
        self.pressure.set(waiting);
    }

    /// Takes reports that have come.
    pub fn arrived(&mut self, reports: Vec<JobReport>) {
        for report in reports {
            self.reorder.push(report.sequence, report);
        }
    }

    /// The next report in order, if it has come. Its credit is free again.
    pub fn next_report(&mut self) -> Option<JobReport> {
        let report = self.pop()?;
        self.end(&report);
        Some(report)
    }

    /// The next report in order, if it has come. Its job is open until [`Jobs::end`].
    pub fn pop(&mut self) -> Option<JobReport> {
        let report = self.reorder.pop()?;
        self.under_way.next(self.reorder.next());
        Some(report)
    }

    /// Ends the job of a report: its credit is free again.
    pub fn end(&mut self, report: &JobReport) {
        self.credits += 1;
        self.open -= 1;
        self.open_pages -= u64::from(is_page(&report.job));
    }
}

/// Whether a job counts for `--max-pages`.
fn is_page(job: &Job) -> bool {
    job.kind == JobKind::Page && !job.is_requisite()
}

impl Drop for Jobs {
    fn drop(&mut self) {
        self.under_way.close();
    }
}
