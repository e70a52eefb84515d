//! Writes the outputs of a made-up crawl of many pages, some with hostile titles, and their report; serves the live
//! page over them; and says how long the report took, how large it is, and how long the live page takes to answer:
//! `cargo run --release -p dedup-stage-crawler --example million_pages -- DIR [PAGES]`.

use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use config::{OnDuplicate, Settings};
use crawler::dashboard::Dashboard;
use crawler::engine::{Observer, Snapshot, Stats};
use crawler::report::learned::Learned;
use crawler::report::{Report, Summary};
use crawler::units;
use dedup_stage::store::{Memory, Session, codec};
use dedup_stage::url::{Canonicalizer, KeyHasher, Keys, SiteId};
use frontier::rules::Rule;
use frontier::{FoundLink, Frontier, Merits, Via};
use serde_json::json;
use url::Url;
use xxhash_rust::xxh3::xxh3_64;

/// Titles that try to be more than text.
const HOSTILE: [&str; 5] = [
    "</title><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "invoice\u{202e}fdp.exe",
    "bell\u{7} and escape \u{1b}[31m and nul \u{0}",
    "שלום \" ' & &lt; עולם",
];

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let dir = PathBuf::from(arguments.next().ok_or_else(|| anyhow::anyhow!("which directory?"))?);
    let pages: u64 = arguments.next().map_or(Ok(1_000_000), |pages| pages.parse())?;
    std::fs::create_dir_all(&dir)?;
    write(&dir, pages)?;

    let session = learned(pages)?;
    let start = Instant::now();
    let summary = Summary {
        learned: Some(Learned::stored(OnDuplicate::Drop, &session)?),
        seeds: vec!["https://host-0.example/".into()],
        on_duplicate: Some("drop".into()),
        elapsed_ms: Some(pages * 2),
        stop_reason: Some("done".into()),
        ..Summary::default()
    };
    let report = Report::read(&dir, summary, |_| None)?;
    let read = start.elapsed();
    let html = report.html()?;
    std::fs::write(dir.join(Report::NAME), &html)?;
    println!(
        "{pages} pages: report in {:.2} s ({:.2} s of it reading, {:.2} µs a page), {:.2} MB",
        start.elapsed().as_secs_f64(),
        read.as_secs_f64(),
        read.as_secs_f64() * 1e6 / pages.max(1) as f64,
        html.len() as f64 / 1e6
    );
    live(&dir, session, pages, report.tally().verdicts.pages())
}

/// Answers of the live page while it reads the outputs, and when it has read them all.
fn live(dir: &Path, mut session: Session, pages: u64, fetched: u64) -> anyhow::Result<()> {
    let settings = Settings::default();
    let (canonicalizer, hasher) = (Canonicalizer::new(&settings.urls), KeyHasher::new([7; KeyHasher::SECRET]));
    let keys = Keys { canonicalizer, hasher };
    let mut frontier = Frontier::open(&settings, &keys, &mut session, 0)?;
    frontier.use_rules(&session)?;
    for n in 0..pages.min(20_000) {
        let url: Url = url(n, pages).parse()?;
        let (id, _) = keys.identify(&url);
        let (merits, via) = (Merits::default(), Via::Link);
        frontier.add(&FoundLink { url: &url, id, depth: 1, priority: 0.5, merits, source: None, via }, &mut session)?;
    }
    let (control, _wishes) = crossbeam_channel::unbounded();
    let start = Instant::now();
    let mut dashboard = Dashboard::start("127.0.0.1:0".parse()?, dir, control)?;
    let address = dashboard.address();
    let stats = Stats { pages, elapsed_ms: 2 * pages, ..Stats::default() };
    let snapshot = Snapshot {
        stats: &stats,
        counts: frontier.counts(),
        frontier: &frontier,
        in_flight: 7,
        lost: None,
        harvest: None,
        trouble: None,
        now: 1_000_000,
        stopped: None,
    };
    // A viewer, so that everything is drawn.
    let mut viewer = TcpStream::connect(address)?;
    write!(viewer, "GET /events HTTP/1.1\r\nHost: {address}\r\n\r\n")?;
    viewer.read_exact(&mut [0])?;
    dashboard.tick(&snapshot);
    let whole = format!("After {} pages fetched", units::count(fetched));
    let mut waits = Vec::new();
    let longest = |waits: &[Duration]| waits.iter().max().map_or(0.0, |wait| 1e3 * wait.as_secs_f64());
    loop {
        let (wait, page) = get(address, "/")?;
        if page.contains(&whole) {
            break;
        }
        waits.push(wait);
        std::thread::sleep(Duration::from_millis(20));
    }
    println!(
        "live page: read everything in {:.1} s; meanwhile {} answers, the slowest after {:.1} ms",
        start.elapsed().as_secs_f64(),
        waits.len(),
        longest(&waits)
    );
    for path in ["/", "/page?at=0", "/metrics"] {
        let waits = (0..50).map(|_| Ok(get(address, path)?.0)).collect::<anyhow::Result<Vec<_>>>()?;
        println!("live page: {path} answers within {:.1} ms (the slowest of {})", longest(&waits), waits.len());
    }
    Ok(())
}

