//! Signature files, joins, groups and known corpora, each against a naive oracle.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tempfile::TempDir;

use super::build::{Plan, Tally, Watch, build, splits, write};
use super::cluster::{Documents, Forest, Keep, List};
use super::input::Fields;
use super::join::{Edge, EdgeFile, EdgeWriter, Effort, Nodes, Rule, collect};
use super::*;
use crate::signature::{RECIPE, Sketch};

const RULE: Rule = Rule { distance: 7, look: true };
const WHOLE: Effort = Effort { threads: 2, block: Effort::BLOCK };

/// Texts of 120 words, most of them edited copies of an earlier one, some exact copies, some too short to be judged.
fn texts(n: u64, seed: u64) -> Vec<String> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut texts: Vec<Vec<String>> = Vec::new();
    for _ in 0..n {
        let fresh = |random: &mut fastrand::Rng, n: usize| -> Vec<String> {
            (0..n).map(|_| format!("w{}", random.u32(..5000))).collect()
        };
        let text = match random.u32(..10) {
            0..3 => fresh(&mut random, 120),
            3 => vec![["a", "b c", "d"][random.usize(..3)].to_string()],
            // One that a copy can be made of; the first texts may all be short.
            4..6 if !texts.is_empty() => texts[random.usize(..texts.len())].clone(),
            _ => {
                let mut text = texts.get(random.usize(..texts.len().max(1))).cloned().unwrap_or_default();
                text.resize(120.max(text.len()), "x".into());
                for _ in 0..random.u32(1..8) {
                    let at = random.usize(..text.len());
                    text[at] = format!("e{}", random.u32(..5000));
                }
                text
            }
        };
        texts.push(text);
    }
    texts.into_iter().map(|words| words.join(" ")).collect()
}

fn records(texts: &[String]) -> Vec<Record> {
    let mut signing = Signing::default();
    let sign = |(index, text): (u64, &String)| {
        let document = Document {
            index,
            id: index.to_string().into(),
            url: "",
            date: NO_DATE,
            content_type: Some("text/plain; charset=utf-8"),
            body: text.as_bytes(),
        };
        signing.sign(&document).expect("text")
    };
    (0..).zip(texts).map(sign).collect()
}

fn signatures(n: u64, seed: u64) -> Signatures {
    Signatures::of(records(&texts(n, seed))).expect("memory")
}

fn rows(signatures: &Signatures) -> Vec<Row<'_>> {
    (0..signatures.rows()).map(|row| signatures.row(row).expect("undamaged")).collect()
}

/// Writes a signature file and opens it.
fn file(path: &Path, records: Vec<Record>) -> Signatures {
    let whole = Signatures::of(records).expect("memory");
    let all = [(0, whole)];
    write(path, |file| Ok(merge(&all, file, &|_| {})?.1)).expect("a temporary file");
    Signatures::open(path).expect("just written")
}

#[test]
fn what_is_written_is_read() {
    let dir = TempDir::new().unwrap();
    let mut random = fastrand::Rng::with_seed(3);
    for (urls, dates, n) in [(false, false, 200), (true, true, 200), (true, false, 1), (false, true, 0)] {
        let mut records = records(&texts(n, 5));
        for record in &mut records {
            record.id = format!("{:?}", format!("ü {}", random.u32(..))).into();
            record.url = if urls && random.bool() { format!("http://a/{}", random.u32(..)).into() } else { "".into() };
            record.date = if dates && random.bool() { random.i64(..) } else { NO_DATE };
        }
        let read = file(&dir.path().join("f.sig"), records.clone());
        read.check().unwrap();
        records.sort_by(|a, b| a.row().order(&b.row()));
        assert_eq!(rows(&read), records.iter().map(Record::row).collect::<Vec<_>>());
        assert_eq!(read.shape().text_ids, n);
        assert!(Signatures::is_signatures(&dir.path().join("f.sig")).unwrap());
    }
}

