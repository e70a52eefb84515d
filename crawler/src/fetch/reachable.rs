//! Whether this machine can reach IPv6 addresses. A machine without IPv6 answers a connection to such an address with
//! an error that otherwise tells of local trouble (no free port), for which the whole crawl would wait.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv6Addr, UdpSocket};

/// The port of the probe. Nothing is sent to it.
const DISCARD: u16 = 9;

/// Whether this machine has a route to an address. For an IPv6 address the system is asked: it looks for the route of a
/// UDP socket, and sends nothing. IPv4 addresses always count as reachable.
pub(super) fn has_route(address: IpAddr) -> bool {
    if address.is_ipv4() {
        return true;
    }
    let probe = UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0)).and_then(|socket| socket.connect((address, DISCARD)));
    !probe.is_err_and(|error| {
        matches!(error.kind(), ErrorKind::AddrNotAvailable | ErrorKind::NetworkUnreachable | ErrorKind::Unsupported)
            || error.raw_os_error() == Some(libc::EAFNOSUPPORT)
    })
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
}
