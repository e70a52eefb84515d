//! Hosts that share an address share a floor: at least `address_delay` lies between the starts of two requests to the
//! address. The floor is never longer than the delay of a single host, because a host that has the address to itself
//! may be asked at that pace.
//!
//! A host may be due before its address is. Then it waits in the line of the address (`address_line`). The address calls
//! one host at a time. A host that was not called waits as long as there is a line, so no host passes the line.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use super::address_line::{AddressLine, PlaceInLine};
use crate::numbers::{AddressId, HostId, Millis};
use crate::numbers::{PhaseNumber, Rank};

#[derive(Debug, Default)]
struct Address {
    ip: Option<IpAddr>,
    /// The number of hosts in memory that resolved to it.
    hosts: u32,
    /// The hash of the host that resolved to it last; 0 if there is none.
    last: u64,
    /// Whether different hosts resolved to it.
    shared: bool,
    /// If the address is shared, no request to it may start before this time.
    not_before: Millis,
    /// The hosts that wait in its line.
    line: AddressLine,
}

/// All addresses, and their lines.
#[derive(Debug, Default)]
pub struct Addresses {
    numbers: BTreeMap<IpAddr, AddressId>,
    addresses: Vec<Address>,
    /// The numbers of addresses that were forgotten. They are free for other addresses.
    free: Vec<AddressId>,
    /// The numbers of addresses that are forgotten when their floor has passed.
    leaving: BTreeSet<(Millis, AddressId)>,
    /// The addresses with a line, by the time at which they call the next host.
    calls: BTreeSet<(Millis, AddressId)>,
    parked: u64,
    number: PhaseNumber,
}

impl Addresses {
    /// A host resolved to these addresses. `host` is its hash. Returns the numbers of the addresses.
    pub fn enter(&mut self, ips: &[IpAddr], host: u64) -> Vec<AddressId> {
        let mut ids: Vec<_> = ips.iter().map(|ip| self.number(*ip)).collect();
        ids.sort_unstable();
        ids.dedup();
        for &id in &ids {
            let address = &mut self.addresses[id as usize];
            address.hosts += 1;
            address.shared |= address.last != 0 && address.last != host;
            address.last = host;
        }
        ids
    }

    fn number(&mut self, ip: IpAddr) -> AddressId {
        if let Some(id) = self.numbers.get(&ip) {
            return *id;
        }
        let id = self.free.pop().unwrap_or_else(|| {
            self.addresses.push(Address::default());
            (self.addresses.len() - 1) as AddressId
        });
        self.addresses[id as usize] = Address { ip: Some(ip), ..Address::default() };
        self.numbers.insert(ip, id);
        id
    }

    /// A host no longer resolves to these addresses, or leaves memory, at `now`. An address that no host needs is
    /// forgotten when its floor has passed.
    pub fn leave(&mut self, ids: &[AddressId], now: Millis) {
        for &id in ids {
            let address = &mut self.addresses[id as usize];
            address.hosts -= 1;
            if address.hosts == 0 {
                self.leaving.insert((address.not_before, id));
            }
        }
        while let Some((time, id)) = self.leaving.first().copied()
            && time <= now
        {
            self.leaving.pop_first();
            let address = &mut self.addresses[id as usize];
            // Since then, a host may have resolved to it again, and may even have left it again.
            let needed = address.hosts > 0 || !address.line.is_empty() || address.not_before > now;
            if !needed && let Some(ip) = address.ip.take() {
                self.numbers.remove(&ip);
                self.free.push(id);
            }
        }
    }

    /// The first of these addresses to which no request may start at `now`, because its floor has not passed.
    pub fn blocked(&self, ids: &[AddressId], now: Millis) -> Option<AddressId> {
        ids.iter().copied().find(|&id| {
            let address = &self.addresses[id as usize];
            address.shared && now < address.not_before
        })
    }

    /// The first of these addresses for which other hosts wait.
    pub fn with_line(&self, ids: &[AddressId]) -> Option<AddressId> {
        ids.iter().copied().find(|&id| !self.addresses[id as usize].line.is_empty())
    }

