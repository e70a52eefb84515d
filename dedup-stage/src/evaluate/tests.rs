//! Tests the harness on pairs whose measures are known.

use super::*;
use crate::evaluate::schemes::Scheme;
use crate::evaluate::schemes::lexicon::Lexicon;

/// Two texts of 300 distinct words with `shared` words in common, so that the exact resemblance is known.
fn line(i: usize, shared: usize, label: u32, more: &str) -> String {
    let words = |own: &str| -> String {
        let word = |j: usize| if j < shared { format!("w{i}x{j}") } else { format!("{own}{i}x{j}") };
        (0..300).map(word).collect::<Vec<_>>().join(" ")
    };
    format!("{{\"text_a\":\"{}\",\"text_b\":\"{}\",\"label\":{label}{more}}}\n", words("a"), words("b"))
}

fn measured(lines: &str, schemes: &[&str]) -> Vec<Evaluation> {
    let pairs = read_pairs(lines.as_bytes(), 1.0).unwrap();
    let schemes: Vec<Scheme> = schemes.iter().map(|name| name.parse().unwrap()).collect();
    evaluate(&pairs, &schemes, &Lexicon::default(), Effort { resamples: 50, folds: 3 }, || ())
}

#[test]
fn counts_and_intervals_are_those_of_the_pairs() {
    // Resemblances (shared - 4) / (596 - shared): 0.98, 0.62, and 0.
    let lines: String = (0..30)
        .map(|i| match i % 3 {
            0 => line(i, 298, 1, ",\"cluster\":\"near\""),
            1 => line(i, 230, 1, ""),
            _ => line(i, 0, 0, ",\"weight\":3"),
        })
        .collect();
    let reports = measured(&lines, &["resemblance5", "cascade"]);
    let at = |threshold: f64| reports[0].measures.iter().find(|m| m.threshold == threshold).unwrap();
    assert_eq!((at(0.5).tally.true_positives, at(0.5).tally.true_negatives), (20.0, 30.0), "weights count");
    assert_eq!((at(0.9).precision, at(0.9).recall), (1.0, 0.5));
    assert!((at(0.9).f1 - 2.0 / 3.0).abs() < 1e-12);
    let interval = at(0.9).f1_interval.unwrap();
    assert!(interval.low < at(0.9).f1 && at(0.9).f1 < interval.high);
    assert_eq!(at(0.5).f1_interval.unwrap(), Interval { low: 1.0, high: 1.0 });
    let sample = reports[0].strata.iter().find(|m| m.stratum.as_deref() == Some("sample, unweighted")).unwrap();
    assert_eq!(sample.tally.true_negatives, 10.0);
    let both = |of: fn(&Tally) -> f64| of(&reports[0].halves[0].tally) + of(&reports[0].halves[1].tally);
    assert_eq!(both(|t| t.true_positives + t.false_negatives), 20.0, "a pair is in one half");
    assert_eq!(reports[1].scheme, Scheme::Cascade, "reports stand in the order of the schemes");
}

#[test]
fn equal_texts_are_exact_whatever_their_length() {
    let lines = "{\"text_a\":\"short\",\"text_b\":\"short\",\"label\":1}\n\
                 {\"text_a\":\"short\",\"text_b\":\"other\",\"label\":0}\n{\"text_a\":\"\",\"text_b\":\"\",\"label\":0}";
    let reports = measured(lines, &["cascade"]);
    assert!(reports[0].measures.iter().all(|m| m.f1 == 1.0));
}

#[test]
fn nothing_is_measured_as_nothing() {
    let reports = measured("", &["cascade", "edit"]);
    assert!(reports.iter().all(|report| report.measures.iter().all(|m| m.f1 == 1.0 && m.f1_interval.is_none())));
    assert!(plot(&reports).ends_with("</svg>\n"));
}

#[test]
fn tables_and_pictures_show_every_scheme() {
    let lines: String = (0..6).map(|i| line(i, 300 - 50 * i, u32::from(i < 2), "")).collect();
    let names = ["simhash-words-tf", "simhash-words-sqrt", "simhash-shingles2-tf+stem", "cascade"];
    let reports = measured(&lines, &names);
    let svg = plot(&reports);
    assert!(names.iter().all(|name| svg.contains(&format!("{name}: best"))));
    assert_eq!(svg.matches("<polyline").count(), 4 * 4);
    let table = matrix(&reports);
    let rows: Vec<&str> = table.lines().skip(2).collect();
    assert!(rows[1].starts_with("words ") && rows[2].starts_with("shingles2+stem "), "{table}");
    assert_eq!(rows[1].matches('(').count(), 2, "{table}");
}

#[test]
fn thresholds_are_tried_on_folds_that_did_not_choose_them() {
    // In the clusters with even numbers, near-duplicates have a resemblance of 0.92, in the other clusters 0.62. All
    // other pairs have 0.34.
    let shared = |i: usize| if i.is_multiple_of(2) { 290 } else { 230 };
    let lines: String = (0..40)
        .map(|i: usize| {
            line(i, shared(i), 1, &format!(",\"cluster\":{i}")) + &line(100 + i, 155, 0, &format!(",\"cluster\":{i}"))
        })
        .collect();
    let report = &measured(&lines, &["resemblance5"])[0];
    let held_out = report.held_out.as_ref().unwrap();
    assert_eq!((held_out.f1, held_out.held_out_thresholds.len(), held_out.bytes), (1.0, 3, None));
    assert_eq!((held_out.tally.true_positives, held_out.tally.true_negatives), (40.0, 40.0), "each pair once");
    // All near-duplicates of low resemblance lie in one cluster, so in one fold. The other folds choose too high a
    // threshold for it.
    let lines: String = (0..40)
        .map(|i: usize| {
            let cluster = if i.is_multiple_of(2) { i + 100 } else { 1 };
            let near = line(i, shared(i), 1, &format!(",\"cluster\":{cluster}"));
            near + &line(100 + i, if i.is_multiple_of(2) { 225 } else { 155 }, 0, &format!(",\"cluster\":{cluster}"))
        })
        .collect();
    let report = &measured(&lines, &["resemblance5"])[0];
    let (best, held_out) = (report.measures[report.best].f1, report.held_out.as_ref().unwrap().f1);
    assert!(held_out < best - 0.1, "{held_out} and {best}");
}

#[test]
fn a_pair_of_two_clusters_counts_where_both_lie_in_one_fold() {
    let lines: String =
        (0..300).map(|i| line(i, 0, 0, &format!(",\"cluster\":{i},\"cluster_b\":{}", 1000 + i))).collect();
    let held_out = measured(&lines, &["resemblance5"]).remove(0).held_out.unwrap();
    // A third of the pairs counts, each for three.
    let counted = held_out.tally.true_negatives;
    assert!(counted % 3.0 == 0.0 && (200.0..400.0).contains(&counted), "{counted}");
    let table = table(&measured(&lines, &["resemblance5", "words-and-runs"]), false);
    assert!(table.contains("cross-validated") && table.contains("words-and-runs                      64 "), "{table}");
}