#[test]
fn damage_anywhere_is_found_or_harmless() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("f.sig");
    let whole = file(&path, records(&texts(12, 1)));
    let bytes = fs::read(&path).unwrap();
    assert!(!bytes.len().is_multiple_of(8), "it would pass for raw fingerprints");
    let damaged = dir.path().join("damaged.sig");
    let mut found = 0;
    for at in 0..bytes.len() {
        let mut copy = bytes.clone();
        copy[at] ^= 1 << (at % 8);
        fs::write(&damaged, copy).unwrap();
        match Signatures::open(&damaged).and_then(|file| file.check().map(|()| file)) {
            Err(_) => found += 1,
            // Between the columns there are bytes that mean nothing.
            Ok(read) => assert_eq!(rows(&read), rows(&whole), "byte {at}"),
        }
    }
    assert!(found * 10 > bytes.len() * 7, "{found} of {}", bytes.len());
    for length in [0, 7, 63, 64, bytes.len() / 2, bytes.len() - 1] {
        fs::write(&damaged, &bytes[..length]).unwrap();
        assert!(Signatures::open(&damaged).is_err(), "{length} bytes");
    }
}

#[test]
fn files_merged_are_the_file_of_all() {
    let records = records(&texts(300, 2));
    let parts: Vec<(usize, Signatures)> =
        records.chunks(70).map(|part| (0, Signatures::of(part.to_vec()).unwrap())).collect();
    let whole = Signatures::of(records).unwrap();
    let memory = memmap2::MmapMut::map_anon(whole.shape().bytes() as usize).unwrap();
    let dir = TempDir::new().unwrap();
    let (memory, length) = merge(&parts, memory, &|_| {}).unwrap();
    fs::write(dir.path().join("merged.sig"), &memory[..length as usize]).unwrap();
    let merged = Signatures::open(&dir.path().join("merged.sig")).unwrap();
    merged.check().unwrap();
    assert_eq!(rows(&merged), rows(&whole));
    // Of several groups, those of a later one come later in the input.
    let parts: Vec<(usize, Signatures)> = (0..).zip(parts.into_iter().map(|(_, part)| part)).collect();
    let memory = memmap2::MmapMut::map_anon(whole.shape().bytes() as usize).unwrap();
    let (memory, length) = merge(&parts, memory, &|_| {}).unwrap();
    fs::write(dir.path().join("merged.sig"), &memory[..length as usize]).unwrap();
    let merged = Signatures::open(&dir.path().join("merged.sig")).unwrap();
    let by_place: HashMap<u64, String> = rows(&merged).iter().map(|row| (row.place, row.id.to_owned())).collect();
    let mut places: Vec<&u64> = by_place.keys().collect();
    places.sort_unstable();
    let ids: Vec<u64> = places.iter().map(|place| by_place[place].parse().unwrap()).collect();
    assert_eq!(ids, (0..300).collect::<Vec<_>>());
}

/// Whether two rows are near-duplicates, said plainly.
fn alike(a: &Row<'_>, b: &Row<'_>, rule: Rule) -> bool {
    match (a.signature, b.signature) {
        (Some((f, x)), Some((g, y))) => {
            let look = || Sketch::from_bytes(*x).compare(&Sketch::from_bytes(*y)).is_duplicate();
            (f ^ g).count_ones() <= rule.distance && (!rule.look || look())
        }
        (None, None) => a.digest == b.digest,
        _ => false,
    }
}

/// The components of all pairs of near-duplicates, as the least node of each.
fn components(files: &[&Signatures], rule: Rule) -> Vec<u64> {
    let all: Vec<Row<'_>> = files.iter().flat_map(|file| rows(file)).collect();
    let mut forest = Forest::new(all.len() as u64);
    for (i, a) in all.iter().enumerate() {
        for (j, b) in all.iter().enumerate().take(i) {
            if alike(a, b, rule) {
                forest.join(i as u64, j as u64);
            }
        }
    }
    (0..forest.len()).map(|node| forest.root(node)).collect()
}

