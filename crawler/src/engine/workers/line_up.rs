//! The answers that wait for a page worker, in two lines, and their numbers in the order of judging.
//!
//! A usual answer gets its number when it comes. The engine takes reports by their numbers, so it waits for the oldest
//! answer that is being read. To read an answer of some megabytes can take half a second, and all others would wait for
//! that. So heavy answers have a line and threads of their own, and get their numbers when they have been read. Small
//! pages overtake them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam_channel::{Receiver, Sender};

use crate::engine::message::Fetched;

/// The beginnings of both lines.
#[derive(Clone, Debug)]
pub struct LineUp {
    usual: Sender<Fetched>,
    heavy: Sender<Fetched>,
    numbers: Numbers,
}

/// The ends of both lines.
#[derive(Clone, Debug)]
pub struct Lines {
    /// The usual answers, each with its number.
    pub usual: Receiver<Fetched>,
    /// The heavy answers, without numbers.
    pub heavy: Receiver<Fetched>,
    /// The numbers of the heavy answers.
    pub numbers: Numbers,
}

/// Gives numbers in the order of judging.
#[derive(Clone, Debug, Default)]
pub struct Numbers(Arc<AtomicU64>);

impl Numbers {
    /// The next number.
    pub fn next(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}

/// Two lines, each with room for this many answers: one for every job, so that no answer has to wait for room.
pub fn lines(jobs: usize) -> (LineUp, Lines) {
    let ((usual, usual_out), (heavy, heavy_out)) = (crossbeam_channel::bounded(jobs), crossbeam_channel::bounded(jobs));
    let numbers = Numbers::default();
    let lines = Lines { usual: usual_out, heavy: heavy_out, numbers: numbers.clone() };
    (LineUp { usual, heavy, numbers }, lines)
}

impl LineUp {
    /// Adds an answer that has no number yet.
    pub fn add(&self, answer: Fetched) {
        // Sending fails only if the engine has failed. Then the answer is not needed.
        let _ = match answer.weight() {
            Some(_) => self.heavy.send(answer),
            None => self.usual.send(Fetched { sequence: Some(self.numbers.next()), ..answer }),
        };
    }
}
