//! Child processes that end with the process that has started them, however that one ends.
//!
//! A process can ask the kernel to be sent a signal when its parent dies. The request holds even after the process has
//! become another program. So a child first runs this program, which makes the request ([`become_child`]), and then
//! becomes the program that was wanted. No code runs between fork and exec.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child as Process, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, getppid, kill_process};

/// The words on the command line that make this program a child.
pub const WORDS: [&str; 2] = ["cluster", "child"];

/// A program that is run as a child.
#[derive(Clone, Debug)]
pub struct Program {
    /// The name of the program, for users.
    pub name: String,
    /// The file of the program.
    pub file: PathBuf,
    /// The arguments of the program.
    pub arguments: Vec<OsString>,
    /// The file to which its output is appended.
    pub log: PathBuf,
}

/// A child process. It is killed when this is dropped.
#[derive(Debug)]
pub struct Child {
    /// The program that it runs.
    pub program: Program,
    process: Process,
    /// Whether [`Child::ended`] has returned its exit status.
    told: bool,
}

impl Child {
    /// Starts a child. Call this from a thread that lives as long as the child should: for the kernel, the end of that
    /// thread is the end of the parent.
    pub fn start(program: Program) -> io::Result<Self> {
        let log = OpenOptions::new().create(true).append(true).open(&program.log)?;
        let mut command = Command::new(std::env::current_exe()?);
        command.args(WORDS).arg(std::process::id().to_string()).arg(&program.file).args(&program.arguments);
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        // Ctrl-C must reach only the parent: it stops the crawl first, and then the brokers.
        command.process_group(0);
        Ok(Self { process: command.spawn()?, program, told: false })
    }

    /// The process id.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Whether the child runs.
    pub fn runs(&mut self) -> bool {
        matches!(self.process.try_wait(), Ok(None))
    }

    /// The exit status of the child if it has ended. Only the first call after the end returns it.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        let status = self.process.try_wait().ok().flatten().filter(|_| !self.told)?;
        self.told = true;
        Some(status)
    }

    /// Asks the child to end.
    pub fn terminate(&mut self) {
        if let (true, Some(pid)) = (self.runs(), Pid::from_raw(self.process.id().cast_signed())) {
            // If this fails, the child has just ended.
            let _ = kill_process(pid, Signal::TERM);
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // These fail if the child has already ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Waits until all children have ended. Returns false if some have not ended after `patience`.
pub fn wait(children: &mut [Child], patience: Duration) -> bool {
    let begin = Instant::now();
    while children.iter_mut().any(Child::runs) {
        if begin.elapsed() >= patience {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    true
}

/// The way in which a process ended, in words for users.
pub fn ending(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with exit code {code}"),
        (None, Some(signal)) => format!("was killed by signal {signal}"),
        (None, None) => "ended".into(),
    }
}

/// Turns this process into another program that dies with `parent`. Returns only if that fails.
pub fn become_child(parent: u32, file: &Path, arguments: &[OsString]) -> io::Error {
    // Other systems have no such signal. There, a child outlives a parent that is killed.
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::set_parent_process_death_signal(Some(Signal::KILL)) {
        return error.into();
    }
    // The parent may have died before the kernel was asked.
    if getppid().map(Pid::as_raw_pid) != Some(parent.cast_signed()) {
        return io::Error::other("the process that has started this one is gone");
    }
    Command::new(file).args(arguments).exec()
}
