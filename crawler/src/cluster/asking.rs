//! The asker's side of a question to a worker ([`super::ask`]).
//!
//! The brokers notice only after minutes that a worker is frozen, or that its machine is gone. So an asker that gets no
//! answer looks at the lease of the share: a living worker renews it every sixth of its length. If the lease is late,
//! the asker gives up, and says what will happen next. If another worker has taken the share, the asker asks that one.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use async_nats::{Message, StatusCode};
use futures_util::StreamExt;
use tokio::time::{sleep, timeout};

use super::ask::{END, FAILED, HEARD, KIND, PATIENCE, Question, subject_of};
use super::board::Board;
use super::connect::BrokerConnection;
use super::record::{Lease, Worker, keys};
use super::shares::Assignment;
use super::status::{LeaseState, late_after};
use super::{ClusterError, Result, broker};
use crate::clock::Clock;

/// The time without an answer after which the user is told what this program waits for.
pub(super) const SOON: Duration = Duration::from_secs(1);
/// The interval at which the lease is read while no answer comes.
const LOOK: Duration = Duration::from_millis(500);
/// The time that a waiting worker needs to take a share when its lease has run out, in seconds.
const TAKES: i64 = 10;

/// The result of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answered {
    /// The answer has been written.
    Yes,
    /// No worker listens for questions about the share. Nothing was written.
    Nobody,
    /// The worker has said nothing yet. Nothing was written.
    Later,
}

/// A question about a share, and what is known about its worker.
pub(super) struct Asking<'a> {
    /// The brokers.
    pub cluster: &'a BrokerConnection,
    /// The board.
    pub board: &'a Board,
    /// The share.
    pub share: usize,
    /// The worker that has the share, as far as the asker knows.
    pub worker: Worker,
    /// The length of a lease, in milliseconds.
    pub length: u64,
    /// The process that has the share.
    life: String,
    /// The last renewal of the lease that the asker has seen.
    renewals: Option<u64>,
    /// The time of the last sign of life. `None`: there was none since the question was put.
    sign: Option<Instant>,
    /// Whether the worker has said that it has heard the question.
    is_heard: bool,
    begin: Instant,
    /// The time of the last message from a worker. If there was none, the begin.
    quiet: Instant,
    /// The time after which the question is put again if nobody has heard it.
    pause: Duration,
    has_told: bool,
}

impl<'a> Asking<'a> {
    /// A question about a share that is about to be put.
    pub fn new(cluster: &'a BrokerConnection, board: &'a Board, share: usize, worker: Worker, length: u64) -> Self {
        let begin = Instant::now();
        Self {
            cluster,
            board,
            share,
            worker,
            length,
            life: String::new(),
            renewals: None,
            sign: None,
            is_heard: false,
            begin,
            quiet: begin,
            pause: SOON,
            has_told: false,
        }
    }

    /// Asks the worker that has the share, and writes its answer to `out`. `say` gets a line for the user if that takes
    /// long. If `may_wait` is false, a worker that says nothing at first is not waited for.
    ///
    /// # Errors
    ///
    /// [`ClusterError::Silent`] if the worker is silent. Other errors if it cannot answer.
    pub async fn ask(
        &mut self,
        question: &Question,
        may_wait: bool,
        out: &mut dyn Write,
        say: &mut dyn FnMut(String),
    ) -> Result<Answered> {
        let json = serde_json::to_vec(question).map_err(io::Error::from)?;
        if self.renewals.is_none() {
            self.look().await?;
        }
        loop {
            if let Some(answered) = self.put(json.clone(), may_wait, out, say).await? {
                return Ok(answered);
            }
        }
    }

