//! Kill -9 at random moments while a state is written; the caller repeats from its last answered flush.

use std::io::{BufRead, Write};
use std::time::Duration;

use super::Pipe;
use super::feed::breadth_first;
use crawler::demo::web::Web;
use serde_json::{Value, json};

/// Pages between two flushes.
const FLUSH: usize = 150;

/// Feeds `pages` of the synthetic web, killing the program `kills` times at moments that `seed` decides; true if every answer
/// was that of an undisturbed run. `tell` hears of each kill.
pub fn run(kills: u64, pages: usize, seed: u64, mut tell: impl FnMut(String)) -> anyhow::Result<bool> {
    let kills_due = kills;
    let lines = breadth_first(&Web::benchmark(1), pages);
    let mut undisturbed = Pipe::start(&["run"])?;
    let expected: Vec<Value> = lines.iter().map(|line| undisturbed.ask(line)).collect::<anyhow::Result<_>>()?;
    undisturbed.finish()?;

    let folder = tempfile::tempdir()?;
    let state = folder.path().join("state");
    let state = state.to_string_lossy().into_owned();
    let mut random = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut kills = 0;
    let mut flushed = 0;
    let mut compared = 0u64;
    let mut wrong = 0u64;
    while flushed < lines.len() {
        let mut pipe = Pipe::start(&["run", "--state", &state])?;
        // A kill falls anywhere within about the time of two flushes, unless enough have fallen.
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let killer = (kills < kills_due).then(|| {
            let id = pipe.child.id();
            let wait = Duration::from_micros(random % 300_000);
            let (cancel, cancelled) = std::sync::mpsc::channel::<()>();
            let thread = std::thread::spawn(move || {
                // Waiting on a channel that nobody sends to is waiting for its time-out, or for the process to be done.
                if cancelled.recv_timeout(wait) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                    let _ = std::process::Command::new("kill").args(["-9", &id.to_string()]).status();
                }
            });
            (cancel, thread)
        });
        let before = flushed;
        converse(&mut pipe, &lines, &expected, &mut flushed, &mut compared, &mut wrong);
        if let Some((cancel, thread)) = killer {
            let _ = cancel.send(());
            let _ = thread.join();
        }
        pipe.stdin = None;
        let status = pipe.child.wait()?;
        if !status.success() {
            kills += 1;
            tell(format!("kill {kills}: started after page {before}, last flush after page {flushed}"));
        } else if flushed < lines.len() {
            anyhow::bail!("the program ended by itself after page {flushed}");
        } else if kills < kills_due {
            // All pages are judged, and kills are still due: from the beginning, in a new state.
            std::fs::remove_dir_all(&state)?;
            flushed = 0;
        }
    }
    tell(format!("{kills} kills, {compared} answers compared, {wrong} wrong"));
    Ok(kills == kills_due && wrong == 0)
}

/// Sends what is not flushed yet, and compares the answers, until the end or the kill.
fn converse(
    pipe: &mut Pipe,
    lines: &[Value],
    expected: &[Value],
    flushed: &mut usize,
    compared: &mut u64,
    wrong: &mut u64,
) {
    let start = *flushed;
    let Some(mut stdin) = pipe.stdin.take() else { return };
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for (n, line) in lines.iter().enumerate().skip(start) {
                let sent = writeln!(stdin, "{line}");
                let flush = (n + 1) % FLUSH == 0 || n + 1 == lines.len();
                if sent.is_err() || (flush && writeln!(stdin, "{}", json!({"op": "flush", "id": n + 1})).is_err()) {
                    return;
                }
            }
        });
        let mut at = start;
        let mut line = String::new();
        while at <= lines.len() {
            line.clear();
            // A line cut by the kill is no answer.
            if !matches!(pipe.stdout.read_line(&mut line), Ok(n) if n > 0) || !line.ends_with('\n') {
                return;
            }
            let Ok(answer) = serde_json::from_str::<Value>(&line) else {
                *wrong += 1;
                return;
            };
            if answer["op"] == "flush" {
                *flushed = answer["id"].as_u64().unwrap_or(0) as usize;
                *wrong += u64::from(answer["pages"] != *flushed as u64);
                if *flushed == lines.len() {
                    return;
                }
            } else {
                *compared += 1;
                let own = answer["duplicate_of"] == answer["url"];
                if answer != expected[at] || own {
                    *wrong += 1;
                    println!("page {at}: {answer}\n  instead of {}", expected[at]);
                }
                at += 1;
            }
        }
    });
}
