//! `crawler cluster why` and `crawler cluster export`: pass questions to the workers that have the answers.

use std::fs::File;
use std::io::{BufReader, Seek, Write};
use std::process::ExitCode;

use clap::ValueEnum;
use url::Url;

use super::super::export::{self, Form, What};
use super::super::{Usage, asked, tell, why};
use crate::cluster::{Answers, Asked, BrokerArgs, ClusterError, Owners, Question};
use crate::crawl::CrawlDir;
use crate::export::write_clusters;
use crate::free_name::with_free_name;
use crate::terminal::say::say;

/// Arguments of `crawler cluster why`.
#[derive(Debug, clap::Args)]
pub struct Why {
    #[command(flatten)]
    access: BrokerArgs,
    /// The URL to ask about
    url: String,
}

/// Arguments of `crawler cluster export`.
#[derive(Debug, clap::Args)]
pub struct Export {
    #[command(flatten)]
    access: BrokerArgs,
    #[command(flatten)]
    form: Form,
}

/// The answers of a worker. They are the same as those of the commands for one directory.
#[derive(Debug)]
pub struct WorkerAnswers;

impl Answers for WorkerAnswers {
    fn answer(&self, dir: &mut CrawlDir, question: &Question, out: &mut dyn Write) -> anyhow::Result<()> {
        match question {
            Question::Why { url } => Ok(out.write_all(why::story(dir, &Url::parse(url)?)?.as_bytes())?),
            Question::Export { what, all } => {
                let what = What::from_str(what, false).map_err(Usage)?;
                export::write(dir, what, *all, out)
            }
        }
    }
}

/// Passes a line to the user.
fn note(line: String) {
    say!("note: {line}");
}

/// Asks the worker of a share. If no worker runs, asks the directory that it has left on this machine. Returns false if
/// the worker has said nothing yet, and `may_wait` is false.
async fn ask(
    owners: &Owners,
    share: usize,
    question: &Question,
    may_wait: bool,
    out: &mut dyn Write,
) -> anyhow::Result<bool> {
    let command = match question {
        Question::Why { url } => format!("crawler why DIR {url}"),
        Question::Export { what, .. } => format!("crawler export DIR --what {what}"),
    };
    match owners.ask(share, question, &command, may_wait, out, &mut note).await? {
        Asked::Told => Ok(true),
        Asked::Directory(mut dir) => WorkerAnswers.answer(&mut dir, question, out).map(|()| true),
        Asked::Later => Ok(false),
    }
}

/// Runs `crawler cluster why`.
pub async fn why(args: Why) -> anyhow::Result<ExitCode> {
    let url = asked(&args.url)?;
    let owners = Owners::of(&args.access, Some(&url), &mut note).await?;
    let (share, mut told) = (owners.share_of(&url)?, Vec::new());
    ask(&owners, share, &Question::Why { url: url.into() }, true, &mut told).await?;
    tell(told)
}

/// An export, and what it lacks.
struct Gathering<'a> {
    owners: &'a Owners,
    question: Question,
    /// The shares whose worker was silent or is gone, and the reasons.
    missing: Vec<(usize, ClusterError)>,
}

