//! Judges the politeness of a crawler by the log of the servers.

use std::time::Duration;

use super::{SeenRequest, Town};

/// The lifetime of one process of the crawl.
#[derive(Clone, Copy, Debug)]
pub struct Process {
    /// The start of the process.
    pub start: Duration,
    /// The end of the process.
    pub end: Duration,
}

/// The judgement about a crawl. The fields `overlapping`, `early`, `forbidden` and `early_retries` must be 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judgement {
    /// The number of requests.
    pub requests: usize,
    /// The number of requests that came while another to the same host was open.
    pub overlapping: usize,
    /// The number of requests that came before the delay after the previous answer was over.
    pub early: usize,
    /// The shortest wait between two requests, minus the delay.
    pub smallest_excess: Option<Duration>,
    /// The number of requests for paths that robots.txt forbids.
    pub forbidden: usize,
    /// The number of answers with Retry-After that were followed by a request.
    pub retries: usize,
    /// The number of these requests that came too early.
    pub early_retries: usize,
    /// The longest time between the moment from which a retry was allowed (by Retry-After and by the delay) and the
    /// retry.
    pub latest_retry: Duration,
    /// The number of requests to hosts that are never busy.
    pub made: usize,
    /// The number of requests that the delays of these hosts allowed in the same time.
    pub allowed: usize,
    /// The number of requests to the addresses.
    pub made_to_addresses: usize,
    /// The number of requests that the delay of the addresses (`floor`) allowed in the same time.
    pub allowed_to_addresses: usize,
    /// The largest number of requests to one address within a second.
    pub busiest_second: usize,
}

impl Judgement {
    /// Judges the log of a crawl by these processes. `base` is the delay of a host whose robots.txt is not known yet;
    /// `floor` is the delay of an address.
    pub fn of(town: &Town, log: &[SeenRequest], processes: &[Process], base: Duration, floor: Duration) -> Self {
        let mut judgement = Self { requests: log.len(), ..Self::default() };
        judgement.overlapping = log.iter().filter(|seen| seen.open > 1).count();
        judgement.forbidden = log.iter().filter(|seen| seen.path.starts_with("/private/")).count();
        for host in 0..town.hosts {
            let seen: Vec<_> = log.iter().filter(|seen| seen.host == host).collect();
            judgement.gaps(town, host, &seen, processes, base);
            if !town.is_busy(host) {
                judgement.rate(town, host, &seen, processes);
            }
        }
        for address in 0..usize::from(town.addresses) {
            let times: Vec<_> =
                log.iter().filter(|seen| town.address(seen.host) == address).map(|seen| seen.arrived).collect();
            judgement.address(&times, processes, floor);
        }
        judgement
    }

    fn gaps(&mut self, town: &Town, host: usize, seen: &[&SeenRequest], processes: &[Process], base: Duration) {
        let mut delay = base;
        for pair in seen.windows(2) {
            let (before, after) = (pair[0], pair[1]);
            let Some(ended) = before.ended else { continue };
            if before.path == "/robots.txt" {
                delay = town.delay(host);
            }
            match after.arrived.checked_sub(ended + delay) {
                Some(excess) => {
                    self.smallest_excess = Some(self.smallest_excess.map_or(excess, |least| least.min(excess)));
                }
                None => self.early += 1,
            }
            if let Some(until) = before.retry_after {
                self.retries += 1;
                self.early_retries += usize::from(after.arrived < until);
                // If the crawler was killed in between, it may come back later than that.
                if processes.iter().any(|process| process.holds(before.arrived) && process.holds(after.arrived)) {
                    let late = after.arrived.saturating_sub(until.max(ended + delay));
                    self.latest_retry = self.latest_retry.max(late);
                }
            }
        }
    }

    /// Counts from the first request to the host in a process. The time before that went into finding the host.
    fn rate(&mut self, town: &Town, host: usize, seen: &[&SeenRequest], processes: &[Process]) {
        let times = seen.iter().filter_map(|seen| Some(seen.ended?.saturating_sub(seen.arrived)));
        let response = times.sum::<Duration>() / seen.len().max(1) as u32;
        for process in processes {
            let within: Vec<_> = seen.iter().filter(|seen| process.holds(seen.arrived)).collect();
            if let Some(first) = within.first() {
                let span = process.end.saturating_sub(first.arrived);
                self.made += within.len();
                self.allowed += 1 + (span.as_secs_f64() / (town.delay(host) + response).as_secs_f64()) as usize;
            }
        }
    }

    fn address(&mut self, times: &[Duration], processes: &[Process], floor: Duration) {
        for process in processes {
            let within: Vec<_> = times.iter().filter(|time| process.holds(**time)).collect();
            if let Some(first) = within.first() {
                let span = process.end.saturating_sub(**first);
                self.made_to_addresses += within.len();
                self.allowed_to_addresses += 1 + (span.as_secs_f64() / floor.as_secs_f64().max(1e-6)) as usize;
            }
        }
        for (at, time) in times.iter().enumerate() {
            let after = times[at..].iter().take_while(|later| **later - *time < Duration::from_secs(1)).count();
            self.busiest_second = self.busiest_second.max(after);
        }
    }
}

impl Process {
    fn holds(&self, time: Duration) -> bool {
        (self.start..=self.end).contains(&time)
    }
}
