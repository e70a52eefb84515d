//! Charts as inline SVG. Colours are classes, so that the style sheet of the page can choose them for light and dark.
//! Every chart has a name and a description for people who do not see it, and a table beside it has the same data.

use super::html::{Text, put};
use crate::units;

/// A line of a chart.
#[derive(Clone, Debug)]
pub struct Line<'a> {
    /// The label, which is written at the end of the line.
    pub label: &'a str,
    /// The class that gives the line its colour.
    pub class: &'a str,
    /// The points, by ascending x.
    pub points: Vec<(f64, f64)>,
}

/// A chart of lines over one axis.
#[derive(Clone, Debug)]
pub struct Lines<'a> {
    /// The name.
    pub title: &'a str,
    /// A description of what can be seen.
    pub description: &'a str,
    /// The label below the horizontal axis.
    pub x: &'a str,
    /// The label beside the vertical axis.
    pub y: &'a str,
    /// The label of the line y = x; `None` if this line is not drawn.
    pub diagonal: Option<&'a str>,
    /// The lines.
    pub lines: Vec<Line<'a>>,
}

/// The size of a chart, in its own units.
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 340.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 150.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 44.0;
/// The least distance between the baselines of two labels.
const LABEL: f64 = 18.0;

impl Lines<'_> {
    /// The SVG element.
    pub fn svg(&self) -> String {
        let all = || self.lines.iter().flat_map(|line| &line.points);
        let x_most = nice(all().map(|point| point.0).fold(1.0, f64::max));
        // The diagonal may leave the chart at the top. It only has to show how the lines bend away from it.
        let y_top = nice(all().map(|point| point.1).fold(1.0, f64::max));
        let x = |value: f64| LEFT + value / x_most * (WIDTH - LEFT - RIGHT);
        let y = |value: f64| HEIGHT - BOTTOM - value / y_top * (HEIGHT - TOP - BOTTOM);
        let mut out = open(self.title, self.description, WIDTH, HEIGHT, "chart");
        for tick in ticks(y_top) {
            put!(out, "<path class=\"grid\" d=\"M{LEFT} {:.1}H{:.1}\"/>", y(tick), WIDTH - RIGHT);
            put!(
                out,
                "<text class=\"tick\" x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                LEFT - 8.0,
                y(tick) + 4.0,
                short(tick)
            );
        }
        for tick in ticks(x_most) {
            put!(
                out,
                "<text class=\"tick\" x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                x(tick),
                HEIGHT - BOTTOM + 18.0,
                short(tick)
            );
        }
        put!(
            out,
            "<text class=\"axis\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            (LEFT + WIDTH - RIGHT) / 2.0,
            HEIGHT - 6.0,
            Text(self.x)
        );
        put!(
            out,
            "<text class=\"axis\" transform=\"translate(14 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            (TOP + HEIGHT - BOTTOM) / 2.0,
            Text(self.y)
        );
        let mut labels = Vec::new();
        if let Some(label) = self.diagonal {
            let end = x_most.min(y_top);
            put!(out, "<path class=\"diagonal\" d=\"M{:.1} {:.1}L{:.1} {:.1}\"/>", x(0.0), y(0.0), x(end), y(end));
            // Here the label is far from the ends of the lines, and covers nothing.
            let last = self.lines.iter().filter_map(|line| line.points.last()).map(|point| x(point.0));
            if last.fold(WIDTH, f64::min) > x(end) + RIGHT {
                out.push_str(&label_at(x(end), y(end), label, "diagonal"));
            } else {
                labels.push((x(end), y(end), label, "diagonal"));
            }
        }
        for line in &self.lines {
            let mut path = String::new();
            for (at, point) in line.points.iter().enumerate() {
                put!(path, "{}{:.1} {:.1}", if at == 0 { 'M' } else { 'L' }, x(point.0), y(point.1));
            }
            put!(out, "<path class=\"line {}\" d=\"{path}\"/>", line.class);
            if let Some(&(px, py)) = line.points.last() {
                put!(out, "<circle class=\"dot {}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\"/>", line.class, x(px), y(py));
                labels.push((x(px), y(py), line.label, line.class));
            }
        }
        spread(&mut labels);
        for (x, y, label, class) in labels {
            out.push_str(&label_at(x, y, label, class));
        }
        out.push_str("</svg>");
        out
    }
}

fn label_at(x: f64, y: f64, label: &str, class: &str) -> String {
    format!("<text class=\"label {class}\" x=\"{:.1}\" y=\"{:.1}\">{}</text>", x + 8.0, y + 4.0, Text(label))
}

/// Moves labels apart if they would cover each other.
fn spread(labels: &mut [(f64, f64, &str, &str)]) {
    labels.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut lowest = TOP;
    for label in labels.iter_mut() {
        label.1 = label.1.max(lowest);
        lowest = label.1 + LABEL;
    }
    let mut highest = HEIGHT - BOTTOM;
    for label in labels.iter_mut().rev() {
        label.1 = label.1.min(highest);
        highest = label.1 - LABEL;
    }
}

/// A bar of a histogram.
#[derive(Clone, Debug)]
pub struct Bar {
    /// The label below the bar; may be empty.
    pub label: String,
    /// The height of the bar.
    pub value: f64,
    /// A hint that is shown when somebody points at the bar.
    pub hint: String,
}

