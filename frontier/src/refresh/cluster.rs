//! The record of a content cluster: a page that is visited (the representative) and its proven copies, which change
//! with it.

use serde::{Deserialize, Serialize};

use super::history::ChangeHistory;
use super::prior::PriorKey;
use super::signals::Source;
use super::time::Seconds;

/// A cluster. The record is stored with the URL of the representative. A page without copies is a cluster, too.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CopyCluster {
    /// When the representative was last fetched.
    pub visited: Seconds,
    /// When a visit last showed a change. If none has, when the page was first fetched.
    pub changed: Seconds,
    /// Sum of the priorities (0..1) of the representative and its copies, above 0.
    pub weight: f32,
    /// The depth and the path group, which decide its prior.
    pub prior_key: PriorKey,
    /// What visits have shown.
    pub history: ChangeHistory,
    /// When the sitemap or feed that lists the page was read and first told of a change since the last visit.
    pub told: Option<Seconds>,
    /// What changes its next visit.
    pub flags: Flags,
}

/// What is known of a page besides times and rates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flags {
    /// The next visit must come at once.
    pub urgent: bool,
    /// The sitemap or feed that lists the page.
    pub listed: Option<Source>,
    /// The last answer was 404 or 410.
    pub missing: bool,
}

impl CopyCluster {
    /// Length of the encoding.
    pub const BYTES: usize = 18 + ChangeHistory::BYTES;

    /// A page that was fetched for the first time.
    pub fn new(fetched: Seconds, priority: f32, prior_key: PriorKey) -> Self {
        let weight = priority.max(Self::LEAST);
        let (history, flags) = (ChangeHistory::default(), Flags::default());
        Self { visited: fetched, changed: fetched, weight, prior_key, history, told: None, flags }
    }

    /// The least weight. A page with no priority is visited if no other visit is worth more.
    pub const LEAST: f32 = 1.0 / 255.0;

    /// A copy of this priority joins the cluster. A negative priority: it leaves.
    pub fn reweigh(&mut self, priority: f32) {
        self.weight = (self.weight + priority).max(Self::LEAST);
    }

    /// As bytes.
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..4].copy_from_slice(&self.visited.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.changed.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.weight.to_le_bytes());
        bytes[12] = self.prior_key.to_byte();
        bytes[13] = self.flags.to_byte();
        bytes[14..18].copy_from_slice(&self.told.unwrap_or(0).to_le_bytes());
        bytes[18..].copy_from_slice(&self.history.to_bytes());
        bytes
    }

    /// From [`Self::to_bytes`]. Any bytes give some cluster.
    pub fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        let [a, b, c, d, e, f, g, h, i, j, k, l, prior_key, flags, m, n, o, p, history @ ..] = bytes;
        let weight = f32::from_le_bytes([i, j, k, l]);
        Self {
            visited: u32::from_le_bytes([a, b, c, d]),
            changed: u32::from_le_bytes([e, f, g, h]),
            weight: if weight.is_finite() { weight.max(Self::LEAST) } else { Self::LEAST },
            prior_key: PriorKey::from_byte(prior_key),
            history: ChangeHistory::from_bytes(history),
            told: Some(u32::from_le_bytes([m, n, o, p])).filter(|told| *told > 0),
            flags: Flags::from_byte(flags),
        }
    }
}

impl Flags {
    fn to_byte(self) -> u8 {
        let listed = match self.listed {
            None => 0,
            Some(Source::Sitemap) => 1,
            Some(Source::Feed) => 2,
        };
        u8::from(self.urgent) | u8::from(self.missing) << 1 | listed << 2
    }

    fn from_byte(byte: u8) -> Self {
        let listed = match byte >> 2 {
            1 => Some(Source::Sitemap),
            2 => Some(Source::Feed),
            _ => None,
        };
        Self { urgent: byte & 1 != 0, missing: byte & 2 != 0, listed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_comes_back_from_its_bytes_and_any_bytes_are_one() {
        let mut cluster = CopyCluster::new(1_700_000_000, 0.7, PriorKey::new(13, 99));
        cluster.history.change(86_400);
        cluster.flags = Flags { urgent: true, listed: Some(Source::Feed), missing: false };
        cluster.told = Some(1_700_000_500);
        assert_eq!(CopyCluster::from_bytes(cluster.to_bytes()), cluster);
        for byte in 0..=u8::MAX {
            assert!(CopyCluster::from_bytes([byte; CopyCluster::BYTES]).weight >= CopyCluster::LEAST);
        }
    }
}
