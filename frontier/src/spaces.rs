//! The key spaces that the frontier owns. But for the last two, everything that is known of a host lies under keys that begin
//! with the identity of the host (in [`QUEUE`], behind the era), so that the state of a set of hosts is a set of key ranges.
//! How the last two move with a set of hosts, [`crate::cut`] says.

use dedup_stage::store::{Layout, Space};

/// URL → its record. A URL that was never visited and is queued has none but its queue entry.
pub const URLS: Space = Space::new(16, "urls", Layout::Volume);
/// Era, host, group, band, order of arrival → a queued URL.
pub const QUEUE: Space = Space::new(17, "queue", Layout::Volume);
/// Host, kind of record, number → hosts, groups, lanes, sitemaps met.
pub const HOSTS: Space = Space::new(18, "hosts", Layout::Points);
/// Host, scheme and port → robots rules.
pub const ROBOTS: Space = Space::new(19, "robots", Layout::Points);
/// Host, kind of record, number → learned rules with their evidence, what stands for a class, and how trials went.
pub const RULES: Space = Space::new(20, "rules", Layout::Points);
/// What is waited for (a URL or a template), what is held for it → nothing: an index of [`URLS`].
pub const HELD_FOR: Space = Space::new(21, "held-for", Layout::Points);
/// What belongs to no host: the order of arrival, work in the background, hosts that are not in memory by the time when
/// they are due.
pub const FRONTIER_OWN: Space = Space::new(22, "frontier", Layout::Points);

/// What the frontier keeps.
pub const FRONTIER: &[Space] = &[URLS, QUEUE, HOSTS, ROBOTS, RULES, HELD_FOR, FRONTIER_OWN];