/// One request on a connection of its own, timed to its last byte.
fn get(address: SocketAddr, path: &str) -> anyhow::Result<(Duration, String)> {
    let start = Instant::now();
    let mut stream = TcpStream::connect(address)?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    Ok((start.elapsed(), String::from_utf8_lossy(&answer).into_owned()))
}

/// A state with rules, one for every five hundred pages, as hostile as their parameters.
fn learned(pages: u64) -> anyhow::Result<Session> {
    let mut session = Session::new(Box::new(Memory::default()));
    for n in 0..pages / 500 {
        let site = SiteId { domain: n, host: n };
        let rule: Rule = serde_json::from_value(json!({
            "id": n,
            "site": site,
            "order": n,
            "cause": {"Rewrite": {"Parameter": {"origin": origin(n, pages), "name": parameter(n)}}},
            "status": "Proven",
            "proof": {"agreed": 33, "differed": 0},
            "trials": {"agreed": n % 50, "differed": 0},
            "stopped": n,
            "example": null,
            "watch": {"sum": 0.0},
        }))?;
        let key = [&site.to_bytes()[..], b"r", &n.to_be_bytes()].concat();
        session.put(frontier::spaces::RULES, key, codec::encode(&rule));
    }
    anyhow::ensure!(frontier::rules::stored(&session)?.len() as u64 == pages / 500, "rules have another stored form");
    Ok(session)
}

fn parameter(n: u64) -> String {
    format!("{}{n}", HOSTILE[(n % 5) as usize])
}

fn origin(n: u64, pages: u64) -> String {
    let url = url(n, pages);
    url.split("/some").next().unwrap_or_default().to_owned()
}

fn write(dir: &Path, pages: u64) -> anyhow::Result<()> {
    let mut out = BufWriter::new(File::create(dir.join("pages.jsonl"))?);
    let mut skipped = BufWriter::new(File::create(dir.join("skipped.jsonl"))?);
    for n in 0..pages {
        let dice = xxh3_64(&n.to_le_bytes());
        let url = url(n, pages);
        let (verdict, twin) = match dice % 20 {
            _ if n == 0 => ("unique", None),
            0..=3 => ("exact", Some(dice >> 8)),
            4..=6 => ("near", Some(dice >> 8)),
            7 => ("unjudged", None),
            _ => ("unique", None),
        };
        // Some pages are repeated far more than others.
        let twin = twin.map(|twin| self::url((twin % n.max(1)).pow(3) / (n.max(1) * n.max(1)).max(1), pages));
        let near = verdict == "near";
        let failed = dice % 500 == 7;
        let title = match dice % 40 {
            hostile @ 0..5 => HOSTILE[hostile as usize].to_owned(),
            _ => format!("Page {n} of the made-up crawl"),
        };
        let line = json!({
            "url": url,
            "status": if failed { None } else if verdict == "unjudged" { Some(404) } else { Some(200) },
            "depth": (n.max(1).ilog2()) / 2,
            "fetched_at": format!("2026-01-02T{:02}:{:02}:{:02}.000Z", n / 3_600_000 % 24, n / 60_000 % 60, n / 1_000 % 60),
            "content_type": "text/html; charset=utf-8", "bytes": 4_000 + dice % 20_000, "charset": "UTF-8", "language": "en",
            "title": title, "words": 200 + dice % 900,
            "sha256": format!("{dice:064x}"), "simhash": format!("{dice:016x}"),
            "links": dice % 60, "priority": 0.5, "relevance": null, "redirect_to": null,
            "error": if failed { Some("timeout: no answer within 60 s") } else { None },
            "noindex": false, "truncated": false, "unchanged": false,
            "verdict": verdict, "duplicate_of": twin,
            "distance": near.then_some(dice % 4), "resemblance": near.then_some(0.8 + (dice % 20) as f64 / 100.0),
            "links_new": 3, "links_admitted": 2, "links_dropped": if twin.is_some() { dice % 9 } else { 0 },
        });
        writeln!(out, "{line}")?;
        if n % 3 == 0 {
            let reason = ["robots", "scope", "duplicate_source", "nofollow", "rule", "trap"][(dice % 6) as usize];
            let mut skip = json!({"url": format!("{url}/skipped?n={n}"), "reason": reason, "source": url});
            if reason == "rule" {
                let (rule, at) = (dice % (pages / 500).max(1), parameter(dice % (pages / 500).max(1)));
                skip["rule"] = format!("{}/*?{at}=* = without {at}", origin(rule, pages)).into();
            }
            writeln!(skipped, "{skip}")?;
        }
    }
    out.flush()?;
    skipped.flush()?;
    Ok(())
}

fn url(n: u64, pages: u64) -> String {
    let host = xxh3_64(&(n ^ 7).to_le_bytes()) % (pages / 1_000).clamp(3, 5_000);
    format!("https://host-{host}.example/some/folder/page-{n}.html")
}
