//! How time and bytes grow, beside what the planner predicts: a table, and a plot.

use dedup_stage::hamming::frozen::Source;
use dedup_stage::hamming::plan::estimate;
use dedup_stage::hamming::{Calibration, Design, Index};

use crate::clock::cpu_time;
use crate::data::ByRow;
use crate::frozen::built;

/// More do not fit into 24 GiB online.
const MOST_ONLINE: u64 = 100_000_000;

/// What was predicted and measured for one size and distance.
struct Row {
    n: u64,
    k: u32,
    /// Frozen, in this order: bytes a fingerprint, lookups, candidates, nanoseconds a query.
    predicted: [f64; 4],
    measured: [f64; 4],
    /// Online: nanoseconds an insertion and a query, bytes a fingerprint; if memory allows.
    online: Option<[f64; 3]>,
}

/// Predicted and measured, for sizes from `least` to `most` and distances from 1 to `farthest`; the plot goes to a
/// file.
pub fn growth(least: u64, most: u64, farthest: u32, plot: Option<&str>) {
    let machine = Calibration::measure();
    println!("{machine:?}");
    println!(
        "n\tk\tdesign\tB/fp predicted\tB/fp\tlookups predicted\tlookups\tcandidates predicted\tcandidates\tns predicted\tns\t\
         insert ns online\twithin ns online\tB/fp online"
    );
    let mut rows = Vec::new();
    let mut n = least;
    while n <= most {
        for k in 1..=farthest {
            let design = Design::for_size(k, n);
            let row = measure(n, k, &design, machine);
            print!("{n}\t{k}\t{}", design.name);
            for (predicted, measured) in row.predicted.iter().zip(row.measured) {
                print!("\t{predicted:.2}\t{measured:.2}");
            }
            match row.online {
                Some([insert, within, bytes]) => println!("\t{insert:.0}\t{within:.0}\t{bytes:.2}"),
                None => println!("\t-\t-\t-"),
            }
            rows.push(row);
        }
        n *= 10;
    }
    for (i, what) in ["bytes", "lookups", "candidates", "time"].iter().enumerate() {
        let off = |row: &Row| (row.predicted[i] / row.measured[i] - 1.0) * 100.0;
        let (least, most) = rows.iter().map(off).fold((f64::MAX, f64::MIN), |(a, b), o| (a.min(o), b.max(o)));
        println!("{what}: predicted {least:+.0} % to {most:+.0} % of what was measured");
    }
    if let Some(plot) = plot {
        std::fs::write(plot, svg(&rows)).expect("the plot can be written");
    }
}

fn measure(n: u64, k: u32, design: &Design, machine: Calibration) -> Row {
    let predicted = estimate(design, n, None, machine);
    let source = ByRow(n);
    let (index, _) = built(n, design.clone(), false);
    let queries = source.queries(20_000);
    let mut reader = index.reader();
    let (lookups, candidates) = reader.reads(&queries);
    // The best of a few: what else runs can only add.
    let frozen = (0..3)
        .map(|_| {
            let mut found = 0;
            let start = cpu_time();
            reader.within(&queries, &mut |_, _, _| found += 1);
            std::hint::black_box(found);
            (cpu_time() - start).as_nanos() as f64 / queries.len() as f64
        })
        .fold(f64::MAX, f64::min);
    let each = queries.len() as f64;
    let bytes = index.bytes().0 as f64 / index.len() as f64;
    drop(reader);
    drop(index);
    Row {
        n,
        k,
        predicted: [predicted.bytes_frozen, predicted.lookups, predicted.candidates, predicted.nanoseconds],
        measured: [bytes, lookups as f64 / each, candidates as f64 / each, frozen],
        online: (n <= MOST_ONLINE).then(|| online(&source, k, &queries)),
    }
}

fn online(source: &ByRow, k: u32, queries: &[u64]) -> [f64; 3] {
    let n = source.rows();
    let mut index = Index::new(k);
    let mut chunk = vec![0; 1 << 12];
    let (mut from, mut insert) = (0, 0.0);
    while from < n {
        let chunk = &mut chunk[..(n - from).min(1 << 12) as usize];
        source.read(from, chunk);
        let start = cpu_time();
        chunk.iter().for_each(|fingerprint| {
            index.insert(*fingerprint);
        });
        insert += (cpu_time() - start).as_nanos() as f64;
        from += chunk.len() as u64;
    }
    let within = nanoseconds(queries, |query, near| index.within(query, near));
    [insert / n as f64, within, index.bytes() as f64 / index.len() as f64]
}

