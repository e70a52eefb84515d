//! Checks of the outputs of a crawl, for their readers: whether they are complete, and which files belong to the crawl.

use std::io;
use std::path::{Path, PathBuf};

use super::{CrawlDir, OpenError};
use crate::graph::LinksGraph;
use crate::report::Report;
use crate::series::{PARTS, Series};
use crate::sink::{PagesJsonl, SkippedJsonl, TextJsonl};

impl CrawlDir {
    /// The length of an output that the state vouches for. It does no harm if closed parts were removed.
    ///
    /// # Errors
    ///
    /// If the output is missing, or shorter than the state says. A crash does not cause this.
    pub fn vouched(&self, name: &str) -> Result<u64, OpenError> {
        let vouched = self.lengths()?.get(name).copied().unwrap_or(0);
        let output = |error| OpenError::Output { dir: self.path.clone(), error };
        let series = Series::open(&self.path, name).map_err(output)?;
        let shorter = |name: &str, found: u64, vouched: u64| {
            let what = format!("{name} has {found} bytes where the state has recorded {vouched}");
            output(io::Error::new(io::ErrorKind::InvalidData, what))
        };
        if let Some((part, found, then)) = series.misfits().map_err(output)?.first() {
            return Err(shorter(part, *found, *then));
        }
        if series.end() < vouched { Err(shorter(name, series.end(), vouched)) } else { Ok(vouched) }
    }

    /// Whether a path names a file that the crawl writes itself. Nothing else may replace such a file.
    pub fn owns(&self, path: &Path) -> bool {
        let Ok(dir) = self.path.canonicalize() else { return false };
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        // A symbolic link counts as the file to which it leads.
        let whole =
            path.canonicalize().or_else(|_| Ok(folder.canonicalize()?.join(path.file_name().unwrap_or_default())));
        let Ok(inside) =
            whole.and_then(|whole: PathBuf| whole.strip_prefix(dir).map(Path::to_owned).map_err(io::Error::other))
        else {
            return false;
        };
        let name = inside.to_string_lossy();
        name.starts_with("state/") || name.starts_with("warc/") || is_output(&name)
    }
}

/// Whether a file with this name in a crawl directory is an output, or a closed part of one.
fn is_output(name: &str) -> bool {
    const SERIES: [&str; 4] = [PagesJsonl::NAME, TextJsonl::TEXT, TextJsonl::MARKDOWN, LinksGraph::NAME];
    let is_part = |series: &str| {
        let (stem, end) = series.rsplit_once('.').unwrap_or((series, ""));
        let number = name.strip_prefix(stem).and_then(|rest| rest.strip_prefix('-'));
        let number = number.and_then(|rest| rest.strip_suffix(end)?.strip_suffix('.'));
        number.is_some_and(|number| number.len() >= 6 && number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    [SkippedJsonl::NAME, PARTS, Report::NAME].contains(&name)
        || SERIES.iter().any(|series| name == *series || is_part(series))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use dedup_stage::store::{Memory, Session, Space};

    use super::*;

    fn crawl(dir: &Path, lengths: &[(&str, u64)]) -> CrawlDir {
        let mut crawl = CrawlDir::with_session(dir, Session::new(Box::new(Memory::default()))).unwrap();
        let lengths: BTreeMap<_, _> = lengths.iter().copied().collect();
        crawl.session().put(Space::META, *b"outputs", serde_json::to_vec(&lengths).unwrap());
        crawl
    }

    #[test]
    fn an_output_that_is_missing_or_cut_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let crawl = crawl(dir.path(), &[("pages.jsonl", 8)]);
        let error = |name| crawl.vouched(name).unwrap_err().to_string();
        assert!(error("pages.jsonl").contains("pages.jsonl has 0 bytes where the state has recorded 8"));
        std::fs::write(dir.path().join("pages.jsonl"), "{}\n{}").unwrap();
        assert!(error("pages.jsonl").contains("pages.jsonl has 5 bytes"));
        std::fs::write(dir.path().join("pages.jsonl"), "{}\n{}\n{}\n").unwrap();
        assert_eq!((crawl.vouched("pages.jsonl").unwrap(), crawl.vouched("text.jsonl").unwrap()), (8, 0));
        // Another function reports a closed part that was removed. A closed part that was cut is damaged.
        std::fs::write(dir.path().join("parts.json"), r#"{"pages.jsonl":[3]}"#).unwrap();
        assert_eq!(crawl.vouched("pages.jsonl").unwrap(), 8);
        std::fs::write(dir.path().join("pages-000001.jsonl"), "{").unwrap();
        assert!(error("pages.jsonl").contains("pages-000001.jsonl has 1 bytes where the state has recorded 3"));
    }

    #[test]
    fn the_files_of_a_crawl_are_its_own_by_whatever_path() {
        let dir = tempfile::tempdir().unwrap();
        let crawl = crawl(dir.path(), &[]);
        for name in ["pages.jsonl", "warc/index.cdxj", "state/x"] {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        symlink(dir.path().join("pages.jsonl"), dir.path().join("mine")).unwrap();
        let owns = |name: &str| crawl.owns(&dir.path().join(name));
        for name in [
            "pages.jsonl",
            "pages-000012.jsonl",
            "state/x",
            "warc/index.cdxj",
            "warc/../text.jsonl",
            "mine",
            "parts.json",
        ] {
            assert!(owns(name), "{name}");
        }
        for name in ["crawl.wacz", "pages.csv", "pages-new.jsonl", "texts.jsonl", "nowhere/pages.jsonl"] {
            assert!(!owns(name), "{name}");
        }
        assert!(!crawl.owns(Path::new("pages.jsonl")), "that is another folder");
    }

    #[test]
    fn reading_leaves_the_permissions_of_the_state_as_they_are() {
        let dir = tempfile::tempdir().unwrap();
        let (path, state) = (dir.path(), dir.path().join("state"));
        let mode = || std::fs::metadata(&state).unwrap().permissions().mode() & 0o777;
        drop(CrawlDir::open(path).unwrap());
        assert_eq!(mode(), 0o700);
        std::fs::set_permissions(&state, std::fs::Permissions::from_mode(0o750)).unwrap();
        drop(CrawlDir::reading(path).unwrap());
        drop(CrawlDir::existing(path).unwrap());
        assert_eq!(mode(), 0o750, "who reads changes nothing");
        drop(CrawlDir::open(path).unwrap());
        assert_eq!(mode(), 0o700, "who crawls writes cookies");
    }
}
