//! Measures the pages per second through the pipe, and compares it with the rate of the library for the same pages on
//! the same number of threads.

use std::io::{BufWriter, Write};
use std::thread;
use std::time::{Duration, Instant};

use crawler::demo::web::Web;
use dedup_stage::pipeline::{Limits, NextItem, Weigh, ordered};
use dedup_stage::stage::{PageName, Preparer, Source, Stage};
use dedup_stage::store::{Memory, Session};
use dedup_stage::url::Canonicalizer;
use serde_json::Value;
use tests::pipe::Pipe;
use tests::pipe::feed::breadth_first;
use url::Url;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The number of pages of the synthetic web.
    #[arg(long, default_value_t = 8000)]
    pages: usize,
    /// The number of threads, in the library and behind the pipe.
    #[arg(long, default_value_t = 0)]
    threads: usize,
    /// The number of times that both are measured, in turn.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
}

/// A page for the library.
struct Given {
    url: Url,
    content_type: String,
    body: String,
}

impl Weigh for Given {
    fn weight(&self) -> usize {
        self.body.len()
    }
}

pub fn run(arguments: &Arguments) -> anyhow::Result<bool> {
    let lines = breadth_first(&Web::benchmark(1), arguments.pages);
    let bytes: Vec<Vec<u8>> = lines.iter().map(|line| format!("{line}\n").into_bytes()).collect();
    let size: usize = lines.iter().map(|line| line["body"].as_str().map_or(0, str::len)).sum();
    println!("{} pages, {} KiB on average", lines.len(), (size / lines.len()) >> 10);

    let mut library = Vec::new();
    let mut pipe = Vec::new();
    for _ in 0..arguments.rounds {
        library.push(library_time(&lines, arguments.threads)?);
        pipe.push(pipe_time(&bytes, arguments.threads)?);
    }
    let rate = |times: &mut Vec<Duration>| {
        times.sort();
        lines.len() as f64 / times[times.len() / 2].as_secs_f64()
    };
    let (library, pipe) = (rate(&mut library), rate(&mut pipe));
    let share = pipe / library;
    println!(
        "library {library:.0} pages/s, pipe {pipe:.0} pages/s (medians of {}): {:.1} %",
        arguments.rounds,
        share * 100.0
    );

    let extra = latency(&lines, &bytes)?;
    println!(
        "one page at a time: median {:.3} ms, 99th percentile {:.3} ms beyond its parse",
        extra[extra.len() / 2],
        extra[extra.len() * 99 / 100]
    );
    Ok(share >= 0.85 && extra[extra.len() / 2] <= 2.0)
}

/// The time that the library takes for pages in memory, which are prepared on this many threads and judged in order.
/// The results are discarded.
fn library_time(lines: &[Value], threads: usize) -> anyhow::Result<Duration> {
    let text = |line: &Value, name: &str| line[name].as_str().unwrap_or_default().to_owned();
    let pages: Vec<Given> = lines
        .iter()
        .map(|line| {
            Ok(Given {
                url: text(line, "url").parse()?,
                content_type: text(line, "content_type"),
                body: text(line, "body"),
            })
        })
        .collect::<anyhow::Result<_>>()?;
    let mut stage = stage()?;
    let keys = stage.keys().clone();
    let start = Instant::now();
    let (mut prepared, _) = ordered(Limits::new(threads), pages.into_iter(), move || {
        let mut preparer = Preparer::new(keys.clone());
        move |page: Given| {
            preparer.prepare(&Source {
                url: &page.url,
                status: 200,
                content_type: Some(&page.content_type),
                body: page.body.as_bytes(),
                whole: true,
                links: None,
            })
        }
    });
    while let NextItem::Item(page) = prepared.wait() {
        let name = PageName { url: page.url.as_str().into(), id: None };
        std::hint::black_box(stage.judge(page, &name, 1.0)?);
    }
    Ok(start.elapsed())
}

/// A stage whose state is in memory.
fn stage() -> anyhow::Result<Stage> {
    let dedup = config::Dedup { distance: 3, ..config::Settings::default().dedup };
    Ok(Stage::open(Session::new(Box::new(Memory::default())), &dedup, Canonicalizer::default())?)
}

/// The time that the pipe takes for the same pages as lines, which are sent as fast as possible, until the last answer.
fn pipe_time(lines: &[Vec<u8>], threads: usize) -> anyhow::Result<Duration> {
    let mut pipe = Pipe::start(&["run", "--threads", &threads.to_string()])?;
    pipe.ask(&serde_json::json!({"op": "hello"}))?;
    let stdin = pipe.stdin.take();
    let start = Instant::now();
    let answers = thread::scope(|scope| {
        scope.spawn(move || -> std::io::Result<()> {
            let mut stdin = BufWriter::with_capacity(256 << 10, stdin.ok_or(std::io::ErrorKind::BrokenPipe)?);
            lines.iter().try_for_each(|line| stdin.write_all(line))?;
            stdin.flush()
        });
        let mut answers = 0;
        let mut line = Vec::new();
        while std::io::BufRead::read_until(&mut pipe.stdout, b'\n', &mut line)? > 0 {
            answers += 1;
            line.clear();
        }
        anyhow::Ok(answers)
    })?;
    let elapsed = start.elapsed();
    anyhow::ensure!(answers == lines.len(), "{answers} answers to {} lines", lines.len());
    pipe.child.wait()?;
    Ok(elapsed)
}

/// The milliseconds from sending a page to its answer, minus the time that it takes to prepare the page here; sorted.
fn latency(lines: &[Value], bytes: &[Vec<u8>]) -> anyhow::Result<Vec<f64>> {
    let mut preparer = Preparer::new(stage()?.keys().clone());
    let mut pipe = Pipe::start(&["run"])?;
    let mut extra = Vec::new();
    for (line, bytes) in lines.iter().zip(bytes).take(1000) {
        let url: Url = line["url"].as_str().unwrap_or_default().parse()?;
        let start = Instant::now();
        let source = Source {
            url: &url,
            status: 200,
            content_type: line["content_type"].as_str(),
            body: line["body"].as_str().unwrap_or_default().as_bytes(),
            whole: true,
            links: None,
        };
        std::hint::black_box(preparer.prepare(&source));
        let parse = start.elapsed();
        let start = Instant::now();
        pipe.send(bytes)?;
        anyhow::ensure!(pipe.answer()?.is_some());
        extra.push((start.elapsed().as_secs_f64() - parse.as_secs_f64()) * 1e3);
    }
    extra.sort_by(f64::total_cmp);
    Ok(extra)
}
