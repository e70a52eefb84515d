//! Processes that end with the one that has started them, however that ends.
//!
//! The kernel sends a process a signal when its parent dies, if it has asked for that; and it does not forget when the process
//! becomes another program. So a child is first this program, which asks ([`become_child`]), and then becomes what it is to
//! be. No code runs between fork and exec.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child as Process, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, getppid, kill_process};

/// The words that make this program a child.
pub const WORDS: [&str; 2] = ["cluster", "child"];

/// A program to be run as a child.
#[derive(Clone, Debug)]
pub struct Program {
    /// What it is called, for people.
    pub name: String,
    /// Its file.
    pub file: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Where its output is appended.
    pub log: PathBuf,
}

/// A child. It is killed when this is dropped.
#[derive(Debug)]
pub struct Child {
    /// What it runs.
    pub program: Program,
    process: Process,
    /// Whether its end was told.
    told: bool,
}

impl Child {
    /// Starts a child. To be called by a thread that lives as long as the child shall: the kernel takes the end of that thread
    /// for the end of the parent.
    pub fn start(program: Program) -> io::Result<Self> {
        let log = OpenOptions::new().create(true).append(true).open(&program.log)?;
        let mut command = Command::new(std::env::current_exe()?);
        command.args(WORDS).arg(std::process::id().to_string()).arg(&program.file).args(&program.arguments);
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        // Ctrl-C is for the parent: it stops the crawl, and only then the brokers.
        command.process_group(0);
        Ok(Self { process: command.spawn()?, program, told: false })
    }

    /// Its process.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Whether it runs.
    pub fn runs(&mut self) -> bool {
        matches!(self.process.try_wait(), Ok(None))
    }

    /// How it has ended: once, to the first that asks after the end.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        let status = self.process.try_wait().ok().flatten().filter(|_| !self.told)?;
        self.told = true;
        Some(status)
    }

    /// Asks it to end.
    pub fn terminate(&mut self) {
        if let (true, Some(pid)) = (self.runs(), Pid::from_raw(self.process.id().cast_signed())) {
            // It may end at this moment.
            let _ = kill_process(pid, Signal::TERM);
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Waits until all have ended. False where some have not after `patience`.
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

/// How a process ended, for people.
pub fn ending(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with exit code {code}"),
        (None, Some(signal)) => format!("was killed by signal {signal}"),
        (None, None) => "ended".into(),
    }
}

/// Makes this process another program that dies with `parent`. Comes back only with an error.
pub fn become_child(parent: u32, file: &Path, arguments: &[OsString]) -> io::Error {
    // Other systems have no such signal: there, a child outlives a parent that is killed.
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
