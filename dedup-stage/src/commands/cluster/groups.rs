//! Writes groups of raw fingerprints, and of pages in JSON Lines.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use serde::Deserialize;
use serde_json::json;

use crate::commands::progress::{Bar, Progress};
use crate::commands::rows;
use crate::hamming::Fingerprints;
use crate::hamming::cluster::{Cluster, Link, clusters};
use crate::hamming::pairs::near;

/// The fingerprints of a file of JSON Lines, with their rows and URLs.
struct Pages {
    fingerprints: Vec<u64>,
    rows: Vec<u64>,
    urls: Vec<Option<String>>,
    /// Number of lines without a fingerprint.
    others: u64,
}

/// Finds the groups of a file, and writes them.
pub fn run(file: &Path, distance: u32, link: Link, threads: usize) -> anyhow::Result<ExitCode> {
    let find = |fingerprints: &[u64]| {
        let progress = Progress::new("cluster", fingerprints.len(), "rows");
        let near = near(fingerprints, distance, threads, &|share| progress.add(share));
        clusters(fingerprints, &near, link)
    };
    let written = if is_json(file)? {
        let pages = read(file)?;
        if pages.fingerprints.is_empty() && pages.others > 0 {
            anyhow::bail!("{}: no line has a `simhash`, so there is nothing to group", file.display());
        }
        write(&find(&pages.fingerprints), Some(&pages))
    } else {
        write(&find(&Fingerprints::open(file)?), None)
    };
    rows::unless_closed(written)?;
    Ok(ExitCode::SUCCESS)
}

fn write(clusters: &[Cluster], pages: Option<&Pages>) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    for cluster in clusters {
        let (size, diameter) = (cluster.rows.len(), cluster.diameter);
        let object = match pages {
            None => json!({ "size": size, "diameter": diameter, "rows": cluster.rows }),
            Some(pages) => {
                let rows: Vec<u64> = cluster.rows.iter().map(|row| pages.rows[*row as usize]).collect();
                let urls: Vec<_> = cluster.rows.iter().map(|row| &pages.urls[*row as usize]).collect();
                json!({ "size": size, "diameter": diameter, "rows": rows, "urls": urls })
            }
        };
        serde_json::to_writer(&mut out, &object)?;
        out.write_all(b"\n")?;
    }
    out.flush()
}

/// Whether a file is JSON Lines: by its name, or by its first bytes if the name does not tell.
fn is_json(path: &Path) -> anyhow::Result<bool> {
    if path.extension().is_some_and(|extension| extension == "jsonl" || extension == "json") {
        return Ok(true);
    }
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(9).read_to_end(&mut start));
    read.with_context(|| path.display().to_string())?;
    Ok(start.first() == Some(&b'{') && start.iter().skip(1).all(|byte| (b' '..0x7f).contains(byte)))
}

fn read(path: &Path) -> anyhow::Result<Pages> {
    #[derive(Deserialize)]
    struct Page {
        simhash: Option<String>,
        url: Option<String>,
    }
    let file = File::open(path).with_context(|| path.display().to_string())?;
    let mut pages = Pages { fingerprints: Vec::new(), rows: Vec::new(), urls: Vec::new(), others: 0 };
    let bar = Bar::of_bytes([path]);
    for (row, line) in (0..).zip(BufReader::new(bar.0.wrap_read(file)).lines()) {
        let line = line.with_context(|| path.display().to_string())?;
        if line.trim().is_empty() {
            continue;
        }
        let place = || format!("{}, line {}", path.display(), row + 1);
        let page: Page = serde_json::from_str(&line).with_context(place)?;
        let Some(simhash) = page.simhash else {
            pages.others += 1;
            continue;
        };
        let fingerprint = u64::from_str_radix(&simhash, 16).with_context(place)?;
        pages.fingerprints.push(fingerprint);
        pages.rows.push(row);
        pages.urls.push(page.url);
    }
    Ok(pages)
}