impl Gathering<'_> {
    /// Writes what the workers have, in the order of their shares. Workers that say nothing at first come last.
    async fn gather(&mut self, out: &mut dyn Write) -> anyhow::Result<()> {
        let mut later = Vec::new();
        for share in 0..self.owners.shares() {
            if !self.add(share, false, out).await? {
                later.push(share);
            }
        }
        // What the others have should be there before this waits.
        out.flush()?;
        for share in later {
            self.add(share, true, out).await?;
        }
        Ok(())
    }

    async fn add(&mut self, share: usize, may_wait: bool, out: &mut dyn Write) -> anyhow::Result<bool> {
        let mut lines = WholeLines { out, rest: Vec::new() };
        let error = match ask(self.owners, share, &self.question, may_wait, &mut lines).await {
            Ok(is_told) => {
                let WholeLines { out, rest } = lines;
                out.write_all(&rest)?;
                return Ok(is_told);
            }
            Err(error) => error,
        };
        let is_missing = |error: &ClusterError| matches!(error, ClusterError::Silent(_) | ClusterError::Usage(_));
        let error = error.downcast::<ClusterError>()?;
        if !is_missing(&error) {
            return Err(error.into());
        }
        self.missing.push((share, error));
        Ok(true)
    }

    /// The error if a share is missing. Tells the user the reason for each.
    fn complete(&mut self) -> anyhow::Result<()> {
        let missing = std::mem::take(&mut self.missing);
        let shares: Vec<String> = missing.iter().map(|(share, _)| (share + 1).to_string()).collect();
        let mut errors: Vec<ClusterError> = missing.into_iter().map(|(_, error)| error).collect();
        // The exit code tells of workers that are silent first: there, something has failed.
        errors.sort_by_key(|error| matches!(error, ClusterError::Silent(_)));
        let Some(last) = errors.pop() else { return Ok(()) };
        errors.iter().for_each(|error| say!("crawler: {error}"));
        say!("crawler: the export is not complete: it lacks what these shares have: {}", shares.join(", "));
        Err(last.into())
    }
}

/// Passes on whole lines only. What a worker has begun to send when it dies ends anywhere.
struct WholeLines<'a> {
    out: &'a mut dyn Write,
    /// The line that is not complete yet.
    rest: Vec<u8>,
}

impl Write for WholeLines<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match bytes.iter().rposition(|byte| *byte == b'\n') {
            Some(end) => {
                self.out.write_all(&self.rest)?;
                self.out.write_all(&bytes[..=end])?;
                self.rest.clear();
                self.rest.extend_from_slice(&bytes[end + 1..]);
            }
            None => self.rest.extend_from_slice(bytes),
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

/// Runs `crawler cluster export`: writes what the workers have. If a worker is silent or gone, an export to stdout has
/// what the others have; a file is written only if it is complete.
pub fn export(args: Export, runtime: &tokio::runtime::Runtime) -> anyhow::Result<ExitCode> {
    let Export { access, form } = args;
    if form.what == What::Wacz {
        let what =
            "archives are exported where they are: crawler export DIR --what wacz, for the directory of each worker";
        return Err(Usage(what.into()).into());
    }
    let owners = runtime.block_on(Owners::of(&access, None, &mut note))?;
    let gathering = |what: What| {
        let what = what.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
        Gathering { owners: &owners, question: Question::Export { what, all: form.all }, missing: Vec::new() }
    };
    if form.what == What::Clusters {
        // Pages of several workers may belong to one cluster.
        let mut pages = unnamed()?;
        let mut gathering = gathering(What::Pages);
        runtime.block_on(gathering.gather(&mut pages))?;
        gathering.complete()?;
        pages.rewind()?;
        return form.write(|mut out| Ok(write_clusters(BufReader::new(&pages), &mut out)?));
    }
    let mut gathering = gathering(form.what);
    if form.has_file() {
        return form.write(|out| {
            runtime.block_on(gathering.gather(out))?;
            gathering.complete()
        });
    }
    let written = form.write(|out| runtime.block_on(gathering.gather(out)))?;
    gathering.complete()?;
    Ok(written)
}

/// A file without a name, which is gone when it is closed.
fn unnamed() -> std::io::Result<File> {
    with_free_name(&std::env::temp_dir(), "crawler-export", |path| {
        let file = File::options().read(true).write(true).create_new(true).open(&path)?;
        std::fs::remove_file(path)?;
        Ok(file)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_breaks_off_is_not_passed_on() {
        let mut out = Vec::new();
        let mut lines = WholeLines { out: &mut out, rest: Vec::new() };
        for part in ["{\"a\":", "1}\n{\"b\":2}\n{", "\"c\":"] {
            lines.write_all(part.as_bytes()).unwrap();
        }
        assert_eq!(lines.rest, b"{\"c\":");
        assert_eq!(out, b"{\"a\":1}\n{\"b\":2}\n");
    }
}
