//! A chain of pages with equal text, each of which leads to a file.

use fastrand::Rng;
use url::Url;

use super::draw::{prose, target, word};
use super::{Page, Reply, Site};

/// A chain of pages with files.
#[derive(Clone, Debug)]
pub struct Downloads {
    host: String,
    words: usize,
    pages: u64,
    /// The number of files that differ. Page `n` leads to a copy of file `n` modulo this number.
    files: u64,
    salt: u64,
}

impl Downloads {
    /// A chain of this many pages, with so many words each, and so many files that differ.
    pub fn draw(seed: u64, pages: u64, words: usize, files: u64) -> Self {
        let mut random = Rng::with_seed(seed ^ 0x6669_6c65);
        Self { host: format!("{}.test", word(&mut random)), words, pages, files, salt: random.u64(..) }
    }

    fn number(&self, target: &str, before: &str, after: &str) -> Option<u64> {
        let number = target.strip_prefix(before)?.strip_suffix(after)?.parse().ok();
        number.filter(|number| *number < self.pages)
    }
}

impl Site for Downloads {
    fn seeds(&self) -> Vec<String> {
        vec![format!("http://{}/get/0", self.host)]
    }

    fn reply(&self, url: &Url) -> Reply {
        if let Some(number) = self.number(target(url), "/files/", ".zip") {
            return Reply::File(number % self.files);
        }
        let Some(number) = self.number(target(url), "/get/", "") else { return Reply::Missing };
        let mut page = Page::new("Download").paragraph(&prose(self.salt, self.words));
        page = page.link(&format!("/files/{number}.zip"), "Get it");
        Reply::Page(if number + 1 < self.pages { page.link(&format!("/get/{}", number + 1), "Next") } else { page })
    }
}
