//! What happens when a command that writes files is interrupted: unfinished files are removed.

use std::io;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use crate::corpus::output::remove_unfinished;

/// Ends the process at the first SIGINT or SIGTERM, as the signal would have done, without unfinished files.
pub fn leave_no_unfinished_files() -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            end(signal);
        }
    });
    Ok(())
}

/// Ends the process by a signal that has come.
pub fn end(signal: i32) {
    let _held = remove_unfinished();
    // If this fails, the next signal ends the process.
    let _ = emulate_default_handler(signal);
}
