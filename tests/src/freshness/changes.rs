//! The times at which a page changes during a simulation.

use fastrand::Rng;

/// The distribution of changes over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pattern {
    /// The changes are independent of each other.
    Poisson,
    /// Changes come in bursts of five on average, two hours apart, with long pauses between the bursts.
    Bursty,
    /// Changes happen by day only: most at noon in the time zone of the page, none from eight in the evening to eight
    /// in the morning.
    Daily,
}

/// The average number of changes in a burst.
const BURST: f64 = 5.0;
/// The average number of days between the changes of a burst.
const WITHIN_BURST: f64 = 2.0 / 24.0;
/// The share of the day in which pages change under [`Pattern::Daily`].
const DAYTIME: f64 = 0.5;

impl Pattern {
    /// The times of changes before `days`, in order. `rate` is the average number of changes a day; `zone` is the time
    /// of noon for the page, 0..1.
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
                // The simulation begins in the middle of events: earlier bursts may still go on.
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
                // Thinning: times are drawn at the rate of noon, and each is kept with a probability that depends on
                // the time of day.
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

/// Draws from the exponential distribution with mean 1.
pub fn exponential(random: &mut Rng) -> f64 {
    -(1.0 - random.f64()).ln()
}

/// Draws from the normal distribution with mean 0 and deviation 1.
pub fn normal(random: &mut Rng) -> f64 {
    (2.0 * exponential(random)).sqrt() * (std::f64::consts::TAU * random.f64()).cos()
}
