//! What is known of a host's addresses.

use std::net::IpAddr;
use std::sync::Arc;

use crate::failure::Failure;
use crate::numbers::{AddressId, Millis};
use crate::reason::Detail;

/// What is known of a host's addresses.
#[derive(Debug, Default)]
pub enum Place {
    /// Nothing.
    #[default]
    Unknown,
    /// These, until the time given.
    Known {
        /// As resolved.
        ips: Arc<[IpAddr]>,
        /// Their numbers.
        ids: Vec<AddressId>,
        /// They are asked for again then.
        until: Millis,
    },
    /// Its name was asked for, and not answered.
    Unresolved(Failure),
    /// It has none that may be connected to; that is believed until the time given.
    Forbidden {
        /// Its name is asked for again then.
        until: Millis,
    },
}

impl Place {
    /// Addresses to connect to.
    pub fn ips(&self) -> &[IpAddr] {
        match self {
            Place::Known { ips, .. } => ips,
            _ => &[],
        }
    }

    /// Numbers of these addresses.
    pub fn ids(&self) -> &[AddressId] {
        match self {
            Place::Known { ids, .. } => ids,
            _ => &[],
        }
    }

    /// Whether it is known at `now` that no address may be connected to.
    pub fn is_forbidden(&self, now: Millis) -> bool {
        matches!(self, Place::Forbidden { until } if *until > now)
    }

    /// Why nothing can be fetched, where the name leads to no address.
    pub fn withholds(&self) -> Option<Detail> {
        match self {
            Place::Unresolved(failure) => Some(Detail::NoAddress(*failure)),
            Place::Forbidden { .. } => Some(Detail::ForbiddenAddress),
            Place::Unknown | Place::Known { .. } => None,
        }
    }
}
