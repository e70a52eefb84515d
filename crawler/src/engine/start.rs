//! Starting a crawl: the threads and channels around the engine, and the engine itself.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::never;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::error::{EngineError, Result};
use super::jobs::Jobs;
use super::ledger::Ledger;
use super::log::Log;
use super::main_loop::Engine;
use super::message::JobReport;
use super::parts::Parts;
use super::peers::state::PeerState;
use super::scores::Scores;
use super::state::EngineState;
use super::stats::{Observer, Stats, StopReason};
use super::stopwatch::Stopwatch;
use super::trouble::HostTroubles;
use super::under_way::UnderWay;
use super::usage::OriginUsage;
use super::workers::fetchers::Fetchers;
#[cfg(feature = "pdf")]
use super::workers::pdfs;
use super::workers::{line_up, scoring, worker};
use super::{login, rescue};
use crate::fetch::Fetch;
use crate::fetch::budget::ByteBudget;
use crate::fetch::pressure::Pressure;
use crate::score::Program;

/// Runs a crawl to its end.
pub fn run<F: Fetch>(parts: Parts<'_>, fetch: F, observer: &mut dyn Observer) -> Result<(StopReason, Stats)> {
    let settings = parts.settings;
    let credits = settings.fetch.concurrency.max(1);
    let (orders, orders_out) = mpsc::channel(credits);
    let (fetched, lines) = line_up::lines(credits);
    let (reports_in, reports) = crossbeam_channel::bounded::<Vec<JobReport>>(credits);
    let (abandon, pressure) = (CancellationToken::new(), Pressure::new(credits));

    let threads = match settings.dedup.threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    };
    let fetch = Arc::new(fetch);
    let log_in = login::with(&fetch, settings, &parts.clock);
    let fetchers = Fetchers {
        fetch,
        clock: parts.clock.clone(),
        budget: ByteBudget::for_slots(settings.fetch.body_budget.0, credits),
        keep_wire: settings.output.warc,
        pressure: pressure.clone(),
        #[cfg(feature = "pdf")]
        pdfs: pdfs::Pdfs::new(parts.pdf, threads),
        fetched,
    };
    let fetchers = fetchers.start(orders_out, abandon.clone())?;
    let (read_in, scorer) = match settings.focus.has_program() {
        true => {
            let (read_in, read) = crossbeam_channel::bounded::<Vec<JobReport>>(credits);
            let program =
                Program::new(&settings.focus.score_with, Duration::from_millis(settings.focus.score_timeout.0));
            (read_in, Some(scoring::start(program, read, reports_in)?))
        }
        false => (reports_in, None),
    };
    let under_way = UnderWay::default();
    let searcher = parts.flow.judge().searcher(threads);
    let workers = worker::start(threads, &parts.context, searcher.as_ref(), &under_way, &lines, &read_in)?;
    drop((lines, read_in));

    let now = parts.clock.now();
    let scores = Scores::open(settings, parts.context.topic.as_ref(), &parts.session)?;
    let rescue = rescue::Rescue::open(&parts.session)?;
    let peer_state = parts.peers.map(|peers| PeerState::new(peers, &parts.session)).transpose()?;
    let period = settings.rotation().period;
    let ledger = Ledger::open(parts.dir.clone(), parts.session, parts.sinks, parts.stats, period, now)?;
    let Parts { frontier, flow, access, clock, .. } = parts;
    let (local, alike, forms, gists, known_pieces, waiting) = Default::default();
    let (shown_words, shown_files, doubtful_sessions) = Default::default();
    let hosts = HostTroubles::after(ledger.stats.worst_hosts());
    let usage = OriginUsage::new(&settings.fetch.user_agent, &settings.access.purpose);
    let log = Log::open(&settings.output)?;
    let mut state = EngineState {
        settings,
        frontier,
        flow,
        access,
        usage,
        scores,
        ledger,
        rescue,
        unfinished: None,
        visits: None,
        continuous: None,
        robots_due: None,
        drained: None,
        shortened: None,
        log,
        waiting,
        requisites: 0,
        requisite_hosts: HashSet::new(),
        local,
        hosts,
        alike,
        forms,
        gists,
        known_pieces,
        shown_words,
        shown_files,
        doubtful_sessions,
        clock,
        stopwatch: Stopwatch::new(),
        peer_state,
    };
    if let Some(round) = &mut state.ledger.stats.round {
        round.spent = false;
    }
    // Only the end of the run tells whether the crawl is finished, and a run that is killed has no end.
    state.ledger.stats.was_finished &= parts.only_visits;
    state.find_hosts_away()?;
    if settings.refresh.continuous {
        state.begin_continuous()?;
    } else if settings.fetch.recrawl {
        state.begin_round(parts.only_visits)?;
    }
    let mut engine = Engine {
        state,
        jobs: Jobs::new(credits, orders, reports, pressure, under_way),
        dir: parts.dir,
        control: parts.control,
        observer,
        log_in,
        logged_in: never(),
        due: None,
        more: true,
        last_tick: now,
        paused: false,
        stopping: None,
    };
    let result = engine.run();
    let stats = engine.state.ledger.stats.clone();
    abandon.cancel();
    drop(engine);
    for thread in workers.into_iter().chain([fetchers]).chain(scorer) {
        thread.join().map_err(|_| EngineError::Internal("a thread panicked"))?;
    }
    result.map(|reason| (reason, stats))
}
