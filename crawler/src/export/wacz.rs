//! A crawl directory as a WACZ file.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::report::source::Lines;
use crate::sink::{PagesJsonl, sort_lines};
use crate::wacz::{Input, Page, Written, write};

/// Writes the archive of `dir` (a crawl with `--warc`) to `out`. `created` is now, in milliseconds since the Unix epoch.
/// Pages are the lines of `pages.jsonl` with a 2xx answer that has a title or words. Errors with `NotFound` where there is
/// no archive. The crawl must not be running.
pub fn of_crawl(dir: &Path, out: &Path, created: u64) -> io::Result<Written> {
    let mut warcs: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(dir.join("warc"))? {
        let path = entry?.path();
        if path.to_string_lossy().ends_with(".warc.gz") {
            warcs.push(path);
        }
    }
    warcs.sort();
    // A run that was interrupted leaves the index in the order of fetching.
    let index = out.with_extension("cdxj.tmp");
    std::fs::copy(dir.join("warc/index.cdxj"), &index)?;
    let lines = Lines::open(dir, PagesJsonl::NAME, None)?;
    let written = sort_lines(&index).and_then(|()| {
        let input = Input {
            warcs,
            index: BufReader::new(File::open(&index)?),
            pages: pages(BufReader::new(lines.bytes())),
            title: "Crawl".into(),
            created,
        };
        write(BufWriter::new(File::create(out)?), input)
    });
    let removed = std::fs::remove_file(&index);
    let written = written?;
    removed.map(|()| written)
}

/// The pages of `pages.jsonl` that people would open.
fn pages(lines: impl BufRead) -> impl Iterator<Item = io::Result<Page>> {
    #[derive(Deserialize)]
    struct Line {
        url: String,
        status: Option<u16>,
        fetched_at: String,
        title: Option<String>,
        words: Option<u64>,
    }
    lines.lines().filter_map(|line| {
        let line = match line {
            Ok(line) => line,
            Err(error) => return Some(Err(error)),
        };
        let line: Line = match serde_json::from_str(&line) {
            Ok(line) => line,
            Err(error) => return Some(Err(error.into())),
        };
        let is_page = line.status.is_some_and(|status| (200..300).contains(&status))
            && (line.title.is_some() || line.words.is_some_and(|words| words > 0));
        let date = OffsetDateTime::parse(&line.fetched_at, &Rfc3339).ok().filter(|_| is_page)?;
        let date = u64::try_from(date.unix_timestamp()).unwrap_or(0) * 1_000;
        Some(Ok(Page { url: line.url, date, title: line.title.unwrap_or_default(), text: None }))
    })
}
