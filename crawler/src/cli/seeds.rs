//! The seeds of a crawl: on the command line, and in files.

use std::collections::HashSet;
use std::io::{BufRead, Read};
use std::path::PathBuf;

use config::without_user;
use dedup_stage::url::drop_user;
use url::Url;

use super::{Usage, typed};
use crate::crawl::CrawlDir;

/// The seeds of a crawl.
#[derive(Debug, Default, clap::Args)]
pub(super) struct Seeds {
    /// URLs to start from
    #[arg(value_name = "SEED")]
    pub seeds: Vec<String>,
    /// File of seeds, one URL a line, '-' for stdin, '#' comments (repeatable)
    #[arg(long = "seeds", value_name = "FILE")]
    pub seed_files: Vec<PathBuf>,
}

/// The seeds of the command line and of files.
pub(super) fn seeds(given: &Seeds) -> anyhow::Result<Vec<Url>> {
    let mut seeds = Vec::new();
    for seed in &given.seeds {
        seeds.push(parse_seed(seed).map_err(|error| Usage(format!("seed {:?}: {error}", without_user(seed))))?);
    }
    for file in &given.seed_files {
        let name = file.display();
        let mut text = Vec::new();
        if file.as_os_str() == "-" {
            std::io::stdin().lock().read_to_end(&mut text)?;
        } else {
            text = std::fs::read(file).map_err(|error| Usage(format!("--seeds {name}: {error}")))?;
        }
        for (line, seed) in text.lines().enumerate() {
            let seed = seed.map_err(|error| Usage(format!("{name}:{}: {error}", line + 1)))?;
            let seed = uncommented(seed.trim_start_matches('\u{feff}'));
            if seed.is_empty() {
                continue;
            }
            seeds.push(
                parse_seed(seed)
                    .map_err(|error| Usage(format!("{name}:{}: {:?}: {error}", line + 1, without_user(seed))))?,
            );
        }
    }
    Ok(seeds)
}

/// A line without its comment. A comment begins with a `#` at the beginning of the line or after a space. (A `#` within
/// a URL is part of it.)
fn uncommented(line: &str) -> &str {
    let begins = |at: usize| line[..at].chars().next_back().is_none_or(char::is_whitespace);
    let comment = line.match_indices('#').map(|(at, _)| at).find(|at| begins(*at));
    line[..comment.unwrap_or(line.len())].trim()
}

/// Fails if the crawl in `dir` has begun without one of `seeds`.
pub(super) fn no_others(dir: &CrawlDir, seeds: &[Url]) -> anyhow::Result<()> {
    let known: HashSet<Url> = dir.seeds()?.into_iter().collect();
    let others: Vec<_> = seeds.iter().filter(|seed| !known.contains(seed)).collect();
    let Some(first) = others.first().filter(|_| !known.is_empty()) else { return Ok(()) };
    let (path, number) = (dir.path().display(), others.len());
    let seeds = if number == 1 {
        format!("{first} is no seed")
    } else {
        format!("{first} and {} others are no seeds", number - 1)
    };
    let what = format!(
        "{seeds} of the crawl in {path}; to add them, give --add-seeds; to begin another crawl, name another \
         directory with --dir"
    );
    Err(Usage(what).into())
}

fn parse_seed(text: &str) -> Result<Url, String> {
    // No host name begins like these paths. (Other names of folders may be names of hosts, too.)
    if text.starts_with('.') || text.starts_with('/') && !text.starts_with("//") {
        return Err("a path, and a seed is a URL; --dir names the directory of a crawl".into());
    }
    let mut url = typed(text)?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!("{} is not fetched, only http and https", url.scheme()));
    }
    url.set_fragment(None);
    if drop_user(&mut url) {
        let host = url.host_str().unwrap_or_default();
        return Err(format!(
            "a URL with a user name or a password is not fetched; give the account of {host} in a file with --login ([[auth]], \
             host = {host:?})"
        ));
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_with_a_password_is_refused_and_its_password_is_not_told() {
        for seed in ["http://me:s3cret@a.test/x", "http://s3cret@a.test", "me:s3cret@a.test/", "http://me:s3cret@a b/"]
        {
            let given = Seeds { seeds: vec![seed.to_owned()], seed_files: Vec::new() };
            let said = seeds(&given).unwrap_err().to_string();
            assert!(said.contains("…@a") && !said.contains("s3cret"), "{said}");
        }
        let said = parse_seed("http://me:s3cret@a.test/x").unwrap_err();
        assert!(said.contains("the account of a.test") && said.contains("--login"), "{said}");
        assert_eq!(without_user("http://a.test/@me"), "http://a.test/@me", "no user name: the path has it");
    }

    #[test]
    fn a_path_is_no_seed() {
        for path in ["./c1", "../c1", "/tmp/c1", "."] {
            let said = parse_seed(path).unwrap_err();
            assert!(said.starts_with("a path"), "{path}: {said}");
        }
        for (host, url) in [("//example.org/a", "https://example.org/a"), ("wiki", "https://wiki/")] {
            assert_eq!(parse_seed(host).unwrap().as_str(), url);
        }
    }

    #[test]
    fn a_comment_begins_a_line_or_comes_after_a_space() {
        for (line, seed) in [
            ("http://s.test/p2 # trailing", "http://s.test/p2"),
            ("http://s.test/p2\t#trailing # twice", "http://s.test/p2"),
            ("  # only a comment", ""),
            ("#http://s.test/", ""),
            (" http://s.test/p#part ", "http://s.test/p#part"),
            ("s.test", "s.test"),
        ] {
            assert_eq!(uncommented(line), seed, "{line:?}");
        }
    }
}
