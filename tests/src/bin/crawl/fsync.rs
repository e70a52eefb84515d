//! A log of every fsync of this process, its store and its outputs alike, where `TEST_FSYNC_LOG` names a file: a line
//! `INODE LENGTH POSITION` for each file as it was made durable. `tests::power` reads it, to undo what was not.
//!
//! The two functions take the place of the C library's in this program: the linker finds them first. Nothing else could
//! see the files that the store's engine opens by itself.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::fd::RawFd;
use std::os::unix::fs::MetadataExt;
use std::sync::{Mutex, OnceLock, PoisonError};

/// As fsync(2).
// SAFETY: the signature is that of the C library, and nobody else in this program defines the name.
#[unsafe(no_mangle)]
extern "C" fn fsync(file: RawFd) -> i32 {
    // SAFETY: a system call that takes a number and touches no memory of ours.
    let result = unsafe { libc::syscall(libc::SYS_fsync, file) } as i32;
    if result == 0 {
        log(file);
    }
    result
}

/// As fdatasync(2): length and data, which is all that the log is about.
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
        // In one write, so that a kill leaves no half line.
        let _ = log.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes());
    }
}