    /// Puts the question once. Returns `None` if it should be put again because nobody has heard it: a worker that
    /// takes the share listens only when it has made its state.
    async fn put(
        &mut self,
        json: Vec<u8>,
        may_wait: bool,
        out: &mut dyn Write,
        say: &mut dyn FnMut(String),
    ) -> Result<Option<Answered>> {
        let client = &self.cluster.client;
        let what = &self.cluster.at("asking a worker");
        // A worker that wakes up may still answer an earlier question, so each question has an inbox of its own.
        let inbox = client.new_inbox();
        let mut parts = client.subscribe(inbox.clone()).await.map_err(broker(what))?;
        let subject = subject_of(self.cluster, self.share);
        client.publish_with_reply(subject, inbox, json.into()).await.map_err(broker(what))?;
        client.flush().await.map_err(broker(what))?;
        let (mut has_begun, put) = (false, Instant::now());
        self.is_heard = false;
        loop {
            let Some(part) = timeout(LOOK, parts.next()).await.ok().flatten() else {
                let lease = self.look().await?;
                if self.begin.elapsed() < SOON {
                    continue;
                }
                if self.is_silent(lease) {
                    return Err(self.silent(lease, has_begun));
                }
                if !may_wait && !self.is_heard {
                    return Ok(Some(Answered::Later));
                }
                self.tell(lease, say);
                if self.quiet.elapsed() >= PATIENCE {
                    return Err(ClusterError::Silent(format!(
                        "{}: it has sent nothing for {} s, though it renews its lease. Ask again; if that does not \
                         help, see the log of the worker",
                        self.name(),
                        PATIENCE.as_secs()
                    )));
                }
                if !self.is_heard && put.elapsed() >= self.pause {
                    self.pause *= 2;
                    return Ok(None);
                }
                continue;
            };
            let Message { status, headers, payload, reply, .. } = part;
            if status == Some(StatusCode::NO_RESPONDERS) {
                return Ok(Some(Answered::Nobody));
            }
            (self.quiet, self.sign) = (Instant::now(), Some(Instant::now()));
            let kind = headers.as_ref().and_then(|headers| headers.get(KIND)).map(|kind| kind.as_str().to_owned());
            match kind.as_deref() {
                Some(HEARD) => {
                    self.is_heard = true;
                    continue;
                }
                Some(FAILED) => {
                    let error = String::from_utf8_lossy(&payload).into_owned();
                    return Err(ClusterError::Broker { what: self.name(), error });
                }
                _ => {}
            }
            (has_begun, self.is_heard) = (true, true);
            out.write_all(&payload)?;
            if let Some(reply) = reply {
                client.publish(reply, bytes::Bytes::new()).await.map_err(broker(what))?;
                client.flush().await.map_err(broker(what))?;
            }
            if kind.as_deref() == Some(END) {
                return Ok(Some(Answered::Yes));
            }
        }
    }

    /// Waits a moment for a worker that has the lease and does not listen for questions yet, because it makes its
    /// state.
    ///
    /// # Errors
    ///
    /// [`ClusterError::Silent`] if no worker renews the lease; [`ClusterError::Usage`] if none has it. `nobody` says
    /// where to ask in that case.
    pub async fn wait_for_listener(
        &mut self,
        nobody: impl FnOnce(&Worker) -> ClusterError,
        say: &mut dyn FnMut(String),
    ) -> Result<()> {
        let lease = self.look().await?;
        if matches!(lease, LeaseState::Never | LeaseState::Released) {
            return Err(nobody(&self.worker));
        }
        if self.is_silent(lease) || self.begin.elapsed() >= PATIENCE {
            return Err(self.silent(lease, false));
        }
        if self.begin.elapsed() >= SOON {
            self.tell(lease, say);
        }
        sleep(LOOK).await;
        Ok(())
    }

