//! Which addresses this machine can reach: whether it has a route to an address, and whether it has lost its routes
//! altogether. Then requests fail because of this machine, and no host is blamed.

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};
use std::sync::{Mutex, PoisonError};

use super::{FetchError, Response, Truncation};

/// Addresses to which only the default route leads, because they belong to nobody (RFC 5737, RFC 3849).
const INTERNET: [IpAddr; 2] =
    [IpAddr::V4(Ipv4Addr::new(203, 0, 113, 1)), IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1))];

/// The port of the probe. Nothing is sent to it.
const DISCARD: u16 = 9;

/// Whether this machine has a route to an address. The system is asked: it looks for the route of a UDP socket, and
/// sends nothing.
pub(super) fn has_route(address: IpAddr) -> bool {
    let any: IpAddr = if address.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let probe = UdpSocket::bind((any, 0)).and_then(|socket| socket.connect((address, DISCARD)));
    !probe.is_err_and(|error| {
        use ErrorKind::{AddrNotAvailable, HostUnreachable, NetworkDown, NetworkUnreachable, Unsupported};
        let kinds = [AddrNotAvailable, HostUnreachable, NetworkDown, NetworkUnreachable, Unsupported];
        kinds.contains(&error.kind()) || error.raw_os_error() == Some(libc::EAFNOSUPPORT)
    })
}

/// The different addresses that answered last.
#[derive(Debug, Default)]
pub(super) struct Answered(Mutex<VecDeque<IpAddr>>);

impl Answered {
    /// So many addresses are remembered.
    const MOST: usize = 8;

    /// Learns from the result of a request. `asked` are the addresses of its host. If there was trouble because this
    /// machine is cut off, the trouble is local.
    pub fn learn(&self, result: Result<Response, FetchError>, asked: &[IpAddr]) -> Result<Response, FetchError> {
        use FetchError::{Connect, Reset, Slow, Timeout};
        let is_trouble = match &result {
            Ok(response) => {
                response.address.into_iter().for_each(|address| self.add(address));
                matches!(response.truncated, Some(Truncation::Time | Truncation::Disconnect))
            }
            Err(error) => matches!(error, Connect(_) | Timeout(_) | Reset(_) | Slow(_)),
        };
        match is_trouble && self.are_cut_off(asked) {
            true => Err(FetchError::Local("it has no route to any host; is the network down?".into())),
            false => result,
        }
    }

    /// An address has answered.
    fn add(&self, address: IpAddr) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !known.contains(&address) {
            known.truncate(Self::MOST - 1);
            known.push_front(address);
        }
    }

    /// Whether this machine has no route any more to any of the addresses that answered last. If none has answered:
    /// whether it has no route to any of `asked`, or to the internet. (A machine that never had a route to the internet
    /// may still reach its own network. So one address without a route tells nothing.)
    fn are_cut_off(&self, asked: &[IpAddr]) -> bool {
        self.are_lost(asked, has_route)
    }

    fn are_lost(&self, asked: &[IpAddr], has_route: impl Fn(IpAddr) -> bool) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match known.is_empty() {
            true => !asked.is_empty() && !asked.iter().chain(&INTERNET).any(|address| has_route(*address)),
            false => !known.iter().any(|address| has_route(*address)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_without_a_route_are_told() {
        assert!(has_route(IpAddr::from([127, 0, 0, 1])));
        // A machine without IPv6 cannot even use its own address.
        let own = UdpSocket::bind((Ipv6Addr::LOCALHOST, 0)).is_ok();
        assert_eq!(has_route(Ipv6Addr::LOCALHOST.into()), own);
    }

    #[test]
    fn a_machine_is_cut_off_if_no_address_that_answered_has_a_route() {
        let answered = Answered::default();
        let address = |last: u8| IpAddr::from([127, 0, 0, last]);
        assert!(!answered.are_lost(&[], |_| false), "nothing is known");
        assert!(answered.are_lost(&[address(1)], |_| false));
        assert!(!answered.are_lost(&[address(1)], |at| at == INTERNET[0]), "other addresses have a route");
        (0..=Answered::MOST as u8).for_each(|last| answered.add(address(last)));
        assert!(answered.are_lost(&[], |_| false));
        assert!(!answered.are_lost(&[], |at| at == address(3)), "one of them has a route");
        assert!(answered.are_lost(&[], |at| at == address(0)), "that was too long ago");
        assert!(!answered.are_cut_off(&[]));
    }
}
