//! What belongs to the process and not to any set of hosts: caps over all hosts, shares of the slots, and the floors of
//! shared addresses.

mod addresses;
mod rate;
mod shares;

pub use addresses::{AddressId, Addresses};
pub use rate::Rate;
pub use shares::{Line, Progress, Shares};
