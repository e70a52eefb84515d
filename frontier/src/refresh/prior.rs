//! The estimate of a page's change rate before its second visit. It is learned from all pages (empirical Bayes).
//!
//! The logarithm of a rate is a sum: the effects of the host, the path group and the depth, and a rest that belongs to
//! the page. The rest has one distribution over all pages. The distribution has a weight for each rate of the grid, so
//! it can have any form; for example, many pages never change. Each review of a host makes one step of expectation and
//! maximisation. The step counts for the share of all pages that the host has.

use serde::{Deserialize, Serialize};

use super::belief::Belief;
use super::grid::{RATES, Row, dot, grid, log_step};

/// Number of path groups of a host. A hash of the path chooses the group.
pub const GROUPS: usize = 8;
/// Number of depths. Deeper pages count for the last one.
pub const DEPTHS: usize = 16;

/// At the start, the median page changes once in ten days; the standard deviation is a factor of e^2.
const FIRST_MEAN: f32 = -2.3;
const FIRST_DEVIATION: f32 = 2.0;
/// Variance of the effects before anything is known.
const FIRST_VARIANCE: f32 = 0.25;

/// The steps of expectation and maximisation are lengthened by this factor (over-relaxation), because plain steps are
/// short.
const RELAX: f32 = 1.8;

/// What all hosts share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prior {
    /// Distribution of the rest.
    shape: Row,
    /// What a depth adds to the logarithm of the rate.
    depths: [f32; DEPTHS],
    /// Pages of each depth, as counted by reviews.
    depth_pages: [f32; DEPTHS],
    /// How much the effects of hosts, path groups and depths differ.
    variance: Variance,
}

/// Variances of the effects.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Variance {
    host: f32,
    group: f32,
    depth: f32,
}

/// What a host and its path groups add to the logarithm of the rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Effects {
    host: f32,
    groups: [f32; GROUPS],
}

/// Path group and depth of a page. They and the host decide its prior.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PriorKey {
    /// Path group, below [`GROUPS`].
    pub group: u8,
    /// Links from a seed, below [`DEPTHS`].
    pub depth: u8,
}

impl PriorKey {
    /// A page so deep, under this path group (any hash of, say, its first path segment).
    pub fn new(group: u64, depth: u32) -> Self {
        Self { group: (group % GROUPS as u64) as u8, depth: depth.min(DEPTHS as u32 - 1) as u8 }
    }

    /// In one byte.
    pub fn to_byte(self) -> u8 {
        self.group << 4 | self.depth
    }

    /// From [`Self::to_byte`].
    pub fn from_byte(byte: u8) -> Self {
        Self { group: (byte >> 4) % GROUPS as u8, depth: byte & 0xf }
    }
}

impl Default for Prior {
    fn default() -> Self {
        let mut shape = grid().log_rate.map(|log| (-((log - FIRST_MEAN) / FIRST_DEVIATION).powi(2) / 2.0).exp());
        normalise(&mut shape);
        let variance = Variance { host: FIRST_VARIANCE, group: FIRST_VARIANCE, depth: FIRST_VARIANCE };
        Self { shape, depths: [0.0; DEPTHS], depth_pages: [0.0; DEPTHS], variance }
    }
}

impl Prior {
    /// The estimate for a page that was not visited again yet.
    pub fn weights(&self, effects: &Effects, key: PriorKey) -> Row {
        shift(&self.shape, self.sum(effects, key))
    }

    fn sum(&self, effects: &Effects, key: PriorKey) -> f32 {
        effects.host + effects.groups[key.group as usize] + self.depths[key.depth as usize]
    }

    /// Mean of the logarithm of the rest.
    fn mean(&self) -> f32 {
        dot(&self.shape, &grid().log_rate)
    }