    /// Reads the lease. If another process has taken the share, also reads who that is.
    async fn look(&mut self) -> Result<LeaseState> {
        let lease = self.board.get::<Lease>(&keys::lease(self.share)).await?;
        let age = |written: i64| ((Clock::System.now() / 1_000) as i64 - written).max(0);
        let state = LeaseState::of(lease.as_ref().map(|lease| (&lease.record, age(lease.written))), self.length);
        let Lease { life, renewals, .. } = lease.map(|lease| lease.record).unwrap_or_default();
        if self.renewals.is_some_and(|before| before != renewals) {
            self.sign = Some(Instant::now());
        }
        if self.renewals.is_some() && self.life != life {
            let assignment = self.board.need::<Assignment>(keys::ASSIGNMENT).await?.record;
            if let Some(share) = assignment.shares.get(self.share) {
                self.worker.clone_from(&share.worker);
            }
            self.has_told = false;
        }
        (self.life, self.renewals) = (life, Some(renewals));
        Ok(state)
    }

    /// Whether nothing was heard of the worker for so long that it is not waited for. Before the first sign of life,
    /// this depends on the clocks of this machine and of a broker; after that, on the clock of this machine alone.
    fn is_silent(&self, lease: LeaseState) -> bool {
        match self.sign {
            Some(sign) => sign.elapsed().as_secs() as i64 > late_after(self.length),
            None => {
                let is_late = self.begin.elapsed().as_secs() as i64 > late_after(self.length);
                is_late || !matches!(lease, LeaseState::Yes { .. })
            }
        }
    }

    /// Tells the user once what this program waits for.
    fn tell(&mut self, lease: LeaseState, say: &mut dyn FnMut(String)) {
        if std::mem::replace(&mut self.has_told, true) {
            return;
        }
        let (name, late) = (self.name(), late_after(self.length));
        say(match lease {
            _ if self.is_heard => format!("{name}: it is making the answer; waiting for it"),
            LeaseState::Yes { renewed } | LeaseState::Late { renewed, .. } => format!(
                "{name}: it does not answer yet. It renewed its lease {renewed} s ago; waiting until it answers, or \
                 has been silent for {late} s"
            ),
            _ => format!("{name}: it does not answer yet; waiting for it"),
        });
    }

    /// The share and its worker, for messages.
    fn name(&self) -> String {
        let Worker { host, dir, .. } = &self.worker;
        format!("share {}, whose worker is on {host} in {dir}", self.share + 1)
    }

    /// The error for a worker that is silent. It says what happens next.
    fn silent(&self, lease: LeaseState, has_begun: bool) -> ClusterError {
        let silence = match (self.sign, lease) {
            (Some(sign), _) => sign.elapsed().as_secs() as i64,
            (None, LeaseState::Yes { renewed } | LeaseState::Late { renewed, .. }) => renewed,
            (None, _) => self.begin.elapsed().as_secs() as i64,
        };
        let broken = if has_begun { " It has stopped amid its answer." } else { "" };
        let next = next(silence, (self.length / 1_000) as i64);
        ClusterError::Silent(format!("{}: nothing was heard of it for {silence} s.{broken} {next}", self.name()))
    }
}

/// What happens after a worker has been silent for some seconds. `length` is the length of its lease in seconds.
///
/// A worker that waits has seen the lease from the beginning. One that starts now must see it unchanged for its whole
/// length ([`super::lease`]).
fn next(silence: i64, length: i64) -> String {
    let starts = length + TAKES;
    match starts - silence {
        left @ 1.. => format!(
            "If it stays silent, a worker that waits takes its hosts within {left} s, and one that you start now takes \
             them within {starts} s. Then ask again"
        ),
        _ => format!(
            "No worker has taken its hosts. Start it again, or start another one, which takes them within {starts} s. \
             Then ask again"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_happens_next_depends_on_the_silence() {
        let early = next(12, 30);
        assert!(early.contains("waits takes its hosts within 28 s") && early.contains("start now"), "{early}");
        assert!(early.contains("them within 40 s"), "{early}");
        let late = next(40, 30);
        assert!(late.starts_with("No worker has taken its hosts") && late.contains("within 40 s"), "{late}");
    }
}
