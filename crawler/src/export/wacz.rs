//! Writes a crawl directory as a WACZ file.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::report::source::Lines;
use crate::sink::{PagesJsonl, sort_lines};
use crate::wacz::{Input, Page, Written, write};

/// The parts of an archive that its index names and that are missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Missing {
    /// The number of lines of the index that name a missing WARC file, by the name of the file.
    pub files: BTreeMap<String, u64>,
    /// The URLs that have captures in such files only.
    urls: HashSet<String>,
}

/// Writes the archive of `dir` (a crawl with `--warc`) to `out`. `created` is now, in milliseconds since the Unix
/// epoch. The pages are the lines of `pages.jsonl` with a 2xx answer that has a title or words. The index leaves out
/// captures in WARC files that are missing, and the list of pages leaves out pages that have no other captures. It is
/// an error of kind `NotFound` if there is no archive. The crawl must not be running.
pub fn of_crawl(dir: &Path, out: &Path, created: u64) -> io::Result<(Written, Missing)> {
    let mut warcs: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(dir.join("warc"))? {
        let path = entry?.path();
        if path.to_string_lossy().ends_with(".warc.gz") {
            warcs.push(path);
        }
    }
    warcs.sort();
    let index = out.with_extension("cdxj.tmp");
    let lines = Lines::open(dir, PagesJsonl::NAME, None)?;
    let written = copy_index(&dir.join("warc/index.cdxj"), &index, &warcs).and_then(|missing| {
        // If a run was interrupted, its index is in the order of fetching.
        sort_lines(&index)?;
        let input = Input {
            warcs,
            index: BufReader::new(File::open(&index)?),
            pages: pages(BufReader::new(lines.bytes()), &missing.urls),
            title: "Crawl".into(),
            created,
        };
        Ok((write(BufWriter::new(File::create(out)?), input)?, missing))
    });
    let removed = std::fs::remove_file(&index);
    let written = written?;
    removed.map(|()| written)
}

/// The part of a line of the index that follows its key and its date.
#[derive(Deserialize)]
struct Capture {
    url: String,
    filename: String,
}

impl Capture {
    /// Reads a line. `None` if it is no line of an index.
    fn read(line: &str) -> Option<Self> {
        serde_json::from_str(&line[line.find('{')?..]).ok()
    }
}

/// Copies the lines of an index that name one of the files `warcs`. Returns what the other lines name.
fn copy_index(from: &Path, to: &Path, warcs: &[PathBuf]) -> io::Result<Missing> {
    let there: HashSet<_> = warcs.iter().filter_map(|path| Some(path.file_name()?.to_string_lossy())).collect();
    let mut missing = Missing::default();
    let mut out = BufWriter::new(File::create(to)?);
    for line in BufReader::new(File::open(from)?).lines() {
        let line = line?;
        match Capture::read(&line) {
            Some(capture) if !there.contains(capture.filename.as_str()) => {
                *missing.files.entry(capture.filename).or_default() += 1;
                missing.urls.insert(capture.url);
            }
            _ => writeln!(out, "{line}")?,
        }
    }
    out.flush()?;
    if !missing.urls.is_empty() {
        for line in BufReader::new(File::open(to)?).lines() {
            if let Some(capture) = Capture::read(&line?) {
                missing.urls.remove(&capture.url);
            }
        }
    }
    Ok(missing)
}

/// The pages of `pages.jsonl` that people would open, without those whose URLs are `missing`.
fn pages(lines: impl BufRead, missing: &HashSet<String>) -> impl Iterator<Item = io::Result<Page>> {
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
            && (line.title.is_some() || line.words.is_some_and(|words| words > 0))
            && !missing.contains(&line.url);
        let date = OffsetDateTime::parse(&line.fetched_at, &Rfc3339).ok().filter(|_| is_page)?;
        let date = u64::try_from(date.unix_timestamp()).unwrap_or(0) * 1_000;
        Some(Ok(Page { url: line.url, date, title: line.title.unwrap_or_default(), text: None }))
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Read;

    use flate2::read::MultiGzDecoder;

    use super::*;

    /// Catches an index that names missing files, and a list with pages that cannot be opened.
    #[test]
    fn captures_in_a_file_that_is_gone_are_left_out_with_their_pages() -> io::Result<()> {
        let dir = tempfile::tempdir()?;
        let (dir, out) = (dir.path(), dir.path().join("crawl.wacz"));
        let (first, second) = (dir.join("warc/crawl-00000.warc.gz"), dir.join("warc/crawl-00001.warc.gz"));
        fs::create_dir(dir.join("warc"))?;
        let line = |page: &str, file: &Path| {
            let file = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            format!("test,a)/{page} 20260101000000 {{\"url\":\"http://a.test/{page}\",\"filename\":\"{file}\"}}\n")
        };
        let index = [line("2", &second), line("1", &first), line("1", &second), line("0", &first)].concat();
        fs::write(dir.join("warc/index.cdxj"), index)?;
        let page = |n: u32| {
            let at = "2026-01-01T00:00:00Z";
            format!(
                "{{\"url\":\"http://a.test/{n}\",\"status\":200,\"fetched_at\":\"{at}\",\"title\":\"t\",\"words\":1}}\n"
            )
        };
        fs::write(dir.join(PagesJsonl::NAME), (0..3).map(page).collect::<String>())?;
        fs::write(&second, "second")?;
        let read = |name: &str| -> io::Result<Vec<u8>> {
            let (mut zip, mut bytes) = (zip::ZipArchive::new(File::open(&out)?)?, Vec::new());
            zip.by_name(name)?.read_to_end(&mut bytes)?;
            Ok(bytes)
        };

        let (written, missing) = of_crawl(dir, &out, 0)?;
        assert_eq!(written, Written { warcs: 1, captures: 2, pages: 2 });
        assert_eq!(missing.files, BTreeMap::from([("crawl-00000.warc.gz".to_owned(), 2)]));
        let mut index = String::new();
        MultiGzDecoder::new(&read("indexes/index.cdx.gz")?[..]).read_to_string(&mut index)?;
        assert_eq!(index, [line("1", &second), line("2", &second)].concat());
        let pages = String::from_utf8(read("pages/pages.jsonl")?).map_err(io::Error::other)?;
        assert!(!pages.contains("http://a.test/0") && pages.contains("http://a.test/1"), "{pages}");

        // The control: the file is put back.
        fs::write(&first, "first")?;
        let (written, missing) = of_crawl(dir, &out, 0)?;
        assert_eq!(written, Written { warcs: 2, captures: 4, pages: 3 });
        assert_eq!(missing, Missing::default());
        assert!(!out.with_extension("cdxj.tmp").exists());
        Ok(())
    }
}