fn of_edges(nodes: u64, edges: &[Edge], second: u64) -> Forest {
    let mut forest = Forest::new(nodes);
    edges.iter().for_each(|edge| forest.join(edge.a, edge.b + second));
    forest
}

#[test]
fn a_join_links_what_comparing_all_with_all_links() {
    for rule in [RULE, Rule { distance: 3, look: true }, Rule { distance: 7, look: false }] {
        let file = signatures(300, 11);
        let all = rows(&file);
        let mut sizes = BTreeSet::new();
        for block in [Effort::BLOCK, 60, 25] {
            let edges = collect(&file, None, rule, Effort { threads: 3, block }, &|_| {});
            sizes.insert(edges.len());
            for edge in &edges {
                let (a, b) = (&all[edge.a as usize], &all[edge.b as usize]);
                assert!(edge.a != edge.b && alike(a, b, rule), "{edge:?}");
                assert!(!edge.same || !rule.look || a.signature == b.signature);
            }
            let pairs: BTreeSet<(u64, u64)> = edges.iter().map(|e| (e.a.min(e.b), e.a.max(e.b))).collect();
            assert_eq!(pairs.len(), edges.len(), "each pair once");
            let mut forest = of_edges(file.rows(), &edges, 0);
            let roots: Vec<u64> = (0..file.rows()).map(|node| forest.root(node)).collect();
            assert_eq!(roots, components(&[&file], rule), "block {block}");
        }
        // Blocks change who finds an edge, not which there are.
        assert_eq!(sizes.len(), 1, "{sizes:?}");
    }
}

#[test]
fn every_pair_of_different_signatures_is_told() {
    let file = signatures(400, 12);
    let all = rows(&file);
    let first = |row: usize| all.iter().position(|other| other.signature == all[row].signature).unwrap();
    let told: BTreeSet<(usize, usize)> = collect(&file, None, RULE, WHOLE, &|_| {})
        .iter()
        .filter(|edge| !edge.same)
        .map(|edge| (edge.a.min(edge.b) as usize, edge.a.max(edge.b) as usize))
        .collect();
    let mut expected = BTreeSet::new();
    for (i, a) in all.iter().enumerate().filter(|(i, a)| a.signature.is_some() && first(*i) == *i) {
        for (j, b) in all.iter().enumerate().take(i).filter(|(j, b)| b.signature.is_some() && first(*j) == *j) {
            if alike(a, b, RULE) {
                expected.insert((j, i));
            }
        }
    }
    assert!(expected.len() > 50);
    assert_eq!(told, expected);
}

#[test]
fn two_files_joined_in_blocks_are_as_good_as_one() {
    let texts = texts(500, 13);
    let (early, late) = texts.split_at(320);
    let (a, b) = (Signatures::of(records(early)).unwrap(), Signatures::of(records(late)).unwrap());
    for block in [Effort::BLOCK, 50] {
        let effort = Effort { threads: 2, block };
        let mut forest = of_edges(500, &collect(&a, None, RULE, effort, &|_| {}), 0);
        for edge in collect(&b, None, RULE, effort, &|_| {}) {
            forest.join(edge.a + a.rows(), edge.b + a.rows());
        }
        let across = collect(&a, Some(&b), RULE, effort, &|_| {});
        assert!(!across.is_empty());
        across.iter().for_each(|edge| forest.join(edge.a, edge.b + a.rows()));
        let roots: Vec<u64> = (0..500).map(|node| forest.root(node)).collect();
        assert_eq!(roots, components(&[&a, &b], RULE));
    }
}

