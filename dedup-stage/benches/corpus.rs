//! Signature files of a hundred million and more: how long merging, joining and grouping take, and a lookup in a known
//! corpus. `cargo bench -p dedup-stage --bench corpus -- make N FILE [FROM]` writes the documents from number FROM, and
//! then come the program's own commands on FILE. `-- sorted N FILE [FROM]` writes the same file without parts, which
//! takes half the disk. Or `-- known N PLANTED FILE [DISTANCE]`.

mod cpu;

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Instant;

use dedup_stage::corpus::{FileShape, Known, NO_DATE, Output, Record, Row, SignatureWriter, Signatures, merge};
use dedup_stage::signature::{RECIPE, Sketch};
use xxhash_rust::xxh3::xxh3_64_with_seed;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let number = |i: usize| arguments.get(i).and_then(|text| text.parse::<f64>().ok()).map(|n| n as u64);
    match (arguments.first().map(String::as_str), number(1), arguments.get(2), number(2), arguments.get(3)) {
        (Some("make"), Some(n), Some(path), ..) => make(n, Path::new(path), number(3).unwrap_or(0)),
        (Some("sorted"), Some(n), Some(path), ..) => sorted(n, Path::new(path), number(3).unwrap_or(0)),
        (Some("known"), Some(n), _, Some(planted), Some(path)) => {
            known(n, planted, Path::new(path), number(4).unwrap_or(3) as u32);
        }
        // `cargo bench` runs every benchmark.
        _ => eprintln!("corpus: make N FILE [FROM] | sorted N FILE [FROM] | known N PLANTED FILE [DISTANCE]"),
    }
}

fn random(i: u64, stream: u64) -> u64 {
    xxh3_64_with_seed(&i.to_le_bytes(), stream)
}

/// The document whose copy this one is, itself if of none: 30 % are copies of one of a million before them.
fn family(mut i: u64) -> u64 {
    while i > 0 && random(i, 1) % 10 < 3 {
        i -= 1 + random(i, 2) % i.min(1_000_000);
    }
    i
}

/// The signature of a document with random words: that of its family, with a few bits of both parts changed.
fn signature(i: u64) -> (u64, [u8; Sketch::BYTES]) {
    let family = family(i);
    let mut fingerprint = random(family, 3);
    let mut sketch = [0; Sketch::BYTES];
    for (n, word) in sketch.chunks_exact_mut(8).enumerate() {
        word.copy_from_slice(&random(family, 4 + n as u64).to_le_bytes());
    }
    // Words and links, as the sketch counts them.
    sketch[60..].copy_from_slice(&[180, 0, 0, 0]);
    if i != family {
        for flip in 0..random(i, 20) % 7 {
            fingerprint ^= 1 << (random(i, 21 + flip) % 64);
        }
        // At most 20 of 352 bits: a resemblance of .88 or more.
        for flip in 0..random(i, 30) % 20 {
            let bit = random(i, 31 + flip) % 352;
            sketch[(bit / 8) as usize] ^= 1 << (bit % 8);
        }
    }
    (fingerprint, sketch)
}

fn record(i: u64) -> Record {
    let mut digest = [0; 32];
    for (n, word) in digest.chunks_exact_mut(8).enumerate() {
        word.copy_from_slice(&random(i, 60 + n as u64).to_le_bytes());
    }
    Record {
        signature: Some(signature(i)),
        digest,
        words: 180,
        place: i,
        date: NO_DATE,
        id: i.to_string().into(),
        url: "".into(),
        is_whole: true,
    }
}

/// A signature file by way of sorted parts, as `dedup-stage signatures` makes it.
fn make(n: u64, path: &Path, from: u64) {
    const PART: u64 = 4_000_000;
    let (start, cpu) = (Instant::now(), cpu::seconds());
    let part_path = |i: u64| path.with_extension(format!("part{i}"));
    let parts = n.div_ceil(PART);
    for i in 0..parts {
        let records = (i * PART..n.min((i + 1) * PART)).map(|i| record(from + i)).collect();
        let mut part = [(0, Signatures::of(records).expect("memory"))];
        merge(&mut part, &File::create(part_path(i)).expect("a file"), &|_| {}).expect("written");
    }
    eprintln!(
        "{n} records in {parts} sorted parts: {:.1} s, CPU {:.1} s",
        start.elapsed().as_secs_f64(),
        cpu::seconds() - cpu
    );
    let (start, cpu) = (Instant::now(), cpu::seconds());
    let mut inputs: Vec<(usize, Signatures)> =
        (0..parts).map(|i| (0, Signatures::open(&part_path(i)).expect("a part"))).collect();
    let (_, length) = merge(&mut inputs, &File::create(path).expect("a file"), &|_| {}).expect("written");
    drop(inputs);
    (0..parts).for_each(|i| std::fs::remove_file(part_path(i)).expect("a part"));
    let each = length as f64 / n as f64;
    eprintln!(
        "merged: {length} bytes, {each:.1} each; {:.1} s, CPU {:.1} s",
        start.elapsed().as_secs_f64(),
        cpu::seconds() - cpu
    );
}

