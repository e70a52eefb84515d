//! Numbers that every part of the frontier uses: times, and what stands for hosts and addresses in memory.

/// Milliseconds since the Unix epoch.
pub type Millis = u64;

/// Number of a host in memory.
pub type HostId = u32;

/// Number of an address.
pub type AddressId = u32;
