//! Notes about hosts that stand out: slots that a host held for nothing, and how much longer its delay is because its
//! pages bring little. Notes are on record, so that a report can name the host, and so that the next run treats the
//! host as this one.

use dedup_stage::store::{Result, Session, codec};
use serde::{Deserialize, Serialize};

use super::ceiling::Ceiling;
use super::{Host, key};
use crate::failure::Failure;
use crate::process::Progress;
use crate::spaces;

/// Kind of these records in [`spaces::HOSTS`].
pub const TAG: u8 = b'n';

/// The record of a note.
#[derive(Debug, Serialize, Deserialize)]
struct Record {
    progress: Progress,
    ceiling: Ceiling,
}

/// What stands out about a host, for people to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostNote {
    /// Its name.
    pub host: String,
    /// Slots that it held for nothing, while others waited or until a time-out.
    pub slots_lost: u32,
    /// The reason for which it lost the last of them.
    pub why: Option<Failure>,
    /// How much longer its delay is because its pages bring little text of their own (the automatic ceiling), in
    /// thousandths.
    pub stretch: u64,
}

impl HostNote {
    /// Its delay is this many times longer.
    pub fn delay_factor(&self) -> f64 {
        1.0 + self.stretch as f64 / 1_000.0
    }
}

impl Host {
    /// The note about the host, if it stands out.
    pub fn note(&self) -> Option<HostNote> {
        let (lost, stretch) = (self.progress.lost(), self.ceiling.stretch());
        (lost.is_some() || stretch > 0).then(|| HostNote {
            host: self.name.as_ref().into(),
            slots_lost: lost.map_or(0, |(count, _)| count),
            why: lost.map(|(_, why)| why),
            stretch,
        })
    }

    /// Puts the note on record.
    pub fn record_note(&self, session: &mut Session) {
        let Self { progress, ceiling, .. } = *self;
        session.put(spaces::HOSTS, key(self.site, TAG), codec::encode(&Record { progress, ceiling }));
    }

    /// Takes back the note from its record.
    pub(super) fn restore_note(&mut self, bytes: &[u8]) -> Result<()> {
        let Record { progress, ceiling } = codec::decode(bytes, "what stands out about a host")?;
        (self.progress, self.ceiling) = (progress, ceiling);
        self.pace.stretch = ceiling.stretch();
        Ok(())
    }
}
