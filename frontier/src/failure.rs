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
    /// TLS: the certificate has expired, or is not valid yet.
    TlsTime,
    /// TLS: the certificate is for other names.
    TlsName,
    /// TLS: no authority that is trusted has signed the certificate.
    TlsIssuer,
    /// TLS: the certificate is that of an authority, which may only sign other certificates. Many self-signed
    /// certificates are like this.
    TlsAuthority,
}

impl Failure {
    /// Every kind.
    pub const ALL: [Failure; 15] = [
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
        Failure::TlsTime,
        Failure::TlsName,
        Failure::TlsIssuer,
        Failure::TlsAuthority,
    ];

    /// The kinds that have the word `tls`, and say more than [`Failure::Tls`].
    pub const OF_TLS: [Failure; 4] = [Failure::TlsTime, Failure::TlsName, Failure::TlsIssuer, Failure::TlsAuthority];

    /// The word used in outputs. All failures of TLS have the same; their texts say more.
    pub fn name(self) -> &'static str {
        match self {
            Failure::Refused => "refused",
            Failure::Timeout => "timeout",
            Failure::Reset => "reset",
            Failure::Name => "name",
            Failure::Tls | Failure::TlsTime | Failure::TlsName | Failure::TlsIssuer | Failure::TlsAuthority => "tls",
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
            Failure::Protocol | Failure::TooLarge | Failure::Address => false,
            Failure::Tls | Failure::TlsTime | Failure::TlsName | Failure::TlsIssuer | Failure::TlsAuthority => false,
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
            Failure::TlsTime => "TLS failed: the certificate has expired, or is not valid yet",
            Failure::TlsName => "TLS failed: the certificate is for another name",
            Failure::TlsIssuer => {
                "TLS failed: the issuer of the certificate is unknown (--ca-file FILE with its certificate makes it known)"
            }
            Failure::TlsAuthority => {
                "TLS failed: the certificate is that of an authority, which may sign certificates and be none of a server \
                 (--ca-file FILE with this very certificate accepts it)"
            }
        })
    }
}