/// Nanoseconds of CPU a query, each after the other, the best of three rounds.
pub fn nanoseconds(queries: &[u64], mut within: impl FnMut(u64, &mut Vec<(u64, u32)>)) -> f64 {
    let mut near = Vec::new();
    (0..3)
        .map(|_| {
            let start = cpu_time();
            for query in queries {
                near.clear();
                within(*query, &mut near);
            }
            (cpu_time() - start).as_nanos() as f64 / queries.len() as f64
        })
        .fold(f64::MAX, f64::min)
}

/// Four panels, both axes logarithmic: what was measured as lines, what was predicted as dashes; a colour for each
/// distance.
fn svg(rows: &[Row]) -> String {
    const COLOURS: [&str; 7] = ["#1b6ca8", "#c0392b", "#1e8449", "#8e44ad", "#b9770e", "#117a65", "#5d6d7e"];
    const WIDTH: f64 = 330.0;
    const HEIGHT: f64 = 300.0;
    type Value = fn(&Row) -> Option<f64>;
    let panels: [(&str, Value, Option<Value>); 4] = [
        ("frozen: ns a query", |row| Some(row.measured[3]), Some(|row| Some(row.predicted[3]))),
        ("frozen: bytes a fingerprint", |row| Some(row.measured[0]), Some(|row| Some(row.predicted[0]))),
        ("online: ns a query", |row| Some(row.online?[1]), None),
        ("online: ns an insertion", |row| Some(row.online?[0]), None),
    ];
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        4.0 * WIDTH,
        HEIGHT + 30.0,
    );
    let (first, last) =
        (rows.first().map_or(5.0, |row| (row.n as f64).log10()), rows.last().map_or(6.0, |row| (row.n as f64).log10()));
    for (place, (title, value, predicted)) in panels.iter().enumerate() {
        let all =
            rows.iter().flat_map(|row| value(row).into_iter().chain(predicted.and_then(|p| p(row)))).map(f64::log10);
        let (low, high) = all.fold((f64::MAX, f64::MIN), |(a, b), v| (a.min(v), b.max(v)));
        let (low, high) = (low.floor(), high.ceil().max(low.floor() + 1.0));
        let x = |n: f64| place as f64 * WIDTH + 50.0 + (n.log10() - first) / (last - first).max(1e-9) * (WIDTH - 80.0);
        let y = |v: f64| 30.0 + (high - v.log10()) / (high - low) * (HEIGHT - 60.0);
        let left = x(10f64.powf(first));
        svg += &format!("<text x=\"{left:.1}\" y=\"16\">{title}</text>\n");
        for power in low as i32..=high as i32 {
            let (y, right) = (y(10f64.powi(power)), x(10f64.powf(last)));
            svg += &format!("<path d=\"M{left:.1} {y:.1}H{right:.1}\" stroke=\"#ddd\"/>\n");
            svg +=
                &format!("<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">10^{power}</text>\n", left - 4.0, y + 4.0);
        }
        for power in first as i32..=last as i32 {
            let x = x(10f64.powi(power));
            svg += &format!("<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">10^{power}</text>\n", HEIGHT - 14.0);
        }
        for (k, colour) in (1..).zip(COLOURS) {
            for (value, dash) in [(Some(*value), ""), (*predicted, " stroke-dasharray=\"4 3\"")] {
                let Some(value) = value else { continue };
                let of_k = rows.iter().filter(|row| row.k == k).filter_map(|row| Some((row.n as f64, value(row)?)));
                let points: Vec<String> = of_k.map(|(n, value)| format!("{:.1},{:.1}", x(n), y(value))).collect();
                svg +=
                    &format!("<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\"{dash}/>\n", points.join(" "));
            }
        }
    }
    for (k, colour) in (1..).zip(COLOURS) {
        let (x, y) = (50.0 + 60.0 * f64::from(k - 1), HEIGHT + 10.0);
        svg += &format!("<text x=\"{x:.1}\" y=\"{y:.1}\" fill=\"{colour}\">k = {k}</text>\n");
    }
    svg += &format!(
        "<text x=\"500\" y=\"{:.1}\">against the number of fingerprints; lines measured, dashes predicted</text>\n",
        HEIGHT + 10.0
    );
    svg + "</svg>\n"
}
