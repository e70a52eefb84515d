//! What belongs to the process and not to any set of hosts: caps over all hosts, and the floors of shared addresses.

mod addresses;
mod rate;

pub use addresses::Addresses;
pub use rate::Rate;
