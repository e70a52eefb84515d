//! The static priority of a URL, 0..1: what is known when it is queued. What changes later acts on its group.

/// Of seeds.
pub const SEED: f32 = 1.0;
/// Of URLs that are fetched again.
pub const AGAIN: f32 = 0.5;
/// Of URLs that a sitemap names.
pub const SITEMAP: f32 = 0.5;

/// Of a link that the gate lets pass with this factor: the novelty of its page in `demote` mode, else 1. All links of new
/// pages share one priority, so that a host is crawled breadth-first.
pub fn link(factor: f32) -> f32 {
    0.5 * factor
}

/// Of links that an earlier run in `drop` mode kept aside: after everything else.
pub const HELD: f32 = 0.05;
