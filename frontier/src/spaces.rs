//! The key spaces that the frontier owns.

use dedup_stage::store::{Layout, Space};

/// Hash of a URL key → where the URL stands.
pub const URLS: Space = Space::new(16, "urls", Layout::Volume);
/// Queued URLs by group, priority and order of arrival.
pub const QUEUE: Space = Space::new(17, "queue", Layout::Volume);
/// Hosts and groups.
pub const HOSTS: Space = Space::new(18, "hosts", Layout::Points);
/// Robots rules by origin.
pub const ROBOTS: Space = Space::new(19, "robots", Layout::Points);
/// Learned rules, mirrors, traps, with their evidence.
pub const RULES: Space = Space::new(20, "rules", Layout::Points);

/// What the frontier keeps.
pub const FRONTIER: &[Space] = &[URLS, QUEUE, HOSTS, ROBOTS, RULES];
