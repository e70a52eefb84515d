//! Hosts that share an address share a floor: between the starts of two requests to one address lies at least
//! `address_delay` (never more than the delay of a single host, which one host alone is allowed).
//!
//! A host that is due while its address is not stands in the line of the address; the address calls one host at a time.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::IpAddr;

use crate::job::Millis;
use crate::queue::HostId;

/// Number of an address.
pub type AddressId = u32;

#[derive(Debug, Default)]
struct Address {
    /// Hosts that resolved to it.
    hosts: u32,
    /// No request to a shared address before this time.
    not_before: Millis,
    /// Hosts in line.
    line: VecDeque<HostId>,
}

/// All addresses, and the lines before them.
#[derive(Debug, Default)]
pub struct Addresses {
    numbers: BTreeMap<IpAddr, AddressId>,
    addresses: Vec<Address>,
    /// Addresses with a line, by the time they call the next host.
    calls: BTreeSet<(Millis, AddressId)>,
}

impl Addresses {
    /// A host resolved to these.
    pub fn enter(&mut self, ips: &[IpAddr]) -> Vec<AddressId> {
        let mut ids: Vec<_> = ips
            .iter()
            .map(|ip| {
                *self.numbers.entry(*ip).or_insert_with(|| {
                    self.addresses.push(Address::default());
                    (self.addresses.len() - 1) as AddressId
                })
            })
            .collect();
        ids.sort_unstable();
        ids.dedup();
        for &id in &ids {
            self.addresses[id as usize].hosts += 1;
        }
        ids
    }

    /// A host no longer resolves to these.
    pub fn leave(&mut self, ids: &[AddressId]) {
        for &id in ids {
            self.addresses[id as usize].hosts -= 1;
        }
    }

    /// The first of the addresses that may not be asked at `now`.
    pub fn blocked(&self, ids: &[AddressId], now: Millis) -> Option<AddressId> {
        ids.iter().copied().find(|&id| {
            let address = &self.addresses[id as usize];
            address.hosts > 1 && now < address.not_before
        })
    }

    /// Puts a host in the line of an address.
    pub fn park(&mut self, host: HostId, id: AddressId) {
        let address = &mut self.addresses[id as usize];
        if address.line.is_empty() {
            self.calls.insert((address.not_before, id));
        }
        address.line.push_back(host);
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
            let host = address.line.pop_front();
            if !address.line.is_empty() {
                // The host called may find nothing to do; then the next one gets its chance at once.
                self.calls.insert((now + 1, id));
            }
            if host.is_some() {
                return host;
            }
        }
        None
    }

    /// When an address next calls a host.
    pub fn next_call(&self) -> Option<Millis> {
        self.calls.first().map(|(time, _)| *time)
    }

    /// Hosts in line.
    pub fn parked(&self) -> u64 {
        self.calls.iter().map(|&(_, id)| self.addresses[id as usize].line.len() as u64).sum()
    }
}
