//! State of the whole process, which no set of hosts has for itself: caps over all hosts, shares of the slots, and the
//! floors of shared addresses.

mod addresses;
mod rate;
mod shares;

pub use addresses::Addresses;
pub use rate::Rate;
pub use shares::{Line, Progress, Shares};
