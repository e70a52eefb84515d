//! `dedup-stage lexicon`: document frequencies for IDF weights and I-Match.

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use url::Url;

use super::rows;
use super::say::say;
use crate::evaluate::schemes::lexicon::Lexicon;
use crate::page::{Input, Reader};

/// Arguments of `dedup-stage lexicon`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Text or HTML files, a document each
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// The lexicon to write
    #[arg(short, long, value_name = "LEXICON")]
    output: PathBuf,
}

/// Runs the command.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    if let Some(wrong) = rows::refuse_absent(&args.files) {
        return Ok(wrong);
    }
    let url = Url::parse("http://localhost/")?;
    let mut reader = Reader::default();
    let mut lexicon = Lexicon::default();
    for file in &args.files {
        let body = std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
        reader.read(&Input { url: &url, status: 200, content_type: None, body: &body });
        lexicon.add(&reader.content_words().collect::<Vec<_>>());
    }
    let write = || lexicon.write(&mut BufWriter::new(File::create(&args.output)?));
    write().with_context(|| format!("cannot write {}", args.output.display()))?;
    say!("{} words of {} documents", lexicon.words(), lexicon.documents());
    Ok(ExitCode::SUCCESS)
}
