//! The addresses of a host.

use std::net::IpAddr;
use std::sync::Arc;

use crate::failure::Failure;
use crate::numbers::{AddressId, Millis};
use crate::reason::Detail;

/// What is known of a host's addresses.
#[derive(Debug, Default)]
pub enum HostAddresses {
    /// Nothing is known yet.
    #[default]
    Unknown,
    /// The host has these addresses.
    Known {
        /// The addresses, as resolved.
        ips: Arc<[IpAddr]>,
        /// The numbers of the addresses.
        ids: Vec<AddressId>,
        /// The time at which they are resolved again.
        until: Millis,
    },
    /// The name was asked for, and there was no answer.
    Unresolved(Failure),
    /// The name could not be asked for, because of this machine.
    Postponed,
    /// The host has no address to which the crawler may connect.
    Forbidden {
        /// The time at which the name is resolved again.
        until: Millis,
    },
}

impl HostAddresses {
    /// Addresses to connect to.
    pub fn ips(&self) -> &[IpAddr] {
        match self {
            HostAddresses::Known { ips, .. } => ips,
            _ => &[],
        }
    }

    /// The numbers of these addresses.
    pub fn ids(&self) -> &[AddressId] {
        match self {
            HostAddresses::Known { ids, .. } => ids,
            _ => &[],
        }
    }

    /// The addresses of a sleeping host that cannot be asked for this reason ([`HostAddresses::withholds`]).
    pub fn withheld(why: Detail) -> Self {
        match why {
            Detail::NoAddress(failure) => HostAddresses::Unresolved(failure),
            _ => HostAddresses::Forbidden { until: 0 },
        }
    }

    /// Whether it is known at `now` that the crawler may connect to no address of the host.
    pub fn is_forbidden(&self, now: Millis) -> bool {
        matches!(self, HostAddresses::Forbidden { until } if *until > now)
    }

    /// The reason for which nothing can be fetched, if the name leads to no address.
    pub fn withholds(&self) -> Option<Detail> {
        match self {
            HostAddresses::Unresolved(failure) => Some(Detail::NoAddress(*failure)),
            HostAddresses::Forbidden { .. } => Some(Detail::ForbiddenAddress),
            HostAddresses::Unknown | HostAddresses::Postponed | HostAddresses::Known { .. } => None,
        }
    }
}