/// A chart of bars.
pub fn bars(title: &str, description: &str, x_label: &str, class: &str, bars: &[Bar]) -> String {
    let height = 220.0;
    let most = nice(bars.iter().map(|bar| bar.value).fold(0.0, f64::max).max(1e-9));
    let step = (WIDTH - LEFT - 16.0) / bars.len().max(1) as f64;
    let y = |value: f64| height - BOTTOM - value / most * (height - TOP - BOTTOM);
    let mut out = open(title, description, WIDTH, height, "chart");
    for tick in ticks(most) {
        put!(out, "<path class=\"grid\" d=\"M{LEFT} {:.1}H{}\"/>", y(tick), WIDTH - 16.0);
        put!(
            out,
            "<text class=\"tick\" x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 8.0,
            y(tick) + 4.0,
            short(tick)
        );
    }
    for (at, bar) in bars.iter().enumerate() {
        let x = LEFT + step * at as f64;
        put!(
            out,
            "<rect class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"><title>{}</title></rect>",
            x + step * 0.1,
            y(bar.value),
            step * 0.8,
            (height - BOTTOM - y(bar.value)).max(0.0),
            Text(&bar.hint)
        );
        if !bar.label.is_empty() {
            put!(
                out,
                "<text class=\"tick\" x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                x + step / 2.0,
                height - BOTTOM + 16.0,
                Text(&bar.label)
            );
        }
    }
    put!(
        out,
        "<text class=\"axis\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text></svg>",
        WIDTH / 2.0,
        height - 6.0,
        Text(x_label)
    );
    out
}

/// A small bar of parts, for a table cell that also has the numbers. It is only decoration, and hidden from screen
/// readers.
pub fn parts(parts: &[(&str, u64)], whole: u64) -> String {
    let mut out =
        String::from("<svg class=\"parts\" viewBox=\"0 0 100 8\" preserveAspectRatio=\"none\" aria-hidden=\"true\">");
    let mut x = 0.0;
    for (class, part) in parts {
        let width = *part as f64 * 100.0 / whole.max(1) as f64;
        if *part > 0 {
            put!(out, "<rect class=\"{class}\" x=\"{x:.2}\" width=\"{width:.2}\" height=\"8\"/>");
        }
        x += width;
    }
    out.push_str("</svg>");
    out
}

fn open(title: &str, description: &str, width: f64, height: f64, class: &str) -> String {
    format!(
        "<svg class=\"{class}\" viewBox=\"0 0 {width} {height}\" preserveAspectRatio=\"xMinYMin meet\" role=\"img\" aria-label=\"{}. {}\">",
        Text(title),
        Text(description)
    )
}

/// The smallest of 1, 1.5, 2, 3, 4, 5, 6, 8 times a power of ten that is not below `most`.
fn nice(most: f64) -> f64 {
    let power = 10f64.powf(most.log10().floor());
    [1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|bound| *bound >= most * (1.0 - 1e-9))
        .unwrap_or(most)
}

/// Four to six round values from 0 to `most`, which must be a result of [`nice`].
fn ticks(most: f64) -> impl Iterator<Item = f64> {
    let power = 10f64.powf((most * (1.0 + 1e-9)).log10().floor());
    let steps = match (most / power * 2.0).round() as u32 {
        3 | 6 | 12 => 3,
        10 => 5,
        _ => 4,
    };
    (0..=steps).map(move |step| most * f64::from(step) / f64::from(steps))
}

/// A short form of a value for an axis: `1,500`, `20k`, `1.5M`, `0.25`.
fn short(value: f64) -> String {
    let trim = |value: f64, unit: &str| format!("{}{unit}", (value * 100.0).round() / 100.0);
    match value {
        v if v >= 1e6 => trim(v / 1e6, "M"),
        v if v >= 1e4 => trim(v / 1e3, "k"),
        v if v >= 1e3 && v.fract() == 0.0 => units::count(v as u64),
        v => trim(v, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_end_at_round_values() {
        assert_eq!([1.0, 7.0, 12.0, 99.0, 1_000.0, 51_000.0].map(nice), [1.0, 8.0, 15.0, 100.0, 1_000.0, 60_000.0]);
        assert_eq!(ticks(60_000.0).map(short).collect::<Vec<_>>(), ["0", "20k", "40k", "60k"]);
        assert_eq!(ticks(1.0).map(short).collect::<Vec<_>>(), ["0", "0.25", "0.5", "0.75", "1"]);
    }

    #[test]
    fn labels_do_not_cover_each_other_and_stay_inside() {
        let mut labels: Vec<_> = (0..6).map(|n| (0.0, 290.0 + f64::from(n), "x", "y")).collect();
        spread(&mut labels);
        assert!(labels.windows(2).all(|pair| pair[1].1 - pair[0].1 >= LABEL - 1e-9));
        assert!(labels[5].1 <= HEIGHT - BOTTOM && labels[0].1 >= TOP);
    }

    #[test]
    fn an_empty_chart_is_a_chart() {
        let chart = Lines { title: "t", description: "d", x: "x", y: "y", diagonal: Some("d"), lines: Vec::new() };
        let svg = chart.svg();
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>") && !svg.contains("NaN") && !svg.contains("inf"));
        assert!(!bars("t", "d", "x", "c", &[]).contains("NaN"));
    }
}
