//! The large runs of the Hamming index: `cargo bench -p dedup-stage --bench hamming_large -- online 100000000`.

mod clock;
mod data;
mod frozen;
mod growth;

use std::path::Path;
use std::time::{Duration, Instant};

use dedup_stage::hamming::frozen::Source;
use dedup_stage::hamming::search::search;
use dedup_stage::hamming::{Design, Fill, Fingerprints, Index, Probe, pairs};

use clock::{cpu_time, page_faults, process_time, resident};
use data::ByRow;
use frozen::{coders, frozen_index};

/// From empty to `n`: ask, then insert, one after the other.
fn online(n: usize, k: u32, fill: Fill, pauses: bool) {
    let mut index = match fill {
        Fill::Fast => Index::new(k),
        Fill::Compact => Index::with_design(Design::standard(k), fill),
    };
    let base = resident();
    let mut near = Vec::new();
    let mut duplicates = 0;
    // Time, CPU time of it, page faults, and row.
    let mut longest = [(Duration::ZERO, Duration::ZERO, 0, 0); 5];
    let (start, start_cpu, start_own) = (Instant::now(), process_time(), cpu_time());
    let mut last = (start, start_cpu, 0);
    let batch = 4096;
    let mut fingerprints = ByRow(n as u64).all();
    let mut done = 0;
    let mut generating = Duration::ZERO;
    let (mut probe, mut next) = (&mut Probe::default(), &mut Probe::default());
    while done < n {
        let before = cpu_time();
        let chunk: Vec<u64> = fingerprints.by_ref().take(batch.min(n - done)).collect();
        generating += cpu_time() - before;
        index.begin(chunk[0], probe);
        for (i, &fingerprint) in chunk.iter().enumerate() {
            let before = pauses.then(|| (page_faults(), cpu_time(), Instant::now()));
            if let Some(query) = chunk.get(i + 1) {
                index.begin(*query, next);
            }
            near.clear();
            index.finish(probe, &mut near);
            (probe, next) = (next, probe);
            duplicates += usize::from(!near.is_empty());
            if near.iter().all(|(_, distance)| *distance > 0) {
                index.insert_new(fingerprint);
            }
            if let Some((faults, cpu, wall)) = before {
                let pause = (wall.elapsed(), cpu_time() - cpu, page_faults() - faults, done + i);
                if pause > longest[4] {
                    longest[4] = pause;
                    longest.sort_unstable_by(|a, b| b.cmp(a));
                }
            }
        }
        done += chunk.len();
        if done * 10 / n != (done - chunk.len()) * 10 / n {
            let now = (Instant::now(), process_time(), done);
            println!(
                "{done:>12} {:>8.3} M/s cpu {:>8.3} M/s wall {:>7.2} B/fp",
                (now.2 - last.2) as f64 / (now.1 - last.1).as_secs_f64() / 1e6,
                (now.2 - last.2) as f64 / (now.0 - last.0).as_secs_f64() / 1e6,
                index.bytes() as f64 / index.len() as f64,
            );
            last = now;
        }
    }
    let (wall, cpu, own) = (start.elapsed(), process_time() - start_cpu, cpu_time() - start_own);
    println!(
        "online k={k} {fill:?} n={n}: {:.3} M/s cpu, {:.3} M/s cpu of the thread that inserts, {:.3} M/s wall (generator {:.1} % of cpu included); {} stored, {duplicates} near; \
         {:.2} B/fp counted, {:.2} B/fp resident",
        n as f64 / cpu.as_secs_f64() / 1e6,
        n as f64 / own.as_secs_f64() / 1e6,
        n as f64 / wall.as_secs_f64() / 1e6,
        100.0 * generating.as_secs_f64() / cpu.as_secs_f64(),
        index.len(),
        index.bytes() as f64 / index.len() as f64,
        (resident() - base) as f64 / index.len() as f64,
    );
    for (wall, cpu, faults, row) in longest.iter().filter(|_| pauses) {
        println!("pause of {wall:?}, {cpu:?} of CPU, {faults} page faults, at row {row}");
    }
    let queries = ByRow(n as u64).queries(100_000);
    latencies(&queries, |query, near| index.within(query, near));
    let start = cpu_time();
    index.begin(queries[0], probe);
    for query in &queries[1..] {
        index.begin(*query, next);
        near.clear();
        index.finish(probe, &mut near);
        (probe, next) = (next, probe);
    }
    println!("pipelined {:.0} ns a query", (cpu_time() - start).as_nanos() as f64 / (queries.len() - 1) as f64);
}

