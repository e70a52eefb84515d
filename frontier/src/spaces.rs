//! The key spaces that the frontier owns. In all spaces but the last two, a key begins with the identity of a host (in
//! [`QUEUE`], with the era before it). So the state of a set of hosts is a set of key ranges. [`crate::cut`] moves a
//! set of hosts, and says how the entries of the last two spaces move.

use dedup_stage::store::{Layout, Space};

/// URL → its record. A URL that is queued and was never visited has no record here, only its queue entry.
pub const URLS: Space = Space::new(16, "urls", Layout::Volume);
/// Era, host, group, band, order of arrival → a queued URL.
pub const QUEUE: Space = Space::new(17, "queue", Layout::Volume);
/// Host, kind of record, number → hosts, groups, lanes, sitemaps met.
pub const HOSTS: Space = Space::new(18, "hosts", Layout::Points);
/// Host, scheme and port → robots rules.
pub const ROBOTS: Space = Space::new(19, "robots", Layout::Points);
/// Host, kind of record, number → learned rules with their evidence, representatives of classes, results of
/// trials, and numbers of URLs that wait.
pub const RULES: Space = Space::new(20, "rules", Layout::Points);
/// A URL or template that is waited for, a URL that is held or stopped for it → nothing. An index of [`URLS`].
pub const HELD_FOR: Space = Space::new(21, "held-for", Layout::Points);
/// Records that belong to no host: the format, the order of arrival, the first era that may still exist, work in the
/// background, lots that have fallen, and the hosts that sleep on disk (by the time at which they are due).
pub const FRONTIER_OWN: Space = Space::new(22, "frontier", Layout::Points);

/// All spaces of the frontier.
pub const FRONTIER: &[Space] = &[URLS, QUEUE, HOSTS, ROBOTS, RULES, HELD_FOR, FRONTIER_OWN];