#[test]
fn a_hot_fingerprint_is_no_square() {
    let mut record = records(&["w ".repeat(3) + &(0..60).map(|i| format!("w{i} ")).collect::<String>()]);
    let record = record.remove(0);
    let (fingerprint, _) = record.signature.expect("enough words");
    // A hundred thousand copies, and thousands with the same fingerprint and other sketches.
    let copy = |i: u64| Record { place: i, ..record.clone() };
    let other = |i: u64| {
        let mut sketch = [0x55; Sketch::BYTES];
        sketch[..8].copy_from_slice(&(i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).to_le_bytes());
        Record { place: i, signature: Some((fingerprint, sketch)), ..record.clone() }
    };
    let file = Signatures::of((0..100_000).map(copy).chain((100_000..105_000).map(other)).collect()).unwrap();
    let edges = collect(&file, None, RULE, WHOLE, &|_| {});
    assert!(edges.len() >= 99_999 && edges.len() < 99_999 + 64 * 5_000, "{}", edges.len());
}

#[test]
fn edges_come_back_by_node_and_damage_is_found() {
    let dir = TempDir::new().unwrap();
    let texts = texts(200, 14);
    let files: Vec<Signatures> = texts.chunks(100).map(|part| Signatures::of(records(part)).unwrap()).collect();
    let nodes = Nodes::of([(Path::new("a"), &files[0]), (Path::new("b"), &files[1])]);
    let turned = Nodes::of([(Path::new("b"), &files[1]), (Path::new("a"), &files[0])]);
    let edges: Vec<Edge> = (0..100)
        .map(|i| Edge { a: i, b: 199 - i, distance: i as u32 % 65, resemblance: i as f32 / 100.0, same: i % 3 == 0 })
        .collect();
    let path = dir.path().join("edges");
    write(&path, |file| {
        let mut writer = EdgeWriter::new(file, &nodes, RULE)?;
        edges.iter().try_for_each(|edge| writer.push(edge))?;
        writer.finish()
    })
    .unwrap();
    let read = |nodes: &Nodes| {
        let mut read = Vec::new();
        EdgeFile::open(&path).and_then(|file| file.read(nodes, &mut |edge| read.push(edge))).map(|()| read)
    };
    assert_eq!(read(&nodes).unwrap(), edges);
    let swapped = read(&turned).unwrap();
    assert!(swapped.iter().zip(&edges).all(|(x, y)| x.a == y.a + 100 && x.b == y.b - 100));
    let error = read(&Nodes::of([(Path::new("a"), &files[0])])).unwrap_err();
    assert!(error.to_string().contains("not among the files"), "{error}");
    let bytes = fs::read(&path).unwrap();
    for at in (0..bytes.len()).step_by(7) {
        let mut copy = bytes.clone();
        copy[at] ^= 0x10;
        fs::write(&path, copy).unwrap();
        assert!(read(&nodes).map_or(true, |read| read == edges), "byte {at}");
    }
    fs::write(&path, &bytes[..bytes.len() - 3]).unwrap();
    assert!(read(&nodes).is_err());
}

