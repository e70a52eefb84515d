//! The state of a URL in one byte. Memory holds this byte for every URL that was ever met. It answers most questions
//! about links, so that most links cost no look into the store.

use crate::reason::SkipReason;
use crate::url::{End, HoldCause, State};

/// The state of a URL, as far as memory knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// In the state `Queued`: waits for its turn, in this band of priority (0 is best, 15 worst).
    Queued {
        /// Band.
        band: u8,
        /// What must be done after the URL was fetched.
        note: Note,
    },
    /// In the state `Queued`, and handed out.
    Open {
        /// What must be done after the URL was fetched.
        note: Note,
    },
    /// Held for a counterpart.
    HeldFor,
    /// Held as news, or because a corpus has the page that linked to it first.
    HeldAs {
        /// Whether it is held because of a corpus.
        known: bool,
    },
    /// Stopped by learned rules, or for a spent budget.
    Stopped {
        /// The kind of the rules.
        by: StoppedBy,
    },
    /// Refused.
    Refused(SkipReason),
    /// Its last visit is over.
    Done(EndedAs),
    /// Missing at two visits in a row.
    Gone,
}

/// What must be done after a queued URL was fetched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Note {
    /// Nothing.
    #[default]
    None,
    /// Decide about the URLs that are held or stopped for it.
    Awaited,
    /// It was visited before, and its record has that visit. If it fails now, decide about the URLs that are held or
    /// stopped for it.
    Again,
}

/// What stopped a URL: a kind of rule, or a spent budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoppedBy {
    /// A rewrite that is no mirror.
    Rule,
    /// A mirror.
    Mirror,
    /// A trap.
    Trap,
    /// No rule, but a spent budget.
    Budget,
}

/// How a visit ended, as far as memory knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndedAs {
    /// With 2xx or 304.
    Well,
    /// With a redirect.
    Redirected,
    /// With another status.
    Error,
    /// Without a whole answer.
    Failed,
}

impl Standing {
    /// The number of bands of priority that a byte has room for.
    const BANDS: u8 = 16;

    /// The byte: the state in the upper four bits, its details in the lower four.
    pub fn to_byte(self) -> u8 {
        let (tag, detail) = match self {
            Standing::Queued { band, note } => (note as u8, band.min(Self::BANDS - 1)),
            Standing::Open { note } => (3, note as u8),
            Standing::HeldFor => (4, 0),
            Standing::HeldAs { known } => (5, u8::from(known)),
            Standing::Stopped { by } => (6, by as u8),
            Standing::Refused(reason) => (7, reason as u8),
            Standing::Done(ended) => (8, ended as u8),
            Standing::Gone => (9, 0),
        };
        tag << 4 | detail
    }

    /// Reads a byte of [`Standing::to_byte`].
    pub fn from_byte(byte: u8) -> Self {
        let note = |number| match number {
            0 => Note::None,
            1 => Note::Awaited,
            _ => Note::Again,
        };
        let detail = byte & 15;
        match byte >> 4 {
            tag @ 0..=2 => Standing::Queued { band: detail, note: note(tag) },
            3 => Standing::Open { note: note(detail) },
            4 => Standing::HeldFor,
            5 => Standing::HeldAs { known: detail != 0 },
            6 => Standing::Stopped {
                by: [StoppedBy::Rule, StoppedBy::Mirror, StoppedBy::Trap, StoppedBy::Budget][usize::from(detail)],
            },
            7 => Standing::Refused(SkipReason::ALL[usize::from(detail)]),
            8 => Standing::Done(
                [EndedAs::Well, EndedAs::Redirected, EndedAs::Error, EndedAs::Failed][usize::from(detail)],
            ),
            _ => Standing::Gone,
        }
    }

    /// The standing of a URL with this record. A queued URL is taken to be in the worst band, because only its queue
    /// entry has the band.
    pub fn of(state: &State) -> Self {
        match state {
            State::Queued { before } => {
                let note = if before.is_some() { Note::Again } else { Note::None };
                Standing::Queued { band: Self::BANDS - 1, note }
            }
            State::HeldFor { .. } => Standing::HeldFor,
            State::HeldAs { cause, .. } => Standing::HeldAs { known: matches!(cause, HoldCause::Known { .. }) },
            State::Stopped { reason, .. } => Standing::Stopped {
                by: match reason {
                    SkipReason::Mirror => StoppedBy::Mirror,
                    SkipReason::Trap => StoppedBy::Trap,
                    SkipReason::Budget => StoppedBy::Budget,
                    _ => StoppedBy::Rule,
                },
            },
            State::Refused { reason, .. } => Standing::Refused(*reason),
            State::Done(visit) => Standing::Done(visit.end.into()),
            State::Gone(_) => Standing::Gone,
        }
    }
}

impl From<End> for EndedAs {
    fn from(end: End) -> Self {
        match end {
            End::Answered { status: 200..300 | 304 } => EndedAs::Well,
            End::Answered { .. } => EndedAs::Error,
            End::Redirected { .. } => EndedAs::Redirected,
            End::Failed { .. } => EndedAs::Failed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_standing_has_a_byte_of_its_own() {
        let mut all = vec![Standing::HeldFor, Standing::Gone];
        let notes = [Note::None, Note::Awaited, Note::Again];
        all.extend(notes.into_iter().flat_map(|note| (0..16).map(move |band| Standing::Queued { band, note })));
        all.extend(notes.map(|note| Standing::Open { note }));
        all.extend([false, true].map(|known| Standing::HeldAs { known }));
        all.extend(
            [StoppedBy::Rule, StoppedBy::Mirror, StoppedBy::Trap, StoppedBy::Budget].map(|by| Standing::Stopped { by }),
        );
        all.extend(SkipReason::ALL.map(Standing::Refused));
        all.extend([EndedAs::Well, EndedAs::Redirected, EndedAs::Error, EndedAs::Failed].map(Standing::Done));
        let bytes: std::collections::HashSet<u8> = all.iter().map(|standing| standing.to_byte()).collect();
        assert_eq!(bytes.len(), all.len());
        for standing in all {
            assert_eq!(Standing::from_byte(standing.to_byte()), standing);
        }
    }
}
