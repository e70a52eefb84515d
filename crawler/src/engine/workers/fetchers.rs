//! The fetchers: one thread with a tokio runtime, and one task for each job. Each answer gets its sequence number and
//! goes to the page workers. (A heavy answer gets its number later: see `line_up.rs`.) The tasks wait only for the
//! network, and for the child processes that read PDF files.

use std::panic::AssertUnwindSafe;
use std::rc::Rc;
use std::sync::Arc;
use std::thread::JoinHandle;

use frontier::{Job, JobKind};
use futures_util::FutureExt;
use tokio::sync::mpsc;
use tokio::task::LocalSet;
use tokio_util::sync::CancellationToken;

use super::line_up::LineUp;
#[cfg(feature = "pdf")]
use super::pdfs::Pdfs;
use crate::clock::Clock;
use crate::engine::message::{Answer, Fetched, Order};
use crate::fetch::budget::ByteBudget;
use crate::fetch::pressure::Pressure;
use crate::fetch::{Fetch, FetchError, Request};

/// The parts that all fetch tasks share.
pub struct Fetchers<F> {
    /// Brings the answers.
    pub fetch: Arc<F>,
    /// Gives the times of failures.
    pub clock: Clock,
    /// The budget of memory for bodies.
    pub budget: Arc<ByteBudget>,
    /// Whether bodies are kept as received, for the archive.
    pub keep_wire: bool,
    /// Whether hosts wait for a free slot.
    pub pressure: Pressure,
    /// Reads PDF files.
    #[cfg(feature = "pdf")]
    pub pdfs: Pdfs,
    /// To the page workers.
    pub fetched: LineUp,
}

impl<F: Fetch> Fetchers<F> {
    /// Starts the fetchers. They end when `abandon` is cancelled: open jobs are then left where they are.
    pub fn start(
        self,
        mut orders: mpsc::Receiver<Order>,
        abandon: CancellationToken,
    ) -> std::io::Result<JoinHandle<()>> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        std::thread::Builder::new().name("fetchers".into()).spawn(move || {
            let shared = Rc::new(self);
            let tasks = LocalSet::new();
            let serve = async {
                while let Some(order) = orders.recv().await {
                    tokio::task::spawn_local(answer(Rc::clone(&shared), order));
                }
                abandon.cancelled().await;
            };
            runtime.block_on(tasks.run_until(abandon.run_until_cancelled(serve)));
            // The engine does not wait for a file that is still being read.
            runtime.shutdown_background();
        })
    }

    /// The answer to one job.
    async fn ask(&self, order: Order) -> Result<Answer, FetchError> {
        let Job { kind, url, addresses, .. } = order.job;
        if kind == JobKind::Resolve {
            return self.fetch.resolve(url).await.map(Answer::Addresses);
        }
        let request = Request {
            url,
            kind,
            addresses,
            validators: order.validators,
            fields: order.access_fields.fields,
            form: None,
            budget: Arc::clone(&self.budget),
            keep_wire: self.keep_wire && kind == JobKind::Page,
            attempt: order.job.attempts,
            pressure: self.pressure.clone(),
        };
        self.fetch.fetch(request).await.map(|response| Answer::Response(Box::new(response)))
    }
}

/// Does one job and sends one answer, even if the fetcher panics.
async fn answer<F: Fetch>(shared: Rc<Fetchers<F>>, order: Order) {
    let (job, access_fields, said, cut) =
        (order.job.clone(), order.access_fields.clone(), order.said.clone(), order.cut);
    let is_conditional = order.validators.is_some();
    let answer = AssertUnwindSafe(shared.ask(order)).catch_unwind().await;
    #[cfg_attr(not(feature = "pdf"), allow(unused_mut))]
    let mut answer = answer.unwrap_or_else(|_| Err(FetchError::Protocol("panic in the fetcher".into())));
    // The file is read before the answer gets its number, so that other answers need not wait for it.
    #[cfg(feature = "pdf")]
    let mut document = match &mut answer {
        Ok(Answer::Response(response)) if job.kind == JobKind::Page => shared.pdfs.read(&job.url, response).await,
        _ => None,
    };
    // Some kilobytes unpack to megabytes of text, which wait for a page worker like a body.
    #[cfg(feature = "pdf")]
    if let (Some(Ok(read)), Ok(Answer::Response(response))) = (&document, &mut answer)
        && !response.share.grow(read.bytes() as u64)
    {
        (answer, document) = (Err(FetchError::Budget), None);
    }
    let ended_at = match &answer {
        Ok(Answer::Response(response)) => response.ended_at,
        _ => shared.clock.now(),
    };
    shared.fetched.add(Fetched {
        sequence: None,
        job,
        ended_at,
        access_fields,
        said,
        cut,
        is_conditional,
        answer,
        #[cfg(feature = "pdf")]
        document,
    });
}
