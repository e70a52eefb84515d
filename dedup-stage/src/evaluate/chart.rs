//! A small line chart in SVG: panels side by side, lines, a legend below.

use std::fmt::Write;

const WIDTH: f64 = 440.0;
const HEIGHT: f64 = 320.0;
const MARGIN: f64 = 48.0;
const LEGEND: f64 = 18.0;
const COLOURS: [&str; 8] = ["#1b6ca8", "#c0392b", "#1e8449", "#8e44ad", "#b9770e", "#117a65", "#5d6d7e", "#d35400"];

/// A chart being drawn.
pub struct Chart {
    svg: String,
    lines: usize,
}

/// A panel: the names of both axes, and the range of the horizontal axis. The vertical axis goes from 0 to 1.
#[derive(Clone, Copy)]
pub struct Panel {
    /// The place of the panel, from the left.
    pub place: usize,
    /// The name of the horizontal axis.
    pub x: &'static str,
    /// The name of the vertical axis.
    pub y: &'static str,
    /// The range of the horizontal axis.
    pub range: (f64, f64),
}

impl Chart {
    /// A chart with these panels, and with room for this many lines in the legend.
    pub fn new(panels: &[Panel], lines: usize) -> Self {
        let (width, height) = (panels.len() as f64 * WIDTH, HEIGHT + LEGEND * lines as f64 + 20.0);
        let mut chart = Self {
            svg: format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" \
                 font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
            ),
            lines: 0,
        };
        panels.iter().for_each(|panel| chart.panel(panel));
        chart
    }

    fn panel(&mut self, panel: &Panel) {
        let (low, high) = panel.range;
        for step in 0..=5 {
            let share = f64::from(step) / 5.0;
            let value = low + (high - low) * share;
            let ((x0, y), (x1, _), (x, y0)) = (panel.at(low, share), panel.at(high, share), panel.at(value, 0.0));
            let (value, left, below) = ((value * 1000.0).round() / 1000.0, x0 - 4.0, y0 + 14.0);
            self.element(&format!("<path d=\"M{x0:.1} {y:.1}H{x1:.1}\" stroke=\"#ddd\"/>"));
            self.element(&format!("<text x=\"{left:.1}\" y=\"{:.1}\" text-anchor=\"end\">{share:.1}</text>", y + 4.0));
            self.element(&format!("<text x=\"{x:.1}\" y=\"{below:.1}\" text-anchor=\"middle\">{value}</text>"));
        }
        let ((x, y), (left, top)) = (panel.at(f64::midpoint(low, high), 0.0), panel.at(low, 1.0));
        let (below, x_name) = (y + 30.0, panel.x);
        self.element(&format!("<text x=\"{x:.1}\" y=\"{below:.1}\" text-anchor=\"middle\">{x_name}</text>"));
        self.element(&format!("<text x=\"{left:.1}\" y=\"{:.1}\">{}</text>", top - 10.0, panel.y));
    }

    /// Adds a line of text to the legend, in the next colour. Later lines in the panels have the same colour.
    pub fn legend(&mut self, text: &str) {
        let y = HEIGHT + LEGEND * self.lines as f64 + 12.0;
        self.lines += 1;
        let colour = self.colour();
        self.element(&format!("<text x=\"{MARGIN}\" y=\"{y:.1}\" fill=\"{colour}\">{text}</text>"));
    }

    /// Draws a line through points.
    pub fn line(&mut self, panel: &Panel, points: &[(f64, f64)], dashed: bool) {
        let mut path = String::new();
        for (x, y) in points.iter().map(|(x, y)| panel.at(*x, *y)) {
            let _ = write!(path, "{x:.1},{y:.1} ");
        }
        let (colour, dash) = (self.colour(), if dashed { " stroke-dasharray=\"4 3\"" } else { "" });
        self.element(&format!("<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\"{dash}/>", path.trim_end()));
    }

    /// Writes a word at a point.
    pub fn mark(&mut self, panel: &Panel, (x, y): (f64, f64), word: &str) {
        let ((x, y), colour) = (panel.at(x, y), self.colour());
        self.element(&format!("<text x=\"{x:.1}\" y=\"{:.1}\" fill=\"{colour}\">{word}</text>", y - 3.0));
    }

    /// The SVG document.
    pub fn finish(mut self) -> String {
        self.svg.push_str("</svg>\n");
        self.svg
    }

    fn colour(&self) -> &'static str {
        COLOURS[self.lines.saturating_sub(1) % COLOURS.len()]
    }

    fn element(&mut self, element: &str) {
        self.svg.push_str(element);
        self.svg.push('\n');
    }
}

impl Panel {
    fn at(&self, x: f64, y: f64) -> (f64, f64) {
        let (low, high) = self.range;
        let (w, h) = (WIDTH - 1.5 * MARGIN, HEIGHT - 2.0 * MARGIN);
        let share = ((x - low) / (high - low)).clamp(0.0, 1.0);
        (self.place as f64 * WIDTH + MARGIN + share * w, HEIGHT - MARGIN - y.clamp(0.0, 1.0) * h)
    }
}
