//! Measures the growth of resident memory over many small pages.

use std::io::{BufWriter, Write};
use std::thread;

use tests::pipe::Pipe;
use tests::pipe::feed::small;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The number of small pages, each with two links that no other page has.
    #[arg(long, default_value_t = 1_000_000)]
    pages: u64,
    /// Run without a state on disk, and only report the growth.
    #[arg(long)]
    in_memory: bool,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<bool> {
    /// The number of pages after which growth is counted. By then, all buffers and threads exist.
    const WARM: u64 = 2_000;
    let folder = tempfile::tempdir()?;
    let state = folder.path().join("state");
    let state = state.to_string_lossy();
    let mut pipe = if arguments.in_memory { Pipe::start(&["run"])? } else { Pipe::start(&["run", "--state", &state])? };
    let stdin = pipe.stdin.take();
    let pages = arguments.pages;
    let (first, last) = thread::scope(|scope| {
        scope.spawn(move || -> std::io::Result<()> {
            let mut stdin = BufWriter::with_capacity(256 << 10, stdin.ok_or(std::io::ErrorKind::BrokenPipe)?);
            (0..WARM + pages).try_for_each(|n| writeln!(stdin, "{}", small(n)))?;
            // The answer shows that all lines before it are done.
            writeln!(stdin, "{{\"op\":\"flush\"}}")?;
            stdin.flush()
        });
        let mut first = 0;
        let mut links = 0;
        for n in 0..WARM + pages {
            let answer = pipe.answer()?.ok_or_else(|| anyhow::anyhow!("ended at page {n}"))?;
            links += answer["links"].as_array().map_or(0, Vec::len) as u64;
            if n == WARM {
                (first, links) = (pipe.resident()?, 0);
            }
            if n >= WARM && (n - WARM).is_multiple_of((pages / 10).max(1)) {
                println!("after {n} pages: {:.1} MiB resident", pipe.resident()? as f64 / 1048576.0);
            }
        }
        let stats = pipe.answer()?.unwrap_or_default();
        println!("{stats}");
        anyhow::Ok((first, (pipe.resident()?, links)))
    })?;
    let (last, links) = last;
    let grown = last.saturating_sub(first);
    let allowed = 120 * pages + 16 * links;
    println!(
        "{pages} pages, {links} links: {:.1} MiB grown, {:.1} bytes a page beyond 16 a link; allowed 120",
        grown as f64 / 1048576.0,
        (grown as f64 - 16.0 * links as f64) / pages as f64
    );
    Ok(arguments.in_memory || grown <= allowed)
}