#[test]
fn one_of_each_group_is_kept_by_the_rule() {
    let mut random = fastrand::Rng::with_seed(9);
    let texts = texts(300, 15);
    let mut all = records(&texts);
    for record in &mut all {
        record.date = if random.bool() { random.i64(0..9) } else { NO_DATE };
        record.url = format!("http://a/{}", "x".repeat(random.usize(..4))).into();
    }
    let plain: HashMap<String, Record> = all.iter().map(|record| (record.id.to_string(), record.clone())).collect();
    let (early, late) = all.split_at(150);
    let files = [Signatures::of(early.to_vec()).unwrap(), Signatures::of(late.to_vec()).unwrap()];
    let roots = components(&[&files[0], &files[1]], RULE);
    let forest = || {
        let mut forest = Forest::new(300);
        (0..300).for_each(|node| forest.join(node, roots[node as usize]));
        forest
    };
    for keep in [Keep::First, Keep::Longest, Keep::Earliest, Keep::SmallestUrl] {
        let members = |list| {
            let mut members = Vec::new();
            Documents::new(&files)
                .members(&mut forest(), keep, list, &mut |member| {
                    let texts = [member.id, member.representative].map(str::to_owned);
                    members.push((texts, member.cluster, member.keep, member.distance));
                    Ok(())
                })
                .unwrap();
            members
        };
        let everything = members(List::All);
        assert_eq!(
            everything.iter().map(|([id, _], ..)| id.parse().unwrap()).collect::<Vec<u64>>(),
            (0..300).collect::<Vec<_>>()
        );
        let mut groups: HashMap<u64, Vec<&str>> = HashMap::new();
        everything.iter().for_each(|([id, _], cluster, ..)| groups.entry(*cluster).or_default().push(id));
        for ([id, representative], cluster, kept, distance) in &everything {
            assert_eq!(*kept, id == representative);
            let group = &groups[cluster];
            assert!(group.contains(&representative.as_str()));
            let key = |id: &str| {
                let record = &plain[id];
                let number: u64 = id.parse().unwrap();
                match keep {
                    Keep::First => (0, "".into(), number),
                    Keep::Longest => (-i64::from(record.words), "".into(), number),
                    Keep::Earliest => (if record.date == NO_DATE { i64::MAX } else { record.date }, "".into(), number),
                    Keep::SmallestUrl => (record.url.len() as i64, record.url.clone(), number),
                }
            };
            let best = group.iter().min_by_key(|id| key(id)).unwrap();
            assert_eq!(representative, best, "{keep:?}");
            if group.len() > 1 && plain[id].signature.is_none() && id != representative {
                assert_eq!(*distance, None);
            }
        }
        let ids = |list| members(list).into_iter().map(|([id, _], ..)| id).collect::<BTreeSet<_>>();
        let (kept, dropped, clusters) = (ids(List::Kept), ids(List::Dropped), ids(List::Clusters));
        assert!(kept.is_disjoint(&dropped) && kept.len() + dropped.len() == 300);
        assert_eq!(kept.len(), groups.len());
        assert_eq!(clusters.len(), groups.values().filter(|group| group.len() > 1).map(Vec::len).sum::<usize>());
    }
}

#[test]
fn a_known_corpus_finds_what_a_scan_finds() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("known.sig");
    let texts = texts(900, 16);
    let (stored, asked) = texts.split_at(600);
    file(&path, records(stored));
    for distance in [3, 7] {
        let known = Known::open(&path, distance, 2).unwrap();
        let mut finder = known.finder();
        let all = rows(known.signatures());
        let rule = Rule { distance, look: true };
        let (mut found, mut exact) = (0, 0);
        for record in records(asked).iter().chain(&records(&stored[..100])) {
            let page = record.row();
            let sketch = page.signature.map(|(fingerprint, sketch)| (fingerprint, Sketch::from_bytes(*sketch)));
            let twin = finder.find(page.digest, sketch.as_ref().map(|(fingerprint, sketch)| (*fingerprint, sketch)));
            let away = |row: &Row<'_>| match (row.signature, page.signature) {
                (Some((f, _)), Some((g, _))) => (f ^ g).count_ones(),
                _ => 0,
            };
            let alike = all.iter().filter(|row| alike(row, &page, rule));
            let nearest = alike.min_by_key(|row| (away(row), row.digest != page.digest, row.place));
            match (twin, nearest) {
                (None, None) => {}
                (Some(twin), Some(row)) => {
                    found += 1;
                    exact += u32::from(twin.exact);
                    assert_eq!(twin.distance, away(row));
                    assert_eq!(twin.exact, row.digest == page.digest);
                    assert_eq!(known.id(twin.row).unwrap(), row.id);
                }
                other => panic!("{other:?}"),
            }
        }
        assert!(found > 150 && exact > 50, "{found} {exact}");
    }
    // Another file under the same name has another index.
    file(&path, records(&texts[..20]));
    let known = Known::open(&path, 3, 1).unwrap();
    assert_eq!(known.signatures().rows(), 20);
    let of_long = records(&texts[600..]).into_iter().find(|record| record.signature.is_some()).unwrap();
    assert!(
        known
            .finder()
            .find(&[7; 32], of_long.signature.map(|(f, _)| f).zip(Some(&Sketch::from_bytes([9; 64]))))
            .is_none()
    );
}