/// One query at a time, timer included.
fn latencies(queries: &[u64], mut within: impl FnMut(u64, &mut Vec<(u64, u32)>)) {
    let mut near = Vec::new();
    let mut times: Vec<u64> = queries
        .iter()
        .map(|&query| {
            near.clear();
            let start = Instant::now();
            within(query, &mut near);
            start.elapsed().as_nanos() as u64
        })
        .collect();
    times.sort_unstable();
    let at = |p: f64| times[((times.len() - 1) as f64 * p) as usize];
    println!("latency p50 {} ns, p99 {} ns, p99.9 {} ns", at(0.5), at(0.99), at(0.999));
}

/// All pairs of `n`, on one core, then on two.
fn all_pairs(n: usize) {
    let fingerprints: Vec<u64> = ByRow(n as u64).all().collect();
    for threads in [1, 2] {
        let (start, start_cpu) = (Instant::now(), process_time());
        let near = pairs::near(&fingerprints, 3, threads, &|_| {});
        let (counted, counted_cpu) = (start.elapsed(), process_time() - start_cpu);
        let rows = pairs::rows(&fingerprints, &near, pairs::Listed::First);
        println!(
            "pairs n={n} threads={threads}: {} pairs of values and {} repeated values in {:.2} s (cpu {:.2} s); {} pairs of rows in \
             {:.2} s (cpu {:.2} s)",
            near.pairs.len(),
            near.repeated.len(),
            counted.as_secs_f64(),
            counted_cpu.as_secs_f64(),
            rows.len(),
            start.elapsed().as_secs_f64(),
            (process_time() - start_cpu).as_secs_f64(),
        );
    }
}

/// Streams `n` raw fingerprints past a million queries.
fn stream(n: u64, k: u32) {
    let source = ByRow(n);
    let mut stored = vec![0; n as usize];
    source.read(0, &mut stored);
    let queries = source.queries(1_000_000);
    for threads in [1, 2] {
        // The best of three, because the first time the memory must be cleared, and what else runs can only add.
        let best = |stored: &[u64]| {
            let (mut wall, mut cpu, mut pairs) = (Duration::MAX, Duration::MAX, 0);
            for _ in 0..3 {
                let (start, start_cpu) = (Instant::now(), process_time());
                pairs = search(stored, 0, &queries, k, None, threads, &|_| {}).len();
                (wall, cpu) = (wall.min(start.elapsed()), cpu.min(process_time() - start_cpu));
            }
            (wall, cpu, pairs)
        };
        let (prepared, prepared_cpu, _) = best(&[]);
        let (all, all_cpu, pairs) = best(&stored);
        println!(
            "stream k={k} n={n} threads={threads}: {pairs} pairs; queries prepared in {:.2} s, whole in {:.2} s: {:.1} M/s streamed, {:.1} M/s \
             and second of cpu",
            prepared.as_secs_f64(),
            all.as_secs_f64(),
            n as f64 / all.saturating_sub(prepared).as_secs_f64() / 1e6,
            n as f64 / all_cpu.saturating_sub(prepared_cpu).as_secs_f64() / 1e6,
        );
    }
}

/// Probe and insertion of the online index by each design that suits `k`, as it grows to `most`: where one overtakes
/// the other.
fn designs(most: usize, k: u32) {
    println!("k\tn\tdesign\tinsert ns\twithin ns\tB/fp");
    for blocks in 3.min(k + 1)..=5.min(k + 1) {
        let design = Design::flips(blocks, k);
        let mut index = Index::with_design(design.clone(), Fill::Fast);
        let (mut n, mut next) = (0, 10_000);
        while next <= most {
            let start = cpu_time();
            (n as u64..next as u64).for_each(|row| {
                index.insert(ByRow::get(row));
            });
            let insert = (cpu_time() - start).as_nanos() as f64 / (next - n) as f64;
            let queries = ByRow(next as u64).queries(10_000);
            let within = growth::nanoseconds(&queries, |query, near| index.within(query, near));
            let bytes = index.bytes() as f64 / index.len() as f64;
            println!("{k}\t{next}\t{}\t{insert:.0}\t{within:.0}\t{bytes:.1}", design.name);
            (n, next) = (next, if next.to_string().starts_with('1') { next * 3 } else { next / 3 * 10 });
        }
    }
}

