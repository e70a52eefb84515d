//! Numbers that every part of the frontier uses: times, the numbers of hosts and addresses in memory, the numbers of
//! learned rules, and the ranks by which hosts are compared.

/// Milliseconds since the Unix epoch.
pub type Millis = u64;

/// Number of a host in memory.
pub type HostId = u32;

/// Number of an address.
pub type AddressId = u32;

/// Identity of a rule: a hash of its host and its statement, of 53 bits (so that it is exact in JSON).
pub type RuleId = u64;

/// The rank of a host's best URL; 0 is best.
pub type Rank = u16;

/// The rank of a score in 0..1.
pub fn rank(score: f32) -> Rank {
    ((1.0 - score.clamp(0.0, 1.0)) * 10_000.0) as Rank
}

/// The score of a rank.
pub fn score(rank: Rank) -> f32 {
    1.0 - f32::from(rank) / 10_000.0
}

/// The number of a change of phase. Of equal hosts, the one with the earlier change comes first.
pub type PhaseNumber = u64;
