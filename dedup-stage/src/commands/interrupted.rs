//! What happens when a command that writes files is interrupted, or writes more than it may: unfinished files are
//! removed.

use std::io;
use std::sync::Arc;

use signal_hook::consts::{SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;
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

/// Makes a file that becomes larger than `ulimit -f` allows an error of the write, which names the file. Without this,
/// SIGXFSZ would end the process.
pub fn tell_of_the_limit_of_files() -> io::Result<()> {
    // The signal is caught, and nothing asks for the flag.
    flag::register(SIGXFSZ, Arc::default()).map(drop)
}

/// Ends the process by a signal that has come.
pub fn end(signal: i32) {
    let _held = remove_unfinished();
    // If this fails, the next signal ends the process.
    let _ = emulate_default_handler(signal);
}