/// The same file, written at once in its order.
fn sorted(n: u64, path: &Path, from: u64) {
    let start = Instant::now();
    let mut order: Vec<(u64, u64)> = (from..from + n).map(|i| (signature(i).0, i)).collect();
    order.sort_unstable();
    let mut shape = FileShape { splits: 1, ..FileShape::default() };
    (from..from + n).for_each(|i| shape.add(&record(i).row()));
    let file = File::create(path).expect("a file");
    let mut writer = SignatureWriter::new(&file, RECIPE, shape);
    for (_, i) in order {
        writer.push(&record(i).row()).expect("written");
    }
    let (_, length) = writer.finish().expect("written");
    eprintln!("{n} records: {length} bytes in {:.1} s", start.elapsed().as_secs_f64());
}

/// A file whose zeros take no place on the disk.
struct Sparse(File);

impl Output for Sparse {
    fn put(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        const PAGE: usize = 4096;
        let (mut at, mut bytes) = (at, bytes);
        while !bytes.is_empty() {
            let (page, rest) = bytes.split_at(bytes.len().min(PAGE - at as usize % PAGE));
            if page.iter().any(|byte| *byte != 0) {
                (&self.0).put(at, page)?;
            }
            (at, bytes) = (at + page.len() as u64, rest);
        }
        Ok(())
    }
}

/// A row with a fingerprint and a sketch. What a lookup does not read is zero or empty.
fn row(fingerprint: u64, sketch: &[u8; Sketch::BYTES]) -> Row<'_> {
    let signature = Some((fingerprint, sketch));
    Row { signature, digest: &[0; 32], words: 0, place: 0, date: NO_DATE, id: "", url: "" }
}

/// Writes `n` random fingerprints with sketches of zeros, and `planted` whole signatures among them, sorted.
fn plant(n: u64, planted: u64, path: &Path) {
    let mut real: Vec<(u64, u64)> = (0..planted).map(|i| (signature(i).0, i)).collect();
    real.sort_unstable();
    let shape =
        FileShape { rows: n + planted, judged: n + planted, splits: 1, text_ids: n + planted, ..FileShape::default() };
    let file = File::create(path).expect("a file");
    file.set_len(shape.bytes()).expect("a file");
    let mut writer = SignatureWriter::new(Sparse(file), RECIPE, shape);
    let zeros = [0; Sketch::BYTES];
    let mut real = real.into_iter().peekable();
    // Bucket by bucket of the highest bits, each sorted by itself.
    const BITS: u32 = 16;
    let mut bucket = Vec::new();
    for high in 0..1u64 << BITS {
        let (from, to) = ((n * high) >> BITS, (n * (high + 1)) >> BITS);
        bucket.clear();
        bucket.extend((from..to).map(|i| high << (64 - BITS) | random(i, 99) >> BITS));
        bucket.sort_unstable();
        for fingerprint in bucket.drain(..) {
            while let Some((planted, i)) = real.next_if(|(planted, _)| *planted <= fingerprint) {
                writer.push(&row(planted, &signature(i).1)).expect("written");
            }
            writer.push(&row(fingerprint, &zeros)).expect("written");
        }
    }
    for (planted, i) in real {
        writer.push(&row(planted, &signature(i).1)).expect("written");
    }
    let (file, length) = writer.finish().expect("written");
    file.0.set_len(length).expect("the end");
}

/// How long a start and a page take, and whether planted documents are found.
fn known(n: u64, planted: u64, path: &Path, distance: u32) {
    if !path.exists() {
        let start = Instant::now();
        plant(n, planted, path);
        eprintln!("{n} random and {planted} planted signatures written in {:.1} s", start.elapsed().as_secs_f64());
    }
    if !Known::index_path(path, distance).exists() {
        let start = Instant::now();
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let bytes = Known::build_index(path, distance, threads, &|_| {}).expect("built");
        eprintln!("index of {bytes} bytes built in {:.1} s", start.elapsed().as_secs_f64());
    }
    let start = Instant::now();
    let known = Known::open(path, distance, 1).expect("opened");
    let opened = start.elapsed().as_secs_f64();
    let mut finder = known.finder();
    let each = known.index_bytes() as f64 / known.signatures().rows() as f64;
    println!(
        "{} documents, distance {distance}: opened in {opened:.3} s; {each:.2} bytes each in the index",
        known.signatures().rows()
    );
    // Half of the pages are near a planted document, half are new. Asked twice: the first time brings the file into
    // memory.
    const PAGES: u64 = 200_000;
    for round in ["cold", "warm"] {
        let (start, cpu) = (Instant::now(), cpu::seconds());
        let (mut found, mut expected, mut wrong) = (0, 0, 0);
        for page in 0..PAGES {
            let of = random(page, 200) % planted;
            let (mut fingerprint, sketch) = signature(if page % 2 == 0 { of } else { planted + page });
            let flips = random(page, 201) % (u64::from(distance) + 1);
            for flip in 0..flips {
                fingerprint ^= 1 << (random(page, 202 + flip) % 64);
            }
            let twin = finder.find(&[1; 32], Some((fingerprint, &Sketch::from_bytes(sketch)))).unwrap();
            expected += u64::from(page % 2 == 0);
            found += u64::from(twin.is_some() && page % 2 == 0);
            wrong += u64::from(twin.is_some_and(|twin| known.signatures().sketches()[twin.row as usize] == [0; 64]));
        }
        let (wall, cpu) = (start.elapsed().as_secs_f64(), cpu::seconds() - cpu);
        println!(
            "{round}: {found} of {expected} planted found, {wrong} wrong; CPU {:.2} us a page, wall {:.2} us",
            1e6 * cpu / PAGES as f64,
            1e6 * wall / PAGES as f64
        );
    }
}
