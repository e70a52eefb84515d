//! Compares all schemes on pairs of real pages: by the measured resemblance of the pages, and by whether they are
//! versions of one page. The thresholds that were chosen on one half of the clusters are tried on the other half.

use dedup_stage::evaluate::schemes::Scheme;
use dedup_stage::evaluate::schemes::lexicon::Lexicon;
use dedup_stage::evaluate::{Effort, Evaluation, Pairs, evaluate, table};
use dedup_stage::signature::DISTANCE;

use crate::populations::{documentation, wikipedia};

/// A small scheme keeps at most this many bytes of a page.
const SMALL: usize = 64;

/// Measures these schemes and prints the table.
fn measure(name: &str, pairs: &Pairs, schemes: &[Scheme]) -> Vec<Evaluation> {
    let mut lexicon = Lexicon::default();
    pairs.documents.iter().for_each(|document| lexicon.add(&document.words));
    let reports = evaluate(pairs, schemes, &lexicon, Effort { resamples: 100, folds: 2 }, || ());
    println!("{name}: {} documents, {} pairs\n{}", pairs.documents.len(), pairs.pairs.len(), table(&reports, false));
    reports
}

/// The F1 of the cascade at its default, and the best F1 of exact resemblance.
fn cascade_and_exact(reports: &[Evaluation]) -> (f64, f64) {
    let of = |scheme: Scheme| reports.iter().find(|report| report.scheme == scheme).expect("measured");
    let cascade =
        of(Scheme::Cascade).measures.iter().find(|m| m.threshold == f64::from(DISTANCE)).expect("a threshold");
    let exact = of(Scheme::Resemblance(5));
    (cascade.f1, exact.measures[exact.best].f1)
}

#[test]
#[cfg_attr(not(shared_data), ignore = "there is no ../shared/data")]
fn every_scheme_on_versions_of_articles() {
    let reports = measure("wikipedia", &wikipedia().by_resemblance(), &Scheme::all());
    let (cascade, exact) = cascade_and_exact(&reports);
    assert!(cascade >= 0.95 && exact >= 0.99, "cascade {cascade}, exact resemblance {exact}");
}

#[test]
#[cfg_attr(not(shared_data), ignore = "there is no ../shared/data")]
fn every_scheme_on_versions_of_documentation() {
    for family in ["postgresql", "python"] {
        let reports = measure(family, &documentation(family).by_resemblance(), &Scheme::all());
        let (cascade, exact) = cascade_and_exact(&reports);
        assert!(cascade >= 0.9, "{family}: cascade {cascade}, exact resemblance of content {exact}");
    }
}

/// Of all schemes that keep at most 64 bytes of a page, words and runs find versions of one page best. On average over
/// the sets, their F1 is higher by at least 0.02.
#[test]
#[cfg_attr(not(shared_data), ignore = "there is no ../shared/data")]
#[cfg_attr(debug_assertions, ignore = "the sample of a debug build ranks nothing")]
fn small_schemes_on_versions_of_one_page() {
    let mut schemes = Scheme::all();
    schemes.extend([Scheme::Bits(512, 1), Scheme::Bits(256, 2), Scheme::Bits(128, 4), Scheme::Bits(64, 8)]);
    schemes.retain(|scheme| scheme.bytes().is_some_and(|bytes| bytes <= SMALL));
    let sets =
        [("wikipedia", wikipedia()), ("postgresql", documentation("postgresql")), ("python", documentation("python"))];
    let mut mean = vec![0.0; schemes.len()];
    for (name, set) in &sets {
        let reports = measure(name, &set.by_page(), &schemes);
        for (mean, report) in mean.iter_mut().zip(&reports) {
            *mean += report.held_out.as_ref().expect("cross-validated").f1 / sets.len() as f64;
        }
    }
    let mut ranking: Vec<(f64, Scheme)> = mean.into_iter().zip(schemes).collect();
    ranking.sort_by(|a, b| b.0.total_cmp(&a.0));
    println!("F1 held out, on average over the sets:");
    ranking.iter().for_each(|(mean, scheme)| println!("{:28} {mean:.4}", scheme.to_string()));
    let (first, second) = (ranking[0], ranking[1]);
    assert_eq!(first.1, Scheme::WordsAndRuns);
    assert!(first.0 - second.0 >= 0.02, "{first:?} {second:?}");
}