/// What a crawl asks of an index, from empty, one page after the other: all within, then, where there is none,
/// insertion. The index, and nanoseconds of CPU a page.
fn crawled(fingerprints: &[u64], k: u32) -> (Index, f64) {
    let (mut index, mut near) = (Index::new(k), Vec::new());
    let start = cpu_time();
    for &fingerprint in fingerprints {
        near.clear();
        index.within(fingerprint, &mut near);
        if near.is_empty() {
            index.insert_new(fingerprint);
        }
    }
    let nanoseconds = (cpu_time() - start).as_nanos() as f64 / fingerprints.len() as f64;
    (index, nanoseconds)
}

/// The best of a few: what else runs can only add.
fn best_crawl(fingerprints: &[u64], k: u32) -> f64 {
    (0..9).map(|_| crawled(fingerprints, k).1).fold(f64::MAX, f64::min)
}

/// Crawls of 2,000 to `most` random pages.
fn crawl(most: usize, k: u32) {
    println!("k\tn\tns a page");
    for n in std::iter::successors(Some(2_000), |n| Some(2 * n)).take_while(|n| *n <= most) {
        let fingerprints: Vec<u64> = ByRow(n as u64).all().collect();
        println!("{k}\t{n}\t{:.0}", best_crawl(&fingerprints, k));
    }
}

/// A crawl of the pages whose fingerprints a file holds, beside one of as many random ones; answers are compared with a
/// scan.
fn real(path: &Path, k: u32) {
    let fingerprints = Fingerprints::open(path).expect("a fingerprint file");
    let random: Vec<u64> = ByRow(fingerprints.len() as u64).all().collect();
    for (what, fingerprints) in [("real", &fingerprints[..]), ("random", &random)] {
        let (index, _) = crawled(fingerprints, k);
        let stored = index.fingerprints();
        let queries: Vec<u64> = fingerprints.iter().step_by(fingerprints.len().div_ceil(1000)).copied().collect();
        let same = queries.iter().all(|query| {
            let mut near = Vec::new();
            index.within(*query, &mut near);
            near.sort_unstable();
            let distances = stored.iter().map(|f| (*f, (f ^ query).count_ones()));
            let mut scanned: Vec<(u64, u32)> = distances.filter(|(_, distance)| *distance <= k).collect();
            scanned.sort_unstable();
            near == scanned
        });
        println!(
            "{what} k={k}: {} pages, {} stored; {:.0} ns a page; {:.2} B/fp; {} answers equal a scan's: {same}",
            fingerprints.len(),
            index.len(),
            best_crawl(fingerprints, k),
            index.bytes() as f64 / index.len() as f64,
            queries.len(),
        );
        latencies(fingerprints, |query, near| index.within(query, near));
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let number = |i: usize, default: usize| arguments.get(i).map_or(default, |a| a.parse().expect("a number"));
    let given = |word: &str| arguments.iter().any(|a| a == word);
    let fill = if given("compact") { Fill::Compact } else { Fill::Fast };
    let pauses = given("pauses");
    match arguments.first().map(String::as_str) {
        Some("online") => online(number(1, 10_000_000), number(2, 3) as u32, fill, pauses),
        Some("pairs") => all_pairs(number(1, 10_000_000)),
        Some("frozen") => {
            let k = number(2, 3) as u32;
            let named = arguments.iter().find_map(|a| Design::named(a, k));
            frozen_index(number(1, 10_000_000) as u64, named.unwrap_or_else(|| Design::standard(k)), !given("values"))
        }
        Some("stream") => stream(number(1, 100_000_000) as u64, number(2, 3) as u32),
        Some("coders") => coders(number(1, 16_000_000) as u64),
        Some("growth") => {
            let (least, most) = (number(4, 100_000) as u64, number(1, 1_000_000) as u64);
            growth::growth(least, most, number(2, 7) as u32, arguments.get(3).map(String::as_str))
        }
        Some("crawl") => crawl(number(1, 64_000), number(2, 7) as u32),
        Some("real") => real(Path::new(&arguments[1]), number(2, 3) as u32),
        Some("designs") => designs(number(1, 10_000_000), number(2, 7) as u32),
        // `cargo test --benches` and a bare `cargo bench` come here.
        _ => online(100_000, 3, Fill::Fast, true),
    }
}
