//! Every scheme in one harness on real pairs with measured resemblance: the whole table, with the thresholds chosen on one
//! half of the clusters and tried on the other. In debug builds on a sample.

use std::collections::HashMap;

use dedup_stage::evaluate::{Pair, Pairs, evaluate, table};
use dedup_stage::page::{Input, Reader};
use dedup_stage::signature::DISTANCE;
use dedup_stage::signature::document::Document;
use dedup_stage::signature::lexicon::Lexicon;
use dedup_stage::signature::scheme::Scheme;
use fastrand::Rng;
use url::Url;

use crate::data;
use crate::wikipedia::{shingles, versions};

/// One in so many clusters is looked at.
const EVERY: usize = if cfg!(debug_assertions) { 16 } else { 1 };
/// Hamming distance of the product's fingerprints up to which all pairs are looked at.
const NEAR: u32 = 12;
/// Pairs of different clusters that are drawn.
const DRAWN: usize = 4_000 / EVERY;

fn document(reader: &mut Reader, path: &str, content_type: &str, body: &[u8]) -> Document {
    let url = Url::parse("http://pages.example/").expect("a URL").join(path).expect("a path");
    Document::read(reader, &Input { url: &url, status: 200, content_type: Some(content_type), body })
}

fn pair(documents: [usize; 2], near: bool, weight: f64, cluster: &str) -> Pair {
    Pair { documents, near, weight, cluster: cluster.to_owned(), strata: Vec::new() }
}

/// Prints the table; the F1 of the cascade at its default, and the best of another scheme.
fn measure(name: &str, pairs: &Pairs, other: Scheme) -> (f64, f64) {
    let mut lexicon = Lexicon::default();
    pairs.documents.iter().for_each(|document| lexicon.add(&document.words));
    let reports = evaluate(pairs, &Scheme::all(), &lexicon, 100, || ());
    println!("{name}: {} documents, {} pairs\n{}", pairs.documents.len(), pairs.pairs.len(), table(&reports, false));
    let of = |scheme: Scheme| reports.iter().find(|report| report.scheme == scheme).expect("measured");
    let cascade =
        of(Scheme::Cascade).measures.iter().find(|m| m.threshold == f64::from(DISTANCE)).expect("a threshold");
    (cascade.f1, of(other).measures[of(other).best].f1)
}

#[test]
#[cfg_attr(not(shared_data), ignore = "there is no ../shared/data")]
fn every_scheme_on_versions_of_articles() {
    let versions = versions();
    let mut clusters: Vec<&str> = versions.iter().map(|version| version.cluster.as_str()).collect();
    clusters.dedup();
    let kept: Vec<&str> = clusters.into_iter().step_by(EVERY).collect();
    let versions: Vec<_> = versions.iter().filter(|version| kept.contains(&version.cluster.as_str())).collect();
    let sets: Vec<_> = versions.iter().map(|version| shingles(&version.text)).collect();
    let mut reader = Reader::default();
    let read = |version: &&crate::wikipedia::Version| {
        document(&mut reader, "text", "text/plain; charset=utf-8", version.text.as_bytes())
    };
    let mut pairs = Pairs { documents: versions.iter().map(read).collect(), ..Pairs::default() };
    let mut random = Rng::with_seed(1);
    let within = (0..versions.len())
        .flat_map(|a| (a + 1..versions.len()).map(move |b| (a, b)))
        .filter(|(a, b)| versions[*a].cluster == versions[*b].cluster);
    let across = std::iter::repeat_with(|| (random.usize(..versions.len()), random.usize(..versions.len())))
        .filter(|(a, b)| versions[*a].cluster != versions[*b].cluster)
        .take(DRAWN);
    for (a, b) in within.chain(across) {
        let common = sets[a].intersection(&sets[b]).count();
        let truth = common as f64 / (sets[a].len() + sets[b].len() - common).max(1) as f64;
        if truth <= 0.6 || truth >= 0.8 {
            pairs.pairs.push(pair([a, b], truth >= 0.8, 1.0, &versions[a].cluster));
        }
    }
    let (cascade, exact) = measure("wikipedia", &pairs, Scheme::Resemblance(5));
    assert!(cascade >= 0.95 && exact >= 0.99, "cascade {cascade}, exact resemblance {exact}");
}

#[test]
#[cfg_attr(not(shared_data), ignore = "there is no ../shared/data")]
fn every_scheme_on_versions_of_documentation() {
    for family in ["postgresql", "python"] {
        let folder = data::unpacked(&format!("docs/{family}.tar.xz"));
        let list = data::folder().join(format!("docs/all-pairs-{family}.tsv"));
        let list = std::fs::read_to_string(list).expect("readable");
        let truth: HashMap<(&str, &str), f64> = list
            .lines()
            .skip(1)
            .map(|line| {
                let fields: Vec<&str> = line.split('\t').collect();
                ((fields[0], fields[1]), fields[2].parse().expect("a number"))
            })
            .collect();
        // A cluster is a page in its versions.
        let cluster = |name: &str| name.split_once('/').map_or_else(String::new, |(_, page)| page.to_owned());
        let mut names = data::files(&folder, ".html");
        names.sort_by_key(|name| cluster(name));
        let names: Vec<String> = if EVERY > 1 { names.into_iter().take(2_400 / EVERY).collect() } else { names };
        let mut reader = Reader::default();
        let read = |name: &String| {
            document(&mut reader, name, "text/html", &std::fs::read(folder.join(name)).expect("readable"))
        };
        let mut pairs = Pairs { documents: names.iter().map(read).collect(), ..Pairs::default() };
        let place: HashMap<&str, usize> = names.iter().enumerate().map(|(i, name)| (name.as_str(), i)).collect();
        for ((a, b), truth) in truth.iter().filter(|(_, truth)| **truth <= 0.6 || **truth >= 0.8) {
            if let (Some(a), Some(b)) = (place.get(a), place.get(b)) {
                pairs.pairs.push(pair([*a, *b], *truth >= 0.8, 1.0, &cluster(&names[*a])));
            }
        }
        // All others are different. Those with near fingerprints are all looked at; of the rest, some drawn stand for all.
        let listed = |a: usize, b: usize| {
            let (a, b) = (names[a].as_str(), names[b].as_str());
            truth.contains_key(&(a, b)) || truth.contains_key(&(b, a))
        };
        let near = |a: usize, b: usize| {
            let [a, b] = [a, b].map(|place| pairs.documents[place].signature.as_ref());
            a.zip(b).is_some_and(|(a, b)| (a.simhash ^ b.simhash).count_ones() <= NEAR)
        };
        let all = (0..names.len()).flat_map(|a| (a + 1..names.len()).map(move |b| (a, b)));
        let (near_ones, others): (Vec<_>, Vec<_>) =
            all.filter(|(a, b)| !listed(*a, *b)).partition(|(a, b)| near(*a, *b));
        let weight = others.len() as f64 / DRAWN as f64;
        let mut random = Rng::with_seed(2);
        let drawn = (0..DRAWN).map(|_| others[random.usize(..others.len())]);
        let different: Vec<_> =
            near_ones.into_iter().map(|pair| (pair, 1.0)).chain(drawn.map(|pair| (pair, weight))).collect();
        for ((a, b), weight) in different {
            pairs.pairs.push(pair([a, b], false, weight, &cluster(&names[a])));
        }
        let (cascade, exact) = measure(family, &pairs, Scheme::Resemblance(5));
        assert!(cascade >= 0.9, "{family}: cascade {cascade}, exact resemblance of content {exact}");
    }
}
