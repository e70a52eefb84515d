//! `crawler export`: writes the content of a crawl as JSON Lines, as a table, or as one archive.

use std::io::{self, BufReader, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use frontier::Walk;
use frontier::rules::stored;

use super::aside::Aside;
use super::{Dir, Usage, frontier};
use crate::clock::Clock;
use crate::crawl::CrawlDir;
#[cfg(feature = "arrow")]
use crate::export::ParquetTable;
use crate::export::{Links, Table, columns, wacz_of_crawl, write_clusters, write_links, write_texts};
use crate::report::source::Lines;
use crate::series::Gone;
use crate::sink::{PagesJsonl, TextJsonl, write_lines};
use crate::terminal::say::say;
use crate::units;

/// Arguments of `crawler export`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    dir: Dir,
    #[command(flatten)]
    form: Form,
}

/// What to export, in which form, and to which file.
#[derive(Debug, clap::Args)]
pub(super) struct Form {
    /// What to write
    #[arg(long, value_enum, default_value = "pages")]
    pub what: What,
    /// How to write it; wacz is a format of its own [default: jsonl]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// With text and markdown: every page that is there, instead of one page of each cluster of copies
    #[arg(long)]
    pub all: bool,
    /// File to write [default: stdout; for wacz, DIR/crawl.wacz]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum What {
    /// The lines of pages.jsonl
    Pages,
    /// Every link: {"source","url","state","status","rel"}. The state is `fetched`, `failed`, `queued`, `held` or a
    /// reason
    Links,
    /// The lines of skipped.jsonl
    Skipped,
    /// The main text of each page, if the crawl ran with --text
    Text,
    /// The main text of each page as Markdown, if the crawl ran with --markdown
    Markdown,
    /// Pages that repeat another: {"representative","pages"}
    Clusters,
    /// One file with all archives, their index and a list of pages, if the crawl ran with --warc
    Wacz,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// JSON Lines
    Jsonl,
    /// A table as text. A text that begins with =, +, - or @ gets an apostrophe in front, so that no spreadsheet takes
    /// it for a formula
    Csv,
    /// A table with types (only if the program was built with `--features arrow`, as released programs are)
    Parquet,
}

impl What {
    /// The columns of a table with this content.
    fn columns(self) -> &'static [columns::Column] {
        match self {
            What::Pages => &columns::PAGES,
            What::Links => &columns::LINKS,
            What::Skipped => &columns::SKIPPED,
            What::Text => &columns::TEXT,
            What::Markdown => &columns::MARKDOWN,
            What::Clusters | What::Wacz => &columns::CLUSTERS,
        }
    }
}

/// Runs the command.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let Args { dir, form } = args;
    let mut dir = CrawlDir::reading(&dir.dir)?;
    if let Some(path) = form.output.as_ref().filter(|path| dir.owns(path)) {
        bail!(Usage(format!("--output {}: this is a file of the crawl itself; name another one", path.display())));
    }
    if form.what == What::Wacz {
        if form.format.is_some() {
            bail!(Usage("--what wacz is a format of its own: leave --format away".into()));
        }
        return wacz(&dir, form.output.unwrap_or_else(|| dir.path().join("crawl.wacz")));
    }
    form.write(|out| write(&mut dir, form.what, form.all, out))
}

impl Form {
    /// Whether a file is written, and not stdout.
    pub fn has_file(&self) -> bool {
        self.output.is_some()
    }