    /// Learns from the pages of one host. There are `pages` pages on `hosts` hosts in all.
    pub fn learn(&mut self, effects: &mut Effects, census: &Census, pages: f32, hosts: f32) {
        if census.pages == 0.0 {
            return;
        }
        let mean = self.mean();
        let within = dot(&self.shape, &grid().log_rate.map(|log| (log - mean).powi(2)));
        // An effect is made smaller, as if this many more pages had shown no effect.
        let more = |variance: f32| (within / variance).clamp(2.0, 1_000.0);
        let Variance { host, group, depth } = self.variance;

        let before = effects.host;
        effects.host = (census.pages * before + census.rest) / (census.pages + more(host));
        let step = 1.0 / hosts.max(1.0);
        approach(&mut self.variance.host, effects.host.powi(2) + within / (census.pages + more(host)), step);
        let moved = effects.host - before;

        for (at, &(pages, rest)) in census.groups.iter().enumerate().filter(|(_, (pages, _))| *pages > 0.0) {
            let effect = &mut effects.groups[at];
            *effect = (pages * (*effect - moved) + rest) / (pages + more(group));
            let here = pages / census.pages;
            approach(&mut self.variance.group, effect.powi(2) + within / (pages + more(group)), step * here);
        }

        let share = (census.pages / pages.max(1.0)).min(1.0);
        for (at, &(here, rest)) in census.depths.iter().enumerate() {
            approach(&mut self.depth_pages[at], here / share, share);
            let all = self.depth_pages[at].max(1.0);
            if here > 0.0 {
                let effect = &mut self.depths[at];
                let target = (*effect - moved + rest / here) * all / (all + more(depth));
                approach(effect, target, (here / all).min(1.0));
                let effect = effect.powi(2);
                approach(&mut self.variance.depth, effect + within / (all + more(depth)), share * here / census.pages);
            }
        }
        for k in 0..RATES {
            let target = (census.shape[k] / census.pages).max(1e-9);
            self.shape[k] *= (target / self.shape[k]).powf(share * RELAX);
        }
        normalise(&mut self.shape);
    }
}

/// The pages of a host, counted.
#[derive(Clone, Debug)]
pub struct Census {
    pages: f32,
    /// The sum, over the pages, of the logarithm of the rate minus its expectation. For each path group and each depth,
    /// the number of pages and the same sum follow.
    rest: f32,
    groups: [(f32, f32); GROUPS],
    depths: [(f32, f32); DEPTHS],
    shape: Row,
}

impl Default for Census {
    fn default() -> Self {
        Self { pages: 0.0, rest: 0.0, groups: Default::default(), depths: Default::default(), shape: [0.0; RATES] }
    }
}

impl Census {
    /// Counts a page.
    pub fn add(&mut self, prior: &Prior, effects: &Effects, key: PriorKey, belief: &Belief) {
        let sum = prior.sum(effects, key);
        let rest = belief.log_rate() - prior.mean() - sum;
        self.pages += 1.0;
        self.rest += rest;
        for part in [&mut self.groups[key.group as usize], &mut self.depths[key.depth as usize]] {
            part.0 += 1.0;
            part.1 += rest;
        }
        for (own, p) in self.shape.iter_mut().zip(shift(belief.probabilities(), -sum)) {
            *own += p;
        }
    }
}

/// Moves the distribution by `by` along the logarithm of the rate. What would leave the grid stays at its ends.
fn shift(row: &Row, by: f32) -> Row {
    if by == 0.0 {
        return *row;
    }
    let by = by / log_step();
    let (steps, way) = (by.floor() as isize, by - by.floor());
    let mut moved = [0.0; RATES];
    let end = RATES as isize - 1;
    for (k, p) in row.iter().enumerate() {
        let to = k as isize + steps;
        moved[to.clamp(0, end) as usize] += p * (1.0 - way);
        moved[(to + 1).clamp(0, end) as usize] += p * way;
    }
    moved
}

/// Sums to one; no rate is ruled out for good.
fn normalise(row: &mut Row) {
    let sum: f32 = row.iter().sum();
    row.iter_mut().for_each(|p| *p = *p / sum + 1e-6);
    let sum: f32 = row.iter().sum();
    row.iter_mut().for_each(|p| *p /= sum);
}

fn approach(value: &mut f32, target: f32, step: f32) {
    *value += (target - *value) * step;
}
