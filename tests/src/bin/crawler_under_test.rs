//! The `crawler` program as a binary of this package, so that its integration tests find it built. Where
//! `TEST_PEAK_FILE` is set, it says there how much memory it held at most (`VmHWM`, in KiB).

use std::process::ExitCode;

fn main() -> ExitCode {
    let file = std::env::var_os("TEST_PEAK_FILE");
    let code = crawler::cli::main();
    if let Some(file) = file {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
        let _ = std::fs::write(file, peak.trim().trim_end_matches(" kB"));
    }
    code
}
