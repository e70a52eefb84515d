//! The wall clock is set while a crawl runs. This must change neither the pace of the crawl, nor its end, nor the times
//! that it reports.

use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::ensure;
use bytes::Bytes;
use crawler::demo::server::{host_and_target, serve, status};
use http::{Response, StatusCode};
use http_body_util::Full;
use serde_json::Value;
use tests::background::Background;
use tests::crawl::{lines, text};
use tests::scripted::words;
use tests::shim::compile;
use tests::sound::sound_at;

/// The number of pages of the site, and the delay between two of them.
const PAGES: usize = 60;
const DELAY: Duration = Duration::from_millis(40);

/// A site with a chain of pages, and the times at which the pages were asked for.
fn site() -> anyhow::Result<(Background, Arc<Mutex<Vec<Instant>>>)> {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&asked);
    let server = Background::start(|listener| {
        serve(listener, move |request| {
            let log = Arc::clone(&log);
            async move {
                let number = host_and_target(&request).1.trim_start_matches('/').parse().unwrap_or(0usize);
                if request.uri().path() == "/robots.txt" || number >= PAGES {
                    return status(StatusCode::NOT_FOUND);
                }
                log.lock().unwrap_or_else(PoisonError::into_inner).push(Instant::now());
                let next = if number + 1 < PAGES { format!("<a href=/{}>next</a>", number + 1) } else { String::new() };
                let page = format!("<p>{}</p>{next}", words(number as u64, 60));
                let response = Response::builder().header("content-type", "text/html");
                response.body(Full::new(Bytes::from(page))).expect("headers of our own")
            }
        })
    })?;
    Ok((server, asked))
}

/// Crawls the site. After a third of it, the wall clock is moved by this many seconds.
fn crawl_with_shift(seconds: i64) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let (library, shift, dir) =
        (compile("clock", folder.path())?, folder.path().join("shift"), folder.path().join("crawl"));
    std::fs::write(&shift, "0")?;
    let (server, asked) = site()?;
    let start = Instant::now();
    let mut command = Command::new(env!("CARGO_BIN_EXE_crawl"));
    command.env("LD_PRELOAD", &library).env("TEST_CLOCK_SHIFT", &shift).arg("crawl").arg("--dir").arg(&dir);
    command.args(["--allow-private", "--delay", &format!("{}ms", DELAY.as_millis()), "--delay-factor", "0"]);
    command.args(["--address-delay", "0s", "--patience", "10s", "--connect-to", &server.connect_to()]);
    let child = command.arg("http://a.test/0").stdin(Stdio::null()).stderr(Stdio::piped()).spawn()?;
    let count = || asked.lock().unwrap_or_else(PoisonError::into_inner).len();
    while count() < PAGES / 3 && start.elapsed() < Duration::from_secs(60) {
        std::thread::yield_now();
    }
    std::fs::write(&shift, seconds.to_string())?;
    let output = child.wait_with_output()?;
    let took = start.elapsed();
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.code() == Some(0), "{:?}: {said}", output.status);
    sound_at(&dir)?;

    let pages = lines(&dir, "pages.jsonl")?;
    ensure!(pages.len() == PAGES, "{} pages: {said}", pages.len());
    ensure!(!said.contains("0 ms"), "{said}");
    let times: Vec<&str> = pages.iter().map(|page| text(page, "fetched_at")).collect();
    ensure!(times.is_sorted(), "times in the outputs go back: {times:?}");
    let span = (seconds_of_day(times[PAGES - 1]) - seconds_of_day(times[0])).rem_euclid(86_400.0);
    ensure!(span <= took.as_secs_f64(), "the outputs tell of {span} s: {times:?}");

    let report = Command::new(env!("CARGO_BIN_EXE_crawl")).arg("report").arg(&dir).arg("--json").output()?;
    let report: Value = serde_json::from_slice(&report.stdout)?;
    let elapsed = report["elapsed_seconds"].as_f64().unwrap_or(-1.0);
    let least = DELAY.as_secs_f64() * (PAGES - 1) as f64;
    ensure!(elapsed >= least && elapsed <= took.as_secs_f64(), "elapsed {elapsed} s of {took:?}, at least {least}");
    ensure!(report["stop_reason"] == "done" && report["frontier"] == 0, "{report:#}");

    let asked = asked.lock().unwrap_or_else(PoisonError::into_inner);
    let gaps: Vec<Duration> = asked.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let shortest = gaps.iter().min().copied().unwrap_or_default();
    ensure!(shortest >= DELAY.mul_f64(0.9), "two requests {shortest:?} apart");
    Ok(())
}

/// The seconds since midnight of `2026-01-31T12:34:56.789Z`.
fn seconds_of_day(time: &str) -> f64 {
    let part = |range: std::ops::Range<usize>| time[range].parse::<f64>().unwrap_or(f64::NAN);
    part(11..13) * 3_600.0 + part(14..16) * 60.0 + part(17..23)
}

/// The control: the shim sets the clock that programs read.
#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "needs LD_PRELOAD")]
fn the_shim_sets_the_wall_clock_of_a_program() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let (library, shift) = (compile("clock", folder.path())?, folder.path().join("shift"));
    let mut seen = Vec::new();
    for seconds in ["0", "-7200"] {
        std::fs::write(&shift, seconds)?;
        let output =
            Command::new("date").arg("+%s").env("LD_PRELOAD", &library).env("TEST_CLOCK_SHIFT", &shift).output()?;
        seen.push(String::from_utf8(output.stdout)?.trim().parse::<i64>()?);
    }
    assert!((7_100..7_300).contains(&(seen[0] - seen[1])), "{seen:?}");
    Ok(())
}

/// Catches a crawl that decides by the wall clock what is due. If the clock is set back by an hour, such a crawl finds
/// that nothing becomes due for an hour and ends, or reports that it took no time.
#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "needs LD_PRELOAD")]
fn a_wall_clock_that_is_set_back_changes_nothing() -> anyhow::Result<()> {
    crawl_with_shift(-3_600)
}

/// Catches delays that end at once, and times in the future, when the wall clock is set forward.
#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "needs LD_PRELOAD")]
fn a_wall_clock_that_is_set_forward_changes_nothing() -> anyhow::Result<()> {
    crawl_with_shift(3_600)
}
