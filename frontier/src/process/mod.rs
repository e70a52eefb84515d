//! State of the whole process, which no set of hosts has for itself: caps over all hosts, shares of the slots, the load
//! of this machine, and the floors of shared addresses.

mod address_line;
mod addresses;
mod load;
mod rate;
mod shares;
mod usage;

pub use address_line::PlaceInLine;
pub use addresses::Addresses;
pub use load::Load;
pub use rate::Rate;
pub use shares::{Counted, Line, Progress, Shares};
pub use usage::SlotUsage;
