//! The test material, unpacked under `target/`, and small things that the tests share.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use dedup_stage::page::{Input, Page, Reader};
use dedup_stage::signature::Signature;
use url::Url;
use xxhash_rust::xxh3::xxh3_64;

/// The folder of the material; `None`, with a word to the reader, where it is absent.
pub fn folder() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    if !folder.exists() {
        println!("skipped: there is no {}", folder.display());
        return None;
    }
    Some(folder)
}

/// The folder into which an archive was unpacked, now or earlier.
pub fn unpacked(archive: &str) -> Option<PathBuf> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let archive = folder()?.join(archive);
    let name = archive.file_name()?.to_str()?.trim_end_matches(".tar.xz");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if !target.join(".complete").exists() {
        std::fs::create_dir_all(&target).expect("target is writable");
        let status = Command::new("tar").arg("-xJf").arg(&archive).arg("-C").arg(&target).status();
        if !status.is_ok_and(|status| status.success()) {
            println!("skipped: tar cannot unpack {}", archive.display());
            return None;
        }
        std::fs::write(target.join(".complete"), "").expect("target is writable");
    }
    Some(target)
}

/// The files below `folder` with this name ending, sorted, as paths relative to it.
pub fn files(folder: &Path, ending: &str) -> Vec<String> {
    fn walk(root: &Path, folder: &Path, ending: &str, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).expect("readable").map(|entry| entry.expect("readable").path()) {
            if entry.is_dir() {
                walk(root, &entry, ending, found);
            } else if entry.to_str().is_some_and(|path| path.ends_with(ending)) {
                found.push(entry.strip_prefix(root).expect("below").to_str().expect("UTF-8").to_owned());
            }
        }
    }
    let mut found = Vec::new();
    walk(folder, folder, ending, &mut found);
    found.sort();
    found
}

/// Reads a page as it would come from a web server.
pub fn read(reader: &mut Reader, path: &str, content_type: &str, body: &[u8]) -> Page {
    let url = Url::parse("http://pages.example/").expect("a URL").join(path).expect("a path");
    reader.read(&Input { url: &url, status: 200, content_type: Some(content_type), body })
}

/// Whether the cascade within distance `k` takes two pages for duplicates.
pub fn duplicates(a: &Option<Signature>, b: &Option<Signature>, k: u32) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a.simhash ^ b.simhash).count_ones() <= k && a.sketch.compare(&b.sketch).is_duplicate(),
        _ => false,
    }
}

/// Which half of the data a cluster belongs to: recipes are chosen on half 0.
pub fn half(cluster: &str) -> usize {
    (xxh3_64(cluster.as_bytes()) & 1) as usize
}

/// Counts of a two-class decision.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    pub true_positives: u32,
    pub false_positives: u32,
    pub false_negatives: u32,
}

impl Tally {
    pub fn count(&mut self, positive: bool, truth: bool) {
        match (positive, truth) {
            (true, true) => self.true_positives += 1,
            (true, false) => self.false_positives += 1,
            (false, true) => self.false_negatives += 1,
            (false, false) => {}
        }
    }

    pub fn precision(&self) -> f64 {
        f64::from(self.true_positives) / f64::from((self.true_positives + self.false_positives).max(1))
    }

    pub fn recall(&self) -> f64 {
        f64::from(self.true_positives) / f64::from((self.true_positives + self.false_negatives).max(1))
    }

    pub fn f1(&self) -> f64 {
        2.0 * self.precision() * self.recall() / (self.precision() + self.recall()).max(f64::MIN_POSITIVE)
    }

    pub fn plus(self, other: Self) -> Self {
        Self {
            true_positives: self.true_positives + other.true_positives,
            false_positives: self.false_positives + other.false_positives,
            false_negatives: self.false_negatives + other.false_negatives,
        }
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "precision {:.4} recall {:.4} F1 {:.4} (tp {} fp {} fn {})",
            self.precision(),
            self.recall(),
            self.f1(),
            self.true_positives,
            self.false_positives,
            self.false_negatives
        )
    }
}
