//! Decides to which addresses the crawl may connect. By default, these are public unicast addresses. All others have a
//! name for their kind: private, loopback, link-local, multicast, documentation, and the forms that carry an IPv4
//! address inside an IPv6 one and would lead around the rules (mapped, 6to4, Teredo, NAT64, ISATAP). The blocks come
//! from the IANA special-purpose address registries.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The class of an address, for the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Public unicast.
    Public,
    /// An address that may be fetched only if the user allows private addresses. The text names its kind.
    Special(&'static str),
    /// An address that may never be fetched, because nothing answers HTTP there. The text names its kind.
    Never(&'static str),
}

/// The address rules of one crawl.
#[derive(Clone, Copy, Debug)]
pub struct AddressRules {
    /// Whether private and loopback addresses may be fetched.
    pub allow_private: bool,
}

impl AddressRules {
    /// Whether a connection to `address` may be opened. The error is the reason, in words for users.
    pub fn check(self, address: IpAddr) -> Result<(), String> {
        match classify(address) {
            Class::Public => Ok(()),
            Class::Special(_) if self.allow_private => Ok(()),
            Class::Special(what) | Class::Never(what) => Err(format!("{address} ({what})")),
        }
    }
}

const V4: [(Ipv4Addr, u32, Class); 17] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8, Class::Special("this network")),
    (Ipv4Addr::new(10, 0, 0, 0), 8, Class::Special("private")),
    (Ipv4Addr::new(100, 64, 0, 0), 10, Class::Special("carrier-grade NAT")),
    (Ipv4Addr::new(127, 0, 0, 0), 8, Class::Special("loopback")),
    (Ipv4Addr::new(169, 254, 0, 0), 16, Class::Special("link-local")),
    (Ipv4Addr::new(172, 16, 0, 0), 12, Class::Special("private")),
    (Ipv4Addr::new(192, 0, 0, 0), 24, Class::Special("protocol assignments")),
    (Ipv4Addr::new(192, 0, 2, 0), 24, Class::Special("documentation")),
    (Ipv4Addr::new(192, 88, 99, 0), 24, Class::Special("6to4 relay")),
    (Ipv4Addr::new(192, 168, 0, 0), 16, Class::Special("private")),
    (Ipv4Addr::new(198, 18, 0, 0), 15, Class::Special("benchmarking")),
    (Ipv4Addr::new(198, 51, 100, 0), 24, Class::Special("documentation")),
    (Ipv4Addr::new(203, 0, 113, 0), 24, Class::Special("documentation")),
    (Ipv4Addr::new(224, 0, 0, 0), 4, Class::Never("multicast")),
    (Ipv4Addr::new(255, 255, 255, 255), 32, Class::Never("broadcast")),
    (Ipv4Addr::new(240, 0, 0, 0), 4, Class::Never("reserved")),
    (Ipv4Addr::new(0, 0, 0, 0), 0, Class::Public),
];

const V6: [(Ipv6Addr, u32, Class); 22] = [
    (Ipv6Addr::UNSPECIFIED, 128, Class::Special("this network")),
    (Ipv6Addr::LOCALHOST, 128, Class::Special("loopback")),
    (Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, 0, 0), 96, Class::Special("mapped IPv4")),
    (Ipv6Addr::new(0, 0, 0, 0, 0xffff, 0, 0, 0), 96, Class::Special("translated IPv4")),
    (Ipv6Addr::UNSPECIFIED, 96, Class::Special("compatible IPv4")),
    (Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0), 96, Class::Special("NAT64")),
    (Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, 0, 0), 48, Class::Special("NAT64")),
    (Ipv6Addr::new(0x100, 0, 0, 0, 0, 0, 0, 0), 64, Class::Special("discard")),
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 32, Class::Special("Teredo")),
    (Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, 0), 48, Class::Special("benchmarking")),
    (Ipv6Addr::new(0x2001, 0x10, 0, 0, 0, 0, 0, 0), 28, Class::Special("ORCHID")),
    (Ipv6Addr::new(0x2001, 0x20, 0, 0, 0, 0, 0, 0), 28, Class::Special("ORCHID")),
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23, Class::Special("protocol assignments")),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32, Class::Special("documentation")),
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16, Class::Special("6to4")),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20, Class::Special("documentation")),
    (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3, Class::Public),
    (Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0), 7, Class::Special("unique local")),
    (Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0), 10, Class::Special("link-local")),
    (Ipv6Addr::new(0xfec0, 0, 0, 0, 0, 0, 0, 0), 10, Class::Special("site-local")),
    (Ipv6Addr::new(0xff00, 0, 0, 0, 0, 0, 0, 0), 8, Class::Never("multicast")),
    (Ipv6Addr::UNSPECIFIED, 0, Class::Special("not global unicast")),
];

/// The class of an address. The first block of the tables that contains it decides.
pub fn classify(address: IpAddr) -> Class {
    match address {
        IpAddr::V4(address) => {
            let block = V4.iter().find(|(base, bits, _)| {
                let mask = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
                (u32::from(address) ^ u32::from(*base)) & mask == 0
            });
            block.map_or(Class::Public, |(_, _, class)| *class)
        }
        IpAddr::V6(address) => {
            // ISATAP (RFC 5214) hides the IPv4 address in the interface identifier, under any prefix.
            let [.., flags, marker, _, _] = address.segments();
            if marker == 0x5efe && flags & !0x0200 == 0 {
                return Class::Special("ISATAP");
            }
            let block = V6.iter().find(|(base, bits, _)| {
                let mask = u128::MAX.checked_shl(128 - bits).unwrap_or(0);
                (u128::from(address) ^ u128::from(*base)) & mask == 0
            });
            block.map_or(Class::Special("not global unicast"), |(_, _, class)| *class)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(address: &str, allow_private: bool) -> bool {
        AddressRules { allow_private }.check(address.parse().expect("an address")).is_ok()
    }

    #[test]
    fn public_addresses_pass() {
        for address in
            ["1.1.1.1", "8.8.8.8", "93.184.216.34", "172.15.0.1", "172.32.0.1", "100.63.255.255", "223.255.255.1"]
        {
            assert!(allowed(address, false), "{address}");
        }
        for address in ["2606:4700:4700::1111", "2a00:1450:4001::1", "2001:4860:4860::8888", "2003::1", "3ffe::1"] {
            assert!(allowed(address, false), "{address}");
        }
    }

    #[test]
    fn special_addresses_need_permission() {
        for address in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.254",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.8",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.0.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.7",
            "203.0.113.9",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
            "::127.0.0.1",
            "::ffff:0:10.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::7f00:1",
            "100::1",
            "2001::1",
            "2001:0:1:2:3:4:5:6",
            "2001:2::1",
            "2001:10::1",
            "2001:20::1",
            "2001:1ff::1",
            "2001:db8::1",
            "2002:7f00:1::1",
            "3fff::1",
            "fc00::1",
            "fd12:3456::1",
            "fe80::1",
            "fec0::1",
            "4000::1",
            "2606:4700::5efe:7f00:1",
            "2606:4700::200:5efe:7f00:1",
        ] {
            assert!(!allowed(address, false), "{address}");
            assert!(allowed(address, true), "{address}");
        }
    }

    #[test]
    fn some_addresses_are_never_fetched() {
        for address in ["224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "ff02::1", "ff0e::1"] {
            assert!(!allowed(address, false), "{address}");
            assert!(!allowed(address, true), "{address}");
        }
    }
}
