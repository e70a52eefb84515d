//! A picture of reports: precision and recall against the distance (figure 1 of Manku, Jain, Das Sarma, WWW 2007), and F1
//! against the threshold.

use std::fmt::Write;

use super::measure::{Measure, Report};

const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 320.0;
const MARGIN: f64 = 48.0;
const COLOURS: [&str; 8] = ["#1b6ca8", "#c0392b", "#1e8449", "#8e44ad", "#b9770e", "#117a65", "#5d6d7e", "#d35400"];

/// An SVG document with both panels.
pub fn plot(reports: &[Report]) -> String {
    let legend = 18.0 * reports.len() as f64 + 20.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        2.0 * WIDTH,
        HEIGHT + legend
    );
    panel(&mut svg, 0.0, "recall", "precision", (0.0, 1.0));
    panel(&mut svg, WIDTH, "threshold, by its range", "F1", (0.0, 1.0));
    for (i, report) in reports.iter().enumerate() {
        let colour = COLOURS[i % COLOURS.len()];
        let curve: Vec<(f64, f64)> = report.measures.iter().map(|m| (m.recall, m.precision)).collect();
        line(&mut svg, 0.0, &curve, colour);
        if report.scheme.by_distance() {
            for (m, (x, y)) in report.measures.iter().zip(&curve).filter(|(m, _)| m.threshold <= 10.0) {
                let (x, y) = place(0.0, *x, *y);
                let _ =
                    writeln!(svg, "<text x=\"{x:.1}\" y=\"{:.1}\" fill=\"{colour}\">{}</text>", y - 3.0, m.threshold);
            }
        }
        let last = report.measures.last().map_or(1.0, |m| m.threshold);
        let f1: Vec<(f64, f64)> = report.measures.iter().map(|m| (m.threshold / last, m.f1)).collect();
        line(&mut svg, WIDTH, &f1, colour);
        let y = HEIGHT + 18.0 * i as f64 + 12.0;
        let _ = writeln!(svg, "<text x=\"{MARGIN}\" y=\"{y:.1}\" fill=\"{colour}\">{}</text>", label(report));
    }
    svg.push_str("</svg>\n");
    svg
}

fn label(report: &Report) -> String {
    let Measure { threshold, precision, recall, f1, .. } = &report.measures[report.best];
    format!("{}: best at {threshold}, precision {precision:.3}, recall {recall:.3}, F1 {f1:.3}", report.scheme)
}

fn place(left: f64, x: f64, y: f64) -> (f64, f64) {
    let (w, h) = (WIDTH - 1.5 * MARGIN, HEIGHT - 2.0 * MARGIN);
    (left + MARGIN + x.clamp(0.0, 1.0) * w, HEIGHT - MARGIN - y.clamp(0.0, 1.0) * h)
}

fn panel(svg: &mut String, left: f64, x_name: &str, y_name: &str, (low, high): (f64, f64)) {
    for step in 0..=5 {
        let value = low + (high - low) * f64::from(step) / 5.0;
        let ((x0, y), (x1, _)) = (place(left, 0.0, value), place(left, 1.0, value));
        let (x, y0) = place(left, value, 0.0);
        let _ = writeln!(svg, "<path d=\"M{x0:.1} {y:.1}H{x1:.1}\" stroke=\"#ddd\"/>");
        let _ = writeln!(svg, "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{value:.1}</text>", x0 - 4.0, y + 4.0);
        let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{value:.1}</text>", y0 + 14.0);
    }
    let (x, y) = place(left, 0.5, 0.0);
    let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{x_name}</text>", y + 30.0);
    let (x, y) = place(left, 0.0, 1.0);
    let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{:.1}\">{y_name}</text>", y - 10.0);
}

fn line(svg: &mut String, left: f64, points: &[(f64, f64)], colour: &str) {
    let points: Vec<String> = points
        .iter()
        .map(|(x, y)| {
            let (x, y) = place(left, *x, *y);
            format!("{x:.1},{y:.1}")
        })
        .collect();
    let _ = writeln!(svg, "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\"/>", points.join(" "));
}
