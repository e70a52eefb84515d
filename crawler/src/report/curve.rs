//! The curve of a crawl: the number of pages of each verdict by the number of pages fetched. The number of points is
//! bounded.

/// A point of the curve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Point {
    /// Pages fetched.
    pub pages: u64,
    /// Unique pages among them: distinct contents.
    pub unique: u64,
    /// Near-duplicates.
    pub near: u64,
    /// Exact duplicates.
    pub exact: u64,
}

/// Drops points when it grows: when it is full, every other point is removed, and from then on points are added half as
/// often.
#[derive(Clone, Debug)]
pub struct Curve {
    points: Vec<Point>,
    last: Point,
    /// Pages between two points.
    stride: u64,
}

impl Default for Curve {
    fn default() -> Self {
        Self { points: vec![Point::default()], last: Point::default(), stride: 1 }
    }
}

impl Curve {
    /// At most this many points are kept.
    const MOST: usize = 400;

    /// Adds a point. `pages` must never fall.
    pub fn push(&mut self, point: Point) {
        self.last = point;
        if point.pages < self.points.last().map_or(0, |last| last.pages) + self.stride {
            return;
        }
        self.points.push(point);
        if self.points.len() == Self::MOST {
            let mut even = false;
            self.points.retain(|_| {
                even = !even;
                even
            });
            self.stride *= 2;
        }
    }

    /// The points that are kept, and the last point.
    pub fn points(&self) -> impl Iterator<Item = Point> + Clone {
        let last = (self.points.last() != Some(&self.last)).then_some(self.last);
        self.points.iter().copied().chain(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_crawl_keeps_its_ends_and_few_points_between() {
        let mut curve = Curve::default();
        for pages in 1..=1_000_003 {
            curve.push(Point { pages, unique: pages / 2, ..Point::default() });
        }
        let points: Vec<_> = curve.points().collect();
        assert!(points.len() <= Curve::MOST && points.len() >= Curve::MOST / 2);
        assert_eq!(points[0].pages, 0);
        assert_eq!(points[points.len() - 1].pages, 1_000_003);
        let widest = points.windows(2).map(|pair| pair[1].pages - pair[0].pages).max();
        assert!(widest < Some(10_000), "{widest:?}");
    }
}
