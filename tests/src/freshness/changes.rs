//! When a page changes: moments over the days of a simulation.

use fastrand::Rng;

/// How changes follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pattern {
    /// Independent of each other.
    Poisson,
    /// Five at a time on average, two hours apart, and then nothing for long.
    Bursty,
    /// By day only: most at noon of the page's own time zone, none from eight in the evening to eight in the morning.
    Daily,
}

/// Changes of a burst, on average.
const BURST: f64 = 5.0;
/// Days between the changes of a burst, on average.
const WITHIN_BURST: f64 = 2.0 / 24.0;
/// Share of the day in which pages change, where they change by day.
const DAYTIME: f64 = 0.5;

impl Pattern {
    /// Moments of change before `days`, in order: `rate` a day on average. `zone` is the time of the page's noon, 0..1.
    pub fn moments(self, rate: f64, zone: f64, days: f64, random: &mut Rng) -> Vec<f32> {
        let mut moments = Vec::new();
        let mut now = 0.0;
        match self {
            Pattern::Poisson => loop {
                now += exponential(random) / rate;
                if now >= days {
                    return moments;
                }
                moments.push(now as f32);
            },
            Pattern::Bursty => {
                // The simulation starts amid whatever goes on: bursts from before may last.
                now = -10.0;
                loop {
                    now += exponential(random) * BURST / rate;
                    if now >= days {
                        break;
                    }
                    let mut change = now;
                    loop {
                        if (0.0..days).contains(&change) {
                            moments.push(change as f32);
                        }
                        if random.f64() < 1.0 / BURST {
                            break;
                        }
                        change += exponential(random) * WITHIN_BURST;
                    }
                }
                moments.sort_by(f32::total_cmp);
                moments
            }
            Pattern::Daily => {
                // Thinning: as many moments as at noon, of which the right share is kept.
                let noon = std::f64::consts::FRAC_PI_2 / DAYTIME;
                loop {
                    now += exponential(random) / (rate * noon);
                    if now >= days {
                        return moments;
                    }
                    let from_noon = (now - zone + 0.5).rem_euclid(1.0) - 0.5;
                    let share = (from_noon / DAYTIME * std::f64::consts::PI).cos();
                    if from_noon.abs() < DAYTIME / 2.0 && random.f64() < share {
                        moments.push(now as f32);
                    }
                }
            }
        }
    }
}

/// Exponential with mean 1.
pub fn exponential(random: &mut Rng) -> f64 {
    -(1.0 - random.f64()).ln()
}

/// Normal with mean 0 and deviation 1.
pub fn normal(random: &mut Rng) -> f64 {
    (2.0 * exponential(random)).sqrt() * (std::f64::consts::TAU * random.f64()).cos()
}
