//! The grid of change rates and elapsed times on which all estimates are computed, and the tables over it.
//!
//! A change rate is one of [`RATES`] values, a fixed factor apart, from one change in about three years to one in about
//! fifteen seconds. A belief about a page has a weight for each rate. So what a visit buys after a given time is a dot
//! product of the weights with a row of a table. It costs some tens of nanoseconds.

use std::array;
use std::sync::LazyLock;

/// Number of rates.
pub const RATES: usize = 32;
/// Number of elapsed times.
pub const SPANS: usize = 64;

/// One number for each rate.
pub type Row = [f32; RATES];

/// Lowest rate, changes a day.
const LOWEST_RATE: f64 = 1e-3;
/// From each rate to the next.
const RATE_STEP: f64 = 1.65;
/// Shortest elapsed time, days: ten seconds.
const SHORTEST: f64 = 10.0 / 86_400.0;
/// From each elapsed time to the next; the longest is about five years.
const SPAN_STEP: f64 = 1.3;

/// The tables, which are computed once.
pub struct Grid {
    /// The rates, changes a day.
    pub rate: Row,
    /// Their natural logarithms.
    pub log_rate: Row,
    /// The elapsed times, days.
    pub span: [f32; SPANS],
    /// For each elapsed time t and rate r: what a visit buys at the time t after the last one, in days of freshness. It
    /// is `(1 - e^-rt (1 + rt)) / r`, and grows with t.
    pub gain: [Row; SPANS],
    /// For each interval t and rate r: the share of time in which a page is fresh, `(1 - e^-rt) / rt`.
    pub fresh: [Row; SPANS],
}

static GRID: LazyLock<Grid> = LazyLock::new(Grid::new);

/// The tables.
pub fn grid() -> &'static Grid {
    &GRID
}

impl Grid {
    fn new() -> Self {
        let rate: [f64; RATES] = array::from_fn(|k| LOWEST_RATE * RATE_STEP.powi(k as i32));
        let span: [f64; SPANS] = array::from_fn(|j| SHORTEST * SPAN_STEP.powi(j as i32));
        let table = |value: fn(f64, f64) -> f64| span.map(|t| rate.map(|r| value(r, t) as f32));
        Self {
            rate: rate.map(|r| r as f32),
            log_rate: rate.map(|r| r.ln() as f32),
            span: span.map(|t| t as f32),
            gain: table(gain),
            fresh: table(fresh),
        }
    }

    /// Where an elapsed time in days stands between the rows: the row below, and the share of the way to the next.
    pub fn place(&self, days: f32) -> (usize, f32) {
        let at = (f64::from(days) / SHORTEST).ln() / SPAN_STEP.ln();
        let at = at.clamp(0.0, (SPANS - 1) as f64 - 1e-6);
        (at as usize, at.fract() as f32)
    }

    /// The elapsed time at a place between the rows.
    pub fn days(&self, row: usize, way: f32) -> f32 {
        self.span[row] * (SPAN_STEP.ln() as f32 * way).exp()
    }
}

/// Distance of two neighbouring rates, in natural logarithms.
pub fn log_step() -> f32 {
    RATE_STEP.ln() as f32
}

/// What a visit buys at this rate after this time, in days of freshness (Azar et al. 2018).
fn gain(rate: f64, days: f64) -> f64 {
    let x = rate * days;
    // For small x the difference below would lose all its digits.
    if x < 1e-3 { days * x * (0.5 - x / 3.0) } else { (1.0 - (-x).exp() * (1.0 + x)) / rate }
}

/// Share of time that a page is fresh.
fn fresh(rate: f64, days: f64) -> f64 {
    -(-rate * days).exp_m1() / (rate * days)
}

/// Sum of products.
pub fn dot(a: &Row, b: &Row) -> f32 {
    // Eight running sums, so that the compiler may use vectors.
    let mut sums = [0.0; 8];
    for (a, b) in a.chunks_exact(8).zip(b.chunks_exact(8)) {
        for lane in 0..8 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum()
}