    /// Writes the lines that `fill` gives, in the chosen form.
    pub fn write(&self, mut fill: impl FnMut(&mut dyn Write) -> anyhow::Result<()>) -> anyhow::Result<ExitCode> {
        let format = self.format.unwrap_or(Format::Jsonl);
        if format == Format::Parquet && cfg!(not(feature = "arrow")) {
            let what = "this program was built without Parquet; released ones have it, and in a checkout `cargo install --path crawler --features arrow` builds it";
            bail!(Usage(what.into()));
        }
        let (out, aside): (Box<dyn Write + Send>, _) = match &self.output {
            Some(path) => {
                let (file, aside) = Aside::create(path).with_context(|| path.display().to_string())?;
                (Box::new(file), Some(aside))
            }
            None => (Box::new(io::stdout()), None),
        };
        let mut out = BufWriter::new(out);
        match format {
            Format::Jsonl => fill(&mut out)?,
            Format::Csv => {
                let names = self.what.columns().iter().map(|(name, _)| *name);
                // Some members are only in lines that have a value for them, so the first line does not show all
                // columns.
                let mut table = match self.what {
                    What::Skipped => Table::with_columns(&mut out, names),
                    _ => Table::new(&mut out),
                };
                fill(&mut table)?;
                table.finish(self.what.columns().iter().map(|(name, _)| *name))?;
            }
            #[cfg(feature = "arrow")]
            Format::Parquet => {
                let mut table = ParquetTable::new(self.what.columns(), &mut out)?;
                fill(&mut table)?;
                table.flush()?;
                table.finish()?;
            }
            #[cfg(not(feature = "arrow"))]
            Format::Parquet => {}
        }
        out.flush()?;
        drop(out);
        aside.map_or(Ok(()), Aside::finish)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Writes the chosen content as JSON Lines.
pub(super) fn write(dir: &mut CrawlDir, what: What, all: bool, mut out: &mut dyn Write) -> anyhow::Result<()> {
    match what {
        What::Pages => drop(io::copy(&mut vouched(dir, PagesJsonl::NAME)?.bytes(), &mut out)?),
        What::Skipped => skipped(dir, &mut out)?,
        What::Links => {
            let frontier = frontier(dir)?;
            let links = Links::open(dir, &frontier)?;
            tell_gone(links.gone());
            write_links(&links, &mut out)?;
        }
        What::Text => texts(dir, TextJsonl::TEXT, "--text", all, &mut out)?,
        What::Markdown => texts(dir, TextJsonl::MARKDOWN, "--markdown", all, &mut out)?,
        What::Clusters => write_clusters(BufReader::new(vouched(dir, PagesJsonl::NAME)?.bytes()), &mut out)?,
        What::Wacz => {}
    }
    Ok(())
}

/// An output as far as the state vouches for it, for an export of its own lines. Tells the user which parts are
/// missing.
fn vouched(dir: &CrawlDir, name: &str) -> anyhow::Result<Lines> {
    let lines = opened(dir, name)?;
    tell_gone(&lines.gone()?);
    Ok(lines)
}

/// An output as far as the state vouches for it.
fn opened(dir: &CrawlDir, name: &str) -> anyhow::Result<Lines> {
    let length = dir.vouched(name)?;
    Lines::open(dir.path(), name, Some(length)).with_context(|| name.to_owned())
}

/// Tells the user which parts of an output are missing.
pub(super) fn tell_gone(parts: &[Gone]) {
    for part in parts {
        say!("note: {part}: its lines are missing from the export");
    }
}

fn texts(dir: &CrawlDir, name: &str, flag: &str, all: bool, out: &mut impl Write) -> anyhow::Result<()> {
    if !dir.lengths()?.contains_key(name) {
        bail!(Usage(format!("{} has no {name}: crawl with {flag}", dir.path().display())));
    }
    let (pages, lines) = (opened(dir, PagesJsonl::NAME)?, vouched(dir, name)?);
    for part in pages.gone()? {
        say!("note: {part}: all its texts are exported, also those of pages that are gone or are copies");
    }
    Ok(write_texts(BufReader::new(pages.bytes()), || Ok(BufReader::new(lines.bytes())), all, out)?)
}

fn wacz(dir: &CrawlDir, path: PathBuf) -> anyhow::Result<ExitCode> {
    if !dir.path().join("warc").exists() {
        bail!(Usage(format!("{} has no archive: crawl with --warc", dir.path().display())));
    }
    for part in opened(dir, PagesJsonl::NAME)?.gone()? {
        say!("note: {part}: its pages are missing from the list of pages in the file");
    }
    let (_, aside) = Aside::create(&path).with_context(|| path.display().to_string())?;
    let written = wacz_of_crawl(dir.path(), aside.path(), Clock::System.now());
    let (written, missing) = written.with_context(|| path.display().to_string())?;
    aside.finish()?;
    for (name, captures) in &missing.files {
        let captures = units::counted(*captures, "capture");
        say!("note: warc/{name} is gone, with {captures}: these, and pages that have no other, are left out");
    }
    say!("{}: {} captures, {} pages, {} WARC files", path.display(), written.captures, written.pages, written.warcs);
    Ok(ExitCode::SUCCESS)
}

fn skipped(dir: &mut CrawlDir, out: &mut impl Write) -> anyhow::Result<()> {
    let frontier = frontier(dir)?;
    let rules = stored(dir.session())?;
    let rule = |id| rules.iter().find(|rule| rule.id == id);
    Ok(write_lines(out, &frontier, Walk::new(true), &rule, dir.session(), &mut |_, _| {})?)
}
