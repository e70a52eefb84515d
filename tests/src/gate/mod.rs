//! Webs that test which pages a gate loses, and how many fetches it saves: honest sites whose pages look like copies,
//! traps without end, partial mirrors, and hosts that copy others in order to harm them. Each web is a function from
//! URLs to answers. Its shape is drawn from a seed, and each page knows its content. This module uses no code of the
//! crawler's gate or judge.

mod archives;
mod attacks;
mod branches;
mod browse;
mod dates;
mod downloads;
mod draw;
mod franchise;
mod indexes;
mod lists;
mod menus;
mod mirrors;
mod page;
mod pieces;
mod run;
mod sections;
mod snapshot;
mod tenants;
mod traps;
mod twins;
mod walk;
mod webs;
mod wildcard;

pub use archives::Archives;
pub use attacks::{Attack, Copied, Junk};
pub use branches::Branches;
pub use browse::{Browsed, Browser};
pub use dates::Dates;
pub use downloads::Downloads;
pub use franchise::{Franchise, TownAt};
pub use indexes::{Index, Indexes};
pub use lists::{Lists, Parts, Shape};
pub use menus::{Menu, Menus};
pub use mirrors::{Own, Pace, Partial};
pub use page::{Page, Reply, Site, Thing};
pub use pieces::{Arranged, Pieces};
pub use run::{Crawled, run};
pub use sections::Sections;
pub use snapshot::Snapshot;
pub use tenants::Tenants;
pub use traps::Trap;
pub use twins::{Place, Twins};
pub use walk::{Walked, walk};
pub use webs::Honest;
pub use wildcard::Wildcard;
