//! The `crawler` program under another name, so that cargo builds it for the tests that run it. It can log what it made
//! durable (see [`fsync`]). If `TEST_PEAK_FILE` is set, it writes the peak of its memory to that file (`VmHWM`, in
//! KiB).

#[path = "../../../../crawler/src/allocator.rs"]
mod allocator;
mod fsync;

use std::process::ExitCode;

fn main() -> ExitCode {
    allocator::give_back_at_once();
    // The crawler starts itself as a child process that reads one PDF file.
    if let Some(code) = crawler::pdf::child_main() {
        return code;
    }
    allocator::keep_while_small();
    let file = std::env::var_os("TEST_PEAK_FILE");
    let code = crawler::cli::main();
    if let Some(file) = file {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
        let _ = std::fs::write(file, peak.trim().trim_end_matches(" kB"));
    }
    code
}
