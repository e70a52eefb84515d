//! A picture of reports: precision and recall against the distance (figure 1 of Manku, Jain, Das Sarma, WWW 2007),
//! against each other, and F1 against the threshold (figures 2 to 5 of the multi-fingerprint paper).

use super::chart::{Chart, Panel};
use super::measure::{Evaluation, Measure};

const BY_DISTANCE: Panel =
    Panel { place: 0, x: "distance k", y: "precision (line) and recall (dashes)", range: (0.0, 15.0) };
const AGAINST: Panel = Panel { place: 1, x: "recall", y: "precision", range: (0.0, 1.0) };
const F1: Panel = Panel { place: 2, x: "threshold, by its range", y: "F1", range: (0.0, 1.0) };

/// An SVG document with the three panels.
pub fn plot(reports: &[Evaluation]) -> String {
    let mut chart = Chart::new(&[BY_DISTANCE, AGAINST, F1], reports.len());
    for report in reports {
        chart.legend(&label(report));
        let points =
            |of: &dyn Fn(&Measure) -> (f64, f64)| -> Vec<(f64, f64)> { report.measures.iter().map(of).collect() };
        if report.scheme.by_distance() {
            let near = |point: &(f64, f64)| point.0 <= BY_DISTANCE.range.1;
            let precision: Vec<_> = points(&|m| (m.threshold, m.precision)).into_iter().filter(near).collect();
            let recall: Vec<_> = points(&|m| (m.threshold, m.recall)).into_iter().filter(near).collect();
            chart.line(&BY_DISTANCE, &precision, false);
            chart.line(&BY_DISTANCE, &recall, true);
            for m in report.measures.iter().filter(|m| m.threshold <= 10.0) {
                chart.mark(&AGAINST, (m.recall, m.precision), &m.threshold.to_string());
            }
        }
        chart.line(&AGAINST, &points(&|m| (m.recall, m.precision)), false);
        let last = report.measures.last().map_or(1.0, |m| m.threshold);
        chart.line(&F1, &points(&|m| (m.threshold / last, m.f1)), false);
    }
    chart.finish()
}

fn label(report: &Evaluation) -> String {
    let Measure { threshold, precision, recall, f1, .. } = &report.measures[report.best];
    format!("{}: best at {threshold}, precision {precision:.3}, recall {recall:.3}, F1 {f1:.3}", report.scheme)
}
