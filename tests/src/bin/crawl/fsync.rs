//! If `TEST_FSYNC_LOG` names a file, logs every fsync of this process, whether for the store or for an output: a line
//! `INODE LENGTH POSITION` describes each file as it was made durable. `tests::power` reads the log, in order to undo
//! writes that were not durable.
//!
//! The two functions replace those of the C library in this program, because the linker finds them first. There is no
//! other way to see the fsyncs of files that the engine of the store opens itself.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::fd::RawFd;
use std::os::unix::fs::MetadataExt;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Replaces fsync(2).
// SAFETY: the signature is that of the C library, and no other code in this program defines the name.
#[unsafe(no_mangle)]
extern "C" fn fsync(file: RawFd) -> i32 {
    // SAFETY: a system call that takes a number and touches no memory of ours.
    let result = unsafe { libc::syscall(libc::SYS_fsync, file) } as i32;
    if result == 0 {
        log(file);
    }
    result
}

/// Replaces fdatasync(2). The log needs only the length and the data, which it makes durable.
// SAFETY: as above.
#[unsafe(no_mangle)]
extern "C" fn fdatasync(file: RawFd) -> i32 {
    fsync(file)
}

fn log(file: RawFd) {
    static LOG: OnceLock<Option<Mutex<File>>> = OnceLock::new();
    let open = || {
        let path = std::env::var_os("TEST_FSYNC_LOG")?;
        OpenOptions::new().create(true).append(true).open(path).ok().map(Mutex::new)
    };
    let Some(log) = LOG.get_or_init(open) else { return };
    let position = std::fs::read_to_string(format!("/proc/self/fdinfo/{file}")).unwrap_or_default();
    let position = position.lines().find_map(|line| line.strip_prefix("pos:")).unwrap_or_default().trim().to_owned();
    if let Ok(data) = std::fs::metadata(format!("/proc/self/fd/{file}")) {
        let line = format!("{} {} {position}\n", data.ino(), data.len());
        // One write for the line, so that a kill leaves no half line.
        let _ = log.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes());
    }
}
