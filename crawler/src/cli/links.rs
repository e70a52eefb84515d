//! `crawler links`: prints the link graph, or the broken links with the pages that have them.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use serde_json::json;

use super::export::tell_gone;
use super::shown::Printable;
use super::{Dir, frontier};
use crate::crawl::CrawlDir;
use crate::export::{Links, write_links};

/// Arguments of `crawler links`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    dir: Dir,
    /// Only broken URLs, each with the pages that link to it. A URL is broken if it is answered with a status from 400
    /// on, or not at all, or if its redirects lead in a circle
    #[arg(long)]
    broken: bool,
    /// For scripts: JSON Lines on stdout
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let mut dir = CrawlDir::reading(&args.dir.dir)?;
    let frontier = frontier(&mut dir)?;
    let links = Links::open(&mut dir, &frontier)?;
    tell_gone(links.gone());
    let mut out = BufWriter::new(io::stdout().lock());
    match (args.broken, args.json) {
        (true, json) => broken(&links, json, &mut out)?,
        (false, true) => write_links(&links, &mut out)?,
        (false, false) => links.each(&mut |link| {
            let Some(source) = link.source else { return Ok(()) };
            let status = link.status.map(|status| format!(" {status}")).unwrap_or_default();
            writeln!(out, "{} -> {} ({}{status})", Printable(source), Printable(link.url), link.state)
        })?,
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// A broken URL, and the pages that link to it.
#[derive(Debug, Default)]
struct Broken {
    status: Option<u16>,
    error: Option<String>,
    /// The URL to which its redirects lead.
    leads_to: Option<String>,
    sources: Vec<String>,
}

fn broken(links: &Links, as_json: bool, out: &mut impl Write) -> io::Result<()> {
    let mut all = BTreeMap::<String, Broken>::new();
    links.each(&mut |link| {
        let Some(end) = link.broken else { return Ok(()) };
        let broken = all.entry(link.url.to_owned()).or_insert_with(|| Broken {
            status: end.status,
            error: end.failure.map(str::to_owned),
            leads_to: (end.url != link.url).then(|| end.url.clone()),
            sources: Vec::new(),
        });
        // A redirect is not a link on a page, which its author could correct. The pages that link to it are named with
        // the broken URL.
        if !link.rels.contains(&"redirect") {
            broken.sources.extend(link.source.map(str::to_owned));
        }
        Ok(())
    })?;
    for (url, Broken { status, error, leads_to, mut sources }) in all {
        sources.sort_unstable();
        sources.dedup();
        if as_json {
            let line = json!({"url": url, "status": status, "error": error, "leads_to": leads_to, "sources": sources});
            writeln!(out, "{line}")?;
            continue;
        }
        let what = status.map(|status| status.to_string()).or(error).unwrap_or_else(|| "failed".into());
        let leads_to = leads_to.map(|url| format!(", by redirects to {}", Printable(&url))).unwrap_or_default();
        writeln!(out, "{} ({what}{leads_to})", Printable(&url))?;
        for source in &sources {
            writeln!(out, "  on {}", Printable(source))?;
        }
        if sources.is_empty() {
            writeln!(out, "  on no page: a seed, or named by a sitemap or a redirect")?;
        }
    }
    Ok(())
}
