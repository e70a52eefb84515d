//! The test material, unpacked under `target/`, and helpers that the tests share.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use dedup_stage::judge::{Case, Judge, Verdict};
use dedup_stage::page::{Input, Page, Reader};
use dedup_stage::signature::SecondLook;
use dedup_stage::stage::{Prepared, Preparer, Source};
use dedup_stage::store::{Memory, Session};
use dedup_stage::url::{Canonicalizer, KeyHasher, Keys, PageId};
use url::Url;
use xxhash_rust::xxh3::xxh3_64;

/// The folder of the test material. Tests that need it are ignored if it is absent.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data")
}

/// The folder into which an archive is unpacked, unless an earlier call or run did it.
pub fn unpacked(archive: &str) -> PathBuf {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let archive = folder().join(archive);
    let name = archive.file_name().and_then(|name| name.to_str()).expect("a name").trim_end_matches(".tar.xz");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if !target.join(".complete").exists() {
        std::fs::create_dir_all(&target).expect("target is writable");
        let status = Command::new("tar").arg("-xJf").arg(&archive).arg("-C").arg(&target).status();
        assert!(status.is_ok_and(|status| status.success()), "tar cannot unpack {}", archive.display());
        std::fs::write(target.join(".complete"), "").expect("target is writable");
    }
    target
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

/// The text of a file, with replacement characters where its bytes are no UTF-8.
pub fn text(file: &Path) -> String {
    String::from_utf8_lossy(&std::fs::read(file).expect("readable")).into_owned()
}

/// Reads a page as if a web server had sent it.
pub fn read(reader: &mut Reader, path: &str, content_type: &str, body: &[u8]) -> Page {
    let url = Url::parse("http://pages.example/").expect("a URL").join(path).expect("a path");
    reader.read(&Input { url: &url, status: 200, content_type: Some(content_type), body })
}

/// The settings and the secret with which these tests identify URLs.
pub fn keys() -> Keys {
    Keys { canonicalizer: Canonicalizer::default(), hasher: KeyHasher::new([7; KeyHasher::SECRET]) }
}

/// Prepares a page for the judge as the stage does. `url` is relative to some host.
pub fn prepare(preparer: &mut Preparer, url: &str, content_type: &str, body: &[u8]) -> Prepared {
    let url = Url::parse("http://pages.example/").expect("a URL").join(url).expect("a path");
    let content_type = Some(content_type);
    preparer.prepare(&Source { url: &url, status: 200, content_type, body, whole: true, links: None })
}

/// Hamming distance of the fingerprints of two pages.
pub fn distance(a: &Prepared, b: &Prepared) -> Option<u32> {
    let (a, b) = (a.page.signature.as_ref()?, b.page.signature.as_ref()?);
    Some((a.simhash ^ b.simhash).count_ones())
}

/// The comparison of two pages at the second look.
pub fn look(a: &Prepared, b: &Prepared) -> Option<SecondLook> {
    Some(a.page.signature.as_ref()?.sketch.compare(&b.page.signature.as_ref()?.sketch))
}

/// Whether a judge that searches within a distance of `most` takes the second of two pages for a duplicate of the
/// first.
pub fn duplicates(first: &Prepared, second: &Prepared, most: u32) -> bool {
    let is_near = distance(first, second).is_some_and(|distance| distance <= most);
    let is_same = first.page.sha256 == second.page.sha256
        || first.page.statement.is_some() && first.page.statement == second.page.statement;
    // The judge would come to the same result, but later.
    if !is_near && !is_same {
        return false;
    }
    let mut session = Session::new(Box::new(Memory::default()));
    let mut judge = Judge::open(most, keys(), &mut session).expect("an empty state");
    let [_, verdict] = [(1, first), (2, second)].map(|(order, page)| {
        let case = Case {
            order,
            id: PageId { url: page.id, visit: 1 },
            url: &page.url,
            before: None,
            judgeable: page.judgeable,
            page: &page.page,
            links: &page.links,
            ahead: None,
        };
        let url_of = |page: PageId, _: &Session| {
            Ok([first, second].iter().find(|other| other.id == page.url).map(|other| other.url.clone()))
        };
        judge.judge(&case, &url_of, &mut session).expect("memory serves").verdict
    });
    matches!(verdict, Verdict::Exact { .. } | Verdict::Near { .. })
}

/// With this resemblance or more, hardly any near-duplicate may be missed.
pub const NEARER: f64 = 0.83;

/// The half of the data to which a cluster belongs. Recipes are chosen on half 0.
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
