//! Why a fetch brought no whole answer: one closed list, which reports, retries and counters share.

use serde::{Deserialize, Serialize};

/// Why a fetch brought no whole answer.
///
/// The order is part of the stored form: new kinds go to the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Failure {
    /// The connection was refused, or the host cannot be reached.
    Refused,
    /// No connection, or no answer, in time.
    Timeout,
    /// The connection ended before the answer did.
    Reset,
    /// The name of the host leads to no address.
    Name,
    /// The TLS handshake failed, or the certificate is not valid.
    Tls,
    /// The answer breaks the protocol.
    Protocol,
    /// The answer is larger than an answer may be.
    TooLarge,
    /// The host has no address that may be connected to.
    Address,
    /// The answer came too slowly while others waited.
    Slow,
    /// The answer did not fit beside the others in memory, several times.
    NoRoom,
    /// Something on this machine failed: files, memory, the network as a whole.
    Local,
}

impl Failure {
    /// Every kind.
    pub const ALL: [Failure; 11] = [
        Failure::Refused,
        Failure::Timeout,
        Failure::Reset,
        Failure::Name,
        Failure::Tls,
        Failure::Protocol,
        Failure::TooLarge,
        Failure::Address,
        Failure::Slow,
        Failure::NoRoom,
        Failure::Local,
    ];

    /// The word used in outputs.
    pub fn name(self) -> &'static str {
        match self {
            Failure::Refused => "refused",
            Failure::Timeout => "timeout",
            Failure::Reset => "reset",
            Failure::Name => "name",
            Failure::Tls => "tls",
            Failure::Protocol => "protocol",
            Failure::TooLarge => "too_large",
            Failure::Address => "address",
            Failure::Slow => "slow",
            Failure::NoRoom => "no_room",
            Failure::Local => "local",
        }
    }

    /// Whether a later attempt may succeed.
    pub fn is_transient(self) -> bool {
        match self {
            Failure::Refused
            | Failure::Timeout
            | Failure::Reset
            | Failure::Name
            | Failure::Slow
            | Failure::NoRoom
            | Failure::Local => true,
            Failure::Tls | Failure::Protocol | Failure::TooLarge | Failure::Address => false,
        }
    }
}

impl std::fmt::Display for Failure {
    /// A few words for people.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Failure::Refused => "the connection was refused",
            Failure::Timeout => "no answer in time",
            Failure::Reset => "the connection ended early",
            Failure::Name => "the name was not found",
            Failure::Tls => "TLS failed",
            Failure::Protocol => "the answer breaks the protocol",
            Failure::TooLarge => "the answer is too large",
            Failure::Address => "its address may not be connected to",
            Failure::Slow => "the answer came too slowly",
            Failure::NoRoom => "the answer did not fit in memory beside the others",
            Failure::Local => "this machine had a fault",
        })
    }
}
