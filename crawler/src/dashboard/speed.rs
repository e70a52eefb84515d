//! The pages a second over the whole run, for the chart of the live page. A run may take minutes or months. So the
//! points of the chart are thinned out as the run goes on.

use frontier::Millis;

/// The number of pages at some times of the run, which are about equally far apart.
#[derive(Clone, Debug)]
pub struct Speed {
    /// Times spent crawling, each with the pages fetched until then.
    points: Vec<(Millis, u64)>,
    /// The least time between two points.
    step: Millis,
}

impl Default for Speed {
    fn default() -> Self {
        Self { points: Vec::new(), step: 1_000 }
    }
}

impl Speed {
    /// The most points.
    const MOST: usize = 240;

    /// Notes that `pages` were fetched after this time spent crawling. If it is too early for a point, it is left out.
    pub fn note(&mut self, elapsed: Millis, pages: u64) {
        if self.points.last().is_some_and(|(last, _)| elapsed < last + self.step) {
            return;
        }
        self.points.push((elapsed, pages));
        if self.points.len() > Self::MOST {
            let mut keep = false;
            self.points.retain(|_| {
                keep = !keep;
                keep
            });
            self.step *= 2;
        }
    }

    /// The pages a second between each two points, with the time of the second one. There is none before the second
    /// point.
    pub fn rates(&self) -> impl Iterator<Item = (Millis, f64)> {
        self.points.windows(2).map(|points| {
            let [(since, before), (until, after)] = [points[0], points[1]];
            (until, after.saturating_sub(before) as f64 * 1000.0 / (until - since) as f64)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_of_a_long_run_is_kept_in_few_points() {
        let mut speed = Speed::default();
        assert_eq!(speed.rates().count(), 0);
        // Ten pages a second for a day, then none for a day.
        for second in 0..2 * 86_400_u64 {
            speed.note(second * 1_000, 10 * second.min(86_400));
            speed.note(second * 1_000 + 5, u64::MAX);
        }
        let rates: Vec<_> = speed.rates().collect();
        assert!((100..Speed::MOST).contains(&rates.len()), "{}", rates.len());
        let (first, second): (Vec<_>, Vec<_>) = rates.iter().partition(|(until, _)| *until <= 86_400_000);
        assert!(first.len().abs_diff(second.len()) <= 2, "{} and {}", first.len(), second.len());
        assert!(first.iter().all(|(_, rate)| (rate - 10.0).abs() < 1e-9));
        assert!(second.iter().skip(1).all(|(_, rate)| *rate == 0.0));
    }
}
