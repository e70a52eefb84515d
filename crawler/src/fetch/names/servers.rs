//! Whether the name servers answer. While they do not, nearly all lookups fail at once: each of them would hold a slot
//! for many seconds, and hosts whose addresses are known would wait for slots.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What is known of the name servers.
#[derive(Debug, Default)]
pub(super) struct Servers(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    /// Whether one has ever answered.
    answered: bool,
    /// If none answered at the last lookup: the time at which one lookup may ask again.
    silent_until: Option<Instant>,
}

impl Servers {
    /// While the name servers do not answer, one lookup asks them in this time. So a name is asked for again after it.
    pub const PAUSE: Duration = Duration::from_secs(5);

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a name server has ever answered. If none has, it may be that there is none, and only names of the file of
    /// hosts can be found.
    pub fn have_answered(&self) -> bool {
        self.known().answered
    }

    /// A name server has answered.
    pub fn answered(&self) {
        let mut known = self.known();
        known.answered = true;
        if known.silent_until.take().is_some() {
            tracing::warn!("name servers answer again");
        }
    }

    /// No name server has answered a question that every name server can answer.
    pub fn are_silent(&self, now: Instant) {
        let mut known = self.known();
        if known.answered && known.silent_until.replace(now + Self::PAUSE).is_none() {
            tracing::warn!("no name server answers any more: hosts whose addresses are not known wait until one does");
        }
    }

    /// Whether a lookup may ask at `now`.
    pub fn may_be_asked(&self, now: Instant) -> bool {
        match &mut self.known().silent_until {
            None => true,
            Some(until) if now < *until => false,
            Some(until) => {
                *until = now + Self::PAUSE;
                true
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn while_name_servers_are_silent_one_lookup_at_a_time_asks() {
        let (servers, now) = (Servers::default(), Instant::now());
        servers.are_silent(now);
        assert!(servers.may_be_asked(now), "none has ever answered");
        servers.answered();
        servers.are_silent(now);
        assert!(servers.have_answered() && !servers.may_be_asked(now));
        let later = now + Servers::PAUSE;
        assert!(servers.may_be_asked(later) && !servers.may_be_asked(later));
        servers.answered();
        assert!(servers.may_be_asked(later) && servers.may_be_asked(later));
    }
}
