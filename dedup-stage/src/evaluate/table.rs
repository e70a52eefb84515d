//! Reports as a table for people.

use std::fmt::Write as _;

use super::folds::HeldOut;
use super::matrix::matrix;
use super::measure::{Evaluation, Measure};
use crate::evaluate::schemes::Scheme;
use crate::signature::DISTANCE;

/// A table with a line for each scheme at its best threshold, and for distances from 3 to 10. Strata and
/// cross-validation follow below. The last two columns have F1 at the threshold that is best on one half of the
/// clusters: on that half and on the other.
pub fn table(reports: &[Evaluation], strata: bool) -> String {
    let mut text = format!(
        "{:28} {:>9} {:>9} {:>9} {:>9}  {:13}  {}\n",
        "scheme",
        "threshold",
        "precision",
        "recall",
        "F1",
        "95 % of F1",
        "threshold of one half: F1 there, on the other"
    );
    let mut row = |measure: &Measure, name: &str, mark: &str| {
        let interval = measure
            .f1_interval
            .map_or_else(String::new, |interval| format!("{:.4}–{:.4}", interval.low, interval.high));
        let Measure { threshold, precision, recall, f1, .. } = measure;
        let row = format!("{name:28} {threshold:>9} {precision:>9.4} {recall:>9.4} {f1:>9.4}  {interval:13}  {mark}");
        let _ = writeln!(text, "{}", row.trim_end());
    };
    for report in reports {
        for (i, measure) in report.measures.iter().enumerate() {
            let in_range = report.scheme.by_distance() && (3.0..=10.0).contains(&measure.threshold);
            let is_default = report.scheme == Scheme::Cascade && measure.threshold == f64::from(DISTANCE);
            let mut marks = if is_default { "the product's default".to_owned() } else { String::new() };
            if i == report.best {
                let [chosen_on, other] = &report.halves;
                marks = format!("{}: {:.4}, {:.4}  best  {marks}", chosen_on.threshold, chosen_on.f1, other.f1);
            }
            if i == report.best || in_range {
                row(measure, &measure.scheme, &marks);
            }
        }
        for measure in report.strata.iter().filter(|_| strata) {
            row(measure, &format!("  {}", measure.stratum.as_deref().unwrap_or_default()), "");
        }
    }
    text + &folds(reports) + &matrix(reports)
}

/// A line for each scheme that was cross-validated, the best first.
fn folds(reports: &[Evaluation]) -> String {
    let mut rows: Vec<&HeldOut> = reports.iter().filter_map(|report| report.held_out.as_ref()).collect();
    if rows.is_empty() {
        return String::new();
    }
    rows.sort_by(|a, b| b.f1.total_cmp(&a.f1));
    let mut text = format!(
        "\ncross-validated: each fold at the threshold that is best on the others\n{:28} {:>9} {:>9} {:>9} {:>9}  {}\n",
        "scheme", "bytes", "precision", "recall", "F1", "thresholds"
    );
    for HeldOut { scheme, bytes, held_out_thresholds, precision, recall, f1, .. } in rows {
        let bytes = bytes.map_or_else(|| "more".to_owned(), |bytes| bytes.to_string());
        let thresholds: Vec<String> = held_out_thresholds.iter().map(f64::to_string).collect();
        let thresholds = thresholds.join(" ");
        let _ = writeln!(text, "{scheme:28} {bytes:>9} {precision:>9.4} {recall:>9.4} {f1:>9.4}  {thresholds}");
    }
    text
}
