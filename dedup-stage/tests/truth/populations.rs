//! Pairs of real pages with their measured resemblance, and whether they are versions of one page. Debug builds take a
//! sample.

use std::collections::{HashMap, HashSet};

use dedup_stage::evaluate::schemes::document::Document;
use dedup_stage::evaluate::{Pair, Pairs};
use dedup_stage::page::{Input, Reader};
use fastrand::Rng;
use url::Url;

use crate::data;
use crate::wikipedia::{shingles, versions};

/// One in this many clusters is used.
const EVERY: usize = if cfg!(debug_assertions) { 16 } else { 1 };
/// All pairs are used whose fingerprints are at most this Hamming distance apart.
const NEAR: u32 = 12;
/// The number of pairs of different clusters that are drawn.
const DRAWN: usize = 4_000 / EVERY;

/// Pairs of pages. The versions of a page are a cluster.
pub struct Population {
    documents: Vec<Document>,
    pairs: Vec<Known>,
}

/// A pair, and what is known of it.
struct Known {
    documents: [usize; 2],
    clusters: [String; 2],
    /// The resemblance of the 5-word shingles of the whole texts. 0 for pairs of documentation pages below 0.5.
    resemblance: f64,
    /// The number of pairs that this pair represents.
    weight: f64,
}

impl Known {
    fn is_one_page(&self) -> bool {
        self.clusters[0] == self.clusters[1]
    }
}

impl Population {
    /// The pairs labelled by resemblance: near-duplicates from 0.8 on, different up to 0.6. Pairs between are left out.
    pub fn by_resemblance(&self) -> Pairs {
        self.labelled(|known| match known.resemblance {
            0.8.. => Some(true),
            ..=0.6 => Some(false),
            _ => None,
        })
    }

    /// The pairs labelled by whether they are versions of one page.
    pub fn by_page(&self) -> Pairs {
        self.labelled(|known| Some(known.is_one_page()))
    }

    fn labelled(&self, label: impl Fn(&Known) -> Option<bool>) -> Pairs {
        let pair = |known: &Known| {
            let [cluster, other] = known.clusters.clone();
            Some(Pair {
                documents: known.documents,
                near: label(known)?,
                weight: known.weight,
                cluster,
                other_cluster: Some(other),
                strata: Vec::new(),
            })
        };
        let pairs = self.pairs.iter().filter_map(pair).collect();
        Pairs { documents: self.documents.clone(), pairs, ..Pairs::default() }
    }
}

fn document(reader: &mut Reader, path: &str, content_type: &str, body: &[u8]) -> Document {
    let url = Url::parse("http://pages.example/").expect("a URL").join(path).expect("a path");
    Document::read(reader, &Input { url: &url, status: 200, content_type: Some(content_type), body })
}

/// Versions of articles: all pairs of versions of one article, and some pairs of versions of two articles.
pub fn wikipedia() -> Population {
    let versions = versions();
    let mut clusters: Vec<&str> = versions.iter().map(|version| version.cluster.as_str()).collect();
    clusters.dedup();
    let kept: Vec<&str> = clusters.into_iter().step_by(EVERY).collect();
    let versions: Vec<_> = versions.iter().filter(|version| kept.contains(&version.cluster.as_str())).collect();
    let sets: Vec<_> = versions.iter().map(|version| shingles(&version.text)).collect();
    let mut reader = Reader::default();
    let documents = versions
        .iter()
        .map(|version| document(&mut reader, "text", "text/plain; charset=utf-8", version.text.as_bytes()))
        .collect();
    let mut random = Rng::with_seed(1);
    let within = (0..versions.len())
        .flat_map(|a| (a + 1..versions.len()).map(move |b| (a, b)))
        .filter(|(a, b)| versions[*a].cluster == versions[*b].cluster);
    let across = std::iter::repeat_with(|| (random.usize(..versions.len()), random.usize(..versions.len())))
        .filter(|(a, b)| versions[*a].cluster != versions[*b].cluster)
        .take(DRAWN);
    let known = |(a, b): (usize, usize)| {
        let common = sets[a].intersection(&sets[b]).count();
        let resemblance = common as f64 / (sets[a].len() + sets[b].len() - common).max(1) as f64;
        Known { documents: [a, b], clusters: [a, b].map(|at| versions[at].cluster.clone()), resemblance, weight: 1.0 }
    };
    Population { documents, pairs: within.chain(across).map(known).collect() }
}

/// Documentation in two versions: all pairs of versions of one page, all pairs that the list has or whose fingerprints
/// are near, and a sample that represents the rest.
pub fn documentation(family: &str) -> Population {
    let folder = data::unpacked(&format!("docs/{family}.tar.xz"));
    let list = data::folder().join(format!("docs/all-pairs-{family}.tsv"));
    let list = std::fs::read_to_string(list).expect("readable");
    let cluster = |name: &str| name.split_once('/').map_or_else(String::new, |(_, page)| page.to_owned());
    let mut names = data::files(&folder, ".html");
    names.sort_by_key(|name| cluster(name));
    let names: Vec<String> = if EVERY > 1 { names.into_iter().take(2_400 / EVERY).collect() } else { names };
    let mut reader = Reader::default();
    let documents: Vec<Document> = names
        .iter()
        .map(|name| document(&mut reader, name, "text/html", &std::fs::read(folder.join(name)).expect("readable")))
        .collect();
    let place: HashMap<&str, usize> = names.iter().enumerate().map(|(i, name)| (name.as_str(), i)).collect();
    let known = |a: usize, b: usize, resemblance: f64, weight: f64| Known {
        documents: [a, b],
        clusters: [a, b].map(|at| cluster(&names[at])),
        resemblance,
        weight,
    };
    let mut pairs = Vec::new();
    let mut listed = HashSet::new();
    for line in list.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        if let (Some(&a), Some(&b)) = (place.get(fields[0]), place.get(fields[1])) {
            listed.insert((a.min(b), a.max(b)));
            pairs.push(known(a, b, fields[2].parse().expect("a number"), 1.0));
        }
    }
    let near = |a: usize, b: usize| {
        let [a, b] = [a, b].map(|place: usize| documents[place].signature.as_ref());
        a.zip(b).is_some_and(|(a, b)| (a.simhash ^ b.simhash).count_ones() <= NEAR)
    };
    let all = (0..names.len()).flat_map(|a| (a + 1..names.len()).map(move |b| (a, b)));
    let (looked_at, others): (Vec<_>, Vec<_>) = all
        .filter(|pair| !listed.contains(pair))
        .partition(|(a, b)| near(*a, *b) || cluster(&names[*a]) == cluster(&names[*b]));
    pairs.extend(looked_at.into_iter().map(|(a, b)| known(a, b, 0.0, 1.0)));
    let weight = others.len() as f64 / DRAWN as f64;
    let mut random = Rng::with_seed(2);
    pairs.extend((0..DRAWN).map(|_| others[random.usize(..others.len())]).map(|(a, b)| known(a, b, 0.0, weight)));
    Population { documents, pairs }
}
