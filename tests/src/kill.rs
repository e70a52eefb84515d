//! The kill test: a crawl that is killed at random moments, and goes on each time, ends with the pages of one that is not.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::ensure;
use crawler::crawl::CrawlDir;

use crate::crawl::{lines, text};

/// A crawl that can be run again and again.
#[derive(Clone, Debug)]
pub struct Victim {
    /// The `crawler` program.
    pub program: PathBuf,
    /// Arguments of `crawl`, seeds included, `--dir` not.
    pub arguments: Vec<OsString>,
}

/// Where one kill fell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kill {
    /// Time from the start of the process.
    pub after: Duration,
    /// Commits in the state.
    pub commits: u64,
    /// Pages in the state.
    pub pages: u64,
    /// Complete lines in `pages.jsonl`, those not yet vouched for included.
    pub lines: u64,
}

impl Victim {
    fn spawn(&self, dir: &Path) -> anyhow::Result<Child> {
        let mut command = Command::new(&self.program);
        command.arg("crawl").arg("--dir").arg(dir).args(&self.arguments);
        Ok(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?)
    }

    /// Runs to the end. Returns how often each URL stands in `pages.jsonl`.
    pub fn finish(&self, dir: &Path) -> anyhow::Result<BTreeMap<String, u32>> {
        let status = self.spawn(dir)?.wait()?;
        ensure!(status.success(), "the crawl in {} ended with {status}", dir.display());
        let mut urls = BTreeMap::new();
        for line in lines(dir, "pages.jsonl")? {
            *urls.entry(text(&line, "url").to_owned()).or_default() += 1;
        }
        Ok(urls)
    }

    /// Starts the crawl in `dir`, or goes on with it, and kills it (SIGKILL) after a while; `None` if it ended before that.
    pub fn kill(&self, dir: &Path, after: Duration) -> anyhow::Result<Option<Kill>> {
        let mut child = self.spawn(dir)?;
        // The point of the test is a moment that nothing in the crawl has chosen: this is no wait for an event.
        std::thread::sleep(after);
        if child.try_wait()?.is_some() {
            return Ok(None);
        }
        child.kill()?;
        child.wait()?;
        let stats = if CrawlDir::is_at(dir) { CrawlDir::open(dir)?.stats()?.0 } else { Default::default() };
        let written = std::fs::read(dir.join("pages.jsonl")).unwrap_or_default();
        let lines = written.iter().filter(|byte| **byte == b'\n').count() as u64;
        Ok(Some(Kill { after, commits: stats.commits, pages: stats.pages, lines }))
    }

    /// Kills `kills` times, each after a random part of `longest`, in as many crawls as it takes, and compares what each crawl
    /// fetched with `expected`. `told` hears of each kill.
    pub fn torture(
        &self,
        base: &Path,
        kills: u32,
        longest: Duration,
        seed: u64,
        expected: &BTreeMap<String, u32>,
        mut told: impl FnMut(u32, Kill),
    ) -> anyhow::Result<u32> {
        let (mut done, mut crawls) = (0, 0);
        while done < kills {
            let dir = base.join(format!("killed-{crawls}"));
            crawls += 1;
            let mut alive = true;
            while alive && done < kills {
                let random = xxhash_rust::xxh3::xxh3_64_with_seed(&(done + 1000 * crawls).to_le_bytes(), seed);
                let after = longest.mul_f64(0.05 + 0.95 * (random >> 11) as f64 / (1u64 << 53) as f64);
                match self.kill(&dir, after)? {
                    Some(kill) => {
                        done += 1;
                        told(done, kill);
                    }
                    None => alive = false,
                }
            }
            let urls = self.finish(&dir)?;
            let lost: Vec<_> = expected.keys().filter(|url| !urls.contains_key(*url)).collect();
            let more: Vec<_> =
                urls.iter().filter(|(url, count)| **count != 1 || !expected.contains_key(*url)).collect();
            ensure!(
                lost.is_empty() && more.is_empty(),
                "crawl {crawls}: lost {lost:?}, too often or not expected {more:?}"
            );
        }
        Ok(crawls)
    }
}
