//! A table of features and weights. It shows how sensitive simhash is to the choice of either (the question of Manku,
//! Jain, Das Sarma, WWW 2007, section 6.E).

use std::fmt::Write;

use super::measure::Evaluation;
use crate::evaluate::schemes::{Scheme, Weight, Weighted};

const COLUMNS: [Weight; 5] = [Weight::One, Weight::Count, Weight::Log, Weight::Root, Weight::Idf];

/// A table of the best F1 and its distance, with features (and bits and options) down and weights across. It is empty
/// if fewer than two simhashes were measured.
pub fn matrix(reports: &[Evaluation]) -> String {
    let mut rows: Vec<(Weighted, [String; COLUMNS.len()])> = Vec::new();
    let mut cells = 0;
    for report in reports {
        let Scheme::Simhash(recipe) = report.scheme else { continue };
        let row = Weighted { weight: Weight::One, ..recipe };
        let place = rows.iter().position(|(known, _)| *known == row).unwrap_or_else(|| {
            rows.push((row, Default::default()));
            rows.len() - 1
        });
        let best = &report.measures[report.best];
        let column = COLUMNS.iter().position(|weight| *weight == recipe.weight).unwrap_or(0);
        rows[place].1[column] = format!("{:.4} ({})", best.f1, best.threshold);
        cells += 1;
    }
    let mut text = String::new();
    if cells > 1 {
        let _ = write!(text, "\nbest F1 of simhashes (its distance), by features and weights\n{:22}", "");
        for weight in COLUMNS {
            let _ = write!(text, "{:>13}", weight.to_string());
        }
        for (row, cells) in rows {
            let name = row.to_string().replacen("simhash-", "", 1).replacen("-one", "", 1);
            let _ = write!(text, "\n{name:22}");
            for cell in cells {
                let _ = write!(text, "{cell:>13}");
            }
        }
        text.push('\n');
    }
    text
}