/// Notes what it is told.
#[derive(Default)]
struct Noted(Mutex<Vec<(String, Tally, bool)>>);

impl Watch for Noted {
    fn documents(&self, _: u64) {}
    fn split(&self, name: &str, tally: &Tally, again: bool) {
        self.0.lock().unwrap().push((name.into(), tally.clone(), again));
    }
    fn merged(&self, _: u64) {}
}

fn plan(memory: usize) -> Plan {
    Plan { fields: Fields::default(), threads: 2, memory }
}

/// Files of JSON Lines with these texts, ids from 0; and where they are.
fn json_files(dir: &TempDir, texts: &[String], each: usize) -> Vec<PathBuf> {
    let numbered: Vec<(usize, &String)> = texts.iter().enumerate().collect();
    let line = |(id, text): &(usize, &String)| serde_json::json!({ "id": id, "text": text }).to_string() + "\n";
    let part = |(i, part): (usize, &[(usize, &String)])| {
        let path = dir.path().join(format!("{i}.jsonl"));
        fs::write(&path, part.iter().map(line).collect::<String>()).unwrap();
        path
    };
    numbered.chunks(each).enumerate().map(part).collect()
}

#[test]
fn a_build_does_not_depend_on_splits_threads_or_memory() {
    let dir = TempDir::new().unwrap();
    let texts = texts(400, 17);
    let whole = Signatures::of(records(&texts)).unwrap();
    let by_id = |signatures: &Signatures| {
        let facts = |row: &Row<'_>| (row.signature.map(|(f, s)| (f, *s)), *row.digest, row.words);
        rows(signatures).iter().map(|row| (row.id.to_owned(), facts(row))).collect::<HashMap<_, _>>()
    };
    let output = dir.path().join("out.sig");
    for (each, memory) in [(400, 1 << 30), (400, 10_000), (90, 10_000), (90, 1)] {
        let inputs = json_files(&dir, &texts, each);
        let tally = build(&splits(&inputs, None).unwrap(), &plan(memory), &output, &Noted::default()).unwrap();
        assert_eq!((tally.documents, tally.bad, tally.judged), (400, 0, whole.fingerprints().len() as u64));
        let built = Signatures::open(&output).unwrap();
        built.check().unwrap();
        assert_eq!(by_id(&built), by_id(&whole));
        assert_eq!(built.fingerprints(), whole.fingerprints());
        // Places are those of the input.
        let mut ids: Vec<(u64, u64)> = rows(&built).iter().map(|row| (row.place, row.id.parse().unwrap())).collect();
        ids.sort_unstable();
        assert_eq!(ids.iter().map(|(_, id)| *id).collect::<Vec<_>>(), (0..400).collect::<Vec<_>>());
        assert!(!dir.path().join("out.sig.parts").exists());
    }
}

#[test]
fn an_interrupted_build_goes_on() {
    let dir = TempDir::new().unwrap();
    let mut inputs = json_files(&dir, &texts(120, 18), 40);
    let output = dir.path().join("out.sig");
    // Where the output should be there is a folder, so that the build fails at its end.
    fs::create_dir_all(output.join("in the way")).unwrap();
    assert!(build(&splits(&inputs, None).unwrap(), &plan(1 << 20), &output, &Noted::default()).is_err());
    fs::remove_dir_all(&output).unwrap();
    // One of the inputs changes meanwhile, one is new.
    let again = "{\"id\":999,\"text\":\"x\"}\nbad\n";
    fs::write(&inputs[1], again).unwrap();
    inputs.push(dir.path().join("new.jsonl"));
    fs::write(&inputs[3], again).unwrap();
    let noted = Noted::default();
    let tally = build(&splits(&inputs, None).unwrap(), &plan(1 << 20), &output, &noted).unwrap();
    assert_eq!((tally.documents, tally.bad), (82, 2));
    let mut noted = noted.0.into_inner().unwrap();
    noted.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(noted.iter().map(|(_, _, again)| *again).collect::<Vec<_>>(), [false, true, false, true]);
    assert_eq!(
        noted[3].1.named,
        [super::input::Bad { place: "line 2".into(), what: noted[3].1.named[0].what.clone() }]
    );
    assert_eq!(Signatures::open(&output).unwrap().rows(), 82);
}

