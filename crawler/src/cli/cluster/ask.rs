//! `crawler cluster why` and `crawler cluster export`: pass questions to the workers that have the answers.

use std::fs::File;
use std::io::{BufReader, Seek, Write};
use std::process::ExitCode;

use clap::ValueEnum;
use url::Url;

use super::super::export::{self, Form, What};
use super::super::{Usage, asked, tell, why};
use crate::cluster::{Answers, BrokerArgs, Owners, Question};
use crate::crawl::CrawlDir;
use crate::export::write_clusters;
use crate::free_name::with_free_name;

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

/// Asks the worker of a share. If no worker runs, asks the directory that it has left on this machine.
async fn ask(owners: &Owners, share: usize, question: &Question, out: &mut dyn Write) -> anyhow::Result<()> {
    let command = match question {
        Question::Why { url } => format!("crawler why DIR {url}"),
        Question::Export { what, .. } => format!("crawler export DIR --what {what}"),
    };
    match owners.ask(share, question, &command, out).await? {
        Some(mut dir) => WorkerAnswers.answer(&mut dir, question, out),
        None => Ok(()),
    }
}

/// Runs `crawler cluster why`.
pub async fn why(args: Why) -> anyhow::Result<ExitCode> {
    let url = asked(&args.url)?;
    let owners = Owners::of(&args.access).await?;
    let (share, mut told) = (owners.share_of(&url)?, Vec::new());
    ask(&owners, share, &Question::Why { url: url.into() }, &mut told).await?;
    tell(told)
}

/// Runs `crawler cluster export`: writes what the workers have, in the order of their shares.
pub fn export(args: Export, runtime: &tokio::runtime::Runtime) -> anyhow::Result<ExitCode> {
    let Export { access, form } = args;
    if form.what == What::Wacz {
        let what =
            "archives are exported where they are: crawler export DIR --what wacz, for the directory of each worker";
        return Err(Usage(what.into()).into());
    }
    let owners = runtime.block_on(Owners::of(&access))?;
    let all_of = |what: What, out: &mut dyn Write| -> anyhow::Result<()> {
        let name = what.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
        let question = Question::Export { what: name, all: form.all };
        (0..owners.shares()).try_for_each(|share| runtime.block_on(ask(&owners, share, &question, out)))
    };
    if form.what == What::Clusters {
        // Pages of several workers may belong to one cluster.
        let mut pages = unnamed()?;
        all_of(What::Pages, &mut pages)?;
        pages.rewind()?;
        return form.write(|mut out| Ok(write_clusters(BufReader::new(&pages), &mut out)?));
    }
    form.write(|out| all_of(form.what, out))
}

/// A file without a name, which is gone when it is closed.
fn unnamed() -> std::io::Result<File> {
    with_free_name(&std::env::temp_dir(), "crawler-export", |path| {
        let file = File::options().read(true).write(true).create_new(true).open(&path)?;
        std::fs::remove_file(path)?;
        Ok(file)
    })
}
