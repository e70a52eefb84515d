//! Requests to the brokers that are made again until they succeed. Brokers that begin, that choose a leader, or whose
//! disks are slow answer late or with an error. That passes, so a worker that starts in the meantime waits for them.

use std::fmt::Display;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::task::WorkerError;
use super::{ANSWER, ClusterError};

/// The pause before a request is made again for the first time. Each later pause is twice as long …
const FIRST: Duration = Duration::from_millis(250);
/// … but not longer than this.
const LONGEST: Duration = Duration::from_secs(5);
/// The time for which the answer "there is no such crawl" is doubted: a broker that starts may give it before it has
/// read all that it stores.
const DOUBT: Duration = ANSWER;

/// An error that may pass.
pub trait Fault: Display {
    /// How long it may last.
    fn lasts(&self) -> Lasts;
}

/// The time that a fault lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lasts {
    /// Until the brokers are well again.
    UntilWell,
    /// For a short time, or for ever.
    ShortOrEver,
    /// For ever: to ask again is of no use.
    Ever,
}

impl Fault for ClusterError {
    fn lasts(&self) -> Lasts {
        match self {
            Self::Broker { .. } => Lasts::UntilWell,
            Self::Missing(_) => Lasts::ShortOrEver,
            Self::Usage(_)
            | Self::Refused { .. }
            | Self::Damaged(_)
            | Self::Lost(_)
            | Self::Silent(_)
            | Self::Io(_) => Lasts::Ever,
        }
    }
}

impl Fault for WorkerError {
    fn lasts(&self) -> Lasts {
        match self {
            Self::Cluster(error) => error.lasts(),
            _ => Lasts::Ever,
        }
    }
}

/// The faults of a request so far.
struct Tries {
    pause: Duration,
    /// The time since which the fault may be one that lasts for ever.
    doubted: Option<Instant>,
}

impl Tries {
    fn new() -> Self {
        Self { pause: FIRST, doubted: None }
    }

    /// The pause after a fault, before the request is made again; `None` if it is of no use to make it again.
    fn pause(&mut self, lasts: Lasts, now: Instant) -> Option<Duration> {
        let passes = match lasts {
            Lasts::UntilWell => true,
            Lasts::ShortOrEver => now - *self.doubted.get_or_insert(now) < DOUBT,
            Lasts::Ever => false,
        };
        let pause = self.pause;
        self.pause = (pause * 2).min(LONGEST);
        passes.then_some(pause)
    }
}

/// Makes a request, and makes it again while it fails for a reason that may pass. Each time, the log tells the reason.
/// If `is_over` is true, the request is not made again.
pub async fn patiently<T, E: Fault>(
    is_over: impl Fn() -> bool,
    mut request: impl AsyncFnMut() -> Result<T, E>,
) -> Result<T, E> {
    let mut tries = Tries::new();
    loop {
        let error = match request().await {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        let Some(pause) = tries.pause(error.lasts(), Instant::now()).filter(|_| !is_over()) else { return Err(error) };
        tracing::warn!("{error}; asking again");
        sleep(pause).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_made_again_while_brokers_fail_and_not_after_a_fault_that_stays() {
        let (mut tries, mut now) = (Tries::new(), Instant::now());
        for expected in [250, 500, 1_000, 2_000, 4_000, 5_000, 5_000] {
            let fault = ClusterError::Broker { what: "reading".into(), error: "timed out".into() };
            let pause = tries.pause(fault.lasts(), now).unwrap();
            assert_eq!(pause, Duration::from_millis(expected));
            now += pause;
        }
        for fault in [ClusterError::Lost("gone".into()), ClusterError::Usage("wrong".into())] {
            assert_eq!(tries.pause(WorkerError::from(fault).lasts(), now), None);
        }
    }

    #[test]
    fn that_there_is_no_crawl_is_doubted_for_a_short_time() {
        let (mut tries, begin) = (Tries::new(), Instant::now());
        let lasts = ClusterError::Missing("no crawl".into()).lasts();
        assert!(tries.pause(lasts, begin).is_some());
        assert!(tries.pause(lasts, begin + DOUBT / 2).is_some());
        assert!(tries.pause(lasts, begin + DOUBT).is_none());
    }
}