    /// The time from which a request to a shared address may start.
    pub fn not_before(&self, id: AddressId) -> Millis {
        self.addresses[id as usize].not_before
    }

    /// Puts a host in the line of an address. `domain` is the hash of its registrable domain, `rank` that of its best
    /// URL. Returns its place there.
    pub fn park(&mut self, host: HostId, address: AddressId, proven: bool, domain: u64, rank: Rank) -> PlaceInLine {
        self.number += 1;
        self.parked += 1;
        let place = PlaceInLine { address, proven, domain, rank, number: self.number };
        let address = &mut self.addresses[place.address as usize];
        if address.line.is_empty() {
            self.calls.insert((address.not_before, place.address));
        }
        address.line.enter(host, place);
        place
    }

    /// A host leaves the line before it is called.
    pub fn unpark(&mut self, host: HostId, place: PlaceInLine) {
        if self.addresses[place.address as usize].line.leave(host, place) {
            self.parked -= 1;
        }
    }

    /// The host of the longest line whose turn comes last. Only lines that call next are compared.
    pub fn last_in_line(&self) -> Option<HostId> {
        let lines = self.calls.iter().take(16).map(|(_, id)| &self.addresses[*id as usize].line);
        lines.max_by_key(|line| line.len()).and_then(AddressLine::last)
    }

    /// A request to a host with these addresses starts.
    pub fn started(&mut self, ids: &[AddressId], now: Millis, floor: Millis) {
        for &id in ids {
            let address = &mut self.addresses[id as usize];
            address.not_before = address.not_before.max(now + floor);
        }
    }

    /// The next host that an address calls at `now`.
    pub fn call(&mut self, now: Millis) -> Option<HostId> {
        while let Some(&(time, id)) = self.calls.first()
            && time <= now
        {
            self.calls.pop_first();
            let address = &mut self.addresses[id as usize];
            if address.not_before > now {
                self.calls.insert((address.not_before, id));
                continue;
            }
            let first = address.line.pop();
            if !address.line.is_empty() {
                // The called host may find nothing to do. Then the next host gets its chance at once.
                self.calls.insert((now + 1, id));
            }
            if let Some(host) = first {
                self.parked -= 1;
                return Some(host);
            }
        }
        None
    }

    /// The time at which the next host is called.
    pub fn next_call(&self) -> Option<Millis> {
        self.calls.first().map(|(time, _)| *time)
    }

    /// The number of hosts in lines.
    pub fn parked(&self) -> u64 {
        self.parked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(last: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, last])
    }

    #[test]
    fn the_best_host_in_line_is_called_first_and_equals_in_turn() {
        let mut addresses = Addresses::default();
        let ids = addresses.enter(&[ip(1)], 1);
        assert_eq!(addresses.enter(&[ip(1)], 2), ids);
        addresses.started(&ids, 0, 100);
        for (host, rank) in [(10, 5), (11, 3), (12, 5), (13, 3)] {
            assert_eq!(addresses.blocked(&ids, 50), Some(ids[0]));
            addresses.park(host, ids[0], true, host.into(), rank);
        }
        assert_eq!((addresses.call(99), addresses.next_call(), addresses.parked()), (None, Some(100), 4));
        let called: Vec<_> = (0..4).map(|n| addresses.call(100 + n).unwrap()).collect();
        assert_eq!(called, [11, 13, 10, 12]);
        assert_eq!((addresses.call(200), addresses.parked()), (None, 0));
    }

    #[test]
    fn an_address_that_nobody_needs_is_forgotten_but_not_its_floor() {
        let mut addresses = Addresses::default();
        for host in 1..1_000 {
            let ids = addresses.enter(&[ip((host % 200) as u8)], host);
            addresses.leave(&ids, 0);
        }
        assert_eq!(addresses.addresses.len(), 1);
        let ids = addresses.enter(&[ip(1)], 1);
        addresses.started(&ids, 0, 100);
        addresses.leave(&ids, 50);
        let ids = addresses.enter(&[ip(1)], 2);
        assert!(addresses.blocked(&ids, 60).is_some(), "another host on one address, however short it was there");
        assert!(addresses.blocked(&ids, 100).is_none());
    }
}