#[test]
fn other_inputs_than_json() {
    let dir = TempDir::new().unwrap();
    let words = (0..40).map(|i| format!("word{i}")).collect::<Vec<_>>().join(" ");
    let path = |name: &str| dir.path().join(name);
    fs::write(path("a.txt"), &words).unwrap();
    fs::write(path("b.html"), format!("<p>{words}</p>")).unwrap();
    let record = |kind: &str, head: &str, body: &str| {
        let block = format!("{head}{body}");
        format!(
            "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: http://a/{kind}\r\nWARC-Date: 1970-01-01T00:00:02Z\r\n\
             Content-Type: text/plain\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
            block.len()
        )
    };
    let ok = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n";
    let missing = "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\n\r\n";
    let warc = record("warcinfo", "", "x") + &record("response", ok, &words) + &record("response", missing, &words);
    fs::write(path("c.warc"), &warc).unwrap();
    fs::write(path("d.warc.wet"), record("conversion", "", &words)).unwrap();
    // Cut within a record, no archive, and no file at all.
    fs::write(path("e.warc"), &warc[..warc.len() - 300]).unwrap();
    fs::write(path("f.warc"), "no archive").unwrap();
    let inputs: Vec<PathBuf> =
        ["a.txt", "b.html", "c.warc", "d.warc.wet", "e.warc", "f.warc", "g.warc"].map(path).into();
    let (output, noted) = (path("out.sig"), Noted::default());
    let tally = build(&splits(&inputs, None).unwrap(), &plan(1 << 20), &output, &noted).unwrap();
    let built = Signatures::open(&output).unwrap();
    let mut ids: Vec<&str> = (0..built.rows()).map(|row| built.id(row).unwrap()).collect();
    ids.sort_unstable();
    let file = |name: &str| format!("{:?}", path(name));
    assert_eq!(ids[..2], [file("a.txt"), file("b.html")]);
    assert_eq!(ids[2..], ["\"http://a/conversion\"", "\"http://a/response\"", "\"http://a/response\""]);
    assert!((0..5).all(|row| built.fingerprints()[row] == built.fingerprints()[0]), "the same words");
    assert_eq!((tally.documents, tally.passed_over, tally.bad), (5, 1, 3));
    let noted = noted.0.into_inner().unwrap();
    let whats: HashMap<String, String> = noted
        .iter()
        .flat_map(|(name, tally, _)| {
            tally.named.iter().map(move |bad| (name.clone(), format!("{}: {}", bad.place, bad.what)))
        })
        .collect();
    let what = |name: &str| &whats[&path(name).display().to_string()];
    assert!(what("e.warc").contains("the file ends within a record"), "{whats:?}");
    assert!(what("f.warc").contains("no WARC file"), "{whats:?}");
    assert!(what("g.warc").contains("No such file"), "{whats:?}");
    let dated = (0..built.rows()).filter(|row| built.date(*row) == 2000).count();
    assert_eq!(dated, 3);
    assert_eq!(RECIPE, crate::signature::RECIPE);
}

#[test]
#[cfg(not(feature = "arrow"))]
fn parquet_without_the_feature_says_how_to_get_it() {
    let dir = TempDir::new().unwrap();
    let input = dir.path().join("a.parquet");
    fs::write(&input, "PAR1").unwrap();
    let splits = splits(&[input], None).unwrap();
    assert_eq!(splits[0].format, super::input::Format::Parquet);
    let error = build(&splits, &plan(1 << 20), &dir.path().join("out.sig"), &Noted::default()).unwrap_err();
    assert!(error.to_string().contains("cargo install --features arrow"), "{error}");
}
