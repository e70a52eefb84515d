//! Kills programs while they read the directory of a crawl. The crawl must not be affected.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::ensure;
use fastrand::Rng;

use super::files::log_of;
use super::said_by;

/// The longest life of a reader.
const LONGEST: Duration = Duration::from_millis(120);

/// The exit code of a Rust program that has panicked.
const PANIC: i32 = 101;

/// Starts a random reader and kills it after a while. It may end by itself before, with any message, but a panic is an
/// error.
pub(super) fn kill_one(
    program: &Path,
    dir: &Path,
    pages: &BTreeMap<String, u32>,
    random: &mut Rng,
) -> anyhow::Result<()> {
    let page = random.choice(pages.keys()).map_or("http://nowhere.test/", String::as_str);
    let readers: [(&str, &[&str]); 6] = [
        ("report", &[]),
        ("report", &["--json"]),
        ("export", &["--what", "links"]),
        ("rules", &[]),
        ("check", &[]),
        ("why", &[page]),
    ];
    let (command, flags) = readers[random.usize(..readers.len())];
    let mut child = Command::new(program)
        .arg(command)
        .arg(dir)
        .args(flags)
        // Opening the state repairs it, and so writes to it.
        .env("TEST_FSYNC_LOG", log_of(dir))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    let ended = said_by(&mut child)?;
    let said = match ended.recv_timeout(LONGEST.mul_f64(random.f64())) {
        Ok(said) => said?,
        Err(_) => {
            child.kill()?;
            String::new()
        }
    };
    let status = child.wait()?;
    ensure!(status.code() != Some(PANIC), "{command} panicked: {said}");
    Ok(())
}
