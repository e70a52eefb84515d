//! State of the whole process, which no set of hosts has for itself: caps over all hosts, shares of the slots, the load
//! of this machine, and the floors of shared addresses.

mod addresses;
mod load;
mod rate;
mod shares;

pub use addresses::Addresses;
pub use load::Load;
pub use rate::Rate;
pub use shares::{Line, Progress, Shares};
