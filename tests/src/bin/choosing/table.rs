//! The table about one web.

use std::fmt;

use tests::choosing::{Curve, median};

/// The curves of each way of choosing. With each is the curve of the ideal gate on the same web.
#[derive(Debug, Default)]
pub struct Table {
    rows: Vec<(String, Vec<(Curve, Curve)>)>,
}

/// The shares of the contents for which the table shows fetches.
const SHARES: [f64; 5] = [0.5, 0.9, 0.95, 0.99, 1.0];

/// The numbers of fetches for which the table shows contents, as multiples of the fetches of the ideal gate.
const MULTIPLES: [f64; 6] = [0.5, 0.75, 0.9, 1.0, 1.1, 1.5];

impl Table {
    /// Adds a curve of a way of choosing.
    pub fn add(&mut self, name: &str, curve: Curve, ideal: &Curve) {
        let at = self.rows.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
            self.rows.push((name.to_owned(), Vec::new()));
            self.rows.len() - 1
        });
        self.rows[at].1.push((curve, ideal.clone()));
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<14}{:>9}{:>9}{:>7} |", "", "fetches", "found", "lost")?;
        SHARES.iter().try_for_each(|share| write!(f, "{:>7}", format!("{}%", share * 100.0)))?;
        write!(f, " {:>8} |", "worst")?;
        MULTIPLES.iter().try_for_each(|multiple| write!(f, "{multiple:>7}x"))?;
        writeln!(f)?;
        for (name, curves) in &self.rows {
            let over =
                |of: &dyn Fn(&Curve, &Curve) -> f64| median(curves.iter().map(|(curve, ideal)| of(curve, ideal)));
            write!(
                f,
                "{name:<14}{:>9}{:>9}{:>7} |",
                over(&|curve, _| curve.fetches as f64),
                over(&|curve, _| curve.contents() as f64),
                over(&|curve, ideal| ideal.contents().saturating_sub(curve.contents()) as f64),
            )?;
            let ratio = |share: f64, curve: &Curve, ideal: &Curve| {
                let fetches = curve.fetches_for(share, ideal.contents());
                fetches.map_or(f64::INFINITY, |fetches| fetches as f64 / ideal.fetches as f64)
            };
            for share in SHARES {
                write!(f, "{:>7.3}", over(&|curve, ideal| ratio(share, curve, ideal)))?;
            }
            let worst = curves.iter().map(|(curve, ideal)| ratio(1.0, curve, ideal)).fold(0.0, f64::max);
            write!(f, " {worst:>8.3} |")?;
            for multiple in MULTIPLES {
                let found = over(&|curve, ideal| {
                    let fetches = (multiple * ideal.fetches as f64) as u64;
                    100.0 * curve.contents_by(fetches) as f64 / ideal.contents() as f64
                });
                write!(f, "{found:>7.1}%")?;
            }
            writeln!(f)?;
        }
        writeln!(
            f,
            "Left: medians; fetches until so many of the contents were found, over all fetches of the ideal gate; worst: of \
             100 %. Right: contents found by so many times those fetches."
        )
    }
}
